package crawler

import (
	"fmt"
	"slices"
	"time"

	"crawl/canon"
	"crawl/fetch"
)

// simGuard is what a host has been through in one process.
type simGuard struct {
	*simHost
	inFlight int
	begun    time.Time
	ended    time.Time
	took     time.Duration // its smoothed response time, at least
	pages    int           // that were answered
	lost     int           // of 64 parts of its rate, at least
	fails    int
	failing  bool // the last request did
	hold     time.Time
	delay    time.Duration // Crawl-delay in force
	kept     time.Duration // Crawl-delay that a checkpoint holds
	rules    map[string]*simRules
	fresh    map[string]bool // URLs that are admitted, and were not asked for
	since    time.Time       // it has had some since then
}

// simPlace is what an address that hosts share has been through in one process.
type simPlace struct {
	inFlight int
	ended    time.Time
}

// simRules is what is known of an origin's robots.txt.
type simRules struct {
	until  time.Time
	unused bool
}

// breaks notes a promise that was not kept.
func (f *simFetcher) breaks(format string, args ...any) {
	if len(f.broken) < 20 {
		f.broken = append(f.broken, fmt.Errorf("at %v: %w", time.Since(simStart), fmt.Errorf(format, args...)))
	}
}

func (f *simFetcher) guard(name string) *simGuard {
	g := f.hosts[name]
	if g == nil {
		h := f.web.byKey[name]
		if h == nil {
			h = &simHost{name: name}
		}
		g = &simGuard{simHost: h, rules: make(map[string]*simRules), fresh: make(map[string]bool)}
		f.hosts[name] = g
	}
	return g
}

// recall tells the guards what the checkpoint that the process goes on from must have kept.
func (f *simFetcher) recall() {
	for _, h := range f.past.holds {
		g := f.guard(h.host)
		g.kept = max(g.kept, h.delay)
		if h.until.After(g.hold) {
			g.hold = h.until
		}
	}
}

func (f *simFetcher) slots(g *simGuard) int {
	if g.wide {
		return simWideSlots
	}
	return 1
}

// gap is the least time that must be between two requests to a host.
func (f *simFetcher) gap(g *simGuard) time.Duration {
	if g.wide {
		return max(simWideDelay, g.delay) // with several in flight, which response time counts is not told
	}
	full := max(f.delay, g.delay)
	return max(full*64/time.Duration(64-g.lost), g.took)
}

// heed is how a host's pace follows its answers, as far as the crawl may not forget it: a host that has nothing to be asked
// for may be forgotten, and is judged by its next answers as a new one.
func (f *simFetcher) heed(g *simGuard, robots, failed bool, r simReply) {
	was := g.failing
	if failed || !robots {
		g.failing = failed
	}
	switch {
	case g.wide:
	case failed && !was:
		g.lost = 64 - max((64-g.lost)/2, 4)
	case failed:
	case robots && g.pages == 0:
		g.took = r.latency
	case robots:
		g.took = min(g.took, r.latency)
	case g.pages == 0:
		g.pages, g.took = 1, r.latency
	default:
		g.took = min(r.latency, (g.took+r.latency)/2, 2*max(g.took, f.delay))
	}
	if !failed && !robots {
		g.lost = max(0, g.lost-1)
	}
}

// judgePlace: is it the turn of this host's address?
func (f *simFetcher) judgePlace(g *simGuard, u canon.URL, now time.Time) {
	at := f.place(g)
	if at.inFlight > 0 {
		f.breaks("%s is asked with %d requests in flight to its address", u, at.inFlight)
	}
	if gap := now.Sub(at.ended); gap < f.delay {
		f.breaks("%s is asked %v after another host at its address", u, gap)
	}
	at.inFlight++
}

func (f *simFetcher) place(g *simGuard) *simPlace {
	address := f.web.address(g.simHost)
	if f.places[address] == nil {
		f.places[address] = &simPlace{}
	}
	return f.places[address]
}

// judge: is it this host's turn?
func (f *simFetcher) judge(g *simGuard, r fetch.Request, now time.Time) {
	if want := f.web.address(g.simHost); len(r.Addrs) != 1 || r.Addrs[0] != want {
		f.breaks("%s is asked at %v, its address is %v", r.URL, r.Addrs, want)
	}
	slots, gap := f.slots(g), f.gap(g)
	if g.inFlight >= slots {
		f.breaks("%s is asked with %d requests in flight to its host", r.URL, g.inFlight)
	}
	ready := g.ended.Add(gap)
	if slots > 1 && (g.inFlight > 0 || g.ended.Equal(now)) { // of an answer of this moment the crawl need not know yet
		ready = g.begun.Add(gap)
	}
	if g.begun.IsZero() {
		ready = time.Time{}
	}
	if now.Before(ready) {
		f.breaks("%s is asked %v too early: its delay is %v", r.URL, ready.Sub(now), gap)
	}
	if f.paused {
		f.breaks("%s is asked in a pause", r.URL)
	}
	if f.giveUp > 0 && g.fails >= f.giveUp {
		f.breaks("%s is asked after %d failures in a row", r.URL, g.fails)
	}
	if now.Before(g.hold) {
		f.breaks("%s is asked %v before its back-off or Retry-After is over", r.URL, g.hold.Sub(now))
	}
	first := f.opened
	if f.resumed {
		first = f.opened.Add(max(gap, g.kept))
	}
	if now.Before(first) {
		f.breaks("%s is asked %v after the start, its delay is %v", r.URL, now.Sub(f.opened), first.Sub(f.opened))
	}
	f.measure(g, r.URL, now, latest(ready, g.hold, first))
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// measure notes for how long a host that was due, and had a URL that nothing held up, was left waiting.
func (f *simFetcher) measure(g *simGuard, u canon.URL, now, ready time.Time) {
	if len(g.fresh) == 0 || g.since.IsZero() || g.robots > robotsRules { // what others say of it may take its time
		return
	}
	if wait := now.Sub(latest(ready, g.since)); wait > f.stats.starved {
		f.stats.starved, f.stats.starvedHost = wait, g.name
	}
}

// judgeURL: may this URL be asked for at all?
func (f *simFetcher) judgeURL(g *simGuard, s simURL, u canon.URL, now time.Time) {
	if u.Path() == "/robots.txt" || u.Path() == "/shared.txt" {
		return
	}
	if f.past.done[u.Key()] {
		f.breaks("%s is asked for once more, it is done", u)
	}
	delete(g.fresh, u.Key())
	rules := g.rules[s.origin]
	switch {
	case rules == nil:
		f.breaks("%s is asked for before its robots.txt was answered", u)
	case !rules.unused && now.After(rules.until):
		f.breaks("%s is asked for by a robots.txt that is %v too old", u, now.Sub(rules.until))
	case s.kind != "" && s.denies():
		f.breaks("%s is asked for, robots.txt forbids it", u)
	default:
		rules.unused = false
	}
}

// leave is the moment at which an answer is there, or there will be none.
func (f *simFetcher) leave(s simURL, u canon.URL, r simReply, aborted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, g := time.Now(), f.guard(u.Host())
	g.inFlight--
	if f.web.share > 0 {
		at := f.place(g)
		at.inFlight--
		at.ended = now
	}
	if aborted { // as if it had not been leased: only what a next process is to keep counts
		return
	}
	g.ended = now
	robots := u.Path() == "/robots.txt" || u.Path() == "/shared.txt"
	failed := r.err != nil || r.status == 429 || r.status == 503 || robots && r.status >= 500
	f.heed(g, robots, failed, r)
	var hold time.Time
	switch {
	case failed:
		g.fails++
		if g.wide { // of two answers at one moment, which came first is not told
			g.fails = 1
		}
		hold = now.Add(min(simBackoff<<min(g.fails-1, 20), simBackoffMax))
	case !robots:
		g.fails = 0
	}
	if r.retryAfter > 0 {
		hold = latest(hold, now.Add(r.retryAfter))
	}
	if hold.After(g.hold) {
		g.hold = hold
		f.past.holds = append(f.past.holds, simHold{host: g.name, at: now, until: hold})
	}
	if robots {
		f.learn(g, s.origin, u, r, now)
	}
}

// The back-off that the crawls of simulations are configured with.
const (
	simBackoff    = 2 * time.Second
	simBackoffMax = 10 * time.Minute
	simRobotsTTL  = 24 * time.Hour
)

// learn notes a robots.txt that is answered for good. One that never is lets no page through.
func (f *simFetcher) learn(g *simGuard, origin string, u canon.URL, r simReply, now time.Time) {
	known := func(origin string) {
		host, _ := canon.Parse(origin + "/")
		f.guard(host.Host()).rules[origin] = &simRules{until: now.Add(simRobotsTTL), unused: true}
	}
	switch {
	case r.err != nil || r.status >= 500:
	case u.Path() == "/shared.txt":
		for _, origin := range f.shared {
			known(origin)
		}
		f.shared = nil
	case r.status < 300 || r.status >= 400:
		known(origin)
		if g.crawl > 0 && len(r.body) > 0 {
			g.delay = g.crawl
			f.past.holds = append(f.past.holds, simHold{host: g.name, at: now, delay: g.crawl})
		}
	case g.robots == robotsAway:
		f.shared = append(f.shared, origin)
	case u.Query() == "5": // five redirects of a robots.txt are followed
		known(origin)
	}
}
