package frontier

import "time"

// Wish is what the frontier would have from elsewhere.
type Wish struct {
	// Host names one host of which Refill is wanted, with up to Max tasks in their order, or is empty. Reading goes on
	// where it ended, unless Rewind says that it is to begin anew, since tasks that were in memory wait there again.
	Host   string
	Max    int
	Rewind bool
	// Sweep asks for tasks of any hosts, in an order of their own from which each gets its turn: Max of each, from its
	// first task. Begin says that a sweep begins, before which Cut is to be called and all that waits to be made
	// readable.
	Sweep, Begin bool
	// Write asks for Cut and for all that waits to be made readable.
	Write bool
	// Short says that there is nothing else to do.
	Short bool
}

// Wishes is signalled when Wish may have an answer that it had not before.
func (f *Frontier) Wishes() <-chan struct{} { return f.elsewhere.wake }

// Wish returns what is wanted most, and false for nothing. A wish for a host is made once, and is answered by Refill. Wishes
// are granted one by one, by one goroutine: the next call says that what was read for the last one is used up.
func (f *Frontier) Wish() (_ Wish, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	f.promote(now)
	e := &f.elsewhere
	e.granting, e.reading = false, ""
	defer func() { e.granting = ok }()
	named, swept, short := f.nextNamed() != nil, f.sweepWanted(now), f.short()
	if short && (named || swept) && !f.hasRoom() {
		f.makeRoom(now)
	}
	switch {
	case named && f.numbers.held < f.cfg.MaxTasks:
		h := f.nextNamed()
		e.named = e.named[1:]
		w := Wish{Host: h.name, Max: min(f.share(), atOnce, max(f.cfg.MaxTasks-f.numbers.held, minTurn)), Rewind: h.rewind, Short: short}
		h.named, h.rewinding, h.rewind = true, h.rewind, false
		e.reading = h.name
		return w, true
	case swept && f.hasRoom():
		return Wish{Sweep: true, Begin: !e.sweeping, Max: f.turn(), Short: short}, true
	case len(e.unread) > 0:
		return Wish{Write: true, Short: short}, true
	}
	return Wish{}, false
}

// atOnce is how many tasks of one host a wish asks for at most.
const atOnce = 4096

// nextNamed returns the host that is asked for by name next; nil for none.
func (f *Frontier) nextNamed() *host {
	e := &f.elsewhere
	for len(e.named) > 0 && e.named[0].wanted != byName {
		e.named = e.named[1:]
	}
	if len(e.named) == 0 {
		e.named = nil
		return nil
	}
	return e.named[0]
}

// short reports whether callers wait and nothing is due.
func (f *Frontier) short() bool { return f.waiters.n > 0 && f.ready.n == 0 }

// sweepWanted reports whether a sweep is under way, or would find enough to be worth its while.
func (f *Frontier) sweepWanted(now moment) bool {
	e := &f.elsewhere
	if e.unfound || e.sweeping || now >= e.returns {
		return true
	}
	return e.awaiting > 0 && (f.short() || e.awaiting*e.turn >= f.cfg.MaxTasks/4 || now-e.sweptAt >= sweepPause)
}

// sweepPause is the longest that hosts in memory wait for tasks that only a sweep finds.
const sweepPause = moment(10 * time.Second)

// nudge tells whoever waits for wishes that there may be one.
func (f *Frontier) nudge() {
	select {
	case f.elsewhere.wake <- struct{}{}:
	default: // told already
	}
}

// nudgeForRoom is nudge where a wish waits for room, or for enough to be worth its while, and may have it now.
func (f *Frontier) nudgeForRoom(now moment) {
	e := &f.elsewhere
	if len(e.named) > 0 && f.numbers.held < f.cfg.MaxTasks || f.hasRoom() && f.sweepWanted(now) {
		f.nudge()
	}
}
