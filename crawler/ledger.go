package crawler

import (
	"fmt"
	"sync"
	"time"

	"crawl/fetch"
	"crawl/frontier"
)

// hostLedger keeps the books of politeness: for each host when it was asked, what was promised it, and what was kept. It
// measures by itself, by the clock at which a request is about to be sent and its answer is there, so that a fault of the
// frontier is found before it does harm: a request that would break a promise is not sent, and the crawl ends.
//
// The promises: never more requests in flight than the host's host_concurrency; the time from one to the next as long as
// the frontier reckoned it, and as long as host_delay, hosts: and a Crawl-delay say, whatever the frontier made of them; and
// no request before a Retry-After is over. With per_ip hosts also owe each other something (addressLedger). All times are by
// the monotonic clock, so that a clock that is set means nothing.
//
// The price: a lock taken twice a request, and memory for maxLedgerHosts hosts, which is also what a checkpoint holds.
// Beyond it a host that may be asked again, one with few requests, is counted in the totals alone.
type hostLedger struct {
	start   time.Time // before that of the frontier; not written after newLedger, as resumed
	resumed bool      // an earlier process may have asked any host just before start

	mu            sync.Mutex // guards all below
	hosts         map[string]*ledgerHost
	addresses     addressLedger
	changed       []*ledgerHost // since the last checkpoint
	gone          []string      // hosts whose rows are no longer true
	rest          LedgerRest
	restChanged   bool
	maxRetryAfter time.Duration
}

// maxLedgerHosts is how many hosts are kept one by one: more than may be in flight together, or have been asked within a
// second or two.
const maxLedgerHosts = 1 << 15

// ledgerHost is a host's account, and what of it this process needs.
type ledgerHost struct {
	HostAsked
	turns
	until   time.Duration // not asked before, by a Retry-After; since start
	free    time.Duration // nothing is promised beyond it
	changed bool          // it is in hostLedger.changed
	kept    bool          // a checkpoint has a row of it
}

// turns are what is known of the requests to a host, or to an address, in their order.
type turns struct {
	inFlight int
	last     lastRequest
}

// lastRequest is the request that was leased last.
type lastRequest struct {
	known    bool
	url      string        // empty: the start of this process, of a crawl that goes on
	leasedAt time.Duration // since hostLedger.start, as all times here
	endedAt  time.Duration
	ended    bool
}

// ticket is a request that is being made.
type ticket struct {
	host     *ledgerHost
	leasedAt time.Duration
	before   lastRequest // taken back where no request came of it
	robots   bool

	address   *addressAsked // nil: none counts
	beforeAt  lastRequest   // as before, at the address
	hostDelay time.Duration // that was promised
}

// newLedger is called before the frontier is made: in a crawl that goes on, delays run from the start of that one.
func newLedger(cfg frontier.Config, resumed bool) *hostLedger {
	g := &hostLedger{start: time.Now(), resumed: resumed, hosts: make(map[string]*ledgerHost)}
	g.maxRetryAfter = retryAfterCap(cfg)
	if cfg.PerIP {
		g.addresses = make(addressLedger)
	}
	return g
}

// retryAfterCap is the cap of a Retry-After; 0: none is granted.
func retryAfterCap(cfg frontier.Config) time.Duration {
	switch cfg.MaxRetryAfter {
	case frontier.None:
		return 0
	case 0:
		return frontier.Default().MaxRetryAfter
	}
	return cfg.MaxRetryAfter
}

// configure has another cap of Retry-After hold. Around a change of the frontier's the lesser of both does.
func (g *hostLedger) configure(most time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.maxRetryAfter = most
}

// begin enters a request that is about to be sent. A *PromiseError: it is not to be sent.
func (g *hostLedger) begin(l frontier.Lease) (ticket, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, leasedAt := time.Since(g.start), l.LeasedAt.Sub(g.start)
	name := l.URL.Host()
	h := g.hosts[name]
	if h == nil {
		h = g.admit(name, at)
	}
	gap, measured := h.gap(at, leasedAt, l.Promise.Slots)
	asked, why := promised(l)
	if until := l.Promise.Until.Sub(g.start); measured && until > 0 && until-(at-gap) > asked {
		asked, why = until-(at-gap), l.Promise.Held
	}
	if err := g.judge(h, l, at, gap, asked, why, measured); err != nil {
		return ticket{}, err
	}
	address := g.addresses.of(l, at)
	if promise := address.judge(l, at, leasedAt); promise != "" {
		return ticket{}, g.broken(address.last, l, at, promise)
	}
	t := ticket{host: h, leasedAt: leasedAt, before: h.last, robots: l.Kind == frontier.Robots, hostDelay: l.Promise.HostDelay}
	address.begin(&t, l, at)
	h.MostInFlight, h.Allowed = max(h.MostInFlight, h.inFlight+1), l.Promise.Slots
	h.Scheme = l.URL.Scheme()
	h.DelayS, h.DelayFrom = asked.Seconds(), why.String()
	if measured && h.last.url != "" && (h.SmallestGapS == nil || gap.Seconds() < *h.SmallestGapS) {
		h.SmallestGapS, h.AskedGapS, h.AskedFrom = new(gap.Seconds()), asked.Seconds(), why.String()
	}
	if p, ok := l.Permission.(*permission); ok && p.Robots != nil && l.Kind == frontier.Page {
		h.CrawlDelayLine = p.CrawlDelayLine()
	}
	h.turns.begin(l, leasedAt)
	h.free = max(h.free, at+asked)
	g.touch(h)
	return t, nil
}

// promised returns the least time between the request before and this one: what the frontier reckoned, or what was asked
// for, should that be more.
func promised(l frontier.Lease) (time.Duration, frontier.Source) {
	asked, why := l.Promise.Delay, l.Promise.Why
	if l.Promise.HostDelay > asked {
		asked, why = l.Promise.HostDelay, frontier.Configured
	}
	if p, ok := l.Permission.(*permission); ok && l.Kind == frontier.Page { // a robots.txt may be asked for at another host
		if d, asks := p.Delay(); asks && min(d, l.Promise.MaxCrawlDelay) > asked {
			asked, why = min(d, l.Promise.MaxCrawlDelay), frontier.CrawlDelay
		}
	}
	return asked, why
}

// gap returns the time from the request before to one that is sent at a moment: from its end where one is allowed in
// flight, else from lease to lease. Of several in flight the frontier hears a little later than the ledger that one has
// ended, and what a busy machine does between lease and request is no fault of its.
func (r *turns) gap(at, leasedAt time.Duration, slots int) (gap time.Duration, measured bool) {
	last := r.last
	switch {
	case !last.known:
		return 0, false
	case last.ended && (slots == 1 || last.url == ""):
		return at - last.endedAt, true
	}
	return max(leasedAt-last.leasedAt, last.leasedAt-leasedAt), true
}

// begin enters a request.
func (r *turns) begin(l frontier.Lease, leasedAt time.Duration) {
	r.inFlight++
	if !r.last.known || leasedAt >= r.last.leasedAt {
		r.last = lastRequest{known: true, url: l.URL.String(), leasedAt: leasedAt}
	}
}

// end enters the end of the one that was leased at a moment. Where no request came of it, all is as it was before.
func (r *turns) end(leasedAt time.Duration, before lastRequest, requested bool, at time.Duration) {
	r.inFlight--
	switch newest := r.last.leasedAt == leasedAt; {
	case newest && !requested:
		r.last = before
	case newest:
		r.last.ended, r.last.endedAt = true, at
	}
}

// judge compares a request with what was promised.
func (g *hostLedger) judge(h *ledgerHost, l frontier.Lease, at, gap, asked time.Duration, why frontier.Source, measured bool) error {
	var promise string
	switch {
	case h.inFlight >= l.Promise.Slots:
		promise = fmt.Sprintf("%d requests in flight at most (host_concurrency), this would be one more than %d", l.Promise.Slots, h.inFlight)
	case at < h.until:
		promise = fmt.Sprintf("no request before its Retry-After is over, in %v", (h.until - at).Round(time.Millisecond))
	case measured && gap < asked:
		promise = fmt.Sprintf("%v between two requests (%s), this would be after %v", asked, why, gap)
	default:
		return nil
	}
	return g.broken(h.last, l, at, promise)
}

// broken says which promise a request would break, and which request was before it.
func (g *hostLedger) broken(last lastRequest, l frontier.Lease, at time.Duration, promise string) error {
	e := &PromiseError{
		Host: l.URL.Host(), Promise: promise, Later: l.URL.String(), LaterAt: g.start.Add(at), Earlier: last.url,
		EarlierAt: g.start.Add(last.leasedAt), EarlierEnded: last.ended,
	}
	if last.ended {
		e.EarlierAt = g.start.Add(last.endedAt)
	}
	return e
}

// requestEnd is how a request ended.
type requestEnd struct {
	frontier.Outcome
	at     time.Time // when its answer was there, or the failure
	status int       // 0: no answer
	bytes  int64     // of the body, as sent
}

// end enters that a request has ended, before the frontier is told.
func (g *hostLedger) end(t ticket, e requestEnd) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, at := t.host, e.at.Sub(g.start)
	g.touch(h)
	h.turns.end(t.leasedAt, t.before, e.Requested, at)
	t.endAtAddress(e.Requested, at)
	if !e.Requested {
		return
	}
	h.free = max(h.free, at+time.Duration(h.DelayS*float64(time.Second)))
	if e.RetryAfter > 0 {
		h.until = max(h.until, at+min(e.RetryAfter, g.maxRetryAfter))
		h.free = max(h.free, h.until)
	}
	h.count(t, e)
}

// count adds a request to the host's account.
func (h *HostAsked) count(t ticket, e requestEnd) {
	asked := e.at.UTC().Round(0).Truncate(time.Second)
	if h.FirstAsked.IsZero() {
		h.FirstAsked = asked
	}
	h.LastAsked = asked
	h.Requests++
	h.BodyBytes += uint64(max(e.bytes, 0))
	if t.robots {
		h.RobotsRequests++
	}
	switch {
	case e.status == 429:
		h.Status429++
	case e.status == 503:
		h.Status503++
	case e.status == 0:
		h.Unanswered++
	}
}

// denied counts a URL that the host's robots.txt forbids.
func (g *hostLedger) denied(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.hosts[host]; h != nil {
		h.RobotsDenied++
		g.touch(h)
	} else {
		g.rest.RobotsDenied++
		g.restChanged = true
	}
}

// touch has h in the next checkpoint.
func (g *hostLedger) touch(h *ledgerHost) {
	if !h.changed {
		h.changed = true
		g.changed = append(g.changed, h)
	}
}

// requestEndOf gathers what the ledger is told of an answer that is there now, or of a failure; r is nil then. The outcome
// follows.
func requestEndOf(r *fetch.Result) requestEnd {
	e := requestEnd{at: time.Now()}
	if r != nil {
		e.status, e.bytes = r.Status, int64(len(r.Payload))
	}
	return e
}
