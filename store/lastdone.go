package store

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// LastDone returns the last event of a number; found is false when it has none. It looks into each done run, a few
// dozen, and through what no run holds yet, 262,144 events at most where background work keeps up.
func (s *Store) LastDone(seq uint64) (e DoneEntry, found bool, err error) {
	events, err := s.views().lastDone([]uint64{seq})
	e, found = events[seq]
	return e, found, err
}

// LastDoneOf returns the last event of each of the numbers that has one.
func (s *Store) LastDoneOf(seqs []uint64) (map[uint64]DoneEntry, error) {
	return s.views().lastDone(seqs)
}

// lastDone looks again when a run was found damaged, as find does.
func (v views) lastDone(seqs []uint64) (events map[uint64]DoneEntry, err error) {
	err = v.runs.aroundDamage(func() error { events, err = v.tryLastDone(seqs); return err })
	return events, err
}

func (v views) tryLastDone(seqs []uint64) (map[uint64]DoneEntry, error) {
	f := &doneFinder{wanted: slices.Compact(slices.Sorted(slices.Values(seqs))), found: make(map[uint64]lastEvent)}
	if err := v.findDone(f); err != nil {
		return nil, err
	}
	events := make(map[uint64]DoneEntry, len(f.found))
	for _, seq := range slices.SortedFunc(maps.Keys(f.found), f.byPosition) { // so that each block is read but once
		e, err := v.lastEvent(seq, f.found[seq])
		if err != nil {
			return nil, err
		}
		events[seq] = e
	}
	return events, nil
}

// findDone looks for the positions of last events from the end of the log to its start.
func (v views) findDone(f *doneFinder) error {
	full := v.done.blocks.fullEntries()
	tail, err := unpackMarks(v.done.tail.steps, v.done.tail.rest, v.done.tail.len(), nil)
	if err != nil {
		return err
	}
	f.inMarks(tail, full)
	scan := v.done.scan()
	defer func() { _ = scan.closeReading() }() // nothing was written
	runs := v.runs.newest(DoneRun)
	defer v.runs.release(runs)
	at := full
	for _, r := range runs {
		if err := f.inBlocks(scan, Span{r.RunInfo.Done.Upto, at}); err != nil {
			return err
		}
		if err := f.inRun(r); err != nil {
			return v.runs.leave(r, err)
		}
		at = r.RunInfo.Done.After
	}
	return f.inBlocks(scan, Span{0, at})
}

// lastEvent reads an event that was found.
func (v views) lastEvent(seq uint64, last lastEvent) (DoneEntry, error) {
	if last.position == 0 || last.position > v.done.Len() {
		return DoneEntry{}, v.runs.leave(last.run, last.run.harm(-1, errors.New("it names an event that is in no log")))
	}
	e, err := v.done.at(last.position)
	if err != nil || e.Seq == seq || last.run == nil {
		return e, err
	}
	return DoneEntry{}, v.runs.leave(last.run, last.run.harm(-1,
		fmt.Errorf("event %d is of number %d, not of %d", last.position, e.Seq, seq)))
}

// doneFinder looks for the last events of numbers in one part of the log after another, from the log's end on.
type doneFinder struct {
	wanted []uint64 // sorted, and not found yet
	found  map[uint64]lastEvent
}

type lastEvent struct {
	position uint64 // in the done log, from 1
	run      *run   // that says so; nil: the log itself
}

func (f *doneFinder) byPosition(a, b uint64) int {
	return cmp.Compare(f.found[a].position, f.found[b].position)
}

func (f *doneFinder) inRun(r *run) error {
	c := newPairCursor(r)
	var left []uint64
	for _, seq := range f.wanted {
		position, found, err := c.find(seq)
		if err != nil {
			return err
		}
		if found {
			f.found[seq] = lastEvent{position, r}
		} else {
			left = append(left, seq)
		}
	}
	f.wanted = left
	return nil
}

// inBlocks looks through full blocks.
func (f *doneFinder) inBlocks(scan *doneScan, span Span) error {
	for at := span.Upto; at > span.After && len(f.wanted) > 0; at -= BlockEntries {
		first := at - BlockEntries
		marks, err := scan.block(int(first / BlockEntries))
		if err != nil {
			return err
		}
		f.inMarks(marks, first)
	}
	return nil
}

// inMarks looks through the events after the given one.
func (f *doneFinder) inMarks(marks []doneMark, after uint64) {
	if len(f.wanted) == 0 {
		return
	}
	least, most := f.wanted[0], f.wanted[len(f.wanted)-1]
	met := false
	for i, m := range slices.Backward(marks) { // the last event counts
		if m.seq < least || m.seq > most {
			continue
		}
		if _, wanted := slices.BinarySearch(f.wanted, m.seq); !wanted {
			continue
		}
		if _, again := f.found[m.seq]; !again {
			f.found[m.seq], met = lastEvent{position: after + uint64(i) + 1}, true
		}
	}
	if met {
		f.wanted = slices.DeleteFunc(f.wanted, func(seq uint64) bool { _, found := f.found[seq]; return found })
	}
}
