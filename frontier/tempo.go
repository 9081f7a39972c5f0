package frontier

import "time"

// tempo is how a host bears being asked. Two things are made of it: the response time that Config.DelayFactor is for, and
// by how much the rate at which the host is asked is lowered.
//
// The rate follows TCP's rule, additive increase and multiplicative decrease (Chiu and Jain, "Analysis of the increase and
// decrease algorithms", 1989): trouble takes a part of it at once, each healthy answer gives a 64th of the full rate
// back (docs/decisions/adaptive-pace.md has what other steps do). So a host with a limit of its own is asked about as often as that limit allows, whatever it is. The full rate
// is the configured delay or the Crawl-delay, and is never exceeded.
type tempo struct {
	took    time.Duration // smoothed response time of its pages; until there is one, that of a robots.txt
	usual   time.Duration // mean response time of its pages, with a memory of about usualOver of them
	answers uint8         // pages counted in usual, up to usualOver
	eased   uint8         // by so many parts of fullRate the rate is lowered
	failing bool          // the last request failed, robots.txt files that were answered not counted
}

const (
	fullRate    = 64 // parts of a host's rate; the least is leastRate
	leastRate   = fullRate / 16
	regained    = fullRate / 64 // with each healthy answer
	usualOver   = 32
	usualFrom   = 8 // answers from which on usual says something
	slowByTimes = 2 // an answer is slow that takes so many times what is usual, and slowByLeast more
	slowByLeast = 200 * time.Millisecond
)

// answered takes in the response time of a page. full is the host's delay at its full rate.
//
// The smoothed time goes half the way to each new one, and at most doubles, or reaches twice the full delay: one answer
// that hung does not stall the host, and a host that has become slow has all its room after a few. A mean tells what is
// slow, since of any times no more than half lie beyond twice their mean: a site with quick and slow pages is not taken for
// one in trouble. It reports whether the answer was slow for this host.
func (t *tempo) answered(took, full time.Duration) (slow bool) {
	took = min(took, forever) // so that two can be added
	if t.answers == 0 {
		t.took, t.usual, t.answers = took, took, 1
		return false
	}
	slow = t.answers >= usualFrom && took/slowByTimes > t.usual && took-t.usual >= slowByLeast
	t.answers = min(t.answers+1, usualOver)
	t.usual += (took - t.usual) / time.Duration(t.answers)
	t.took = min((t.took+took)/2, 2*max(t.took, full))
	return slow
}

// robots takes in the response time of a robots.txt: a small file, most often, that says little of pages.
func (t *tempo) robots(took time.Duration) {
	if t.answers == 0 {
		t.took = min(took, forever)
	}
}

// What trouble leaves of a rate, in eighths: a failure says more than a slow answer, of which a site may have some each day.
const (
	afterFailure = 4
	afterSlow    = 7
)

// ease lowers the rate to so many eighths of what it is.
func (t *tempo) ease(eighths int) {
	rate := (fullRate - int(t.eased)) * eighths / 8
	t.eased = fullRate - uint8(max(rate, leastRate))
}

// regain raises the rate, and reports whether it is the full one again.
func (t *tempo) regain() (whole bool) {
	had := t.eased
	t.eased -= min(t.eased, regained)
	return had > 0 && t.eased == 0
}

// stretch returns what a delay becomes at the present rate.
func (t *tempo) stretch(d time.Duration) time.Duration {
	if t.eased == 0 || d > forever/fullRate {
		return d
	}
	return d * fullRate / (fullRate - time.Duration(t.eased))
}
