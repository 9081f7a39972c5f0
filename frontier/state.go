package frontier

import "time"

// Reason is why a host is given up.
type Reason string

// TooManyFailures is the Reason of a host that gave no answer for Config.GiveUpAfter times in a row. The callers of GiveUp
// have their own reasons, which no setting takes back.
const TooManyFailures Reason = "too many failures"

// HostState is what of a host must outlive the process. Hosts in good order have none: the zero state but for Host,
// which says that an earlier state of the host no longer holds.
type HostState struct {
	Host     string        // as canon.URL.Host
	Until    time.Time     // it backs off until then
	Delay    time.Duration // at least its delay, where that is more than Config.HostDelay; else 0
	Failures int           // in a row
	GivenUp  Reason        // empty: not given up
	Requests uint64        // made to it so far; later ones do not count as a change
	Pages    uint64        // page records, where its budget has them counted
	Bytes    uint64        // of bodies, likewise
	Eased    uint8         `json:",omitzero"` // by so many of 64 parts its rate is lowered; less of it later is no change
}

// IsZero reports whether s says no more than a host's name.
func (s HostState) IsZero() bool {
	return s.Until.IsZero() && s.Delay == 0 && s.Failures == 0 && s.GivenUp == "" && s.Pages == 0 && s.Bytes == 0 && s.Eased == 0
}

// Changed returns the states that changed since the last call, a host's last one last. It is for the checkpoint, which
// keeps a state under its host's name and removes it for a zero one. Until it is called, changed hosts stay in memory.
func (f *Frontier) Changed() []HostState {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	states := make([]HostState, 0, len(f.changed))
	for _, h := range f.changed {
		s := f.state(h, now)
		if kept := !s.IsZero(); kept || h.kept {
			states = append(states, s)
			h.kept = kept
		}
		h.marked = false
	}
	f.changed = nil
	clear(f.leaving)
	f.unsaved, f.askedWait = never, never
	return states
}

// Unsaved returns the latest time until which a host must not be asked whose state the next call of Changed returns;
// the zero time where there is none. asked is the latest for which a Retry-After asked, where that is longer than the host's
// delay, which is kept after a crash in any case. A wait that outlasts the checkpoint interval is worth a checkpoint of its
// own: after a crash the host would be asked too early. So is a shorter one that the host asked for.
func (f *Frontier) Unsaved() (latest, asked time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := func(m moment) time.Time {
		if m < 0 {
			return time.Time{}
		}
		return f.time(m)
	}
	return at(f.unsaved), at(f.askedWait)
}

// adopt takes over what Changed returned of h, a host that comes into memory. In a crawl that goes on, it is not asked
// before its whole delay has passed since New. A host that the present Config would not give up is revived. A time
// further ahead than a back-off can be comes from a wrong clock, and is brought nearer.
func (f *Frontier) adopt(h *host, s HostState) {
	h.kept = !s.IsZero()
	h.delayKept, h.failures, h.requests, h.pages, h.bytes = s.Delay, s.Failures, s.Requests, s.Pages, s.Bytes
	h.eased = min(s.Eased, fullRate-leastRate)
	longest := later(f.now(), max(f.cfg.BackoffMax, f.cfg.MaxRetryAfter))
	h.until = min(f.moment(s.Until), longest)
	if f.cfg.Resumed {
		h.until = max(h.until, s.Delay)
	}
	switch {
	case s.GivenUp == "":
	case f.staysGivenUp(h, s.GivenUp):
		h.givenUp = s.GivenUp // and is counted
	default:
		f.recount(s.GivenUp, "")
		f.mark(h)
	}
}

func (f *Frontier) staysGivenUp(h *host, why Reason) bool {
	switch why {
	case TooManyFailures:
		return f.cfg.GiveUpAfter > 0 && h.failures >= f.cfg.GiveUpAfter
	case BudgetUsed:
		return h.overBudget()
	}
	return true
}

// state returns h's durable state.
func (f *Frontier) state(h *host, now moment) HostState {
	s := HostState{
		Host: h.name, Delay: h.delayKept, Failures: h.failures, GivenUp: h.givenUp, Requests: h.requests,
		Pages: h.pages, Bytes: h.bytes, Eased: h.eased,
	}
	if h.until > now {
		s.Until = f.time(h.until).Round(0) // a monotonic reading means nothing to the next process
	}
	return s
}

// mark has h's state returned by the next call of Changed, which a wait of h may be worth a checkpoint.
func (f *Frontier) mark(h *host) {
	f.unsaved = max(f.unsaved, f.notBefore(h))
	f.note(h)
}

// note has h's state returned by the next call of Changed.
func (f *Frontier) note(h *host) {
	if !h.marked {
		h.marked = true
		f.changed = append(f.changed, h)
	}
}

// GiveUp has the named host lease nothing more: the user dropped it, or a budget of its is used up. Its tasks, present
// and future, stay pending and are counted as stranded. Leases out are ended as usual. A host given up so is remembered
// until Revive, with or without tasks.
func (f *Frontier) GiveUp(host string, why Reason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	h := f.host(host)
	f.giveUp(h, why, now)
	f.mark(h)
	f.schedule(h, now)
	f.dispatch(now)
}

// Revive takes back that the named host is given up, and its failures. A host whose budget is used up stays given up.
func (f *Frontier) Revive(host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.host(host)
	now := f.now()
	if h.givenUp == "" {
		f.schedule(h, now)
		return
	}
	h.failures = 0
	if h.overBudget() {
		f.setGivenUp(h, BudgetUsed)
	} else {
		f.revive(h)
	}
	f.mark(h)
	f.schedule(h, now)
	f.dispatch(now)
}

// giveUp gives h up. The caller schedules it.
func (f *Frontier) giveUp(h *host, why Reason, now moment) {
	if h.givenUp == "" {
		f.counters.stranded += h.queue.len()
	}
	f.setGivenUp(h, why)
	f.want(h, nothing)
	f.dropAsks(h, now)
	if (f.elsewhere.n > 0 || f.crowded()) && f.canPark(h) { // others have use for the room
		f.park(h, now)
	}
}

// revive takes back that h is given up. The caller schedules it.
func (f *Frontier) revive(h *host) {
	f.counters.stranded -= h.queue.len()
	f.strand(h, -h.stranded)
	f.setGivenUp(h, "")
	f.elsewhere.unfound = f.elsewhere.unfound || f.elsewhere.n > 0
	f.nudge()
}
