package frontier

import (
	"errors"
	"fmt"
	"time"

	"crawl/canon"
)

// MaxRobotsHops is how many redirects of a robots.txt are followed (RFC 9309, section 2.3.1.2).
const MaxRobotsHops = 5

// ErrTooManyHops says that a robots.txt was redirected more than MaxRobotsHops times.
var ErrTooManyHops = errors.New("frontier: too many redirects of robots.txt")

// ask is the question what an origin's robots.txt says, until it is answered. It is put to the origin's own host first
// and, with a redirect, to the host of the target: there it takes a turn, a slot and the delay like any request, and it
// needs that host's addresses but not its rules.
type ask struct {
	links[ask] // in at.asks

	origin   *origin   // whose rules it asks for
	url      canon.URL // where they are asked for
	at       *host     // the host in whose asks it stands; nil while it is leased
	hop      int       // redirects so far
	attempt  int       // attempts made at url
	fresh    bool      // the last of them is to be made on a new connection
	deadline moment    // until then it may wait for another host
	overdue  bool      // it counts as unanswered
}

// newAsk puts the question for the rules of o to h, o's own host. u is a URL of o.
func (f *Frontier) newAsk(h *host, o *origin, u canon.URL, now moment) *ask {
	to, err := robotsURL(u)
	a := &ask{
		origin:   o,
		url:      to,
		at:       h,
		deadline: later(now, f.cfg.RobotsDeadline),
		overdue:  err != nil, // no address to ask at is no answer
	}
	o.setAsk(a)
	h.asks.pushFirst(a)
	return a
}

// put makes h the host to be asked a, at once or after what it is asked already. Where h will not be asked in time, a
// goes back to its own host unanswered; where that one is given up, the question is moot.
func (f *Frontier) put(a *ask, h *host, atOnce bool, now moment) {
	own := a.origin.host
	if own.givenUp != "" {
		a.origin.setAsk(nil)
		return
	}
	if h != own && (h.givenUp != "" || now >= a.deadline) {
		a.overdue = true
		h, atOnce = own, true
	}
	a.at = h
	if atOnce {
		h.asks.pushFirst(a)
	} else {
		h.asks.push(a)
	}
	f.schedule(h, now)
	f.schedule(own, now)
}

// inTime reports whether a may go on waiting at the host where it stands. Past its deadline it may while that host answers,
// since then its turn comes, or waits for nothing but our own turn: that we are slow is no silence.
func (f *Frontier) inTime(a *ask, now moment) bool {
	h := a.at
	ours := h.place == ready || h.place == inLine
	if now >= a.deadline && h.failures == 0 && (ours || h.lastEnd >= now-f.cfg.RobotsDeadline) {
		a.deadline = later(now, f.cfg.RobotsDeadline)
	}
	return now < a.deadline
}

// leave takes a from the host that it stands at.
func (a *ask) leave() {
	a.at.asks.remove(a)
	a.at = nil
}

// recall takes a back from another host, to its own, unanswered. The caller schedules a's own host.
func (f *Frontier) recall(a *ask, now moment) {
	elsewhere := a.at
	a.leave()
	f.schedule(elsewhere, now)
	a.overdue = true
	a.at = a.origin.host
	a.at.asks.pushFirst(a)
}

// dropAsks ends the questions that h, which is given up, is waited for with. Those for its own rules are moot, others
// go back unanswered.
func (f *Frontier) dropAsks(h *host, now moment) {
	for a := h.asks.first; a != nil; a = h.asks.first {
		if own := a.origin.host; own != h {
			f.recall(a, now)
			f.schedule(own, now)
		} else {
			a.leave()
			a.origin.setAsk(nil)
		}
	}
	for _, o := range h.origins {
		if o != nil && o.ask != nil && o.ask.at != nil {
			elsewhere := o.ask.at
			o.ask.leave()
			o.setAsk(nil)
			f.schedule(elsewhere, now)
		}
	}
}

// serveRobots leases a, which stands at h, or first the question for the addresses that it needs. It reports false where
// others come first at the address.
func (f *Frontier) serveRobots(h *host, a *ask, now moment) (Lease, bool) {
	var at *address
	l := Lease{
		Kind:          Robots,
		Task:          Task{URL: a.url, Attempt: a.attempt, Fresh: a.fresh},
		Origin:        a.origin.name,
		RobotsHop:     a.hop,
		RobotsOverdue: a.overdue,
		Permission:    a.origin.rules,
	}
	if !a.overdue {
		o := h.origin(a.url)
		if o.addrsTerm.over(now) {
			return f.leaseResolve(h, o, a.url, now), true
		}
		if !f.mayAsk(h, o, now) {
			f.schedule(h, now)
			return Lease{}, false
		}
		o.addrsTerm.unused = false
		l.Addrs, l.ResolveErr = o.addrs, o.addrsErr
		at = o.address
	}
	a.leave()
	return f.lease(l, open{host: h, ask: a}, at, now), true
}

// Permit ends a robots lease: p is what l.Origin's robots.txt says, for as long as ttl, or Config.RobotsTTL if that is
// less. A nil p says nothing. What holds where there was no answer is the caller's to say. Where p is large and
// Config.MaxRulesBytes are full of rules that have not served yet, p is forgotten, and asked for again a minute later.
func (f *Frontier) Permit(l Lease, p Permission, ttl time.Duration, o Outcome) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op, err := f.end(l, Robots)
	if err != nil {
		return err
	}
	now := f.now()
	of := op.ask.origin
	of.setAsk(nil)
	of.crawlDelay = f.crawlDelay(p) // from this request on
	of.host.noteCrawlDelay()
	f.settle(op, o, now)
	if f.rulesRoom.keep(of, sizeOf(p), f.cfg.MaxRulesBytes) {
		of.rules = p
		of.rulesTerm = term{until: later(now, min(ttl, f.cfg.RobotsTTL)), unused: true}
	} else {
		of.forgetRules()
		f.hold(of.host, rulesWait, RobotsRetry, now)
	}
	f.keepDelay(of.host)
	f.schedule(op.host, now)
	f.schedule(of.host, now)
	f.dispatch(now)
	return nil
}

func sizeOf(p Permission) int64 {
	if p == nil {
		return 0
	}
	return p.Size()
}

// RedirectRobots ends a robots lease that was answered with a redirect: to is asked next, in the queue of its own host.
// With ErrTooManyHops the lease has not ended, and Permit is to end it.
func (f *Frontier) RedirectRobots(l Lease, to canon.URL, o Outcome) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if op := f.open.get(l); op != nil && op.kind == Robots && op.ask.hop == MaxRobotsHops {
		return fmt.Errorf("%w: %s, on to %s", ErrTooManyHops, l.Origin, to)
	}
	op, err := f.end(l, Robots)
	if err != nil {
		return err
	}
	now := f.now()
	f.settle(op, o, now)
	a := op.ask
	a.url, a.attempt, a.fresh = to, 0, false
	a.hop++
	target := f.host(to.Host())
	f.put(a, target, false, now)
	f.schedule(target, now)
	f.schedule(op.host, now)
	f.dispatch(now)
	return nil
}

// HasOtherWork reports whether anything may be leased, now or later, but tasks that wait for the answer to l or to another
// question for a robots.txt that has failed before. Seeds that are still to come count as work, l's own tasks elsewhere too.
// It looks at hosts until it finds one with some, which in a crawl that goes on is among the first.
func (f *Frontier) HasOtherWork(l Lease) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := &f.elsewhere
	if f.intakes > 0 || f.counters.leased[Page] > 0 || e.unfound || e.sweeping || e.returns < forever {
		return true
	}
	var own *host
	if op := f.open.get(l); op != nil && op.kind == Robots {
		own = op.ask.origin.host
	}
	for _, h := range f.hosts {
		if h != own && h.givenUp == "" && (h.queue.len() > 0 || h.owes()) && !h.waitsForFailed() {
			return true
		}
	}
	return false
}

// waitsForFailed reports whether h waits for a robots.txt that was asked for in vain before.
func (h *host) waitsForFailed() bool {
	t := h.queue.peek()
	if t == nil {
		return false
	}
	o := h.origins[t.https]
	return o != nil && o.ask != nil && o.ask.attempt > 0
}
