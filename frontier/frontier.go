// Package frontier owns what is due: which URL is asked for next, and when its host may be asked again.
//
// Its promise is politeness with nobody waiting. A host never has more than Config.HostConcurrency requests in flight,
// and between two of them lies at least its delay; retries, redirects and robots.txt fetches count like any other
// request. A fetcher waits for work in general, never for one host: hosts that are due are served in the order in
// which they came due, so that neither a slow host nor one with a hundred million URLs holds up another. Every task
// added is pending, leased or ended, and each lease is ended once.
//
// The price: one lock around it all, and memory for Config.MaxTasks tasks and Config.MaxHosts hosts, whatever the size of
// the crawl; of each further task one bit. What is pending beyond that waits with whoever calls Add, who must keep a copy
// of every task and bring it back when asked to. Operations take time logarithmic in the number of hosts in memory, but
// for the end of a sweep, Configure and Low. The package starts no goroutine and reads and writes nothing: what must
// outlive the process leaves by Changed and returns by Config.Lookup, Begin and MarkDone. A task leased when the process
// dies is not ended, so it is pending at the next start: its page may be asked for twice, and is never lost.
//
// # Tasks elsewhere
//
// Whoever calls Add keeps each task, and once more as it is when Retry has ended a lease on it. Wish says what of that is
// wanted in memory, and Refill brings it there. Hosts with many tasks are asked for by name; what all others have is found
// by sweeps, which go through all hosts and give each its turn. A host takes its tasks in their order, as far as what it
// met while they were elsewhere could be read. A new host is not preferred to those that wait for a sweep; one that may not
// be asked for long, or is given up, leaves its room to others when it is short. Where everything fits there is no wish,
// and nobody need listen for one.
//
// The caps are kept, but for one refill that was asked for by name and hosts that redirects lead to.
//
// # Hosts
//
// A host is what canon.URL.Host names: the name, and the port where it is not the scheme's default. The http and the
// https pages of a site share one queue. Before a page of a host is leased, its addresses must be known (a lease of
// kind Resolve asks for them) and then what its robots.txt says (a lease of kind Robots); both are asked again when
// their time to live is over. Addresses and rules belong to an origin, scheme, host and port.
//
// A host without work is remembered while it must not be asked, and beyond that while there is room
// (Config.MaxIdleHosts). Forgetting one loses no wait: only its rules and addresses, which are asked for again, and what is
// no part of its HostState.
//
// With Config.PerIP hosts share what is due to an address: its delay and its concurrency. Those that are due stand in its
// line, and are served in the order in which they came due.
//
// # Failures
//
// A host that fails backs off, for twice as long each time; Retry-After prevails where it is longer. A success ends the
// series. A host that fails Config.GiveUpAfter times in a row is given up: it leases nothing more and its tasks stay
// pending, counted as stranded. So every task ends in an outcome or is stranded.
package frontier

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"crawl/canon"
)

// Errors that callers branch on.
var (
	// ErrDrained says that nothing is leased, no intake is open, and nothing pending may still be asked for.
	ErrDrained = errors.New("frontier: drained")
	// ErrClosed says that the frontier hands out no more leases.
	ErrClosed = errors.New("frontier: closed")
	// ErrNotLeased says that a lease has ended already, or is not of the kind that is ended so.
	ErrNotLeased = errors.New("frontier: not leased")
)

// moment is a point in time as the time since the frontier was made. It follows the monotonic clock and is a third as
// large as a time.Time.
type moment = time.Duration

// Moments that no clock shows. They leave room for a delay to be added.
const (
	never   moment = -1 << 61 // before every moment
	forever moment = 1 << 61  // after every moment
)

// Frontier hands out leases on what is due. It is safe for concurrent use.
type Frontier struct {
	start time.Time // not written after New

	mu         sync.Mutex // guards all below
	cfg        Config
	hosts      map[string]*host
	overrides  *overrides
	numbers    numbers           // of all tasks: what is done may be asked by anyone
	ready      list[host, *host] // due, in the order in which they came due
	waiting    hostHeap          // due later
	idle       list[host, *host] // without work, in the order in which they lost it; may be forgotten once due
	addresses  *addresses        // nil without Config.PerIP; the pointer is not written after New
	open       openLeases
	ended      open                  // the lease that ended last
	waiters    list[waiter, *waiter] // callers of Lease, first come first
	spare      []*waiter             // waiters to be used again
	timer      *time.Timer           // ticks when the first waiting host comes due; any waiter takes the tick
	armed      moment                // when timer ticks; never where it need not
	elsewhere  elsewhere             // tasks that are not in memory
	rerouted   map[uint64]rerouted   // by number: tasks in memory that stand at another host than they were added for
	rulesRoom  rulesRoom             // for large rules
	rereads    rereads               // hosts of which a wish must begin anew
	leaving    map[string]*host      // hosts forgotten whose durable state is still to be collected
	changed    []*host               // hosts whose durable state changed since the last call of Changed
	unsaved    moment                // the latest moment until which one of them must not be asked
	askedWait  moment                // likewise, by its own word
	intakes    int
	paused     bool
	closed     bool
	counters   counters
	givenUpFor map[Reason]int // counters.givenUp, by the reason
	lines      spareLines
	adding     [64]*host // hosts of tasks that are being added
	total      totalRate
}

// New returns an empty frontier.
func New(cfg Config) (*Frontier, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	f := &Frontier{
		cfg:       cfg.resolved(),
		start:     time.Now(),
		hosts:     make(map[string]*host),
		leaving:   make(map[string]*host),
		elsewhere: elsewhere{wake: make(chan struct{}, 1), turn: maxTurn, returns: forever},
		rerouted:  make(map[uint64]rerouted),
		timer:     time.NewTimer(time.Duration(forever)),
		armed:     never,
		unsaved:   never,
		askedWait: never,
		total:     newTotalRate(cfg.MaxRate),
		lines:     newSpareLines(cfg.resolved().MaxTasks),
	}
	f.timer.Stop()
	if cfg.PerIP {
		f.addresses = &addresses{byIP: make(map[netip.Addr]*address)}
	}
	var err error
	f.overrides, err = compileOverrides(f.cfg.policy(), f.cfg.Overrides)
	return f, err
}

// Add makes tasks pending. Each has a URL, and no other pending or leased task has its Seq. A task that was attempted
// before, as one met again at start-up, comes to the head of its host's queue when its NotBefore is over.
func (f *Frontier) Add(tasks ...Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	for part := range slices.Chunk(tasks, len(f.adding)) {
		// The hosts are looked up all at once: they lie anywhere in memory, and so the processor waits for many together.
		for i := range part {
			f.adding[i] = f.hosts[part[i].URL.Host()]
		}
		for _, h := range f.adding[:len(part)] {
			h.prefetch()
		}
		for i := range part {
			h := f.adding[i]
			if h == nil || h.forgotten { // as it was before those that came before
				h = f.hosts[part[i].URL.Host()]
			}
			f.add(h, &part[i], now)
		}
	}
	clear(f.adding[:])
	f.dispatch(now)
}

// add makes a task pending. h is its host, nil where that is not in memory.
func (f *Frontier) add(h *host, t *Task, now moment) {
	f.numbers.clearDone(t.Seq)
	if !f.takes(h, t) {
		known := h != nil && h.backlog // and so it is asked for, as far as it can be
		f.decline(h)
		if h != nil && !known {
			f.schedule(h, now)
		}
		return
	}
	if h == nil {
		h = f.host(t.URL.Host())
	}
	if t.again() {
		f.pushAgain(h, *t, now)
		f.schedule(h, now)
	} else if f.push(h, *t, false) {
		f.schedule(h, now)
	}
}

// Intake keeps the frontier from being drained until release is called: for seeds still being read, or a server that
// may add some. Calls of release after the first do nothing.
func (f *Frontier) Intake() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.intakes++
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.intakes--
		f.dispatch(f.now())
	})
}

// Pause keeps Lease from handing out anything until Resume. Leases out are ended as usual.
func (f *Frontier) Pause() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = true
}

// Resume ends a pause.
func (f *Frontier) Resume() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = false
	f.dispatch(f.now())
}

// Paused reports whether the frontier is paused.
func (f *Frontier) Paused() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paused
}

// Close ends all waiting in Lease, now and later, with ErrClosed. Leases out may still be ended.
func (f *Frontier) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.timer.Stop()
	f.dispatch(f.now())
}

// drained reports whether Lease has nothing to wait for. A question about a robots.txt needs no count of its own: the
// task that raised it is pending until it is answered.
func (f *Frontier) drained() bool {
	return f.open.len() == 0 && f.intakes == 0 && f.counters.queued == f.counters.stranded && f.elsewhere.settled()
}

// push makes t pending in h, at the head of its queue or in its place by preference. It reports whether t comes next.
func (f *Frontier) push(h *host, t Task, head bool) (first bool) {
	f.count(h, t.Seq)
	return h.queue.push(t, head)
}

// count enters one more pending task of h.
func (f *Frontier) count(h *host, seq uint64) {
	f.numbers.hold(seq)
	f.counters.queued++
	if h.givenUp != "" {
		f.counters.stranded++
	}
}

// pushAgain makes a task pending that was tried before: at the head of h's queue, or aside until it may be tried again.
func (f *Frontier) pushAgain(h *host, t Task, now moment) {
	if f.moment(t.NotBefore) <= now {
		f.push(h, t, true)
		return
	}
	f.count(h, t.Seq)
	h.queue.putAside(t)
}

// now returns the present moment.
func (f *Frontier) now() moment { return time.Since(f.start) }

// moment turns a time into a moment.
func (f *Frontier) moment(t time.Time) moment { return min(max(t.Sub(f.start), never), forever) }

// time turns a moment into a time.
func (f *Frontier) time(m moment) time.Time { return f.start.Add(m) }

// later returns the moment d after now, which neither overflows nor lies before now.
func later(now moment, d time.Duration) moment { return now + min(max(d, 0), forever-now) }

// robotsURL returns where the rules of u's origin are asked for.
func robotsURL(u canon.URL) (canon.URL, error) { return canon.Parse(u.Origin() + "/robots.txt") }
