package store

import (
	"sync"

	"crawl/sortedrun"
)

// queueReader is what reading a host's entries, or all hosts', in several steps takes.
type queueReader struct {
	reading   sync.Mutex // held by Host, and while runs change places; taken before runs.mu and positions.mu
	cursors   keptCursors
	positions *positions

	swept   keptCursors // of Sweep
	entries []Pending   // that Sweep reads into
}

func newQueueReader() queueReader {
	return queueReader{cursors: make(keptCursors), positions: newPositions(), swept: make(keptCursors)}
}

// Host appends up to max pending entries of one host to dst, in their order, without those that are taken. It starts
// where the last call for the host ended, or at the host's first entry where that is not known any more. more: entries
// may be left after these.
//
// What it returned counts as taken: it is not read again before the position is given up (PutBack, Forget). It must be
// in memory, or put back, before the next call for that host. An error is a *DamageError or one of reading.
func (q *Queue) Host(dst []Pending, key uint64, max int, taken func(seq uint64) bool) (_ []Pending, more bool, err error) {
	q.reader.reading.Lock()
	defer q.reader.reading.Unlock()
	epoch := q.readEpoch(0)
	runs := q.runs.newest(QueueRun)
	defer q.runs.release(runs)
	w := hostWalk{key: key}
	if err := w.begin(runs, q.reader.cursors.of(runs), q.reader.positions.begin(key)); err != nil {
		return dst, false, err
	}
	for n := 0; ; {
		h := w.first()
		if h == nil {
			break
		}
		if n >= max {
			more = true
			break
		}
		if !taken(h.at.seq) && !q.stale(h.at.seq, epoch) {
			var p Pending
			if err := decodePending(h.at, h.cursor.Note(), h.cursor.Value(), &p); err != nil {
				return dst, false, h.run.harm(-1, err)
			}
			dst = append(dst, p)
			n++
		}
		if err := w.pass(h.at); err != nil {
			return dst, false, err
		}
	}
	q.reader.positions.end(key, w.places(), w.passed, more, q.cfg)
	return dst, more, nil
}

// keptCursors are cursors by the numbers of their runs. They are kept, since a cursor's buffers are what a short walk costs.
type keptCursors map[uint64]*sortedrun.Cursor

// of returns a cursor in each of the runs, anywhere in it.
func (k keptCursors) of(runs []*run) []*sortedrun.Cursor {
	cursors := make([]*sortedrun.Cursor, len(runs))
	for i, run := range runs {
		c := k[run.Number]
		if c == nil {
			c = run.Seek(nil)
		}
		cursors[i] = c
	}
	clear(k)
	for i, run := range runs {
		k[run.Number] = cursors[i]
	}
	return cursors
}

// hostWalk goes through one host's entries in all runs.
type hostWalk struct {
	key    uint64
	heads  []hostHead // newest run first
	passed int        // entries
}

// hostHead is where the walk stands in one run.
type hostHead struct {
	run    *run
	cursor *sortedrun.Cursor
	at     orderKey // of the cursor's entry; orderEnd: the run has no more of this host
}

// begin goes to the host's first entry in each run, or to its place where one is known.
func (w *hostWalk) begin(runs []*run, cursors []*sortedrun.Cursor, known []hostPlace) error {
	var key [maxQueueKey]byte
	w.heads = make([]hostHead, len(runs))
	for i, r := range runs {
		h := &w.heads[i]
		*h = hostHead{run: r, cursor: cursors[i], at: placeIn(known, r.Number)}
		if h.at == orderEnd {
			continue
		}
		h.cursor.Seek(appendQueueKey(key[:0], w.key, h.at))
		if err := h.next(w.key); err != nil {
			return err
		}
	}
	return nil
}

// next goes on to the next entry of the host.
func (h *hostHead) next(key uint64) error {
	h.at = orderEnd
	if !h.cursor.Next() {
		return h.run.damage(h.cursor.Err())
	}
	host, at, err := parseQueueKey(h.cursor.Key())
	if err != nil {
		return h.run.harm(-1, err)
	}
	if host == key {
		h.at = at
	}
	return nil
}

// first returns the head with the next entry of all: of equal ones, the newest run's. nil: there is none.
func (w *hostWalk) first() *hostHead {
	var first *hostHead
	least := orderEnd
	for i := range w.heads {
		if h := &w.heads[i]; h.at.less(least) {
			first, least = h, h.at
		}
	}
	return first
}

// pass goes on from an entry, in all runs that have it.
func (w *hostWalk) pass(at orderKey) error {
	w.passed++
	for i := range w.heads {
		if h := &w.heads[i]; h.at == at {
			if err := h.next(w.key); err != nil {
				return err
			}
		}
	}
	return nil
}

// places returns where the walk stands.
func (w *hostWalk) places() []hostPlace {
	places := make([]hostPlace, len(w.heads))
	for i, h := range w.heads {
		places[i] = hostPlace{h.run.Number, h.at}
	}
	return places
}

// Sweep goes through the hosts in the order of their keys, from the given one on. Of each host that has entries which are
// not taken, turn is asked how many are wanted, given the first: none passes it over, and StopSweep ends the sweep before
// it. fn then gets up to so many in order, and how many the host has left, counted up to ManyLeft; the slice is reused.
// Sweep goes on until fn returns false, next being the place to go on from, or the last host is through (ended). It
// starts at each host's mark, or at its first entry where there is none, whatever else Host has read, and reads what runs
// held when it began. An error is a *DamageError or one of reading.
func (q *Queue) Sweep(
	from uint64, turn func(first *Pending) int, taken func(seq uint64) bool,
	fn func(key uint64, entries []Pending, left int) bool,
) (next uint64, ended bool, err error) {
	epoch := q.readEpoch(1)
	defer func() { q.swept(ended) }()
	runs := q.runs.newest(QueueRun)
	defer q.runs.release(runs)
	s := sweep{queueWalk: walkOf(runs, q.reader.swept.of(runs)), turn: turn, entries: q.reader.entries}
	defer func() { q.reader.entries = s.entries[:0] }()
	s.tell(q.soon)
	s.Seek(appendHostKey(nil, from))
	s.passes = func(seq uint64) bool { return taken(seq) || q.stale(seq, epoch) }
	s.step()
	for s.ok {
		key := s.key
		left := 0
		if mark := q.reader.positions.mark(key); mark != nil {
			left = s.gatherFrom(mark)
			s.seek(key)
		} else if s.gather() {
			left = s.leave(key)
		}
		if s.stopped {
			return key, false, nil
		}
		if s.failed != nil {
			break
		}
		if len(s.entries) > 0 && !fn(key, s.entries, left) {
			return key + 1, key == lastHostKey, nil
		}
	}
	return 0, s.failed == nil, s.failed
}

// sweep stands on an entry: ok, and its key.
type sweep struct {
	queueWalk
	cursors []*sortedrun.Cursor   // in the runs, for hosts that have a mark; nil: none had one yet
	passes  func(seq uint64) bool // such entries are passed over
	turn    func(first *Pending) int
	entries []Pending
	stopped bool

	ok     bool
	key    uint64
	at     orderKey
	failed error
}

// step goes on to the next entry.
func (s *sweep) step() {
	if s.ok = s.Next(); !s.ok {
		s.failed = s.err()
		return
	}
	var err error
	if s.key, s.at, err = parseQueueKey(s.Key()); err != nil {
		s.ok, s.failed = false, s.damage(err)
	}
}

// gather reads as many of the present host's entries as are wanted. more: it has others.
func (s *sweep) gather() (more bool) {
	s.entries = s.entries[:0]
	wanted := 1 // to ask how many are
	for key := s.key; s.ok && s.key == key; s.step() {
		if len(s.entries) == wanted {
			return true
		}
		if s.passes(s.at.seq) {
			continue
		}
		s.entries = append(s.entries, Pending{})
		if err := decodePending(s.at, s.Note(), s.Value(), &s.entries[len(s.entries)-1]); err != nil {
			s.ok, s.failed = false, s.damage(err)
			return false
		}
		if len(s.entries) > 1 {
			continue
		}
		if wanted = s.turn(&s.entries[0]); wanted <= 0 {
			s.entries, s.stopped = s.entries[:0], wanted == StopSweep
			return !s.stopped
		}
	}
	return false
}

// StopSweep is the turn of a host before which a sweep is to end.
const StopSweep = -1

// leave goes to the next host, and counts what it leaves. To pass over a few entries is less work than to seek in all runs.
func (s *sweep) leave(key uint64) (left int) {
	for range ManyLeft {
		if !s.passes(s.at.seq) {
			left++
		}
		if s.step(); !s.ok || s.key != key {
			return left
		}
	}
	s.seek(key)
	return ManyLeft
}

// seek goes to the first entry behind a host, unless the sweep has ended.
func (s *sweep) seek(key uint64) {
	if key == lastHostKey {
		s.ok = false
	}
	if !s.ok || s.stopped {
		return
	}
	s.Seek(appendHostKey(nil, key+1))
	s.step()
}

// ManyLeft is as many entries of a host as Sweep counts.
const ManyLeft = 512
