package frontier

// serve makes the next lease on h, which is due. It reports false where h turns out to have to wait.
func (f *Frontier) serve(h *host, now moment) (Lease, bool) {
	if f.wake(h, now) { // another task comes first now, perhaps one that waits for an answer
		if to, due, _ := f.plan(h); to != waiting || due > now {
			f.schedule(h, now)
			return Lease{}, false
		}
	}
	if a := h.asks.first; a != nil && !h.ownTurn() {
		return f.serveRobots(h, a, now)
	}
	t := h.queue.peek()
	if t == nil { // it is due, and its tasks are elsewhere
		f.schedule(h, now)
		return Lease{}, false
	}
	o := h.origins[t.https]
	if o == nil {
		o = h.origin(t.url)
	}
	if a := o.ask; a != nil {
		if a.at == nil {
			return Lease{}, false
		}
		if f.inTime(a, now) { // it waits elsewhere, and its deadline is why h is due
			f.schedule(h, now)
			return Lease{}, false
		}
		f.recall(a, now)
		return f.serveRobots(h, a, now)
	}
	if o.addrsTerm.over(now) {
		return f.leaseResolve(h, o, t.url, now), true
	}
	if !f.mayAsk(h, o, now) { // others come first at its address
		f.schedule(h, now)
		return Lease{}, false
	}
	if o.addrsErr == nil && !h.policy.ignoreRobots && o.rulesTerm.over(now) {
		return f.serveRobots(h, f.newAsk(h, o, t.url, now), now)
	}
	return f.leasePage(h, o, now), true
}

// leasePage leases h's first task.
func (f *Frontier) leasePage(h *host, o *origin, now moment) Lease {
	t := h.queue.pop(&f.lines)
	f.counters.queued--
	o.addrsTerm.unused = false
	l := Lease{Kind: Page, Task: t, Origin: o.name, Addrs: o.addrs, ResolveErr: o.addrsErr}
	if o.addrsErr == nil && !h.policy.ignoreRobots {
		o.rulesTerm.unused = false
		f.rulesRoom.used(o)
		l.Permission = o.rules
	}
	return f.lease(l, open{host: h, task: t}, o.address, now)
}

// lease opens l and has its host scheduled for what comes after it. at is the address of a request; nil for none.
func (f *Frontier) lease(l Lease, op open, at *address, now moment) Lease {
	h := op.host
	op.id, op.kind, op.leasedAt, op.leaseBefore = f.open.newID(), l.Kind, never, h.lastLease
	if l.Kind == Resolve {
		h.resolving = true
	} else {
		h.inFlight++
		h.guest = op.ask != nil && op.ask.origin.host != h
		if l.ResolveErr == nil && !l.RobotsOverdue {
			op.leasedAt = now
			l.Promise = f.promise(h)
			f.total.take(now)
			h.leased(op.id, now)
			f.askAt(at, h, &op, now)
		}
	}
	f.counters.leased[l.Kind]++
	l.LeasedAt = f.time(now)
	f.open.add(op, &l)
	f.schedule(h, now)
	return l
}
