package frontier

import (
	"net/netip"
	"time"
)

// address is what the hosts on one IP address share with Config.PerIP: how many requests are in flight to it, and when
// the last one was. One host has its turn; others that are due stand in line behind it, in the order in which they came
// due, and none overtakes another.
type address struct {
	links[address] // in addresses.unused

	ip    netip.Addr
	users int // origins in memory whose first address it is

	pace
	leasedBy *host  // at lastLease; nil for none
	restsTo  moment // the shared delays after all requests that ended are over then
	most     int    // the least concurrency of the hosts asked since none was in flight

	turn *host             // asked next, once a slot is free and the delay over; nil for none
	line list[host, *host] // after it
}

// addresses are the addresses that are in use, or whose delay is not over.
type addresses struct {
	byIP   map[netip.Addr]*address
	unused list[address, *address] // those without users
}

// joinAddress has o use the first of its addresses.
func (f *Frontier) joinAddress(o *origin, now moment) {
	if f.addresses == nil || len(o.addrs) == 0 {
		return
	}
	f.forgetAddresses(now)
	ip := o.addrs[0].Addr().Unmap()
	a := f.addresses.byIP[ip]
	if a == nil {
		a = &address{ip: ip, pace: newPace(), restsTo: never}
		if f.cfg.Resumed {
			a.lastEnd = 0 // as a host's
		}
		f.addresses.byIP[ip] = a
	} else if a.users == 0 {
		f.addresses.unused.remove(a)
	}
	a.users++
	o.address = a
}

// leaveAddress has o use no address.
func (f *Frontier) leaveAddress(o *origin) {
	if a := o.address; a != nil {
		o.address = nil
		if a.users--; a.users == 0 {
			f.addresses.unused.push(a)
		}
	}
}

// joinAddresses has h, which comes back into memory, use those that it knows.
func (f *Frontier) joinAddresses(h *host) {
	for _, o := range h.origins {
		if o != nil {
			f.joinAddress(o, f.now())
		}
	}
}

// leaveAddresses has h, which leaves memory, use none.
func (f *Frontier) leaveAddresses(h *host) {
	for _, o := range h.origins {
		if o != nil {
			f.leaveAddress(o)
		}
	}
}

// forgetAddresses forgets those without users whose delay is over. It looks at two, and so at more than one that is added.
func (f *Frontier) forgetAddresses(now moment) {
	for range min(2, f.addresses.unused.n) {
		a := f.addresses.unused.first
		f.addresses.unused.remove(a)
		if a.inFlight == 0 && f.restsUntil(a, 0) <= now {
			delete(f.addresses.byIP, a.ip)
		} else {
			f.addresses.unused.push(a) // others may be forgotten
		}
	}
}

// isFree reports whether one more request, to h, may be in flight to a.
func (a *address) isFree(h *host) bool {
	return a.inFlight == 0 || a.inFlight < min(a.most, h.policy.hostConcurrency)
}

// notBeforeAt returns the moment from which h may be asked at a, as far as others there are concerned: between two
// requests lies the greater shared delay of the two hosts asked.
func (f *Frontier) notBeforeAt(a *address, h *host) moment { return f.restsUntil(a, f.sharedDelay(h)) }

// restsUntil returns the moment from which a may be asked by a host with that delay.
func (f *Frontier) restsUntil(a *address, own time.Duration) moment {
	until := a.last() + own
	if a.leasedBy != nil {
		until = max(until, a.lastLease+f.sharedDelay(a.leasedBy))
	}
	if a.lastEnded {
		until = max(until, a.restsTo)
	}
	return until
}

// takeTurns says where h stands, given where it would by itself: in line when it is due and others come first at the
// address of asked. Until it has been asked there it keeps its place, unless it is to be asked something else, or not to
// be asked.
func (f *Frontier) takeTurns(h *host, to place, due moment, asked *origin, now moment) (place, moment) {
	var a *address
	if to == waiting && due <= now && asked != nil && (h.at == asked.address || !asked.addrsTerm.over(now)) {
		a = asked.address
	}
	if h.at != a {
		f.leaveLine(h, now)
		if h.at = a; a != nil && a.turn == nil {
			a.turn = h
		}
	}
	switch {
	case a == nil:
		return to, due
	case a.turn != h:
		return inLine, due
	case !a.isFree(h):
		return nowhere, 0
	}
	return waiting, max(due, f.notBeforeAt(a, h))
}

// leaveLine takes h from the line in which it stands, or its turn from it.
func (f *Frontier) leaveLine(h *host, now moment) {
	a := h.at
	if a == nil {
		return
	}
	if h.place == inLine {
		f.take(h)
	}
	h.at = nil
	if a.turn != h {
		return
	}
	if a.turn = a.line.first; a.turn != nil {
		f.stand(a.turn, now)
	}
}

// mayAsk reports whether h, which is due, may make a request of o, whose addresses are known.
func (f *Frontier) mayAsk(h *host, o *origin, now moment) bool {
	a := o.address
	return a == nil || a.turn == h && a.isFree(h) && f.notBeforeAt(a, h) <= now
}

// askAt books in op that h has made a request of a, where it had the turn. a is nil where addresses do not count.
func (f *Frontier) askAt(a *address, h *host, op *open, now moment) {
	if a == nil {
		return
	}
	most := h.policy.hostConcurrency
	if a.inFlight > 0 {
		most = min(most, a.most)
	}
	a.most = most
	op.address, op.addressLeasedBy = a, a.leasedBy
	op.addressBefore = a.leased(op.id, now)
	a.leasedBy = h
	a.inFlight++
	f.leaveLine(h, now)
}

// settleAddress books the end of a lease at its address, if it was a request of one.
func (f *Frontier) settleAddress(op *open, requested bool, now moment) {
	a := op.address
	if a == nil {
		return
	}
	a.inFlight--
	if requested {
		a.ended(op.id, now)
		a.restsTo = max(a.restsTo, now+f.sharedDelay(op.host))
	} else if a.takeBack(op.id, op.addressBefore) {
		a.leasedBy = op.addressLeasedBy
	}
	if a.turn != nil {
		f.stand(a.turn, now)
	}
}

// paceChanged has those that are next after h at its addresses look anew at when they may be asked.
func (f *Frontier) paceChanged(h *host, now moment) {
	for _, o := range h.origins {
		if o == nil || o.address == nil {
			continue
		}
		if a := o.address; a.leasedBy == h && a.turn != nil && a.turn != h {
			f.stand(a.turn, now)
		}
	}
}

// lineEnd returns the moment before which h is hardly asked where it would join the line of an address that has more
// than its part of the hosts in memory; never for none.
func (f *Frontier) lineEnd(h *host, now moment) moment {
	t := h.queue.peek()
	if f.addresses == nil || t == nil || h.at != nil {
		return never
	}
	o := h.origins[t.https]
	if o == nil || o.address == nil || o.address.line.n < max(f.cfg.MaxHosts/8, 1) {
		return never
	}
	return now + min(moment(o.address.line.n)*f.sharedDelay(h), forever-now)
}
