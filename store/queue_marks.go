package store

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Forget gives up the position of a host: the next Host starts at its first entry.
func (q *Queue) Forget(key uint64) {
	p := q.reader.positions
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.hosts[key]; e != nil {
		p.drop(e)
	}
	if p.marks[key] != nil {
		p.setMark(key, nil)
	}
	p.moved = p.moved || p.reading == key
}

// PutBack says that an entry that Host returned is not taken any more, and has to be read again: the next Host of its
// host starts no later than with it.
func (q *Queue) PutBack(key uint64, class uint8, depth uint32, seq uint64) {
	p, at := q.reader.positions, orderOf(class, depth, seq)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.hosts[key]; e != nil {
		pos := e.Value.(*position)
		pos.now, pos.before = lower(pos.now, at), lower(pos.before, at)
	}
	if mark := p.marks[key]; mark != nil {
		p.setMark(key, lower(mark, at))
	}
	p.moved = p.moved || p.reading == key
}

// setMark changes the mark of a host; nil: it has none. p.mu is held.
func (p *positions) setMark(key uint64, mark []hostPlace) {
	if len(mark) == 0 {
		delete(p.marks, key)
	} else {
		p.marks[key] = mark
	}
	p.unsaved[key] = struct{}{}
}

// A mark is a row of the checkpoint: the places in its runs that a host is read from after a restart. All before them is
// done, then and later. The key is mark/ and the host key in hexadecimal; the value has three varints a run: its number,
// class and depth of the place plus one, its sequence number. A 0 in the second's place, without a third, is the end of
// the host in this run. Without marks a restart, and each sweep, reads the entries that are done again.
const MarkPrefix = "mark/"

// Marks returns the marks that changed since the last call, for the next checkpoint. low tells the least entry of a host
// that is in memory, leased ones and those that wait for another attempt included; ok: there is one. Hosts are marked
// when their position has moved by a good deal.
func (q *Queue) Marks(low func(key uint64) (class uint8, depth uint32, seq uint64, ok bool)) []Row {
	live := make(map[uint64]bool)
	for _, info := range q.runs.infos(QueueRun) {
		live[info.Number] = true
	}
	p := q.reader.positions
	p.mu.Lock()
	defer p.mu.Unlock()
	outdated := p.outdated
	p.outdated = false
	if outdated {
		p.dropMarks(live)
	}
	for e := p.recent.Front(); e != nil; e = e.Next() {
		at := e.Value.(*position)
		_, lost := p.unsaved[at.key]
		if at.passed < q.cfg.mark && !lost {
			continue
		}
		mark := keepLive(at.before, live)
		if class, depth, seq, ok := low(at.key); ok {
			mark = lower(mark, orderOf(class, depth, seq))
		}
		p.setMark(at.key, mark)
		at.passed = 0
	}
	return p.takeRows()
}

// dropMarks forgets the places in runs that are gone. p.mu is held.
func (p *positions) dropMarks(live map[uint64]bool) {
	for key, mark := range p.marks {
		if kept := keepLive(mark, live); len(kept) < len(mark) {
			p.setMark(key, kept)
		}
	}
}

func keepLive(places []hostPlace, live map[uint64]bool) []hostPlace {
	return slices.DeleteFunc(slices.Clone(places), func(at hostPlace) bool { return !live[at.run] || at.at == orderKey{} })
}

// takeRows returns the rows of marks that are unsaved. p.mu is held.
func (p *positions) takeRows() []Row {
	rows := make([]Row, 0, len(p.unsaved))
	for _, key := range slices.Sorted(maps.Keys(p.unsaved)) {
		row := Row{Key: fmt.Sprintf("%s%016x", MarkPrefix, key)}
		if mark := p.marks[key]; mark != nil {
			row.Value = appendMark(nil, mark)
		}
		rows = append(rows, row)
	}
	clear(p.unsaved)
	return rows
}

func appendMark(dst []byte, mark []hostPlace) []byte {
	for _, at := range mark {
		dst = binary.AppendUvarint(dst, at.run)
		if at.at == orderEnd {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, at.at.order+1)
		dst = binary.AppendUvarint(dst, at.at.seq)
	}
	return dst
}

func parseMark(value []byte) (mark []hostPlace, err error) {
	fields := varints{value}
	for len(fields.rest) > 0 {
		var head [2]uint64
		if err := fields.all(head[:]); err != nil {
			return nil, err
		}
		at := hostPlace{run: head[0], at: orderEnd}
		if head[1] > 0 {
			at.at.order = head[1] - 1
			if at.at.order >= 1<<40 {
				return nil, errFieldRange
			}
			if at.at.seq, err = fields.next(); err != nil {
				return nil, err
			}
		}
		mark = append(mark, at)
	}
	return mark, nil
}

// CheckMark reports what RestoreMarks would find wrong with a row.
func CheckMark(row Row) error {
	_, err := strconv.ParseUint(strings.TrimPrefix(row.Key, MarkPrefix), 16, 64)
	if err == nil {
		_, err = parseMark(row.Value)
	}
	return err
}

// RestoreMarks takes the marks of a checkpoint, the rows that Marks returned. It is called before the first Host.
func (q *Queue) RestoreMarks(rows []Row) error {
	p := q.reader.positions
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outdated = true
	for _, row := range rows {
		text, found := strings.CutPrefix(row.Key, MarkPrefix)
		key, err := strconv.ParseUint(text, 16, 64)
		if !found || err != nil {
			return fmt.Errorf("row %q is no mark of a host", row.Key)
		}
		mark, err := parseMark(row.Value)
		if err != nil {
			return fmt.Errorf("row %q: %w", row.Key, err)
		}
		if len(mark) > 0 {
			p.marks[key] = mark
		}
	}
	return nil
}
