package frontier

import (
	"net/netip"
	"strings"

	"crawl/canon"
)

// host is what the frontier knows of one host. It passes through resolving and robots before its pages are leased; which
// of the three comes next is not stored but follows from what is known of the origin of its first task.
type host struct {
	links[host] // in Frontier.ready

	name    string
	queue   queue
	asks    list[ask, *ask] // robots.txt files to be asked for here; they come before all tasks
	origins [2]*origin      // by isHTTPS, nil until there is something to know

	place place
	index int    // in the heap that place names
	due   moment // where place is ready, waiting or idle

	resolving bool
	guest     bool // its last request was for the rules of another host's origin
	inFlight  int  // requests, that is leases of the kinds Robots and Page
	lastLease moment
	lastEnd   moment
	lastEnded bool   // lastEnd is that of the request leased last, or may be
	lastTook  moment // the last response time
	until     moment // it backs off until then

	policy   *policy
	givenUp  Reason
	failures int // in a row
	requests uint64
	pages    uint64 // page records over the crawl's life
	bytes    uint64 // of bodies
	stranded int    // tasks elsewhere, as far as they were met since it was given up

	backlog    bool // tasks of it may wait elsewhere
	dense      bool // many of them: they are asked for by name
	sent       sending
	looked     bool   // the next sweep is to find them
	rewind     bool   // some that were in memory wait there again
	bound      order  // of tasks that come later some may wait elsewhere, if backlog
	declinedIn uint64 // round in which the last one was left there
	moreIn     uint64 // round in which the last refill came

	delayKept moment // the delay that its durable state holds; 0 where HostDelay says enough
	marked    bool   // it is in Frontier.changed
	kept      bool   // Changed has returned a state for it that is not the zero state
	forgotten bool   // it is no longer in Frontier.hosts
}

// place is where a host stands.
type place uint8

const (
	nowhere place = iota // its next lease hangs on the end of another, or it is given up
	ready
	waiting
	idle
)

// origin is what is known of one scheme, host and port.
type origin struct {
	host *host
	name string

	addrs     []netip.AddrPort
	addrsErr  error
	addrsTerm term

	rules      Permission
	rulesTerm  term
	crawlDelay moment // the delay that rules ask for, capped
	ask        *ask   // the question for its robots.txt that is not answered yet
}

// term is how long something learnt is held true. What was just learnt serves one lease in any case: with a time to
// live of zero a host would otherwise ask for its addresses and rules for ever.
type term struct {
	until  moment
	unused bool
}

func (t term) over(now moment) bool { return !t.unused && now >= t.until }

// host returns the host of that name, a new one if need be.
func (f *Frontier) host(name string) *host {
	h := f.hosts[name]
	if h == nil {
		if h = f.leaving[name]; h != nil {
			delete(f.leaving, name)
			h.forgotten = false
		} else {
			h = f.newHost(name)
		}
		f.hosts[h.name] = h
	}
	return h
}

func (f *Frontier) newHost(name string) *host {
	h := &host{name: strings.Clone(name), lastLease: never, lastEnd: never, lastEnded: true, until: never} // the clone keeps no URL alive
	h.policy = f.overrides.of(h.name)
	if f.cfg.Resumed {
		h.lastEnd = 0 // as if the last request of the crawl before had ended when this one began
	}
	if f.cfg.Lookup != nil {
		if s, ok := f.cfg.Lookup(h.name); ok {
			f.adopt(h, s)
		}
	}
	if h.givenUp == "" && h.overBudget() {
		h.givenUp = BudgetUsed
		f.counters.givenUp++
		f.mark(h)
	}
	return h
}

// origin returns u's origin, a new one if need be. u is of host h.
func (h *host) origin(u canon.URL) *origin {
	o := &h.origins[isHTTPS(u)]
	if *o == nil {
		*o = &origin{host: h, name: strings.Clone(u.Origin())}
	}
	return *o
}

func isHTTPS(u canon.URL) int {
	if u.Scheme() == "https" {
		return 1
	}
	return 0
}

// schedule puts h where it belongs. It follows every change of h; after the first call h may be forgotten.
func (f *Frontier) schedule(h *host, now moment) {
	h.queue.wake(f.time(now))
	if h.forgotten {
		return
	}
	if f.waitsLong(h, now) && h.queue.len() > 0 && f.crowded() {
		f.park(h)
	}
	if h.backlog && f.leaveForLong(h, now) {
		return
	}
	f.feed(h, now)
	to, due := f.plan(h)
	if to == waiting && due <= now {
		if h.place == ready {
			return // it keeps its turn
		}
		to = ready
	}
	f.take(h)
	h.place, h.due = to, due
	switch to {
	case ready:
		f.promote(now)
		f.ready.push(h)
	case waiting:
		f.waiting.push(h)
	case idle:
		f.idle.push(h)
		f.forgetSome(now)
	}
}

// ownTurn reports whether h's first task is to go before the questions that redirects from other hosts brought here:
// they take turns with it, so that a host that many others redirect to is crawled all the same.
func (h *host) ownTurn() bool {
	t := h.queue.peek()
	if !h.guest || h.asks.first.origin.host == h || t == nil {
		return false
	}
	o := h.origins[isHTTPS(t.URL)]
	return o == nil || o.ask == nil
}

// take takes h from where it stands.
func (f *Frontier) take(h *host) {
	switch h.place {
	case ready:
		f.ready.remove(h)
	case waiting:
		f.waiting.remove(h)
	case idle:
		f.idle.remove(h)
	}
	h.place = nowhere
}

// plan says where h belongs, and its due moment there. A host that is ready belongs to the waiting ones, and is due.
func (f *Frontier) plan(h *host) (place, moment) {
	busy := h.resolving || h.inFlight >= h.policy.hostConcurrency || h.policy.maxPages-h.pages <= uint64(h.inFlight)
	switch {
	case h.givenUp != "":
		if h.queue.len() == 0 && !h.resolving && h.inFlight == 0 {
			return idle, f.notBefore(h)
		}
		return nowhere, 0
	case busy:
		return nowhere, 0
	case h.asks.first != nil:
		if h.asks.first.overdue {
			return waiting, never
		}
		return waiting, f.notBefore(h)
	case h.queue.len() == 0:
		if h.inFlight > 0 {
			return nowhere, 0
		}
		if h.backlog && !h.looked && h.sent == notSent {
			return waiting, f.notBefore(h) // then its tasks are sent for
		}
		return idle, f.notBefore(h)
	}
	t := h.queue.peek()
	if t == nil {
		return waiting, max(f.notBefore(h), f.moment(h.queue.next()))
	}
	if o := h.origins[isHTTPS(t.URL)]; o != nil && o.ask != nil {
		if o.ask.at == nil {
			return nowhere, 0 // it is being answered
		}
		return waiting, o.ask.deadline
	}
	return waiting, f.notBefore(h)
}

// promote makes those ready that have come due.
func (f *Frontier) promote(now moment) {
	for len(f.waiting) > 0 && f.waiting[0].due <= now {
		h := f.waiting[0]
		f.waiting.remove(h)
		h.place = ready
		f.ready.push(h)
	}
}

// forgetSome keeps the number of hosts without work near its cap. It forgets two at most, and so more than one that
// joins them, without ever holding the lock for long.
func (f *Frontier) forgetSome(now moment) {
	for range 2 {
		if len(f.idle) <= f.cfg.MaxIdleHosts || !f.forgetOne(now) {
			return
		}
	}
}

// forgetOne forgets the host without work that may be asked for the longest, and reports whether there is one. What must
// outlive it is its durable state, and that some of its tasks wait elsewhere.
func (f *Frontier) forgetOne(now moment) bool {
	if len(f.idle) == 0 || f.idle[0].due > now {
		return false
	}
	h := f.idle[0]
	if h.backlog && h.givenUp == "" {
		f.elsewhere.unfound = true
		f.nudge()
	}
	f.forget(h)
	return true
}

// forget takes h out of memory.
func (f *Frontier) forget(h *host) {
	f.take(h)
	delete(f.hosts, h.name)
	h.forgotten = true
	if h.marked {
		f.leaving[h.name] = h // until its state is collected
	}
	f.send(h, notSent)
	f.look(h, false)
	f.strand(h, -h.stranded)
}

// busy reports whether something of h is leased, or asked for at it or for it.
func (h *host) busy() bool {
	if h.resolving || h.inFlight > 0 || h.asks.first != nil {
		return true
	}
	for _, o := range h.origins {
		if o != nil && o.ask != nil {
			return true
		}
	}
	return false
}
