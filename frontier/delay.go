package frontier

import (
	"math/bits"
	"time"
)

// delay returns the least time between two requests to h.
func (f *Frontier) delay(h *host) time.Duration {
	d, _ := f.delayWhy(h)
	return d
}

// delayWhy returns the least time between two requests to h, and what set it: the configured delay or the Crawl-delay,
// whichever is longer, stretched while the host is asked at a lower rate; or the response time. That one is there to spare
// a slow host by itself, so it is off with HostDelay; a Crawl-delay is the host's own word and stays.
func (f *Frontier) delayWhy(h *host) (time.Duration, Source) {
	full, why := f.fullDelay(h)
	return f.heeded(h, full, why)
}

// sharedDelay returns the least time between a request to h and one to another host on its address: h's delay, but for its
// Crawl-delay, which is a site's word about itself alone.
func (f *Frontier) sharedDelay(h *host) time.Duration {
	d, _ := f.heeded(h, h.policy.hostDelay, Configured)
	return d
}

// heeded returns a full delay as h's answers make it, and what set it.
func (f *Frontier) heeded(h *host, full time.Duration, why Source) (time.Duration, Source) {
	d := max(full, min(h.stretch(full), f.cfg.BackoffMax))
	if d > full {
		why = Eased
	}
	if t := f.responseDelay(h); t > d {
		d, why = t, ResponseTime
	}
	return min(d, forever), why
}

// responseDelay returns the delay that the response time of h asks for.
func (f *Frontier) responseDelay(h *host) time.Duration {
	if !f.responseCounts(h) {
		return 0
	}
	return time.Duration(min(f.cfg.DelayFactor*float64(h.took), float64(forever)))
}

// fullDelay returns the delay that was asked for, by the user or by the host's robots.txt.
func (f *Frontier) fullDelay(h *host) (time.Duration, Source) {
	d, why := h.policy.hostDelay, Configured
	if d != f.overrides.base.hostDelay {
		why = HostsRule
	}
	if h.crawlDelay > d {
		d, why = h.crawlDelay, CrawlDelay
	}
	return d, why
}

// notBefore returns the moment from which h may be asked again.
func (f *Frontier) notBefore(h *host) moment { return max(h.until, h.last()+f.delay(h)) }

// settle books the end of a lease on a request to its host, which the caller then schedules.
func (f *Frontier) settle(op *open, o Outcome, now moment) {
	h := op.host
	h.inFlight--
	if o.Requested {
		h.asked(op.id, now)
		f.heed(h, op.kind, o)
	} else {
		f.takeBack(op)
	}
	switch {
	case o.Failed:
		h.failures++
		f.mark(h)
		f.hold(h, f.backoff(h.failures), failedFor(op.kind, o), now)
	case o.Requested && op.kind == Page && h.failures > 0: // an answer for robots.txt says little of the pages
		h.failures = 0
		f.mark(h)
		if h.givenUp == TooManyFailures { // a request that was in flight then has got through
			f.revive(h)
		}
	}
	if o.Unreached {
		h.doubtAddresses(now)
	}
	if wait := min(o.RetryAfter, f.cfg.MaxRetryAfter); wait > 0 {
		f.hold(h, wait, RetryAfter, now)
		if wait > f.delay(h) {
			f.askedWait = max(f.askedWait, later(now, wait))
		}
	}
	if f.cfg.GiveUpAfter > 0 && h.failures >= f.cfg.GiveUpAfter && h.givenUp == "" {
		f.giveUp(h, TooManyFailures, now)
	}
	f.charge(h, op.kind, o, now)
	f.keepDelay(h)
	f.settleAddress(op, o.Requested, now)
}

// asked books a request that has ended.
func (h *host) asked(id uint64, now moment) {
	h.requests++
	h.ended(id, now)
}

// backoff returns how long a host is left alone after so many failures in a row.
func (f *Frontier) backoff(failures int) time.Duration {
	d, shift := f.cfg.BackoffBase, failures-1
	if shift >= bits.LeadingZeros64(uint64(d))-1 {
		return f.cfg.BackoffMax // the shift would overflow
	}
	return min(d<<shift, f.cfg.BackoffMax)
}

// heed has the tempo of h follow how a request to it ended. A series of failures counts once: for the rest there is the
// back-off.
func (f *Frontier) heed(h *host, kind Kind, o Outcome) {
	full, _ := f.fullDelay(h)
	took, was := max(o.Took, 0), h.failing
	switch {
	case o.Failed:
		h.failing = true
		if !was && full > 0 { // of no delay there is nothing to stretch
			h.ease(afterFailure)
			f.note(h)
		}
		return
	case kind == Robots:
		h.robots(took)
		return
	case h.answered(took, full) && f.responseCounts(h):
		h.ease(afterSlow)
		f.note(h)
	case h.regain():
		f.note(h)
	}
	h.failing = false
}

// responseCounts reports whether the response times of h are heeded at all.
func (f *Frontier) responseCounts(h *host) bool {
	return f.cfg.DelayFactor > 0 && h.policy.hostDelay > 0
}

// failedFor says why a host backs off whose lease of that kind failed.
func failedFor(kind Kind, o Outcome) Source {
	switch {
	case !o.Requested:
		return NoAddress
	case kind == Robots:
		return RobotsRetry
	}
	return BackOff
}

// hold keeps h from being asked for a while.
func (f *Frontier) hold(h *host, wait time.Duration, why Source, now moment) {
	if until := later(now, wait); wait > 0 && until > h.until {
		h.until, h.heldFor = until, why
		f.mark(h)
	}
}

// keepDelay makes a delay that HostDelay does not cover part of h's durable state: in powers of two and never falling, so
// that it changes a few times in a host's life, not with each response time. By how much the rate is lowered is kept apart,
// and does fall.
func (f *Frontier) keepDelay(h *host) {
	full, _ := f.fullDelay(h)
	d := max(full, f.responseDelay(h))
	if d <= h.policy.hostDelay || d <= h.delayKept {
		return
	}
	h.delayKept = min(time.Second<<bits.Len64(uint64((d-1)/time.Second)), forever)
	f.mark(h)
}
