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
func (f *Frontier) notBefore(h *host) moment { return max(h.until, h.last()+f.delay(h)) }

// settle books the end of a lease on a request to its host, which the caller then schedules.
func (f *Frontier) settle(op *open, o Outcome, now moment) {
	h := op.host
	h.inFlight--
	if o.Requested {
		h.requests++
		h.ended(op.id, now)
		h.lastTook = max(o.Took, 0)
	} else {
		h.takeBack(op.id, op.leaseBefore)
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
	f.charge(h, op.kind, o, now)
	f.keepDelay(h)
	f.settleAddress(op, o.Requested, now)
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
