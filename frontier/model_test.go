package frontier

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crawl/canon"
)

// lagged is a value of which the one before the present moment is known as well: what happens in one moment of the
// bubble's clock has no order that a bystander could tell.
type lagged[T any] struct {
	value, before T
	at            time.Time
}

func (v *lagged[T]) set(value T, now time.Time) {
	if v.at.Before(now) {
		v.before = v.value
	}
	v.value, v.at = value, now
}

func (v *lagged[T]) earlier(now time.Time) T {
	if v.at.Before(now) {
		return v.value
	}
	return v.before
}

// modelHost is what is known of a host from outside: the leases on it and how they ended.
type modelHost struct {
	inFlight int
	until    lagged[time.Time]
	crawl    map[string]time.Duration // by origin
	pace     modelPace
	failing  bool // the last request did
	delay    lagged[time.Duration]
	shared   lagged[time.Duration] // with hosts on its address
	requests []*modelRequest       // in the order of their leases; those that were none are taken out
	pages    uint64                // records
}

type modelRequest struct {
	id         uint64
	host       *modelHost
	start, end time.Time     // end is zero while in flight
	delay      time.Duration // the least of the host's at the start and at the end
}

// modelAddress is what is known of an address that hosts share.
type modelAddress struct {
	inFlight int
	requests []*modelRequest
}

// model is an account of a crawl, kept by the fetchers and compared with what the frontier leases.
type model struct {
	t        *testing.T
	cfg      Config
	mu       sync.Mutex // guards all below
	hosts    map[string]*modelHost
	addrs    map[netip.Addr]*modelAddress
	added    map[uint64]bool
	ended    map[uint64]int
	held     map[uint64]bool      // leased tasks, by Seq
	aside    map[uint64]time.Time // when a task may be tried again, by Seq
	attempts map[uint64]int       // made at a task, by Seq; without those that were ever rerouted
	leases   int
	fails    int
	loose    bool // hosts are forgotten, and how they answered with them
}

func (m *model) host(name string) *modelHost {
	h := m.hosts[name]
	if h == nil {
		h = &modelHost{crawl: map[string]time.Duration{}}
		h.delay.value, h.shared.value = m.cfg.HostDelay, m.cfg.HostDelay
		m.hosts[name] = h
	}
	return h
}

// hostOf returns the host that l is a lease on.
func (m *model) hostOf(l Lease) *modelHost {
	if l.RobotsOverdue { // URL is where no answer came from
		return m.host(strings.SplitN(l.Origin, "://", 2)[1])
	}
	return m.host(l.URL.Host())
}

func (m *model) failf(format string, args ...any) {
	if m.fails++; m.fails <= 20 {
		m.t.Errorf(format, args...)
	}
}

// leased books a lease and says whether it is one that may be.
func (m *model) leased(l Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leases++
	if l.Kind == Resolve {
		return
	}
	now, h := l.LeasedAt, m.hostOf(l)
	if !now.Equal(time.Now()) {
		m.failf("%s %s: leased at %v and received at %v", l.Kind, l.URL, now, time.Now())
	}
	if h.inFlight++; h.inFlight > m.cfg.HostConcurrency {
		m.failf("%s %s: %d in flight", l.Kind, l.URL, h.inFlight)
	}
	if l.Kind == Page {
		if !m.added[l.Seq] || m.held[l.Seq] || m.ended[l.Seq] > 0 {
			m.failf("page %s: task %d added %t, leased %t, ended %d times", l.URL, l.Seq, m.added[l.Seq], m.held[l.Seq], m.ended[l.Seq])
		}
		m.held[l.Seq] = true
		if want, known := m.attempts[l.Seq]; known && want != l.Attempt {
			m.failf("page %s: attempt %d, want %d", l.URL, l.Attempt, want)
		}
	}
	if !l.RobotsOverdue {
		m.checkWait(l, h, now)
	}
	if due := m.aside[l.Seq]; l.Kind == Page && now.Before(due) {
		m.failf("%s %s: leased %v before it may be tried again", l.Kind, l.URL, due.Sub(now))
	}
	if !l.RobotsOverdue && l.ResolveErr == nil {
		r := &modelRequest{id: l.id, host: h, start: now, delay: least(h.shared, now)}
		if a := m.address(l); a != nil {
			m.checkAddress(l, h, a, now)
			a.inFlight++
			a.requests = append(a.requests, r)
		}
		h.requests = append(h.requests, r)
	}
}

// address returns that of a request; nil where hosts share none.
func (m *model) address(l Lease) *modelAddress {
	if !m.cfg.PerIP || len(l.Addrs) == 0 || l.RobotsOverdue || l.ResolveErr != nil {
		return nil
	}
	ip := l.Addrs[0].Addr()
	if m.addrs[ip] == nil {
		m.addrs[ip] = &modelAddress{}
	}
	return m.addrs[ip]
}

// checkAddress compares a request of h with those that other hosts made of its address.
func (m *model) checkAddress(l Lease, h *modelHost, a *modelAddress, now time.Time) {
	if a.inFlight >= m.cfg.HostConcurrency {
		m.failf("%s %s: %d more in flight to %s", l.Kind, l.URL, a.inFlight, l.Addrs[0])
	}
	r := latest(a.requests, now)
	if r == nil {
		return
	}
	delay := max(least(h.shared, now), min(least(r.host.shared, now), r.delay)) // what grew in between may be known too late
	if gap := now.Sub(r.start); gap < delay {
		m.failf("%s %s: leased %v after another at %s, want %v", l.Kind, l.URL, gap, l.Addrs[0], delay)
	}
	if gap := now.Sub(r.end); !r.end.IsZero() && r.end.Before(now) && gap < delay {
		m.failf("%s %s: leased %v after the end of the last at %s, want %v", l.Kind, l.URL, gap, l.Addrs[0], delay)
	}
}

// latest returns the request leased last before now; nil for none, and where several were in one moment.
func latest(requests []*modelRequest, now time.Time) (last *modelRequest) {
	for _, r := range slices.Backward(requests) {
		switch {
		case !r.start.Before(now):
		case last == nil:
			last = r
		case r.start.Equal(last.start):
			return nil
		default:
			return last
		}
	}
	return last
}

// least is the least that a delay can be now.
func least(delay lagged[time.Duration], now time.Time) time.Duration {
	return min(delay.value, delay.earlier(now))
}

// checkWait compares a lease with all that happened before its moment.
func (m *model) checkWait(l Lease, h *modelHost, now time.Time) {
	if until := h.until.earlier(now); now.Before(until) {
		m.failf("%s %s: leased %v before the back-off ends", l.Kind, l.URL, until.Sub(now))
	}
	delay := least(h.delay, now)
	for _, r := range h.requests {
		if gap := now.Sub(r.start); r.start.Before(now) && gap < delay {
			m.failf("%s %s: leased %v after another, want %v", l.Kind, l.URL, gap, delay)
		}
	}
	if r := latest(h.requests, now); r != nil && !r.end.IsZero() && r.end.Before(now) && now.Sub(r.end) < delay {
		m.failf("%s %s: leased %v after the end of the last, want %v", l.Kind, l.URL, now.Sub(r.end), delay)
	}
}

// settle books the end of a request, before the frontier hears of it.
func (m *model) settle(l Lease, o Outcome, wait time.Duration) {
	if o.Requested {
		h := m.hostOf(l)
		m.heed(h, l.Kind, o)
		h.setDelay(m.cfg, time.Now())
	}
	m.requestEnded(l, o, wait)
}

// requestEnded is settle for a request that said nothing of its host.
func (m *model) requestEnded(l Lease, o Outcome, wait time.Duration) {
	now, h := time.Now(), m.hostOf(l)
	h.inFlight--
	h.requests = endRequest(h.requests, l, o, now)
	if a := m.address(l); a != nil {
		a.inFlight--
		a.requests = endRequest(a.requests, l, o, now)
	}
	until := h.until.value
	for _, d := range []time.Duration{min(o.RetryAfter, m.cfg.MaxRetryAfter), wait} {
		if t := now.Add(d); d > 0 && t.After(until) {
			until = t
		}
	}
	if t := now.Add(m.cfg.BackoffBase); o.Failed && t.After(until) { // at least; the series is tested elsewhere
		until = t
	}
	h.until.set(until, now)
}

// endRequest notes the end of l among requests, of which it returns those that still tell something.
func endRequest(requests []*modelRequest, l Lease, o Outcome, now time.Time) (kept []*modelRequest) {
	for i, r := range requests {
		if r.id == l.id && o.Requested {
			r.end, r.delay = now, min(r.delay, r.host.shared.value)
		}
		mine := r.id == l.id && !o.Requested
		if !mine && (r.end.IsZero() || i >= len(requests)-20) {
			kept = append(kept, r)
		}
	}
	return kept
}

func (h *modelHost) setDelay(cfg Config, now time.Time) {
	h.delay.set(h.heeded(cfg, h.full(cfg)), now)
	h.shared.set(h.heeded(cfg, cfg.HostDelay), now)
}

func (h *modelHost) heeded(cfg Config, d time.Duration) time.Duration {
	d = max(d, time.Duration(float64(d)/h.pace.rate()))
	if cfg.HostDelay > 0 {
		d = max(d, time.Duration(cfg.DelayFactor*h.pace.smooth*float64(time.Second)))
	}
	return d - d/1e6 // the model reckons in seconds
}

// full is the delay that was asked for.
func (h *modelHost) full(cfg Config) time.Duration {
	d := cfg.HostDelay
	for _, c := range h.crawl {
		d = max(d, min(c, cfg.MaxCrawlDelay))
	}
	return d
}

// modelPace is how a host answers, in seconds and as a part of the full rate.
type modelPace struct {
	smooth, usual float64
	n             int
	lost          float64 // of the full rate
}

func (p *modelPace) rate() float64 { return 1 - p.lost }

// heed: half of the rate is lost with a first failure, an eighth with a slow page, a 64th of all comes back with each
// other page. With several requests in flight, or hosts that are forgotten, only the full delay is sure.
func (m *model) heed(h *modelHost, kind Kind, o Outcome) {
	failed := h.failing
	if o.Failed || kind == Page {
		h.failing = o.Failed
	}
	if m.loose || m.cfg.HostConcurrency > 1 {
		return
	}
	p, took, full := &h.pace, o.Took.Seconds(), h.full(m.cfg)
	slow := p.n >= 8 && took > 2*p.usual && took-p.usual >= 0.2 && m.cfg.HostDelay > 0 && m.cfg.DelayFactor > 0
	lose := func(part float64) {
		if full > 0 {
			// The frontier has the rate in 64 parts.
			p.lost = 1 - max(math.Floor(64*p.rate()*(1-part)), 4)/64
		}
	}
	switch {
	case o.Failed && !failed:
		lose(0.5)
	case o.Failed:
	case kind == Robots && p.n == 0:
		p.smooth = took
	case kind == Robots:
	default:
		if p.n++; p.n == 1 {
			p.smooth, p.usual = took, took
		} else {
			p.smooth = min((p.smooth+took)/2, 2*max(p.smooth, full.Seconds()))
			p.usual += (took - p.usual) / float64(min(p.n, 32))
		}
		if slow {
			lose(0.125)
		} else {
			p.lost = max(p.lost-1./64, 0)
		}
	}
}

// walk is one random crawl.
type walk struct {
	*model
	f        *Frontier
	pile     *pile // of what is elsewhere; nil where all fits into memory
	hosts    int
	limit    uint64     // tasks
	seq      uint64     // the last one's
	statesMu sync.Mutex // guards states
	states   map[string]HostState
	calm     bool // requests do not fail, and nothing is added
}

func newWalk(t *testing.T, cfg Config) *walk {
	return &walk{hosts: 25, limit: 600, states: map[string]HostState{}, model: &model{
		t: t, cfg: cfg.resolved(), hosts: map[string]*modelHost{}, addrs: map[netip.Addr]*modelAddress{}, added: map[uint64]bool{},
		ended: map[uint64]int{}, held: map[uint64]bool{}, aside: map[uint64]time.Time{}, attempts: map[uint64]int{},
	}}
}

func (w *walk) url(rng *rand.Rand) canon.URL {
	scheme := []string{"http", "https"}[rng.IntN(2)]
	host := rng.IntN(w.hosts)
	if w.pile != nil { // some have most
		host = rng.IntN(host + 1)
	}
	u, err := canon.Parse(fmt.Sprintf("%s://%d.example/%d", scheme, host, rng.IntN(1000)))
	if err != nil {
		w.t.Error(err)
	}
	return u
}

// links adds tasks, as a committer does before it ends the lease of the page that led to them.
func (w *walk) links(rng *rand.Rand, n int) {
	w.mu.Lock()
	var tasks []Task
	for range n {
		if w.seq == w.limit {
			break
		}
		w.seq++
		w.added[w.seq] = true
		t := Task{URL: w.url(rng), Seq: w.seq, Class: Class(rng.IntN(5)), Depth: rng.IntN(3)}
		if rng.IntN(20) == 0 {
			t.Attempt, t.NotBefore = 1, time.Now().Add(time.Duration(rng.IntN(9000))*time.Millisecond)
		}
		w.attempts[t.Seq] = t.Attempt
		tasks = append(tasks, t)
	}
	w.mu.Unlock()
	if w.pile != nil {
		w.pile.add(tasks...)
		return
	}
	w.f.Add(tasks...)
}

// retry ends a page lease with Retry.
func (w *walk) retry(l Lease, wait time.Duration, o Outcome) error {
	if w.pile != nil {
		return w.pile.retry(l, wait, o)
	}
	return w.f.Retry(l, wait, o)
}

func (w *walk) fetcher(rng *rand.Rand) {
	for {
		l, err := w.f.Lease(w.t.Context())
		if errors.Is(err, ErrDrained) {
			return
		}
		if err != nil {
			w.t.Error(err)
			return
		}
		w.leased(l)
		start := time.Now()
		wait(time.Duration(1 + rng.Int64N(int64(2*time.Second)))) // to the nanosecond: no two end in one moment
		took := time.Since(start)
		switch l.Kind {
		case Resolve:
			err = w.resolve(rng, l)
		case Robots:
			err = w.robots(rng, l, took)
		case Page:
			err = w.page(rng, l, took)
		}
		if err != nil {
			w.t.Error(err)
		}
		if err := w.f.Check(); err != nil && w.fails < 20 {
			w.t.Error(err)
			w.fails++
		}
	}
}

func ttl(rng *rand.Rand) time.Duration {
	return []time.Duration{0, 5 * time.Second, time.Minute, time.Hour}[rng.IntN(4)]
}

func (w *walk) resolve(rng *rand.Rand, l Lease) error {
	switch n := rng.IntN(10); {
	case n == 0:
		return w.f.Return(l)
	case n == 1 && !w.calm:
		return w.f.ResolveFailed(l, errNoSuchHost, ttl(rng))
	}
	// A third of the hosts share an address; now and then one moves.
	last := byte((l.URL.Host()[0] + byte(rng.IntN(8)/7)) % 3)
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, last}), 80)
	return w.f.Resolved(l, []netip.AddrPort{addr}, ttl(rng))
}

func (w *walk) outcome(rng *rand.Rand, took time.Duration) Outcome {
	o := Outcome{Requested: true, Took: took}
	if !w.calm && rng.IntN(8) == 0 {
		o.Failed = true
		if rng.IntN(3) == 0 {
			o.RetryAfter = time.Duration(rng.IntN(20)) * time.Second
		}
	}
	return o
}

func (w *walk) robots(rng *rand.Rand, l Lease, took time.Duration) error {
	o := w.outcome(rng, took)
	if l.RobotsOverdue || l.ResolveErr != nil {
		o = Outcome{}
	}
	n := rng.IntN(10)
	w.mu.Lock()
	switch {
	case n == 0:
		w.settle(l, Outcome{}, 0)
		w.mu.Unlock()
		return w.f.Return(l)
	case n == 1 && o.Requested:
		delay := time.Duration(rng.IntN(5)) * time.Second
		w.settle(l, o, delay)
		w.mu.Unlock()
		return w.f.Retry(l, delay, o)
	case n == 2 && o.Requested && !l.Fresh:
		w.requestEnded(l, Outcome{Requested: true}, 0)
		w.mu.Unlock()
		return w.f.AskAgain(l)
	case n <= 4 && o.Requested && l.RobotsHop < MaxRobotsHops:
		to := w.url(rng)
		w.settle(l, o, 0)
		w.mu.Unlock()
		return w.f.RedirectRobots(l, to, o)
	}
	p := walkRules{crawlDelay(max(0, rng.IntN(10)-6)) * crawlDelay(time.Second), rng.Int64N(2 * largeRules)}
	h := w.host(strings.SplitN(l.Origin, "://", 2)[1])
	h.crawl[l.Origin] = time.Duration(p.crawlDelay)
	w.settle(l, o, 0)
	h.setDelay(w.cfg, time.Now())
	w.mu.Unlock()
	return w.f.Permit(l, p, ttl(rng), o)
}

// walkRules are large rules every other time.
type walkRules struct {
	crawlDelay
	size int64
}

func (r walkRules) Size() int64 { return r.size }

func (w *walk) page(rng *rand.Rand, l Lease, took time.Duration) error {
	o := w.outcome(rng, took)
	n := rng.IntN(20)
	if l.ResolveErr != nil {
		o = Outcome{Failed: !w.calm && rng.IntN(2) == 0}
	} else if n == 0 { // robots.txt forbids it
		o = Outcome{}
	}
	if n > 4 && !w.calm {
		w.links(rng, rng.IntN(4))
	}
	w.mu.Lock()
	delete(w.held, l.Seq)
	switch {
	case n == 1:
		w.settle(l, Outcome{}, 0)
		w.mu.Unlock()
		return w.f.Return(l)
	case n == 6 && o.Requested && !l.Fresh:
		w.requestEnded(l, Outcome{Requested: true}, 0)
		w.mu.Unlock()
		return w.f.AskAgain(l)
	case n <= 4 && l.Attempt < 3:
		delay := time.Duration(rng.IntN(5)) * time.Second
		if w.pile != nil && rng.IntN(4) == 0 {
			delay *= 100
		}
		w.settle(l, o, 0)
		if _, known := w.attempts[l.Seq]; known || w.pile == nil {
			w.attempts[l.Seq]++
			w.aside[l.Seq] = time.Now().Add(delay)
		}
		w.mu.Unlock()
		return w.retry(l, delay, o)
	case n == 5 && l.Reroutes < 5 && !w.calm:
		to := w.url(rng)
		w.settle(l, o, 0)
		if w.pile != nil { // an older copy may come back in its stead
			delete(w.attempts, l.Seq)
			delete(w.aside, l.Seq)
		}
		w.mu.Unlock()
		return w.f.Reroute(l, to, o)
	}
	w.settle(l, o, 0)
	w.ended[l.Seq]++
	w.record(l, &o)
	w.mu.Unlock()
	return w.f.Done(l, o)
}

// record has a page record come of l.
func (w *walk) record(l Lease, o *Outcome) {
	o.Recorded, o.Bytes = true, 100
	h := w.host(l.URL.Host())
	if h.pages++; w.cfg.MaxHostPages > 0 && h.pages > w.cfg.MaxHostPages {
		w.failf("page %s: record %d of its host", l.URL, h.pages)
	}
}

// meddle does what users and checkpoints do, until the crawl is over.
func (w *walk) meddle(rng *rand.Rand, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Duration(rng.IntN(4000)) * time.Millisecond):
		}
		host := fmt.Sprintf("%d.example", rng.IntN(w.hosts))
		switch rng.IntN(8) {
		case 0:
			w.f.Pause()
			wait(time.Duration(rng.IntN(3000)) * time.Millisecond)
			w.f.Resume()
		case 1:
			w.f.GiveUp(host, "dropped")
		case 2, 3, 4:
			w.f.Revive(host)
		default:
			w.collect()
			w.f.Stats()
		}
	}
}

// walks is more than 1 for a longer look.
var walks = flag.Int("walks", 1, "random walks of each kind")

// eachWalk runs walks of one kind, each with a seed of its own.
func eachWalk(t *testing.T, kind int, walk func(t *testing.T, seed uint64)) {
	for n := range *walks {
		t.Run(fmt.Sprintf("%d/%d", kind, n), func(t *testing.T) { walk(t, uint64(1000*n+kind)) })
	}
}

// collect keeps the durable states that changed.
func (w *walk) collect() {
	changed := w.f.Changed()
	w.statesMu.Lock()
	defer w.statesMu.Unlock()
	for _, s := range changed {
		w.states[s.Host] = s
	}
}

// lookup is for Config.Lookup.
func (w *walk) lookup(host string) (HostState, bool) {
	w.statesMu.Lock()
	defer w.statesMu.Unlock()
	return lookup(w.states)(host)
}

// run has 50 fetchers at work until there is no more, and somebody meddle.
func (w *walk) run(seed uint64) {
	var fetchers, meddler sync.WaitGroup
	over := make(chan struct{})
	if !w.calm {
		meddler.Go(func() { w.meddle(rand.New(rand.NewPCG(seed, 99)), over) })
	}
	for i := range 50 {
		fetchers.Go(func() { w.fetcher(rand.New(rand.NewPCG(seed, uint64(i+1)))) })
	}
	fetchers.Wait()
	close(over)
	meddler.Wait()
}

// TestRandomWalk has 50 fetchers do at random what fetchers do, and compares each lease with a model: never more in
// flight than allowed, every gap kept, every task ended once, or stranded.
func TestRandomWalk(t *testing.T) {
	for kind, cfg := range []Config{
		{},
		{HostDelay: None, GiveUpAfter: 4},
		{MaxIdleHosts: None, MaxCrawlDelay: None, DelayFactor: None}, // a host forgotten has no delay of its own
		{HostDelay: 500 * time.Millisecond, HostConcurrency: 3, DelayFactor: 2, RobotsDeadline: 3 * time.Second},
		{HostConcurrency: 2, MaxCrawlDelay: 2 * time.Second, GiveUpAfter: 3},
		{HostDelay: 100 * time.Millisecond, HostConcurrency: 8, IgnoreRobots: true},
		{HostDelay: 300 * time.Millisecond, PerIP: true, DelayFactor: None},
		{HostDelay: 100 * time.Millisecond, PerIP: true, HostConcurrency: 3, GiveUpAfter: 4},
		{HostDelay: None, PerIP: true, HostConcurrency: 2, MaxCrawlDelay: time.Second},
		{HostDelay: 200 * time.Millisecond, MaxRulesBytes: 5 * largeRules},
	} {
		eachWalk(t, kind, func(t *testing.T, seed uint64) {
			synctest.Test(t, func(t *testing.T) {
				w := newWalk(t, cfg)
				w.loose = cfg.MaxIdleHosts == None
				w.f = openFrontier(t, cfg)
				w.links(rand.New(rand.NewPCG(seed, 0)), 100)
				w.run(seed)
				s := w.f.Stats()
				if s.Queued != s.Stranded || len(w.ended)+s.Queued != len(w.added) || len(w.added) < 300 {
					t.Errorf("%d tasks added, %d ended, %d queued, %d stranded", len(w.added), len(w.ended), s.Queued, s.Stranded)
				}
				for seq, n := range w.ended {
					if n != 1 {
						t.Errorf("task %d ended %d times", seq, n)
					}
				}
				t.Logf("%d added, %d ended, %d stranded", len(w.added), len(w.ended), s.Stranded)
			})
		})
	}
}
