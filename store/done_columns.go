package store

import (
	"encoding/binary"
	"math"
	"time"
)

// doneEntries are the columns of one block in memory. They are only appended to, until the block is full: a copy of the struct
// is a snapshot that stays valid, if next is told of it.
type doneEntries struct {
	steps  []byte // varints: the numbers, each as the way from the one before. They are noise, and the rest is much alike
	rest   []byte // varints: all else, one entry after the other
	starts []doneStart
	prev   doneBase
}

// doneStart is where an entry starts in the columns. It is not written.
type doneStart struct{ step, rest int }

func (t *doneEntries) len() int { return len(t.starts) }

// next returns the empty columns of the next block. They take the memory of these, unless somebody has a snapshot of them;
// else they have room for as much.
func (t *doneEntries) next(shared bool) doneEntries {
	if !shared {
		return doneEntries{steps: t.steps[:0], rest: t.rest[:0], starts: t.starts[:0]}
	}
	return doneEntries{
		steps: make([]byte, 0, len(t.steps)), rest: make([]byte, 0, len(t.rest)), starts: make([]doneStart, 0, len(t.starts)),
	}
}

// doneBase is what the next entry is written relative to. Each block starts from zero, so that it reads alone.
type doneBase struct {
	seq, record uint64
	at          int64 // Unix milliseconds
}

func (t *doneEntries) append(e DoneEntry) {
	at := e.At.UnixMilli()
	t.starts = append(t.starts, doneStart{len(t.steps), len(t.rest)})
	event := e.Event
	if e.Named {
		event = eventAgainNamed
	}
	t.steps = binary.AppendUvarint(t.steps, zigzag(int64(e.Seq-t.prev.seq)))
	t.rest = append(t.rest, byte(event), byte(e.Outcome)) // one byte each as varints too
	t.rest = binary.AppendUvarint(t.rest, uint64(e.Status))
	t.rest = binary.AppendUvarint(t.rest, uint64(e.Attempt))
	t.rest = binary.AppendUvarint(t.rest, uint64(e.Visit))
	t.rest = binary.AppendUvarint(t.rest, zigzag(at-t.prev.at))
	due := uint64(0)
	if !e.Due.IsZero() {
		due = zigzag(e.Due.UnixMilli()-at) + 1
	}
	t.rest = binary.AppendUvarint(t.rest, due)
	record := uint64(0)
	if e.Record != 0 {
		record = zigzag(int64(e.Record-t.prev.record)) + 1
		t.prev.record = e.Record
	}
	t.rest = binary.AppendUvarint(t.rest, record)
	t.prev.seq, t.prev.at = e.Seq, at
}

// encode appends to dst the form on disk of what follows the first so many entries: of a block, or of a chunk of an open
// tail, which does not read alone. The position of the block's first entry is first, from 0.
func (t *doneEntries) encode(c *codec, dst []byte, first uint64, after int) []byte {
	from := doneStart{len(t.steps), len(t.rest)}
	if after < t.len() {
		from = t.starts[after]
	}
	return c.encode(dst, doneBlock, first+uint64(after), t.len()-after, nil, [][]byte{t.steps[from.step:]}, [][]byte{t.rest[from.rest:]})
}

// decodeDone appends the entries of a block to dst.
func decodeDone(c *codec, b block, dst []DoneEntry) ([]DoneEntry, error) {
	steps, err := c.column(b, 0, nil)
	if err != nil {
		return nil, err
	}
	rest, err := c.column(b, 1, nil)
	if err != nil {
		return nil, err
	}
	return unpackDone(steps, rest, b.entries, dst)
}

// unpackDone appends n entries to dst.
func unpackDone(steps, rest []byte, n int, dst []DoneEntry) ([]DoneEntry, error) {
	r := doneReader{steps: varints{steps}, rest: varints{rest}}
	for range n {
		e, err := r.next()
		if err != nil {
			return nil, err
		}
		dst = append(dst, e)
	}
	if len(r.steps.rest) != 0 || len(r.rest.rest) != 0 {
		return nil, errColumnLong
	}
	return dst, nil
}

// doneReader takes entries off the columns' starts.
type doneReader struct {
	steps, rest varints
	base        doneBase
}

// doneRestFields is how many varints of rest an entry has. The first is the event.
const doneRestFields = 8

// next returns the next entry.
func (r *doneReader) next() (DoneEntry, error) {
	seq, err := r.steps.next()
	if err != nil {
		return DoneEntry{}, err
	}
	var field [doneRestFields]uint64
	if err := r.rest.all(field[:]); err != nil {
		return DoneEntry{}, err
	}
	base := &r.base
	event, outcome, status, attempt, visit := field[0], field[1], field[2], field[3], field[4]
	at, due, record := field[5], field[6], field[7]
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
