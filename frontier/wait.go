package frontier

import (
	"context"
	"time"
)

// waiter is a call of Lease that waits its turn.
type waiter struct {
	links[waiter] // in Frontier.waiters

	done    chan struct{} // one slot; the answer is there
	granted bool          // lease or err is the answer, and w has left the list
	lease   Lease
	err     error
}

// Lease waits until some host is due and returns a lease on it. Callers are served in the order in which they came.
//
// It returns ErrDrained when nothing is leased, no intake is open, and nothing pending may still be asked for (hosts
// given up keep their tasks); ErrClosed after Close; and ctx's error when ctx ends first.
func (f *Frontier) Lease(ctx context.Context) (Lease, error) {
	if err := ctx.Err(); err != nil {
		return Lease{}, err
	}
	l, w, err := f.leaseOrWait()
	if w == nil {
		return l, err
	}
	for {
		select {
		case <-w.done:
			return f.collect(w)
		case <-f.timer.C:
			f.tick()
		case <-ctx.Done():
			f.leave(w)
			return Lease{}, ctx.Err()
		}
	}
}

// leaseOrWait returns an answer for Lease, or a waiter in line for one.
func (f *Frontier) leaseOrWait() (Lease, *waiter, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if f.waiters.first == nil { // otherwise nothing is due, or others come first
		if l, ok, err := f.next(now); ok || err != nil {
			return l, nil, err
		}
	}
	w := f.newWaiter()
	f.waiters.push(w)
	f.arm(now)
	return Lease{}, w, nil
}

// next returns the lease that is due, or the error that there will be none. With neither, callers wait.
func (f *Frontier) next(now moment) (l Lease, ok bool, err error) {
	if f.closed {
		return Lease{}, false, ErrClosed
	}
	if !f.paused && f.total.allows(now) {
		f.promote(now)
		for f.ready.first != nil {
			h := f.ready.first
			prefetchNext(h)
			f.take(h)
			if l, ok := f.serve(h, now); ok {
				return l, true, nil
			}
		}
	}
	if f.drained() {
		return Lease{}, false, ErrDrained
	}
	return Lease{}, false, nil
}

// dispatch answers the waiters for which there is an answer. It follows every change of what is due.
func (f *Frontier) dispatch(now moment) {
	for f.waiters.first != nil {
		l, ok, err := f.next(now)
		if !ok && err == nil {
			break
		}
		w := f.waiters.first
		f.waiters.remove(w)
		w.lease, w.err, w.granted = l, err, true
		w.done <- struct{}{}
	}
	f.arm(now)
}

// arm sets the timer to the moment at which the next host comes due, in memory or elsewhere, while somebody waits for it.
func (f *Frontier) arm(now moment) {
	if f.waiters.first == nil || f.paused {
		return
	}
	if f.ready.n == 0 && f.elsewhere.n > 0 {
		f.nudge() // the wish is urgent now
	}
	if at := f.total.notBefore(f.nextMoment(now)); at != forever && at != f.armed {
		f.armed = at
		f.timer.Reset(time.Duration(at - now))
	}
}

// nextMoment returns the next moment at which something may come due, or be wished for; forever for none.
func (f *Frontier) nextMoment(now moment) moment {
	at, e := forever, &f.elsewhere
	switch {
	case f.ready.n > 0: // only the rate of all hosts keeps it waiting
		at = now
	case len(f.waiting) > 0:
		at = f.waiting[0].due
	}
	for _, m := range [...]moment{e.returns, e.roomAt} {
		if m > now && e.n > 0 {
			at = min(at, m)
		}
	}
	return at
}

// tick is called by the waiter that took the timer's tick, whose lease it need not be.
func (f *Frontier) tick() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = never // or a tick that came too early would be the last
	f.dispatch(f.now())
}

// collect takes the answer from w.
func (f *Frontier) collect(w *waiter) (Lease, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := w.lease, w.err
	f.recycle(w)
	return l, err
}

// leave takes w out of the line. A lease granted in the meantime goes to the next in it.
func (f *Frontier) leave(w *waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !w.granted {
		f.waiters.remove(w)
		f.recycle(w)
		return
	}
	<-w.done
	l, err := w.lease, w.err
	f.recycle(w)
	if err == nil {
		now := f.now()
		if op, err := f.end(l, l.Kind); err == nil {
			f.undo(op, now)
		}
		f.dispatch(now)
	}
}

func (f *Frontier) newWaiter() *waiter {
	if n := len(f.spare); n > 0 {
		w := f.spare[n-1]
		f.spare = f.spare[:n-1]
		return w
	}
	return &waiter{done: make(chan struct{}, 1)}
}

// recycle keeps w for a later call. There are never more of them than callers waited at once.
func (f *Frontier) recycle(w *waiter) {
	w.lease, w.err, w.granted = Lease{}, nil, false
	f.spare = append(f.spare, w)
}
