package frontier

import "time"

// Story is what the frontier knows of one task that has not ended, and of the host that it waits at.
type Story struct {
	Standing Standing
	Task     Task      // as it is in memory; as it was asked for where it is not there
	LeasedAt time.Time // where it is leased
	// Ahead counts the pending tasks of its host in memory that come before it. Where Backlog is set others may wait
	// elsewhere, and of a task elsewhere Ahead is the least number.
	Ahead   int
	Backlog bool

	Host     Host // zero but for its name where it is not in memory
	InMemory bool // the host is
	Wait     Wait
	Until    time.Time // when the wait is over; zero where nobody knows, or at once
	// Due is when the task is leased if all that come before it are, each at its time, and nothing else comes in
	// between: it is leased no sooner. Zero where nobody knows.
	Due time.Time

	IgnoresRobots bool       // robots.txt does not count at its host
	Asked         bool       // its origin's robots.txt has been answered, and is remembered
	Permission    Permission // what it said; nil where it said nothing
}

// Standing is where a task stands.
type Standing uint8

// The standings.
const (
	Elsewhere Standing = iota // not in memory
	Queued                    // in its host's queue
	Aside                     // not to be tried before its time; others of its host go on
	Leased                    // in flight
)

// Wait is what keeps the next task of a host from being leased.
type Wait string

// The waits, in the order in which they are looked for.
const (
	WaitNone       Wait = ""            // the task is in flight
	WaitPaused     Wait = "paused"      // the crawl is
	WaitRoom       Wait = "room"        // the host is not in memory, and comes in its turn
	WaitBudget     Wait = "budget"      // the host has had all pages or bytes that it may
	WaitGivenUp    Wait = "given_up"    // the host is; Host.GivenUp says why
	WaitRetry      Wait = "retry"       // the task itself is not to be tried again yet
	WaitResolving  Wait = "resolving"   // the host's addresses
	WaitRobots     Wait = "robots"      // the answer for the origin's robots.txt
	WaitBusy       Wait = "busy"        // as many requests are in flight to the host as may be
	WaitBackOff    Wait = "back_off"    // the host failed
	WaitRetryAfter Wait = "retry_after" // the host asked to be left alone
	WaitDelay      Wait = "delay"       // the time between two requests
	WaitTurn       Wait = "turn"        // nothing but tasks before it, or a free fetcher
)

// Story tells of a task that has not ended. Its URL, Seq, Class and Depth are to be set: they say where to look, and which
// tasks come before it. It looks at the tasks of one host in memory and at all leases; only for a task that a redirect
// took to another host at all tasks in memory.
func (f *Frontier) Story(t Task) Story {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	s := Story{Task: t}
	h := f.hosts[t.URL.Host()]
	if f.numbers.isHeld(t.Seq) && !s.findLeased(f) && !s.findIn(h) {
		h = s.findAnywhere(f)
	}
	if s.Standing == Leased {
		h = f.hosts[s.Task.URL.Host()]
	}
	s.Host.Name = s.Task.URL.Host()
	if h != nil {
		s.InMemory, s.Backlog = true, h.backlog
		s.Host = f.hostNow(h)
		if s.Standing == Elsewhere {
			e := newEntry(&s.Task, false)
			s.Ahead = ahead(h, &e)
		}
	}
	s.IgnoresRobots = f.overrides.of(s.Host.Name).ignoreRobots
	if o := h.originOf(s.Task); o != nil && o.rulesTerm != (term{}) { // what was known a while ago says more than nothing
		s.Asked, s.Permission = true, o.rules
	}
	f.tellWait(&s, h, now)
	return s
}

// findLeased looks for the task among those in flight.
func (s *Story) findLeased(f *Frontier) bool {
	for i := range f.open.slots {
		if op := &f.open.slots[i]; op.id != 0 && op.kind == Page && op.task.Seq == s.Task.Seq {
			s.Standing, s.Task = Leased, op.task
			if op.leasedAt != never {
				s.LeasedAt = f.time(op.leasedAt)
			}
			return true
		}
	}
	return false
}

// findIn looks for the task at one host, which may be nil.
func (s *Story) findIn(h *host) bool {
	if h == nil {
		return false
	}
	for i := range h.queue.aside {
		if h.queue.aside[i].Seq == s.Task.Seq {
			s.Standing, s.Task = Aside, h.queue.aside[i]
			return true
		}
	}
	for e := range h.queue.all() {
		if e.seq == s.Task.Seq {
			s.Standing, s.Task, s.Ahead = Queued, e.task(), ahead(h, e)
			return true
		}
	}
	return false
}

// findAnywhere looks for a task that is asked for at another host's URL, and returns that host.
func (s *Story) findAnywhere(f *Frontier) *host {
	for _, h := range f.hosts {
		if s.findIn(h) {
			return h
		}
	}
	return nil
}

// ahead counts the tasks in h's queue that come before e.
func ahead(h *host, e *entry) (n int) {
	for other := range h.queue.all() {
		if other.before(e) {
			n++
		}
	}
	return n
}

// hostNow returns what is known of h.
func (f *Frontier) hostNow(h *host) Host {
	delay, why := f.delayWhy(h)
	if h.until > f.now() && h.until > h.last()+delay {
		why = h.heldFor
	}
	return Host{
		Name: h.name, Queued: h.queue.len(), InFlight: h.inFlight, Resolving: h.resolving,
		NotBefore: f.time(max(f.notBefore(h), 0)), Delay: delay, Why: why, Failures: h.failures, GivenUp: h.givenUp,
		Requests: h.requests,
	}
}

// originOf returns what is known of the origin of a task of h; nil for nothing. h may be nil.
func (h *host) originOf(t Task) *origin {
	if h == nil {
		return nil
	}
	name := t.URL.Origin()
	for _, o := range h.origins {
		if o != nil && o.name == name {
			return o
		}
	}
	return nil
}

// tellWait fills in what the task waits for, and when it is due.
func (f *Frontier) tellWait(s *Story, h *host, now moment) {
	if s.Standing == Leased {
		return
	}
	wait, until := f.waitOf(s, h, now)
	s.Wait = wait
	if until > now && until < forever {
		s.Until = f.time(until)
	}
	switch s.Wait {
	case WaitPaused, WaitBudget, WaitGivenUp, WaitRoom:
		return
	}
	due := max(f.notBefore(h), now)
	if s.Standing == Aside {
		due = max(due, f.moment(s.Task.NotBefore))
	} else {
		due = later(due, time.Duration(min(float64(s.Ahead)*float64(f.delay(h)), float64(forever))))
	}
	if due < forever {
		s.Due = f.time(due)
	}
}

// waitOf returns what keeps the task from being leased now, and until when; never where nobody knows.
func (f *Frontier) waitOf(s *Story, h *host, now moment) (Wait, moment) {
	switch {
	case f.paused:
		return WaitPaused, never
	case h == nil:
		return WaitRoom, never
	case h.givenUp == BudgetUsed:
		return WaitBudget, never
	case h.givenUp != "":
		return WaitGivenUp, never
	case s.Standing == Aside && f.moment(s.Task.NotBefore) > max(now, f.notBefore(h)):
		return WaitRetry, f.moment(s.Task.NotBefore)
	case h.resolving:
		return WaitResolving, never
	}
	o := h.originOf(s.Task)
	if o != nil && o.ask != nil {
		if at := o.ask.at; at != nil {
			return WaitRobots, f.notBefore(at)
		}
		return WaitRobots, never
	}
	if h.inFlight >= h.policy.hostConcurrency || h.policy.maxPages-h.pages <= uint64(h.inFlight) {
		return WaitBusy, never
	}
	if at := f.notBefore(h); at > now {
		return f.holdOf(h, at), at
	}
	switch {
	case o == nil || o.addrsTerm.over(now):
		return WaitResolving, never
	case o.addrsErr == nil && !h.policy.ignoreRobots && o.rulesTerm.over(now):
		return WaitRobots, never
	}
	return WaitTurn, never
}

// holdOf says why h is not asked before that moment.
func (f *Frontier) holdOf(h *host, until moment) Wait {
	switch {
	case h.until < until:
		return WaitDelay
	case h.heldFor == RetryAfter:
		return WaitRetryAfter
	}
	return WaitBackOff
}
