package frontier

// place is where a host stands.
type place uint8

const (
	nowhere place = iota // its next lease hangs on the end of another, or it is given up
	ready                // in Frontier.ready
	waiting              // in Frontier.waiting
	inLine               // in the line of host.at
	idle                 // in Frontier.idle
)

// schedule puts h where it belongs. It follows every change of h; after the first call h may be forgotten.
func (f *Frontier) schedule(h *host, now moment) {
	if h.forgotten {
		return
	}
	f.wake(h, now)
	if f.crowded() && h.queue.len() > 0 && f.waitsLong(h, now) && f.canPark(h) {
		f.park(h, now)
	}
	if f.leaveForLong(h, now) {
		return
	}
	f.feed(h, now)
	f.bookOwing(h)
	f.promote(now) // those that came due before h come first
	f.stand(h, now)
	if f.addresses != nil {
		f.paceChanged(h, now)
	}
}

// stand puts h in its place, of which nothing has changed since schedule but the time, and what others do.
func (f *Frontier) stand(h *host, now moment) {
	to, due, asked := f.plan(h)
	if f.addresses != nil {
		to, due = f.takeTurns(h, to, due, asked, now)
	}
	if to == waiting && due <= now {
		to = ready
	}
	if to == h.place && (to == ready || to == inLine) {
		return // it keeps its turn
	}
	f.take(h)
	h.place, h.due = to, due
	switch to {
	case ready:
		f.ready.push(h)
	case waiting:
		f.waiting.push(h)
	case inLine:
		h.at.line.push(h)
	case idle:
		f.idle.push(h)
		f.forgetSome(now)
	}
}

// take takes h from where it stands.
func (f *Frontier) take(h *host) {
	switch h.place {
	case ready:
		f.ready.remove(h)
	case waiting:
		f.waiting.remove(h)
	case inLine:
		h.at.line.remove(h)
	case idle:
		f.idle.remove(h)
	}
	h.place = nowhere
}

// plan says where h belongs by itself, and its due moment there. A host that is ready belongs to the waiting ones, and is
// due. asked is the origin of which a request would be made then; nil where none would, or nothing is known of it yet.
func (f *Frontier) plan(h *host) (to place, due moment, asked *origin) {
	switch {
	case h.givenUp != "":
		if h.queue.len() == 0 && !h.resolving && h.inFlight == 0 {
			return idle, f.notBefore(h), nil
		}
		return nowhere, 0, nil
	case h.resolving || h.inFlight >= h.policy.hostConcurrency || h.pages+uint64(h.inFlight) >= h.policy.maxPages:
		return nowhere, 0, nil
	case h.asks.first != nil && !h.ownTurn():
		if a := h.asks.first; !a.overdue {
			return waiting, f.notBefore(h), h.origins[isHTTPS(a.url)]
		}
		return waiting, never, nil
	}
	if h.queue.standing() == 0 {
		to, due = f.planWithout(h)
		return to, due, nil
	}
	if h.asking == 0 && f.addresses == nil { // whichever task is the first, which is a look into far memory
		return waiting, f.notBefore(h), nil
	}
	o := h.origins[h.queue.peek().https]
	if o == nil || o.ask == nil {
		return waiting, f.notBefore(h), o
	}
	if o.ask.at == nil {
		return nowhere, 0, nil // it is being answered
	}
	return waiting, o.ask.deadline, nil
}

// planWithout is plan for a host without tasks in memory that may be tried already.
func (f *Frontier) planWithout(h *host) (place, moment) {
	due := h.behind
	switch {
	case h.backlog && h.wanted == nothing:
		due = never // as soon as it may be asked, more of its tasks are asked for
	case len(h.queue.aside) > 0:
		due = min(due, f.moment(h.queue.next()))
	case h.inFlight > 0:
		return nowhere, 0
	case due == forever:
		return idle, f.notBefore(h)
	}
	return waiting, max(f.notBefore(h), due)
}

// ownTurn reports whether h's first task is to go before the questions that redirects from other hosts brought here:
// they take turns with it, so that a host that many others redirect to is crawled all the same.
func (h *host) ownTurn() bool {
	t := h.queue.peek()
	if !h.guest || h.asks.first.origin.host == h || t == nil {
		return false
	}
	o := h.origins[t.https]
	return o == nil || o.ask == nil
}

// wake moves those of h's tasks aside that may be tried now to the head of its queue, and reports whether there are any.
func (f *Frontier) wake(h *host, now moment) bool {
	return len(h.queue.aside) > 0 && h.queue.wake(f.time(now))
}

// promote makes those ready that have come due, or has them join the line of their address.
func (f *Frontier) promote(now moment) {
	for len(f.waiting) > 0 && f.waiting[0].due <= now {
		h := f.waiting[0]
		f.waiting.remove(h)
		h.place = nowhere
		if f.addresses != nil {
			f.stand(h, now)
			continue
		}
		h.place = ready
		f.ready.push(h)
	}
}
