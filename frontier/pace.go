package frontier

// pace is when requests were made of a host, or of an address.
//
// A delay runs from the end of the last request: one arrives some time after its lease, when a name has been looked up
// or a connection made, so that a delay from lease to lease could be none at all at the server. While the request leased
// last is in flight, its lease is all that is known of it, and the ends of earlier ones say nothing.
type pace struct {
	inFlight  int // requests, that is leases of the kinds Robots and Page
	lastLease moment
	lastID    uint64 // of that lease: several may be of one moment
	lastEnd   moment
	lastEnded bool // lastEnd is that of the request leased last, or may be
}

func newPace() pace { return pace{lastLease: never, lastEnd: never, lastEnded: true} }

// last returns the moment from which the delay runs.
func (p *pace) last() moment {
	if p.lastEnded {
		return max(p.lastLease, p.lastEnd)
	}
	return p.lastLease
}

// leased books a request that is leased now, and returns the last lease before it.
func (p *pace) leased(id uint64, now moment) (before moment) {
	before = p.lastLease
	p.lastLease, p.lastID, p.lastEnded = now, id, false
	return before
}

// ended books the end of a request that is in flight no more.
func (p *pace) ended(id uint64, now moment) {
	p.lastEnd = now
	p.lastEnded = p.lastEnded || id == p.lastID || p.inFlight == 0
}

// takeBack takes back the delay that a lease costs, where no request came of it, and reports whether it was the last one.
// before is what leased returned. So a host with a million pages that its robots.txt forbids is through with them as fast
// as they are leased.
func (p *pace) takeBack(id uint64, before moment) (wasLast bool) {
	wasLast = p.lastID == id
	if wasLast {
		p.lastLease = before
	}
	p.lastEnded = true // an earlier one may have ended meanwhile
	return wasLast
}
