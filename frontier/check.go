package frontier

import (
	"errors"
	"fmt"
	"slices"
)

// Check reports every way in which the frontier contradicts itself. It looks at all that is pending, so it is for tests
// and for tools that look into a damaged crawl.
func (f *Frontier) Check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &checker{f: f, now: f.now(), inFlight: map[*host]int{}, resolving: map[*host]int{}, tasks: map[uint64]bool{}, asked: map[*ask]bool{}, toAddress: map[*address]int{}}
	c.checkOpen()
	for name, h := range f.hosts {
		c.want(h.name == name, "is in the table as %q", h, name)
		c.checkPlace(h)
		c.checkQueue(h)
		c.checkAsks(h)
		c.want(h.inFlight == c.inFlight[h] && h.inFlight <= h.policy.hostConcurrency, "%d in flight, %d leased, at most %d allowed",
			h, h.inFlight, c.inFlight[h], h.policy.hostConcurrency)
		c.want(h.resolving == (c.resolving[h] == 1), "resolving %t, %d leased", h, h.resolving, c.resolving[h])
		c.want(!h.forgotten, "is forgotten and in the table", h)
	}
	for h := range c.inFlight {
		c.want(f.hosts[h.name] == h, "leased and not in the table", h)
	}
	c.checkOrder()
	c.checkElsewhere()
	c.checkAddresses()
	c.checkTotals()
	c.checkRules()
	c.checkWaiters()
	return errors.Join(c.errs...)
}

// checker collects what Check finds.
type checker struct {
	f                   *Frontier
	now                 moment
	errs                []error
	inFlight, resolving map[*host]int
	tasks               map[uint64]bool  // by Seq
	asked               map[*ask]bool    // leased, or standing at some host
	toAddress           map[*address]int // requests in flight
	counted             counters
	placed              [idle + 1]int
}

func (c *checker) want(ok bool, format string, h *host, args ...any) {
	if ok {
		return
	}
	name := "frontier"
	if h != nil {
		name = "host " + h.name
	}
	c.errs = append(c.errs, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
}

func (c *checker) checkOpen() {
	for _, op := range c.f.open.slots {
		if op.id == 0 {
			continue
		}
		c.counted.leased[op.kind]++
		if op.address != nil {
			c.toAddress[op.address]++
		}
		switch op.kind {
		case Resolve:
			c.resolving[op.host]++
		case Robots:
			c.inFlight[op.host]++
			c.asked[op.ask] = true
			c.want(op.ask.at == nil, "leased for %s and still to be asked", op.host, op.ask.origin.name)
			c.want(op.ask.origin.ask == op.ask, "leased for %s, which knows nothing of it", op.host, op.ask.origin.name)
		case Page:
			c.inFlight[op.host]++
			c.checkTask(op.host, op.task)
		}
	}
}

func (c *checker) checkTask(h *host, t Task) {
	c.want(!c.tasks[t.Seq], "task %d is there twice", h, t.Seq)
	c.tasks[t.Seq] = true
	held, done := c.f.numbers.isHeld(t.Seq), c.f.numbers.isDone(t.Seq)
	c.want(held && !done, "task %d is in memory, known to be: %t, done: %t", h, t.Seq, held, done)
	c.want(t.URL.Host() == h.name, "task %d is of host %s", h, t.Seq, t.URL.Host())
}

func (c *checker) checkPlace(h *host) {
	place, due, asked := c.f.plan(h)
	c.placed[h.place]++
	if h.at != nil {
		c.checkTurn(h, asked, due)
		return
	}
	switch h.place {
	case ready:
		c.want(place == waiting || c.canWaitInVain(h), "ready, and nothing to lease", h)
		c.want(asked == nil || asked.address == nil || asked.addrsTerm.over(c.now), "ready without a turn at its address", h)
		c.want(due <= c.now, "ready, and due in %v", h, due-c.now)
	case waiting:
		c.want(place == waiting && due == h.due || c.canWaitInVain(h), "waits until %v, planned at %d until %v", h, h.due, place, due)
	default:
		c.want(place == h.place, "stands at %d, planned at %d", h, h.place, place)
	}
	switch h.place {
	case waiting:
		c.want(c.f.waiting[h.index] == h, "is not where it says among the waiting", h)
	}
}

// checkTurn: a host that is due and must share its address stands in the line there, or has its turn.
func (c *checker) checkTurn(h *host, asked *origin, due moment) {
	a := h.at
	c.want(asked != nil && asked.address == a && due <= c.now, "in the line of an address, and not due there", h)
	at := max(due, c.f.notBeforeAt(a, h))
	switch {
	case a.turn != h:
		c.want(h.place == inLine, "stands at %d without its turn", h, h.place)
	case !a.isFree(h):
		c.want(h.place == nowhere, "stands at %d, and no slot of its address is free", h, h.place)
	case h.place == ready:
		c.want(at <= c.now, "ready, and due at its address in %v", h, at-c.now)
	default:
		c.want(h.place == waiting && h.due <= at && c.f.waiting[h.index] == h, "stands at %d until %v, has its turn at %v", h, h.place, h.due, at)
	}
}

// canWaitInVain reports whether the answer that h waits for is being fetched elsewhere: h looks after it at its
// deadline, and waits on if it must.
func (c *checker) canWaitInVain(h *host) bool {
	t := h.queue.peek()
	if t == nil {
		return false
	}
	o := h.origins[t.https]
	return o != nil && o.ask != nil && o.ask.at == nil
}

func (c *checker) checkQueue(h *host) {
	c.counted.queued += h.queue.len()
	if h.givenUp != "" {
		c.counted.givenUp++
		c.counted.stranded += h.queue.len()
	}
	for i, t := range h.queue.aside {
		c.checkTask(h, t)
		c.want(i == 0 || !h.queue.aside[i-1].NotBefore.Before(t.NotBefore), "task %d stands aside in the wrong place", h, t.Seq)
	}
	for e := range h.queue.all() {
		c.checkTask(h, e.task())
	}
	line, strays := h.queue.line.standing(), h.queue.strays
	for i := 1; i < len(line); i++ {
		c.want(!line[i].before(&line[i-1]), "task %d stands in line behind a later one", h, line[i].seq)
	}
	for i := 1; i < len(strays); i++ {
		c.want(!strays[i].before(&strays[(i-1)/2]), "task %d is queued behind a later one", h, strays[i].seq)
	}
}

func (c *checker) checkAsks(h *host) {
	n := 0
	for a := h.asks.first; a != nil; a = a.next {
		n++
		c.asked[a] = true
		c.want(a.at == h, "asked for %s, which stands elsewhere", h, a.origin.name)
		c.want(a.origin.ask == a, "asked for %s, which knows nothing of it", h, a.origin.name)
		c.want(h.givenUp == "", "given up and asked for %s", h, a.origin.name)
		c.want(a.origin.host.givenUp == "", "asked for %s, which is given up", h, a.origin.name)
		c.want(a.origin.host.queue.len() > 0 || c.f.elsewhere.n > 0, "asked for %s, which has no use for it", h, a.origin.name)
	}
	c.want(n == h.asks.n, "%d questions, counted %d", h, n, h.asks.n)
	asking, delay := uint8(0), moment(0)
	for _, o := range h.origins {
		if o == nil {
			continue
		}
		if delay = max(delay, o.crawlDelay); o.ask != nil {
			asking++
		}
	}
	c.want(asking == h.asking, "%d origins ask for rules, counted %d", h, asking, h.asking)
	c.want(delay == h.crawlDelay, "its rules ask for a delay of %v, noted %v", h, delay, h.crawlDelay)
}

func (c *checker) checkOrder() {
	for i, h := range c.f.waiting {
		c.want(i == 0 || c.f.waiting[(i-1)/2].due <= h.due, "stands above an earlier one among the waiting", h)
		c.want(c.f.hosts[h.name] == h, "is waiting and not in the table", h)
	}
	c.checkList(&c.f.ready, ready)
	c.checkList(&c.f.idle, idle)
}

func (c *checker) checkList(l *list[host, *host], at place) {
	n := 0
	for h := l.first; h != nil; h = h.next {
		n++
		c.want(h.place == at && c.f.hosts[h.name] == h, "is in the list of place %d, and stands at %d", h, at, h.place)
	}
	c.want(n == l.n, "%d hosts at place %d, counted %d", nil, n, at, l.n)
}

// checkElsewhere: what a host has elsewhere is counted once, and asked for in one way.
func (c *checker) checkElsewhere() {
	e := &c.f.elsewhere
	owing, awaiting := 0, 0
	for _, h := range c.f.hosts {
		c.want(h.owing == h.owes(), "owing %t, counted %t", h, h.owes(), h.owing)
		c.want(h.wanted == nothing || h.backlog && h.givenUp == "", "wanted (%d), although nothing of it is", h, h.wanted)
		if h.owing {
			owing++
		}
		switch h.wanted {
		case bySweep:
			awaiting++
		case byName:
			c.want(slices.Contains(e.named, h) || h.named, "wanted by name, and on no list", h)
		case onceWritten:
			c.want(slices.Contains(e.unread, h), "wanted once written, and on no list", h)
		}
	}
	c.want(owing == e.owing && awaiting == e.awaiting, "%d hosts owing, %d of them awaiting a sweep; counted %d, %d", nil, owing, awaiting, e.owing, e.awaiting)
	c.want(e.n >= 0 && e.stranded >= 0, "%d tasks elsewhere, %d stranded", nil, e.n, e.stranded)
	for seq := range c.f.rerouted {
		c.want(c.tasks[seq], "task %d is rerouted and not in memory", nil, seq)
	}
}

// checkAddresses: each knows who uses it, who asks, and who is next.
func (c *checker) checkAddresses() {
	if c.f.addresses == nil {
		return
	}
	users, lines := map[*address]int{}, map[*address]int{}
	for _, h := range c.f.hosts {
		for _, o := range h.origins {
			if o != nil && o.address != nil {
				users[o.address]++
				c.want(o.addrs[0].Addr().Unmap() == o.address.ip, "asked at %s, counted at %s", h, o.addrs[0], o.address.ip)
			}
		}
		if h.place == inLine {
			lines[h.at]++
		}
	}
	unused := 0
	for ip, a := range c.f.addresses.byIP {
		c.want(a.ip == ip && a.users == users[a], "address %s has %d users as %s, counted %d", nil, ip, users[a], a.ip, a.users)
		c.want(a.inFlight == c.toAddress[a], "address %s: %d in flight, counted %d", nil, ip, c.toAddress[a], a.inFlight)
		c.want(a.inFlight == 0 || a.inFlight <= a.most, "address %s: %d in flight, at most %d allowed", nil, ip, a.inFlight, a.most)
		c.want(lines[a] == a.line.n, "address %s: %d in line, counted %d", nil, ip, lines[a], a.line.n)
		c.want(a.turn == nil && a.line.n == 0 || a.turn != nil && a.turn.at == a && c.f.hosts[a.turn.name] == a.turn, "address %s: %d in line, and nobody's turn", nil, ip, a.line.n)
		if a.users == 0 {
			unused++
		}
	}
	c.want(unused == c.f.addresses.unused.n, "%d addresses unused, counted %d", nil, unused, c.f.addresses.unused.n)
}

func (c *checker) checkTotals() {
	c.want(c.counted.givenUp <= c.f.counters.givenUp, "%d hosts given up in memory, %d in all", nil, c.counted.givenUp, c.f.counters.givenUp)
	c.counted.givenUp = c.f.counters.givenUp // the others are not in memory
	c.want(c.counted == c.f.counters, "counted %+v, kept %+v", nil, c.counted, c.f.counters)
	c.want(len(c.tasks) == c.f.numbers.held, "%d tasks in memory, %d known to be", nil, len(c.tasks), c.f.numbers.held)
	placed := [...]int{nowhere: c.placed[nowhere], ready: c.f.ready.n, waiting: len(c.f.waiting), inLine: c.placed[inLine], idle: c.f.idle.n}
	c.want(placed == c.placed, "hosts by place %v, counted %v", nil, placed, c.placed)
	for _, h := range c.f.hosts {
		for _, o := range h.origins {
			c.want(o == nil || o.ask == nil || c.asked[o.ask], "%s waits for an answer that nobody asks for", h, originName(o))
		}
	}
}

func originName(o *origin) string {
	if o == nil {
		return ""
	}
	return o.name
}

func (c *checker) checkWaiters() {
	f := c.f
	if f.waiters.first == nil {
		return
	}
	c.want(f.ready.n == 0 || f.paused || !f.total.allows(c.now), "%d callers wait, and %d hosts are ready", nil, f.waiters.n, f.ready.n)
	c.want(!f.drained() && !f.closed, "%d callers wait for nothing", nil, f.waiters.n)
	if at := f.total.notBefore(f.nextMoment(c.now)); at != forever && at > c.now && !f.paused {
		c.want(f.armed <= at, "the timer is set to %v, the next host is due at %v", nil, f.armed, at)
	}
}

func (c *checker) checkRules() {
	r, held := &c.f.rulesRoom, int64(0)
	for o, l := range r.of {
		held += l.size
		c.want(l.origin == o && o.rules != nil && o.rules.Size() == l.size, "has room for other rules", o.host)
		c.want(!o.host.forgotten, "is forgotten and has room for rules", o.host)
	}
	c.want(held == r.held && len(r.of) == r.byUse.n, "rules take %d bytes of %d origins, counted as %d of %d", nil, held, len(r.of), r.held, r.byUse.n)
	c.want(held <= c.f.cfg.MaxRulesBytes || r.byUse.n == 1, "rules take %d bytes", nil, held)
}
