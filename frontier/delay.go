package frontier

import (
	"math/bits"
	"time"
)

// delay returns the least time between two requests to h. The factor is there to spare a slow host by itself, so it is
// off with HostDelay; a Crawl-delay is the host's own word and stays.
func (f *Frontier) delay(h *host) time.Duration {
	d := h.policy.hostDelay
	if d > 0 {
		d = max(d, time.Duration(min(f.cfg.DelayFactor*float64(h.lastTook), float64(forever))))
	}
	for _, o := range h.origins {
		if o != nil {
			d = max(d, o.crawlDelay)
		}
	}
	return min(d, forever)
}

// notBefore returns the moment from which h may be asked again.
//
// The delay runs from the end of the last request: one arrives some time after its lease, when a name has been looked
// up or a connection made, so that a delay from lease to lease could be none at all at the server. While the request
// leased last is in flight, its lease is all that is known of it, and the ends of earlier ones say nothing.
func (f *Frontier) notBefore(h *host) moment {
	last := h.lastLease
	if h.lastEnded {
		last = max(last, h.lastEnd)
	}
	return max(h.until, last+f.delay(h))
}

// settle books the end of a lease on a request to its host, which the caller then schedules.
func (f *Frontier) settle(op open, o Outcome, now moment) {
	h := op.host
	h.inFlight--
	if o.Requested {
		h.requests++
		h.lastEnd = now
		h.lastEnded = h.lastEnded || op.leasedAt == h.lastLease || h.inFlight == 0
		h.lastTook = max(o.Took, 0)
	} else {
		f.uncharge(op)
	}
	switch {
	case o.Failed:
		h.failures++
		f.mark(h)
		f.hold(h, f.backoff(h.failures), now)
	case o.Requested && op.kind == Page && h.failures > 0: // an answer for robots.txt says little of the pages
		h.failures = 0
		f.mark(h)
		if h.givenUp == TooManyFailures { // a request that was in flight then has got through
			f.revive(h)
		}
	}
	if o.RetryAfter > 0 {
		f.hold(h, min(o.RetryAfter, f.cfg.MaxRetryAfter), now)
	}
	if f.cfg.GiveUpAfter > 0 && h.failures >= f.cfg.GiveUpAfter && h.givenUp == "" {
		f.giveUp(h, TooManyFailures, now)
	}
	f.charge(h, o, now)
	f.keepDelay(h)
}

// uncharge takes back the delay that a lease costs, where no request came of it. A host with a million pages that its
// robots.txt forbids is through with them as fast as they are leased.
func (f *Frontier) uncharge(op open) {
	h := op.host
	if h.lastLease == op.leasedAt {
		h.lastLease = op.leaseBefore
	}
	h.lastEnded = true // an earlier one may have ended meanwhile
}

// backoff returns how long a host is left alone after so many failures in a row.
func (f *Frontier) backoff(failures int) time.Duration {
	d, shift := f.cfg.BackoffBase, failures-1
	if shift >= bits.LeadingZeros64(uint64(d))-1 {
		return f.cfg.BackoffMax // the shift would overflow
	}
	return min(d<<shift, f.cfg.BackoffMax)
}

// hold keeps h from being asked for a while.
func (f *Frontier) hold(h *host, wait time.Duration, now moment) {
	if until := later(now, wait); wait > 0 && until > h.until {
		h.until = until
		f.mark(h)
	}
}

// keepDelay makes a delay that HostDelay does not cover part of h's durable state: in powers of two and never falling, so
// that it changes a few times in a host's life, not with each response time.
func (f *Frontier) keepDelay(h *host) {
	d := f.delay(h)
	if d <= h.policy.hostDelay || d <= h.delayKept {
		return
	}
	h.delayKept = min(time.Second<<bits.Len64(uint64((d-1)/time.Second)), forever)
	f.mark(h)
}
