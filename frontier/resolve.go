package frontier

import (
	"net/netip"
	"time"

	"crawl/canon"
)

// leaseResolve leases the question for the addresses of o, an origin of h. It is no request to h, and costs no delay.
func (f *Frontier) leaseResolve(h *host, o *origin, u canon.URL, now moment) Lease {
	l := Lease{Kind: Resolve, Task: Task{URL: u}, Origin: o.name}
	return f.lease(l, open{host: h, origin: o}, nil, now)
}

// Resolved ends a resolve lease: addrs are l.Origin's addresses, for as long as ttl. They may be none, where a proxy
// finds them.
func (f *Frontier) Resolved(l Lease, addrs []netip.AddrPort, ttl time.Duration) error {
	return f.learnAddrs(l, addrs, nil, ttl)
}

// ResolveFailed ends a resolve lease: why is the reason that l.Origin has no addresses, for as long as ttl.
//
// That is an answer like any other and fails no task by itself. The origin's tasks are leased one by one with why as
// their ResolveErr, so that each comes to its own outcome. Where the failure may pass, the caller ends them with Retry
// and Outcome.Failed, so that the host backs off; by then ttl should be over, for the name to be looked up again. Where
// it will not pass, Done without either ends them all as fast as they are leased.
func (f *Frontier) ResolveFailed(l Lease, why error, ttl time.Duration) error {
	return f.learnAddrs(l, nil, why, ttl)
}

func (f *Frontier) learnAddrs(l Lease, addrs []netip.AddrPort, failure error, ttl time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op, err := f.end(l, Resolve)
	if err != nil {
		return err
	}
	now := f.now()
	op.host.resolving = false
	o := op.origin
	f.leaveAddress(o)
	o.addrs, o.addrsErr = addrs, failure
	f.joinAddress(o, now)
	o.addrsTerm = term{until: later(now, ttl), unused: true}
	f.schedule(op.host, now)
	f.dispatch(now)
	return nil
}

// doubtAddresses has the addresses of h looked up anew before it is asked again: it may have moved. Whether that takes a
// question to a name server is for the one who looks up.
func (h *host) doubtAddresses(now moment) {
	for _, o := range h.origins {
		if o != nil && o.addrsErr == nil && !o.addrsTerm.unused {
			o.addrsTerm.until = min(o.addrsTerm.until, now)
		}
	}
}
