package crawler

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"crawl/canon"
	"crawl/fetch"
	"crawl/store"
)

// simStart is when every simulation begins: what a synctest bubble's clock shows first.
var simStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

var (
	simRefused = error(syscall.ECONNREFUSED)
	simTimeout = error(os.ErrDeadlineExceeded)
)

// simFetcher is the fetcher of one process. It sees every request with its time, and holds the crawl to its promises.
type simFetcher struct {
	web     *simWeb
	resumed bool
	opened  time.Time     // when this process began
	delay   time.Duration // that is promised: host_delay
	giveUp  int           // failures in a row after which a host is asked no more; 0: never

	mu     *sync.Mutex // the simulation's, guards all below
	past   *simPast
	hosts  map[string]*simGuard
	places map[netip.AddrPort]*simPlace // addresses, where hosts share them
	shared []string                     // origins whose robots.txt has redirected to the shared one
	broken []error                      // promises
	paused bool
	stats  simStats
}

// simStats is what a process did, for the report.
type simStats struct {
	requests    int
	pages       int
	starved     time.Duration // the longest that a host that might have been asked was not
	starvedHost string
}

func newSimFetcher(s *sim, resumed bool) *simFetcher {
	return &simFetcher{
		web: s.web, mu: &s.mu, past: s.past, resumed: resumed, opened: time.Now(), delay: s.delay, hosts: make(map[string]*simGuard),
		places: make(map[netip.AddrPort]*simPlace),
	}
}

// err is what is known of broken promises.
func (f *simFetcher) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.broken...)
}

// Resolve is a look-up: no request, and free of charge.
func (f *simFetcher) Resolve(ctx context.Context, u canon.URL) (fetch.Resolution, error) {
	f.mu.Lock()
	f.past.asked[u.Host()]++
	n, h := f.past.asked[u.Host()], f.guard(u.Host()).simHost
	f.mu.Unlock()
	if err := rest(ctx, 15*time.Millisecond); err != nil {
		return fetch.Resolution{}, &fetch.Error{URL: u, Phase: fetch.PhaseResolve, Err: err}
	}
	switch {
	case h.noName:
		return fetch.Resolution{}, &fetch.Error{URL: u, Phase: fetch.PhaseResolve, Err: &net.DNSError{Err: "no such host", Name: u.Hostname(), IsNotFound: true}}
	case n <= h.lame:
		return fetch.Resolution{}, &fetch.Error{URL: u, Phase: fetch.PhaseResolve, Transient: true, Err: &net.DNSError{Err: "server misbehaving", Name: u.Hostname()}}
	}
	return fetch.Resolution{Addrs: []netip.AddrPort{f.web.address(h)}}, nil
}

// rest waits, in the time of the simulation.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *simFetcher) Fetch(ctx context.Context, r fetch.Request) (*fetch.Result, error) {
	s := f.web.understand(r.URL)
	reply := f.arrive(s, r)
	if err := rest(ctx, reply.latency); err != nil {
		f.leave(s, r.URL, reply, true)
		return nil, &fetch.Error{URL: r.URL, Phase: fetch.PhaseHead, Err: err}
	}
	f.leave(s, r.URL, reply, false)
	if reply.err != nil {
		return nil, &fetch.Error{URL: r.URL, Phase: fetch.PhaseHead, Transient: true, Err: reply.err}
	}
	result := &fetch.Result{
		URL: r.URL, Status: reply.status, Header: reply.header, Payload: reply.body, Body: reply.body, Took: reply.latency, Addr: f.web.address(s.host),
	}
	if reply.cut {
		result.Truncated, result.BodyErr = fetch.TruncatedDisconnect, syscall.ECONNRESET
	}
	return result, nil
}

func (f *simFetcher) Close() error { return nil }

// arrive is the moment at which a request reaches its host.
func (f *simFetcher) arrive(s simURL, r fetch.Request) simReply {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, g := time.Now(), f.guard(r.URL.Host())
	f.stats.requests++
	f.judge(g, r, now)
	f.judgeURL(g, s, r.URL, now)
	if f.web.share > 0 {
		f.judgePlace(g, r.URL, now)
	}
	g.inFlight++
	g.begun = now
	url := r.URL.String()
	f.past.asked[url]++
	return f.web.reply(s, r.URL, f.past.asked[url], now)
}

// pause notes that from now on nothing may be asked, or that it may again.
func (f *simFetcher) pause(paused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = paused
	for _, g := range f.hosts { // a pause is no time in which a host waits
		g.since = time.Now()
	}
}

// committed is told of each page record, in commit order.
func (f *simFetcher) committed(p *store.Page) {
	u, err := canon.Parse(p.URL)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.pages++
	key := u.Key()
	if err != nil || f.past.done[key] {
		f.breaks("%s has one more record, %v", p.URL, err)
	}
	f.past.done[key] = true
	f.past.records = append(f.past.records, simRecord{p.Seq, p.Visit, key, p.Outcome})
	if p.Record != uint64(len(f.past.records)) {
		f.breaks("%s has record %d, it is the %dth", p.URL, p.Record, len(f.past.records))
	}
	delete(f.guard(u.Host()).fresh, key)
	for _, link := range f.web.fate(f.web.understand(u)).leadsTo(p) {
		f.admitted(link)
	}
}

// admitted notes a URL that from now on may be asked for.
func (f *simFetcher) admitted(link string) {
	u, err := canon.Parse(link)
	if err != nil || f.past.done[u.Key()] || f.past.asked[link] > 0 {
		return
	}
	g := f.guard(u.Host())
	if len(g.fresh) == 0 {
		g.since = time.Now()
	}
	g.fresh[u.Key()] = true
}
