package frontier

import "maps"

// elsewhere is what the frontier knows of tasks that are not in memory. They stay where whoever calls Add keeps a copy of
// every task, and come back by Refill. Each is of a host that is owing, or that is not in memory and that a sweep is to
// find (unfound, sweeping, returns), or that is given up.
type elsewhere struct {
	n        int // tasks
	stranded int // of these, known to be of hosts given up

	owing    int           // hosts in memory that may have tasks here, and are not given up
	awaiting int           // of these, hosts that wait for a sweep
	unfound  bool          // hosts that only a sweep finds have some
	sweeping bool          // a sweep is under way
	sweptAt  moment        // the last one ended then
	returns  moment        // the first host that was forgotten because it may not be asked for long may be then; forever for none
	granting bool          // a wish is: older copies of tasks may be on their way into memory
	reading  string        // host of that wish, where it is for one by name
	turn     int           // tasks of a host in a sweep
	roomAt   moment        // until then no more room can be made
	round    uint64        // counts calls of Cut
	written  uint64        // what came here before this round can be read
	named    []*host       // wanted byName; others in it are passed over
	unread   []*host       // wanted onceWritten; others in it are passed over
	wake     chan struct{} // one slot; there may be something to wish for
}

// want is how a host's tasks elsewhere are asked for.
type want uint8

const (
	nothing     want = iota // they are not, or not now
	bySweep                 // the next sweep is to find them
	byName                  // by a wish for that host
	onceWritten             // by name, when what cannot be read yet is written
)

// Kept is what a crawl that goes on has kept.
type Kept struct {
	Pending      int // tasks that wait elsewhere: neither done nor to be given to Add
	HostsGivenUp int
	GivenUpFor   map[Reason]int // of HostsGivenUp, by the reason
}

// Begin takes over what an earlier crawl has kept, before anything else is called but MarkDone.
func (f *Frontier) Begin(k Kept) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.elsewhere.n, f.elsewhere.unfound = k.Pending, k.Pending > 0
	f.counters.givenUp, f.givenUpFor = k.HostsGivenUp, maps.Clone(k.GivenUpFor)
	f.nudge()
}

// settled reports whether nothing that may be asked for waits elsewhere.
func (e *elsewhere) settled() bool {
	return e.n == 0 || e.owing == 0 && !e.unfound && !e.sweeping && e.returns == forever
}

// decline leaves a new task of h elsewhere. h is nil where its host is not in memory. The caller schedules it.
func (f *Frontier) decline(h *host) {
	f.elsewhere.n++
	if h == nil {
		f.elsewhere.unfound = true
		f.nudge()
		return
	}
	if !h.backlog {
		h.backlog = true
		h.readTo = h.queue.greatest()
		h.large = h.queue.len() >= minShare // it has met more than a turn's worth
	}
	h.declinedIn = f.elsewhere.round
	if h.givenUp != "" {
		f.strand(h, 1)
	}
}

// release has a task that is pending in memory, and is in h's queue no more, wait elsewhere. The caller schedules h.
func (f *Frontier) release(h *host, t *Task) {
	if f.letGo(h, t) {
		f.decline(h)
		h.rewind = true
	}
}

// letGo takes a task of h that is pending, and is in its queue no more, out of memory. It reports whether the task waits
// elsewhere as one of h's. One that came here from another host does so as one of that host, which a sweep finds.
func (f *Frontier) letGo(h *host, t *Task) bool {
	f.numbers.unhold(t.Seq)
	f.counters.queued--
	if h.givenUp != "" {
		f.counters.stranded--
	}
	from, moved := f.rerouted[t.Seq]
	if moved {
		delete(f.rerouted, t.Seq)
		if home := f.hosts[from.host]; home != nil {
			home.rewind = true
		}
		f.decline(nil)
	}
	return !moved
}

// leaveBehind has a task of h that is not to be tried before due, and that memory does not hold any more, wait elsewhere
// until then. The caller schedules h.
func (f *Frontier) leaveBehind(h *host, due moment) {
	had := h.backlog
	f.decline(h)
	h.backlog = had || h.givenUp != "" // it need not be looked for before it is due
	h.behind = min(h.behind, due)
}

// feed sees to it that more of h's tasks come into memory, where some wait elsewhere and few are left here.
func (f *Frontier) feed(h *host, now moment) {
	if h.behind <= now {
		h.behind = forever
		h.backlog, h.rewind, h.readTo = true, true, order{}
	}
	if !h.backlog || h.wanted != nothing || h.givenUp != "" || h.queue.standing() > f.share()/4 || f.waitsLong(h, now) {
		return
	}
	if h.large {
		f.want(h, byName)
	} else if h.queue.standing() == 0 {
		f.want(h, bySweep)
	}
}

// want notes how h's tasks are asked for.
func (f *Frontier) want(h *host, w want) {
	e := &f.elsewhere
	if h.wanted == w {
		return
	}
	if h.wanted == bySweep {
		e.awaiting--
	}
	switch h.wanted = w; w {
	case nothing:
		return
	case bySweep:
		e.awaiting++
	case byName:
		e.named = append(e.named, h)
	case onceWritten:
		e.unread = append(e.unread, h)
	}
	f.nudge()
}

// owes reports whether h may have tasks elsewhere that it is yet to be asked for.
func (h *host) owes() bool {
	return (h.backlog || h.behind < forever) && h.givenUp == "" && !h.forgotten
}

// bookOwing keeps the count of hosts that owe.
func (f *Frontier) bookOwing(h *host) {
	if owes := h.owes(); owes != h.owing {
		h.owing = owes
		if owes {
			f.elsewhere.owing++
		} else {
			f.elsewhere.owing--
		}
	}
}

// strand counts n more tasks elsewhere that are known to be of a host given up.
func (f *Frontier) strand(h *host, n int) {
	h.stranded += n
	f.elsewhere.stranded += n
}
