package store

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"crawl/sortedrun"
)

// Queue holds what is pending and not in the caller's memory: whole entries in queue runs, sorted by host and by the order
// in which the host takes them.
//
// Nothing is ever taken out of it. Whoever reads says which numbers are taken or done, and entries of numbers that are done
// fall away when runs are merged. The price is that readers pass over them until then. An entry that was added can be
// read as soon as a run holds it (Unwritten, Spill).
//
// What it holds can be remade from the two logs: Coverage says up to where a reopened queue need not be.
//
// It is safe for concurrent use: Add and Committed are the committer's, Host and Sweep one reader's each, and runs are
// made by Work.
type Queue struct {
	runs *runSet
	cfg  queueConfig
	queueHost

	spilling sync.Mutex // held while a memtable becomes a run, so that runs stand in the order of their age

	mu       sync.Mutex // guards all below
	active   *memtable  // filled by Add
	sealed   *memtable  // waits to be written; nil: none does
	spare    *memtable  // slots of one that became a run; nil: none
	waiting  int        // entries of sealed, which belongs to whoever writes it
	covered  Coverage   // by runs and memtables together
	spilled  Coverage   // by runs alone
	events   uint64     // the done log held so many when the queue was opened
	pending  uint64     // as SetPending said
	again    superseded
	compared uint64 // covered.Done when all runs were last merged into one
	sweeps   uint64 // that went through all hosts since

	superseded atomic.Int64 // numbers in again, for readers who do not hold mu

	reader queueReader
}

// queueHost is what a queue needs of the store that it belongs to.
type queueHost struct {
	done func(ctx context.Context, upto uint64) (doneBits, error) // at least of so many events, if they are in full blocks
	live func(seq uint64) bool                                    // what the caller knows to be done by now; nil: it does not say
	soon func(seq uint64)                                         // live is asked for it before long; nil: nobody wants to know
	fits func(in []RunInfo) bool                                  // the disk has room for their merge
	wake func()                                                   // a job became due
	fail func(error) error                                        // keeps the first error of a write, and returns it
}

// queueConfig has what tests make small.
type queueConfig struct {
	entries int    // a memtable is sealed at so many entries,
	bytes   int    // or so much memory,
	lag     uint64 // or so many events of the done log,
	again   int    // or so many numbers that became pending again, each of which a restart looks up in the log
	fanIn   int    // runs of one tier are merged when there are so many
	hosts   int    // positions are kept of so many hosts
	mark    int    // entries that a host's position moves by before it is marked anew
}

func newQueueConfig(c Config) queueConfig {
	return queueConfig{
		entries: c.QueueEntries, bytes: 64 << 20, lag: 1 << 20, again: 1 << 11, fanIn: 32, hosts: 4096, mark: 4096,
	}
}

// Coverage says how far the queue's runs reach: all that the first Admissions entries of the admission log and the first
// Done entries of the done log made pending is in them, or has become done since.
type Coverage struct {
	Admissions uint64 `json:"admissions"`
	Done       uint64 `json:"done"`
}

// doneBits tells which numbers are done.
type doneBits struct {
	test func(seq uint64) bool
	upto uint64 // as of so many events of the done log
}

// openQueue goes on with the queue of a checkpoint. Entries of runs that were found damaged are missing, so coverage falls
// back to before them: what is added again is in two runs then, and seen once.
func (s *Store) openQueue(cfg Config, p point) {
	covered := p.Queue
	for _, info := range s.runs.lost {
		if info.Kind == QueueRun {
			covered.Admissions = min(covered.Admissions, info.Admissions.After)
			covered.Done = min(covered.Done, info.Done.After)
		}
	}
	s.Queue = newQueue(s.runs, newQueueConfig(cfg), covered, p.Done.Entries)
	s.Queue.queueHost = queueHost{done: s.doneAsOf, fits: s.fits, wake: s.signal, fail: s.fail}
}

// IsDone has the queue ask isDone, at any time and from any goroutine, which numbers are done by now. It spares the entries
// of what was done soon after it was met their way to the disk. isDone may say so once the event is in the done log: a
// run that lacks an entry is named by a later checkpoint only, which holds the event. soon is told of many numbers before isDone
// is asked for them, and may have what that takes brought from memory. IsDone is called before Work.
func (q *Queue) IsDone(isDone func(seq uint64) bool, soon func(seq uint64)) {
	q.live, q.soon = isDone, soon
}

// doneAsOf returns a bitmap as late as upto, or as the last full block of the done log where that ends before.
func (s *Store) doneAsOf(ctx context.Context, upto uint64) (doneBits, error) {
	if live := s.Queue.live; live != nil {
		return doneBits{live, math.MaxUint64}, nil
	}
	upto = min(upto, s.Done.blocks.fullEntries())
	if upto == 0 {
		return doneBits{}, nil
	}
	b, events, err := s.ensureBits(ctx, upto)
	if b == nil || err != nil {
		return doneBits{}, err
	}
	return doneBits{b.Test, events}, nil
}

// newQueue returns a queue whose runs cover the logs so far. events is the length of the done log.
func newQueue(runs *runSet, cfg queueConfig, covered Coverage, events uint64) *Queue {
	return &Queue{
		runs: runs, cfg: cfg, reader: newQueueReader(),
		active:  &memtable{from: covered, upto: covered},
		covered: covered, spilled: covered, events: events,
		again: superseded{numbers: make(map[uint64]newest)},
	}
}

// Add notes a URL that became pending: newly admitted, or pending again, with another attempt and due time. Nothing of p
// is kept. Of a number that is added twice with the same host, class and depth the later entry counts.
func (q *Queue) Add(p *Pending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.active.add(p)
	if isAgain(p) {
		q.again.added(p.Seq, q.active)
		q.superseded.Store(int64(len(q.again.numbers)))
	}
}

// Committed says that a commit has ended and that all that the logs hold up to here was added, as far as it is pending.
// After opening a crawl the caller adds what is pending above Coverage, and may say how far it has come.
func (q *Queue) Committed(admissions, done uint64) {
	q.mu.Lock()
	q.covered = Coverage{admissions, done}
	q.active.settle(q.covered)
	due := q.sealed == nil && (q.isFull() || q.lags())
	if due && q.isFull() {
		q.seal()
	}
	q.mu.Unlock()
	if due {
		q.wake()
	}
}

// isFull reports whether the active memtable has come to its size. q.mu is held, as in all that follow.
func (q *Queue) isFull() bool {
	return q.active.len() >= q.cfg.entries || q.active.bytes >= q.cfg.bytes
}

// lags reports whether a restart would have to read so much of the done log again that a small run is better.
func (q *Queue) lags() bool {
	return q.active.settled > 0 &&
		(q.covered.Done-q.active.from.Done >= q.cfg.lag || q.active.settledAgain >= q.cfg.again)
}

// seal makes what was committed wait to be written.
func (q *Queue) seal() {
	q.sealed = q.active
	q.active, q.spare = q.spare, nil
	if q.active == nil {
		q.active = &memtable{}
	}
	q.sealed.splitInto(q.active)
	q.again.moved(q.sealed, q.active)
	q.waiting = q.sealed.len()
}

// Full reports whether as much waits to be written as memory is meant for. The committer then lets Work run before it
// goes on.
func (q *Queue) Full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sealed != nil && q.isFull()
}

// Unwritten returns the number of entries that no run holds yet.
func (q *Queue) Unwritten() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.active.len() + q.waiting
}

// SetPending says how many URLs are pending in all: runs that hold many more entries are worth merging.
func (q *Queue) SetPending(n uint64) {
	q.mu.Lock()
	q.pending = n
	q.mu.Unlock()
}

// Coverage says which part of the logs the queue's runs stand for. It never leads the runs: one that is installed
// afterwards only adds to what it says.
func (q *Queue) Coverage() Coverage {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sealed == nil && q.active.settled == 0 {
		return q.covered
	}
	return q.spilled
}

// Spill writes what was added and committed into runs now. An error of the disk is a *WriteError, and final.
func (q *Queue) Spill(ctx context.Context) error { return q.spillWith(ctx, spillOptions) }

func (q *Queue) spillWith(ctx context.Context, o sortedrun.Options) error {
	q.spilling.Lock()
	defer q.spilling.Unlock()
	if err := q.writeSealed(ctx, o); err != nil {
		return err
	}
	q.mu.Lock()
	if q.active.settled > 0 && q.sealed == nil {
		q.seal()
	}
	q.mu.Unlock()
	return q.writeSealed(ctx, o)
}

// writeSealed makes a run of the memtable that waits, if one does. q.spilling is held.
func (q *Queue) writeSealed(ctx context.Context, o sortedrun.Options) error {
	q.mu.Lock()
	m := q.sealed
	q.mu.Unlock()
	if m == nil {
		return nil
	}
	m.sort()
	info := RunInfo{
		Kind:       QueueRun,
		Admissions: Span{m.from.Admissions, m.upto.Admissions},
		Done:       Span{m.from.Done, max(m.upto.Done, q.events)},
	}
	out, err := q.runs.build(info, o, func(w *sortedrun.Writer) error { return m.write(ctx, w, q.live) })
	if _, failed := errors.AsType[*WriteError](err); failed {
		return q.fail(err)
	}
	if err != nil {
		return err
	}
	if out.Entries == 0 {
		if err := q.runs.discard(out); err != nil {
			return q.fail(err)
		}
		out = nil
	}
	q.reader.reading.Lock() // Host either sees the run, or knows that a newer entry is to come
	defer q.reader.reading.Unlock()
	if out != nil {
		q.runs.replace(out, nil)
		q.wake() // for the merge that may be due: a slow crawl spills small runs for hours before a full block wakes Work
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sealed, q.waiting, q.spilled = nil, 0, m.upto
	q.again.spilled(m)
	q.superseded.Store(int64(len(q.again.numbers)))
	q.spare = m.recycle(q.cfg.entries)
	return nil
}

// spillOptions: what is spilled is read more than once before long, and merged. Packed it would take a third of the space
// and three times the work.
var spillOptions = sortedrun.Options{}

// write adds the sorted entries to a run, but for those that are done by now.
func (m *memtable) write(ctx context.Context, w *sortedrun.Writer, done func(seq uint64) bool) error {
	var key [maxQueueKey]byte
	var passed [touchAhead]bool
	for i, s := range m.slots {
		if i%touchAhead == 0 {
			m.look(i, done, &passed)
		}
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if passed[i%touchAhead] {
			continue
		}
		note, text := m.entry(s)
		if err := w.AddNoted(appendQueueKey(key[:0], s.host, s.orderKey), note, text); err != nil {
			return err
		}
	}
	return nil
}

// touchAhead is how many entries the processor is had to bring from memory at once, where they lie in the order in which they
// were added: it waits for many together, if they are asked for in a row.
const touchAhead = 32

// look asks which of the entries from slot i on are done, and reads a little of each.
func (m *memtable) look(i int, done func(seq uint64) bool, passed *[touchAhead]bool) {
	ahead := m.slots[i:min(i+touchAhead, len(m.slots))]
	for n, s := range ahead {
		passed[n] = done != nil && done(s.seq)
	}
	for _, s := range ahead {
		b := m.encoded(s)
		m.touched += b[0] + b[len(b)-1]
	}
}

// checkEvery is how many entries are written between two looks at the context.
const checkEvery = 4096
