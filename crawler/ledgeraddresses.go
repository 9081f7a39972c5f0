package crawler

import (
	"fmt"
	"net/netip"
	"time"

	"crawl/frontier"
)

// addressLedger keeps the books of what hosts owe each other that share an address (per_ip): never more requests in flight
// to it than the host_concurrency of the host asked, and host_delay of that host since the request before, whichever host
// that was for. It is part of a hostLedger, and guarded by its lock. Nil: addresses do not count.
type addressLedger map[netip.Addr]*addressAsked

// addressAsked is what is known of an address.
type addressAsked struct {
	turns
	free time.Duration // nothing is promised beyond it; since hostLedger.start
}

// of returns the books of the address that a lease's request goes to; nil where none are kept.
func (all addressLedger) of(l frontier.Lease, at time.Duration) *addressAsked {
	if all == nil || len(l.Addrs) == 0 {
		return nil
	}
	ip := l.Addrs[0].Addr().Unmap()
	a := all[ip]
	if a == nil {
		all.forgetSome(at)
		a = new(addressAsked)
		all[ip] = a
	}
	return a
}

// forgetSome forgets those of a few at random to which nothing is promised any more: more than one that is added, so that
// no more are kept than are asked within a delay, twice over. Go's order of a map's keys is a random one.
func (all addressLedger) forgetSome(at time.Duration) {
	looked := 0
	for ip, a := range all {
		if a.inFlight == 0 && a.free <= at {
			delete(all, ip)
		}
		if looked++; looked == forgetLook {
			return
		}
	}
}

// judge compares a request with what was promised.
func (a *addressAsked) judge(l frontier.Lease, at, leasedAt time.Duration) (promise string) {
	if a == nil {
		return ""
	}
	p, ip := l.Promise, l.Addrs[0].Addr().Unmap()
	gap, measured := a.gap(at, leasedAt, p.Slots)
	switch {
	case a.inFlight >= p.Slots:
		return fmt.Sprintf("%d requests in flight to %s at most (per_ip, host_concurrency), this would be one more than %d", p.Slots, ip, a.inFlight)
	case measured && gap < p.HostDelay:
		return fmt.Sprintf("%v between two requests to %s (per_ip, host_delay), this would be after %v", p.HostDelay, ip, gap)
	}
	return ""
}

// begin enters a request, whose ticket keeps what is needed for its end.
func (a *addressAsked) begin(t *ticket, l frontier.Lease, at time.Duration) {
	if a == nil {
		return
	}
	t.address, t.beforeAt = a, a.last
	a.turns.begin(l, t.leasedAt)
	a.free = max(a.free, at+l.Promise.HostDelay)
}

// endAtAddress enters its end.
func (t *ticket) endAtAddress(requested bool, at time.Duration) {
	if a := t.address; a != nil {
		a.end(t.leasedAt, t.beforeAt, requested, at)
		a.free = max(a.free, at+t.hostDelay)
	}
}
