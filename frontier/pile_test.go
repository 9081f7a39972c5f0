package frontier

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pile keeps a copy of every task, as whoever fills a frontier must, and grants the frontier's wishes from it.
type pile struct {
	t *testing.T
	f *Frontier

	mu        sync.Mutex // guards all below; held while a wish is granted
	tasks     map[string]map[uint64]Task
	passed    map[string]map[uint64]bool // by a reading by name
	unwritten []Task
	sweepAt   string // host at which the sweep under way goes on
	begun     uint64
	atOnce    int // hosts that a sweep passes for one wish

	sweeps, named, granted int

	read func(host string) // is called when a host was read by name, before Refill; nil: nothing is
}

func newPile(t *testing.T, cfg Config) *pile {
	return &pile{
		t: t, f: openFrontier(t, cfg), tasks: map[string]map[uint64]Task{}, passed: map[string]map[uint64]bool{}, atOnce: 1 << 30,
	}
}

func (p *pile) add(tasks ...Task) {
	p.put(tasks...)
	p.f.Add(tasks...)
}

// put keeps copies of tasks, which replace older ones.
func (p *pile) put(tasks ...Task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unwritten = append(p.unwritten, tasks...)
}

// retry ends a lease with Retry, and keeps what becomes of its task.
func (p *pile) retry(l Lease, wait time.Duration, o Outcome) error {
	again := l.Task
	again.Attempt++
	again.NotBefore = time.Now().Add(wait)
	p.put(again)
	return p.f.Retry(l, wait, o)
}

// write makes readable what is not yet.
func (p *pile) write() (round uint64) {
	round = p.f.Cut()
	for _, t := range p.unwritten {
		host := t.URL.Host()
		if p.tasks[host] == nil {
			p.tasks[host], p.passed[host] = map[uint64]Task{}, map[uint64]bool{}
		}
		p.tasks[host][t.Seq] = t
		delete(p.passed[host], t.Seq) // another run has it
	}
	p.unwritten = nil
	p.f.Written(round)
	return round
}

// pending returns the tasks of a host that are not done, in order, without older copies of tasks of which there is one that
// cannot be read yet.
func (p *pile) pending(host string) (tasks []Task) {
	stale := map[uint64]bool{}
	for _, t := range p.unwritten {
		stale[t.Seq] = true
	}
	for seq, t := range p.tasks[host] {
		if p.f.IsDone(seq) {
			delete(p.tasks[host], seq)
		} else if !stale[seq] {
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(tasks, func(a, b Task) int { return a.order().compare(b.order()) })
	return tasks
}

// grant grants all wishes that there are.
func (p *pile) grant() {
	p.t.Helper()
	for range 10_000 {
		if !p.grantOne() {
			return
		}
	}
	panic("wishes without end: " + p.f.dump())
}

func (p *pile) grantOne() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, ok := p.f.Wish()
	if !ok {
		return false
	}
	p.granted++
	switch {
	case w.Write:
		p.write()
	case w.Host != "":
		p.refill(w)
	default:
		p.sweep(w)
	}
	return true
}

// refills returns how many wishes for one host were granted.
func (p *pile) refills() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.named
}

// refill goes on with the reading of one host.
func (p *pile) refill(w Wish) {
	p.named++
	if w.Rewind {
		clear(p.passed[w.Host])
	}
	var tasks []Task
	left := 0
	for _, t := range p.pending(w.Host) {
		switch {
		case p.passed[w.Host][t.Seq]:
		case len(tasks) < w.Max:
			tasks = append(tasks, t)
			p.passed[w.Host][t.Seq] = true
		default:
			left++
		}
	}
	if p.read != nil {
		p.read(w.Host)
	}
	if !p.f.Refill(w.Host, tasks, left) {
		clear(p.passed[w.Host])
	}
}

// sweep goes on with the sweep under way, at each host from its first task.
func (p *pile) sweep(w Wish) {
	if w.Begin {
		p.begun, p.sweepAt = p.write(), ""
		p.f.BeginSweep()
		p.sweeps++
	}
	hosts := 0
	for _, host := range slices.Sorted(maps.Keys(p.tasks)) {
		if host < p.sweepAt {
			continue
		}
		p.sweepAt = host
		if hosts++; hosts > p.atOnce {
			return
		}
		tasks := p.pending(host)
		if len(tasks) == 0 {
			continue
		}
		turn := min(p.f.Room(host), w.Max, len(tasks))
		if turn < 0 {
			return
		}
		if turn > 0 && !p.f.Refill(host, tasks[:turn], min(len(tasks)-turn, largeHost)) {
			return
		}
	}
	p.f.EndSweep(p.begun)
}

// grantAll grants wishes as they come, until done.
func (p *pile) grantAll(done <-chan struct{}) {
	for {
		select {
		case <-p.f.Wishes():
			p.grant()
		case <-done:
			return
		}
	}
}

// crawl leases and ends tasks until the frontier is drained, while wishes are granted. Hosts have the given addresses, or
// none.
func (p *pile) crawl(end func(l Lease), addrs ...func(l Lease) []netip.AddrPort) {
	p.t.Helper()
	done := make(chan struct{})
	defer close(done)
	go p.grantAll(done)
	for step := 0; ; step++ {
		synctest.Wait()
		if s := p.f.Stats(); s.Queued-s.Elsewhere < 100 || step%100 == 0 { // Check looks at every task
			check(p.t, p.f)
		}
		l, err := p.f.Lease(p.t.Context())
		if err == ErrDrained {
			return
		}
		if err != nil {
			p.t.Fatal(err)
		}
		switch l.Kind {
		case Resolve:
			var at []netip.AddrPort
			for _, of := range addrs {
				at = of(l)
			}
			must(p.t, p.f.Resolved(l, at, year))
		case Robots:
			must(p.t, p.f.Permit(l, nil, year, answered))
		case Page:
			end(l)
		}
	}
}
