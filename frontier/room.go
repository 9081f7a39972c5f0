package frontier

import (
	"slices"
	"time"
)

// A host's turn in a sweep: all that most hosts have, so that they are gone through once, unless there is nothing to do
// while memory is full: then more hosts with less of each are what is needed.
const minTurn, maxTurn = 16, 256

// turn is how many tasks of a host a sweep brings now.
func (f *Frontier) turn() int { return min(f.elsewhere.turn, max(f.cfg.MaxTasks-f.numbers.held, 1)) }

// minShare is a host's share where many hosts have work. A smaller one would ask for its robots.txt too often.
const minShare = 32

// share is how many tasks of one host are in memory: less the more hosts have work, so that all of them get their turn.
func (f *Frontier) share() int {
	return max(f.cfg.MaxTasks/(8*max(f.working(), 1)), minShare)
}

// working is how many hosts in memory have work.
func (f *Frontier) working() int { return len(f.hosts) - f.idle.n }

// hasRoom reports whether a sweep is worth its while.
func (f *Frontier) hasRoom() bool {
	return f.numbers.held <= f.cfg.MaxTasks-max(f.cfg.MaxTasks/8, 1) && f.working() < f.cfg.MaxHosts
}

// crowded reports whether memory is short.
func (f *Frontier) crowded() bool {
	return f.numbers.held > f.cfg.MaxTasks-max(f.cfg.MaxTasks/4, 1) || f.crowdedByHosts()
}

func (f *Frontier) crowdedByHosts() bool {
	return f.working() > f.cfg.MaxHosts-max(f.cfg.MaxHosts/4, 1)
}

// roomFor reports whether a task fits into memory, h being its host if that is in memory.
func (f *Frontier) roomFor(h *host) bool {
	if f.numbers.held >= f.cfg.MaxTasks {
		return false
	}
	return h != nil && h.place != idle || f.working() < f.cfg.MaxHosts
}

// takes reports whether a new task of h, which may be nil, is taken into memory.
func (f *Frontier) takes(h *host, t *Task) bool {
	e := &f.elsewhere
	switch {
	case !f.roomFor(h):
		return false
	case h == nil: // it has no precedence over those that wait for a sweep
		return !e.unfound && !e.sweeping
	case h.givenUp != "": // others have better use for the room
		return e.n == 0 && h.queue.len() < f.share()
	case h.queue.len() == 0 && !h.backlog:
		return true
	case h.backlog: // it must come before those that wait elsewhere
		return t.order().compare(h.readTo) <= 0 && h.queue.len() < 2*f.share()
	}
	return h.queue.len() < f.share()
}

// leavesBehind reports whether a task of h that is not to be tried before due is better elsewhere until then.
func (f *Frontier) leavesBehind(h *host, due, now moment) bool {
	return len(h.queue.aside) >= f.share()/2 || due-now > longWait && f.halfFull()
}

// halfFull reports whether memory has no more room for tasks that are not to be tried for long. Those that makeRoom sends
// elsewhere must not come back at once.
func (f *Frontier) halfFull() bool { return f.numbers.held > f.cfg.MaxTasks/2 }

// makeRoom sends tasks elsewhere of which no use is made before long, once in a while.
func (f *Frontier) makeRoom(now moment) {
	e := &f.elsewhere
	if e.turn == minTurn && now < e.roomAt {
		return
	}
	e.turn = max(e.turn/2, minTurn)
	e.roomAt = now + roomPause
	for _, h := range f.hosts {
		if h.queue.len() == 0 {
			continue
		}
		if h.givenUp != "" || f.waitsLong(h, now) {
			f.park(h, now)
		} else {
			f.trim(h, e.turn)
			f.trimAside(h, now)
		}
		f.schedule(h, now)
	}
	f.arm(now)
}

// roomPause is the least time between two looks for room in all hosts, once turns are as small as they get.
const roomPause = moment(10 * time.Second)

// trim sends the last of h's tasks elsewhere, so that n are left.
func (f *Frontier) trim(h *host, n int) {
	if h.queue.standing() <= n {
		return
	}
	rest := h.queue.cut(n)
	for i := range rest {
		t := rest[i].task()
		f.release(h, &t)
	}
	h.readTo = h.queue.greatest()
}

// trimAside sends those of h's tasks elsewhere that are not to be tried for long.
func (f *Frontier) trimAside(h *host, now moment) {
	for f.halfFull() && len(h.queue.aside) > 0 && f.moment(h.queue.aside[0].NotBefore)-now > longWait {
		t := h.queue.aside[0]
		h.queue.aside = slices.Delete(h.queue.aside, 0, 1)
		if f.letGo(h, &t) {
			f.leaveBehind(h, f.moment(t.NotBefore))
		}
	}
}

// canPark reports whether park may be called for h. While a wish is granted, a task that was tried before is better kept: a
// copy that was read before it was tried would come back in its stead.
func (f *Frontier) canPark(h *host) bool {
	first := h.queue.peek()
	return !f.elsewhere.granting || len(h.queue.aside) == 0 && (first == nil || !first.head)
}

// park sends h's tasks elsewhere until it may be asked: others have better use for the room. The caller schedules it.
func (f *Frontier) park(h *host, now moment) {
	due := f.awayUntil(h, now)
	q := h.queue
	h.queue = queue{}
	for e := range q.all() {
		t := e.task()
		f.release(h, &t)
	}
	for i := range q.aside {
		f.release(h, &q.aside[i])
	}
	h.readTo, h.large = order{}, false
	f.want(h, nothing)
	if h.givenUp == "" {
		h.backlog = false // all of it is looked for then
		h.behind = min(h.behind, due)
	}
}

// leaveForLong forgets a host without tasks in memory that may not be asked for long, where too many hosts are in memory.
// A sweep finds it when it may be asked.
func (f *Frontier) leaveForLong(h *host, now moment) bool {
	due := f.notBefore(h)
	if !h.backlog {
		due = max(due, h.behind)
	}
	switch {
	case !h.backlog && h.behind == forever, h.queue.len() > 0, due-now <= longWait, !f.crowdedByHosts():
		return false
	case f.cfg.Lookup == nil, h.givenUp != "", h.busy():
		return false
	}
	if at := f.notBefore(h); at > max(now, h.until) { // what is left of its delay must be kept
		h.until = at
		f.mark(h)
	}
	f.elsewhere.returns = min(f.elsewhere.returns, due)
	f.forget(h, now)
	return true
}

// longWait is from how long a wait on a host gives its room up where room is short.
const longWait = moment(time.Minute)

func (f *Frontier) waitsLong(h *host, now moment) bool { return f.awayUntil(h, now)-now > longWait }

// awayUntil returns the moment before which h's first task is not asked for, as far as that is known.
func (f *Frontier) awayUntil(h *host, now moment) moment {
	return max(f.notBefore(h), f.lineEnd(h, now))
}
