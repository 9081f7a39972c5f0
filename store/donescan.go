package store

// doneScan reads of the done log what the views of it are made from: which number, and whether it is done. It is for one
// goroutine and reuses its memory.
type doneScan struct {
	*blockReader
	steps, rest []byte // columns
	marks       []doneMark
}

// doneMark is the part of an event that tells whether its number is pending.
type doneMark struct {
	seq   uint64
	event Event
}

func (l *DoneLog) scan() *doneScan { return &doneScan{blockReader: l.blocks.scan()} }

// block returns the marks of a full block. They are valid until the next call.
func (s *doneScan) block(number int) ([]doneMark, error) {
	b, err := s.read(number)
	if err != nil {
		return nil, err
	}
	if s.steps, err = s.codec.column(b, 0, s.steps); err == nil {
		s.rest, err = s.codec.column(b, 1, s.rest)
	}
	if err == nil {
		s.marks, err = unpackMarks(s.steps, s.rest, b.entries, s.marks[:0])
	}
	if err != nil {
		return nil, s.damage(number, err)
	}
	return s.marks, nil
}

// unpackMarks appends the marks of n entries to dst. It passes over what the marks do not tell.
func unpackMarks(steps, rest []byte, n int, dst []doneMark) ([]doneMark, error) {
	numbers, fields := varints{steps}, varints{rest}
	seq := uint64(0)
	for range n {
		step, err := numbers.next()
		if err != nil {
			return nil, err
		}
		event, err := fields.next()
		if err != nil {
			return nil, err
		}
		if err := fields.skip(doneRestFields - 1); err != nil {
			return nil, err
		}
		seq += uint64(unzigzag(step))
		dst = append(dst, doneMark{seq, Event(event)})
	}
	if len(numbers.rest) != 0 || len(fields.rest) != 0 {
		return nil, errColumnLong
	}
	return dst, nil
}
