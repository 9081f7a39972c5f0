package frontier

import "time"

// totalRate keeps the requests to all hosts together within Config.MaxRate: the next one is leased no sooner than one
// interval after the last (the generic cell rate algorithm, ITU-T I.371, with next as its theoretical arrival time). So it
// is the frontier that waits, and no fetcher with a lease in its hands.
type totalRate struct {
	every time.Duration // between two requests; 0: no limit
	slack time.Duration // so much of what was missed may be made up for
	next  moment
}

// rateSlack is about how late timers are on a busy machine. It is of use only where intervals are shorter.
const rateSlack = 20 * time.Millisecond

func newTotalRate(perSecond float64) totalRate {
	r := totalRate{next: never}
	r.limit(perSecond)
	return r
}

// limit changes the rate, from the last request on.
func (r *totalRate) limit(perSecond float64) {
	before := r.every
	r.every, r.slack = 0, 0
	if perSecond > 0 {
		r.every = time.Duration(min(float64(time.Second)/perSecond, float64(forever)))
	}
	if r.every < rateSlack {
		r.slack = rateSlack
	}
	if r.next != never {
		r.next += r.every - before
	}
}

// allows reports whether a request may be leased now.
func (r *totalRate) allows(now moment) bool { return r.every == 0 || r.next <= now }

// notBefore returns when one may be that is due at a moment; forever stays so.
func (r *totalRate) notBefore(due moment) moment {
	if r.every == 0 || due == forever {
		return due
	}
	return max(due, r.next)
}

// take books a request that is leased now.
func (r *totalRate) take(now moment) { r.next = min(max(r.next, now-r.slack)+r.every, forever) }

// give takes one back of which nothing came.
func (r *totalRate) give() {
	if r.next != never {
		r.next -= r.every
	}
}
