package store

import (
	"fmt"
	"time"
)

// Event tells what happened to an admitted URL.
type Event uint8

// The events. The numbers are part of the done log and never change.
const (
	EventDone  Event = 1 // the visit ended with an outcome
	EventAgain Event = 2 // it is pending again: a retry, or another visit that was asked for

	eventAgainNamed Event = 3 // in the log alone: EventAgain with DoneEntry.Named
)

// A DoneEntry is one event. The last entry of a sequence number says whether it is pending.
type DoneEntry struct {
	Seq     uint64
	Event   Event
	Outcome Outcome   // EventAgain: of the attempt that failed, or of the visit that a retry undoes (Attempt 0); 0 for another visit
	Status  uint16    // of the answer; 0: none came
	Attempt uint8     // attempts made so far in this visit
	Named   bool      // EventAgain, of an attempt that failed: the user named the URL for this visit
	Visit   uint16    // 1 for the first
	At      time.Time // kept to the millisecond, read back in UTC
	Due     time.Time // EventAgain: not before this, kept as At is; zero: at once
	Record  uint64    // number of the page record; EventAgain: of the visit before; 0: none
}

// valid reports whether the log could give the entry back.
func (e DoneEntry) valid() bool {
	switch e.Event {
	case EventDone:
		return e.Seq != 0 && e.Outcome != 0 && e.Outcome.known() && !e.Named
	case EventAgain:
		return e.Seq != 0 && (e.Outcome == 0 || e.Outcome.known())
	}
	return false
}

// DoneLog appends events and reads them back in order.
type DoneLog struct {
	blocks  *blockLog
	tail    doneEntries
	shared  bool                  // somebody has a snapshot of tail
	encoded []byte                // a full block, on its way into the file
	recent  blockCache[DoneEntry] // full blocks that at read
}

// recentDoneBlocks is how many blocks at keeps unpacked, a third of a megabyte each.
const recentDoneBlocks = 4

// openDoneLog goes on with a log at a checkpoint's end. healed is as blockLog.open has it.
func openDoneLog(d directory, c *codec, segBytes int64, end LogMark) (l *DoneLog, healed, err error) {
	l = readDoneLog(d, c)
	if healed, err = l.blocks.open(segBytes, end, l); err != nil {
		return nil, nil, err
	}
	return l, healed, nil
}

// readDoneLog returns a log that is only read, beside the crawl that appends to it.
func readDoneLog(d directory, c *codec) *DoneLog {
	return &DoneLog{
		blocks: newBlockLog(d.fs, d.done(), doneBlock, c), recent: blockCache[DoneEntry]{limit: recentDoneBlocks},
	}
}

// restoreTail is of a tailOwner.
func (l *DoneLog) restoreTail(end LogMark) (length int64, err error) {
	entries, length, err := tailOf(&l.blocks.blockReader, end,
		func(c columns, dst []DoneEntry) ([]DoneEntry, error) {
			return unpackDone(c.packed[0], c.packed[1], c.entries, dst)
		},
		func(b block) ([]DoneEntry, error) { return decodeDone(l.blocks.codec, b, nil) })
	for _, e := range entries {
		l.tail.append(e)
	}
	return length, err
}

func (l *DoneLog) tailLen() int { return l.tail.len() }

func (l *DoneLog) wholeTail(first uint64) []byte { return l.tail.encode(l.blocks.codec, nil, first, 0) }

// takeTail returns the open tail as it is now. Its memory is never written again, only appended to.
func (l *DoneLog) takeTail() pendingTail {
	l.shared = true
	tail, c, block := l.tail, l.blocks.codec, uint64(len(l.blocks.blocks))
	return pendingTail{
		file: l.blocks.tail, block: block, entries: tail.len(),
		chunk: func(after int) []byte { return tail.encode(c, nil, block*BlockEntries, after) },
	}
}

// Len returns the number of events.
func (l *DoneLog) Len() uint64 {
	return uint64(len(l.blocks.blocks))*BlockEntries + uint64(l.tail.len())
}

// Append adds an event. An event that the log could not give back is refused and leaves no trace: without a sequence
// number, of an unknown kind, or done without an outcome. Any other error is a *WriteError, and final.
func (l *DoneLog) Append(e DoneEntry) error {
	if l.blocks.series.failed != nil {
		return l.blocks.series.failed
	}
	if !e.valid() {
		return fmt.Errorf("event %d, %s, of number %d does not belong in the done log", e.Event, e.Outcome, e.Seq)
	}
	l.tail.append(e)
	if l.tail.len() < BlockEntries {
		return nil
	}
	l.encoded = l.tail.encode(l.blocks.codec, l.encoded[:0], l.Len()-BlockEntries, 0)
	if err := l.blocks.add(l.encoded); err != nil {
		return err
	}
	l.tail, l.shared = l.tail.next(l.shared), false
	return nil
}

// Each calls fn for every event after the first so many, in order.
func (l *DoneLog) Each(after uint64, fn func(DoneEntry) error) error {
	entries := make([]DoneEntry, 0, BlockEntries)
	for number := int(after / BlockEntries); number <= len(l.blocks.blocks); number++ {
		var err error
		if entries, err = l.block(number, entries[:0]); err != nil {
			return err
		}
		passed := min(uint64(len(entries)), after-min(after, uint64(number)*BlockEntries))
		for _, e := range entries[passed:] {
			if err := fn(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// block appends to dst the entries of a full block, or of the open tail for the number past the last full one.
func (l *DoneLog) block(number int, dst []DoneEntry) ([]DoneEntry, error) {
	if number == len(l.blocks.blocks) {
		return unpackDone(l.tail.steps, l.tail.rest, l.tail.len(), dst)
	}
	b, err := l.blocks.read(number)
	if err != nil {
		return nil, err
	}
	entries, err := decodeDone(l.blocks.codec, b, dst)
	if err != nil {
		return nil, l.blocks.damage(number, err)
	}
	return entries, nil
}

// at returns the event at a position, from 1.
func (l *DoneLog) at(position uint64) (DoneEntry, error) {
	number, i := int((position-1)/BlockEntries), int((position-1)%BlockEntries)
	if number == len(l.blocks.blocks) { // the open tail goes on: it is no block to be kept
		tail, err := l.block(number, nil)
		if err != nil {
			return DoneEntry{}, err
		}
		return tail[i], nil
	}
	entries, err := l.recent.get(number, l.block)
	if err != nil {
		return DoneEntry{}, err
	}
	return entries[i], nil
}

func (l *DoneLog) mark() LogMark { return l.blocks.mark(l.tail.len()) }

func (l *DoneLog) close() error { return l.blocks.close() }
