package store

import (
	"container/list"
	"slices"
	"sync"
)

// hostPlace is where the reading of a host stands in a run: before the first entry that is not less than at.
type hostPlace struct {
	run uint64
	at  orderKey
}

// placeIn returns the place in a run; one that is not among them is to be read from the host's first entry.
func placeIn(places []hostPlace, run uint64) orderKey {
	for _, p := range places {
		if p.run == run {
			return p.at
		}
	}
	return orderKey{}
}

// position is where the reading of a host stands in all runs.
type position struct {
	key    uint64
	now    []hostPlace
	before []hostPlace // now, when the last call began: what that call returned may be on its way to the caller's memory
	passed int         // entries since the last mark
}

// positions knows the hosts that were read last, and the marks of all that were read far.
type positions struct {
	mu       sync.Mutex // guards all below
	hosts    map[uint64]*list.Element
	recent   list.List // of *position, the last used first
	marks    map[uint64][]hostPlace
	unsaved  map[uint64]struct{} // marks that are other than the checkpoint's row
	outdated bool                // runs have gone since the marks were last looked through

	reading uint64 // the host that is being read
	moved   bool   // it was put back meanwhile: where the reading ends is no place to go on from
}

func newPositions() *positions {
	return &positions{
		hosts: make(map[uint64]*list.Element), marks: make(map[uint64][]hostPlace), unsaved: make(map[uint64]struct{}),
	}
}

// begin returns where the reading of a host goes on. The places stay as they are.
func (p *positions) begin(key uint64) []hostPlace {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading, p.moved = key, false
	if e := p.hosts[key]; e != nil {
		p.recent.MoveToFront(e)
		return e.Value.(*position).now
	}
	return p.marks[key]
}

// mark returns the mark of a host; nil: it has none. It stays as it is.
func (p *positions) mark(key uint64) []hostPlace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.marks[key]
}

// end notes where the reading of a host ended, for a host whose beginning is not read again as easily.
func (p *positions) end(key uint64, places []hostPlace, passed int, more bool, cfg queueConfig) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.moved {
		return
	}
	e := p.hosts[key]
	if e == nil {
		if !more && passed < shortHost && p.marks[key] == nil {
			return
		}
		e = p.recent.PushFront(&position{key: key, now: p.marks[key]})
		p.hosts[key] = e
		if p.recent.Len() > cfg.hosts {
			p.drop(p.recent.Back())
		}
	}
	at := e.Value.(*position)
	at.before, at.now = at.now, places
	at.passed += passed
}

// shortHost is how many entries are read again rather than remembered.
const shortHost = 64

func (p *positions) drop(e *list.Element) {
	p.recent.Remove(e)
	delete(p.hosts, e.Value.(*position).key)
}

// replaced makes the places in runs that are gone one in the run that took theirs: the least of them, so that nothing is
// passed over. What was read after it is read again, and is taken or done.
func (p *positions) replaced(merged uint64, in []uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outdated = true
	for e := p.recent.Front(); e != nil; e = e.Next() {
		at := e.Value.(*position)
		at.now = replacePlaces(at.now, merged, in)
		at.before = replacePlaces(at.before, merged, in)
	}
}

func replacePlaces(places []hostPlace, merged uint64, in []uint64) []hostPlace {
	least := orderEnd
	for _, run := range in {
		least = least.min(placeIn(places, run))
	}
	kept := make([]hostPlace, 0, len(places)+1) // not in place: a reader may have the old ones
	for _, at := range places {
		if !slices.Contains(in, at.run) {
			kept = append(kept, at)
		}
	}
	if least == (orderKey{}) || merged == 0 {
		return kept
	}
	return append(kept, hostPlace{merged, least})
}

// lower makes no place of a host lie after at.
func lower(places []hostPlace, at orderKey) []hostPlace {
	lowered := slices.Clone(places)
	for i := range lowered {
		lowered[i].at = lowered[i].at.min(at)
	}
	return lowered
}
