package store

import (
	"encoding/binary"
	"math"
	"time"
)

// doneEntries are the column of one block in memory, only appended to: a copy of the struct is a snapshot.
type doneEntries struct {
	plain  []byte // varints, one entry after the other
	starts []int  // where each entry starts; it is not written
	prev   doneBase
}

func (t *doneEntries) len() int { return len(t.starts) }

// next returns the empty column of the next block, with room for what this one took.
func (t *doneEntries) next() doneEntries {
	return doneEntries{plain: make([]byte, 0, len(t.plain)), starts: make([]int, 0, len(t.starts))}
}

// doneBase is what the next entry is written relative to. Each block starts from zero, so that it reads alone.
type doneBase struct {
	seq, record uint64
	at          int64 // Unix milliseconds
}

func (t *doneEntries) append(e DoneEntry) {
	at := e.At.UnixMilli()
	t.starts = append(t.starts, len(t.plain))
	t.plain = binary.AppendUvarint(t.plain, zigzag(int64(e.Seq-t.prev.seq)))
	event := e.Event
	if e.Named {
		event = eventAgainNamed
	}
	t.plain = append(t.plain, byte(event), byte(e.Outcome)) // one byte each as varints too
	t.plain = binary.AppendUvarint(t.plain, uint64(e.Status))
	t.plain = binary.AppendUvarint(t.plain, uint64(e.Attempt))
	t.plain = binary.AppendUvarint(t.plain, uint64(e.Visit))
	t.plain = binary.AppendUvarint(t.plain, zigzag(at-t.prev.at))
	due := uint64(0)
	if !e.Due.IsZero() {
		due = zigzag(e.Due.UnixMilli()-at) + 1
	}
	t.plain = binary.AppendUvarint(t.plain, due)
	record := uint64(0)
	if e.Record != 0 {
		record = zigzag(int64(e.Record-t.prev.record)) + 1
		t.prev.record = e.Record
	}
	t.plain = binary.AppendUvarint(t.plain, record)
	t.prev.seq, t.prev.at = e.Seq, at
}

// encode returns the form on disk of what follows the first so many entries: of a block, or of a chunk of an open tail, which
// does not read alone. The position of the block's first entry is first, from 0.
func (t *doneEntries) encode(c *codec, first uint64, after int) []byte {
	from := len(t.plain)
	if after < t.len() {
		from = t.starts[after]
	}
	return c.encode(doneBlock, first+uint64(after), t.len()-after, nil, t.plain[from:])
}

// decodeDone appends the entries of a block to dst.
func decodeDone(c *codec, b block, dst []DoneEntry) ([]DoneEntry, error) {
	plain, err := c.column(b, 0, nil)
	if err != nil {
		return nil, err
	}
	return unpackDone(plain, b.entries, dst)
}

// unpackDone appends n entries to dst.
func unpackDone(plain []byte, n int, dst []DoneEntry) ([]DoneEntry, error) {
	fields := varints{plain}
	var base doneBase
	for range n {
		e, err := base.next(&fields)
		if err != nil {
			return nil, err
		}
		dst = append(dst, e)
	}
	if len(fields.rest) != 0 {
		return nil, errColumnLong
	}
	return dst, nil
}

// next returns the next entry and becomes the base of the one after it.
func (base *doneBase) next(fields *varints) (DoneEntry, error) {
	var field [9]uint64
	if err := fields.all(field[:]); err != nil {
		return DoneEntry{}, err
	}
	seq, event, outcome, status, attempt, visit := field[0], field[1], field[2], field[3], field[4], field[5]
	at, due, record := field[6], field[7], field[8]
	if event > math.MaxUint8 || outcome > math.MaxUint8 || status > math.MaxUint16 || attempt > math.MaxUint8 ||
		visit > math.MaxUint16 {
		return DoneEntry{}, errFieldRange
	}
	base.seq += uint64(unzigzag(seq))
	base.at += unzigzag(at)
	e := DoneEntry{
		Seq: base.seq, Event: Event(event), Outcome: Outcome(outcome), Status: uint16(status), Attempt: uint8(attempt),
		Visit: uint16(visit), At: time.UnixMilli(base.at).UTC(),
	}
	if e.Event == eventAgainNamed {
		e.Event, e.Named = EventAgain, true
	}
	if due != 0 {
		e.Due = time.UnixMilli(base.at + unzigzag(due-1)).UTC()
	}
	if record != 0 {
		base.record += uint64(unzigzag(record - 1))
		e.Record = base.record
	}
	if !e.valid() {
		return DoneEntry{}, errFieldRange
	}
	return e, nil
}
