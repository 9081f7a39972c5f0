package frontier

import (
	"fmt"
	"slices"
	"time"

	"crawl/canon"
)

// end takes l from the open leases, if it is there and of one of the given kinds. What it returns holds until the next call.
func (f *Frontier) end(l Lease, kinds ...Kind) (*open, error) {
	if op := f.open.get(l); op != nil && slices.Contains(kinds, op.kind) {
		f.ended = *op
		f.open.remove(l)
		f.counters.leased[f.ended.kind]--
		return &f.ended, nil
	}
	return nil, fmt.Errorf("%w: %s %s", ErrNotLeased, l.Kind, l.URL)
}

// Done ends a page lease.
func (f *Frontier) Done(l Lease, o Outcome) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op, err := f.end(l, Page)
	if err != nil {
		return err
	}
	op.host.prefetch()
	f.numbers.prefetch(l.Seq)
	now := f.now()
	f.unhold(&op.task)
	f.numbers.setDone(op.task.Seq)
	f.settle(op, o, now)
	f.schedule(op.host, now)
	f.dispatch(now)
	f.nudgeForRoom(now)
	return nil
}

// Retry ends a page or robots lease. What it asked for is pending again, with one more attempt, and is not asked for as
// long as wait. A page stands aside meanwhile and then comes to the head of its host's queue: others of its host are not
// held up, unless Outcome.Failed has the host back off. A robots.txt holds its host, since all pages need it.
func (f *Frontier) Retry(l Lease, wait time.Duration, o Outcome) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op, err := f.end(l, Page, Robots)
	if err != nil {
		return err
	}
	now := f.now()
	f.settle(op, o, now)
	if op.kind == Robots {
		f.hold(op.host, wait, RobotsRetry, now)
		op.ask.attempt++
		op.ask.fresh = false
		f.put(op.ask, op.host, true, now)
	} else {
		f.tryAgain(op.host, op.task, later(now, wait), now)
	}
	f.schedule(op.host, now)
	f.dispatch(now)
	return nil
}

// Reroute ends a page lease. Its task is requested at another URL: at the head of the queue of that URL's host, with one
// more of its Reroutes, and by that host's rules and delay. The frontier does not limit them, and keeps them in memory
// alone.
func (f *Frontier) Reroute(l Lease, to canon.URL, o Outcome) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op, err := f.end(l, Page)
	if err != nil {
		return err
	}
	now := f.now()
	f.settle(op, o, now)
	op.task.URL, op.task.NotBefore, op.task.Fresh = to, time.Time{}, false
	op.task.Reroutes++
	target := f.host(to.Host())
	f.noteReroute(op.host, target, &op.task)
	f.push(target, op.task, true)
	f.schedule(target, now)
	f.schedule(op.host, now)
	f.dispatch(now)
	return nil
}

// AskAgain ends a page or robots lease whose request was made, and which says nothing of the host: a kept connection ended
// without an answer. The same is asked for first of its host, once more in the same attempt, after the delay that the
// request costs like any other. The task is Fresh then; one that is so already is to be ended otherwise, or a host could be
// asked without end. That it is Fresh is kept in memory alone.
func (f *Frontier) AskAgain(l Lease) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op, err := f.end(l, Page, Robots)
	if err != nil {
		return err
	}
	now, h := f.now(), op.host
	h.inFlight--
	h.asked(op.id, now)
	f.settleAddress(op, true, now)
	if op.kind == Robots {
		op.ask.fresh = true
		f.put(op.ask, h, true, now)
	} else {
		op.task.Fresh = true
		f.push(h, op.task, true)
	}
	f.schedule(h, now)
	f.dispatch(now)
	return nil
}

// Return ends a lease of any kind of which no use was made, as at shutdown: all is as if it had not been leased.
func (f *Frontier) Return(l Lease) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op, err := f.end(l, Resolve, Robots, Page)
	if err != nil {
		return err
	}
	now := f.now()
	f.undo(op, now)
	f.dispatch(now)
	return nil
}

// undo makes what was leased pending again, at the head of its host's queue.
func (f *Frontier) undo(op *open, now moment) {
	h := op.host
	switch op.kind {
	case Resolve:
		h.resolving = false
	case Robots:
		f.unask(op, now)
		f.put(op.ask, op.host, true, now)
	case Page:
		f.unask(op, now)
		f.push(h, op.task, true)
	}
	f.schedule(h, now)
}

// takeBack takes back what a lease cost of which no request came.
func (f *Frontier) takeBack(op *open) {
	op.host.takeBack(op.id, op.leaseBefore)
	if op.leasedAt != never {
		f.total.give()
	}
}

// unask books that no request came of a lease.
func (f *Frontier) unask(op *open, now moment) {
	op.host.inFlight--
	f.takeBack(op)
	f.settleAddress(op, false, now)
}

// tryAgain makes a task of h pending that was tried once more.
func (f *Frontier) tryAgain(h *host, t Task, due, now moment) {
	t.Attempt++
	t.Fresh = false
	t.NotBefore = f.time(due)
	delete(f.rerouted, t.Seq) // the copy that is kept elsewhere now is of this host
	if due > now && !f.elsewhere.granting && f.crowded() && f.leavesBehind(h, due, now) {
		f.numbers.unhold(t.Seq)
		f.leaveBehind(h, due)
		return
	}
	f.pushAgain(h, t, now)
}

// noteReroute notes where a task comes from that goes to another host.
func (f *Frontier) noteReroute(from, to *host, t *Task) {
	origin, moved := f.rerouted[t.Seq]
	switch {
	case !moved && from != to:
		f.rerouted[t.Seq] = rerouted{host: from.name, order: t.order()}
	case moved && origin.host == to.name: // it is back
		delete(f.rerouted, t.Seq)
	}
}

// unhold takes a task out of memory for good.
func (f *Frontier) unhold(t *Task) {
	f.numbers.unhold(t.Seq)
	if t.Reroutes > 0 {
		delete(f.rerouted, t.Seq)
	}
}
