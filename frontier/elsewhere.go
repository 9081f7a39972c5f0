package frontier

import (
	"slices"
	"time"
)

// elsewhere is what the frontier knows of tasks that are not in memory. They stay where whoever calls Add keeps a copy of
// every task, and come back by Refill.
type elsewhere struct {
	n        int // tasks
	stranded int // of these, known to be of hosts given up

	asked    int           // hosts that were sent for
	unfound  bool          // hosts that only a sweep finds, and that are not in memory, have some
	looked   int           // hosts in memory that have nothing else
	swept    moment        // the last sweep ended
	turn     int           // of a host in a sweep
	sweeping bool          // a sweep is under way
	later    bool          // so have hosts that were left there because they may not be asked for long
	soonest  moment        // the first of them may be asked then
	round    uint64        // counts calls of Cut
	written  uint64        // what waited before this round can be found
	hungry   []*host       // whose tasks are asked for by name
	dry      []*host       // large ones that are hungry again when what is unwritten is written
	wake     chan struct{} // one slot; there may be something to wish for
}

// settled reports whether nothing that may be asked for waits elsewhere.
func (e *elsewhere) settled() bool {
	return e.n == 0 || !e.unfound && !e.sweeping && !e.later && e.asked == 0 && e.looked == 0
}

// Wish is what the frontier would have from elsewhere.
type Wish struct {
	// Host names one host of which Refill is wanted, with up to Max tasks in their order, or is empty. Rewind says that
	// tasks come first that were in memory before.
	Host   string
	Max    int
	Rewind bool
	// Sweep asks for tasks of any hosts, in an order of their own from which each gets its turn: Max of each. Begin says
	// that a sweep begins, before which Cut is to be called and all that waits to be made readable.
	Sweep, Begin bool
	// Write asks for Cut and for all that waits to be made readable.
	Write bool
	// Short says that there is nothing else to do.
	Short bool
}

// Kept is what a crawl that goes on has kept.
type Kept struct {
	Pending      int // tasks that wait elsewhere: neither done nor to be given to Add
	HostsGivenUp int
}

// Begin takes over what an earlier crawl has kept, before anything else is called but MarkDone.
func (f *Frontier) Begin(k Kept) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.elsewhere.n, f.elsewhere.unfound = k.Pending, k.Pending > 0
	f.counters.givenUp = k.HostsGivenUp
	f.nudge()
}

// MarkDone says that the visits of those numbers have ended whose bits are set in words. The least bit of the first word is
// that of number first.
func (f *Frontier) MarkDone(first uint64, words []uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, w := range words {
		if w != 0 {
			f.done.setWord(first+64*uint64(i), w)
		}
	}
}

// Low returns the least place, in the order of its host, of the tasks in memory that are the host's; false for none.
func (f *Frontier) Low(host string) (class Class, depth int, seq uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[host]
	if h == nil {
		return 0, 0, 0, false
	}
	var least order
	look := func(t *Task) {
		if o := t.order(); !ok || o.compare(least) < 0 {
			least, ok = o, true
		}
	}
	for i := range h.queue.entries {
		look(&h.queue.entries[i].Task)
	}
	for i := range h.queue.aside {
		look(&h.queue.aside[i])
	}
	for i := range f.open.slots {
		if op := &f.open.slots[i]; op.id != 0 && op.kind == Page && op.host == h {
			look(&op.task)
		}
	}
	return least.class, least.depth, least.seq, ok
}

// IsDone reports whether the last visit of a number has ended. It takes no lock.
func (f *Frontier) IsDone(seq uint64) bool { return f.done.has(seq) }

// Wishes is signalled when Wish may have an answer that it had not before.
func (f *Frontier) Wishes() <-chan struct{} { return f.elsewhere.wake }

// Wish returns what is wanted most, and false for nothing. A wish for a host is made once, and is answered by Refill.
func (f *Frontier) Wish() (Wish, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := &f.elsewhere
	short := f.waiters.n > 0 && f.ready.n == 0
	for len(e.hungry) > 0 {
		h := e.hungry[0]
		e.hungry = e.hungry[1:]
		if h.sent != sentFor {
			continue
		}
		w := Wish{Host: h.name, Max: min(f.share(), atOnce), Rewind: h.rewind, Short: short}
		h.rewind = false
		return w, true
	}
	now := f.now()
	if short && e.n > 0 && !f.hasRoom() {
		f.shrinkTurns(now)
	}
	switch {
	case f.sweepWanted(now, short) && f.hasRoom():
		return Wish{Sweep: true, Begin: !e.sweeping, Max: e.turn, Short: short}, true
	case len(e.dry) > 0:
		return Wish{Write: true, Short: short}, true
	}
	return Wish{}, false
}

// sweepWanted reports whether a sweep is under way, or would find enough to be worth its while.
func (f *Frontier) sweepWanted(now moment, short bool) bool {
	e := &f.elsewhere
	if e.unfound || e.sweeping || e.later && (now >= e.soonest || !f.crowded()) {
		return true
	}
	return e.looked > 0 && (short || e.looked*e.turn >= f.cfg.MaxTasks/4 || now-e.swept >= sweepPause)
}

// sweepPause is the longest that hosts in memory wait for tasks that only a sweep finds.
const sweepPause = moment(10 * time.Second)

// A host's turn in a sweep: all that most hosts have, so that they are gone through once, unless there is nothing to do
// while memory is full: then more hosts with less of each are what is needed.
const minTurn, maxTurn = 16, 256

// shrinkTurns makes room for more hosts.
func (f *Frontier) shrinkTurns(now moment) {
	e := &f.elsewhere
	if e.turn == minTurn {
		return
	}
	e.turn = max(e.turn/2, minTurn)
	for _, h := range f.hosts {
		if f.trim(h, e.turn) {
			f.schedule(h, now)
		}
	}
}

// trim sends the last of h's tasks elsewhere, so that n are left.
func (f *Frontier) trim(h *host, n int) bool {
	if len(h.queue.entries) <= n {
		return false
	}
	slices.SortFunc(h.queue.entries, func(a, b entry) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	for i := range h.queue.entries[n:] {
		f.release(h, &h.queue.entries[n+i].Task)
	}
	h.queue.entries = append([]entry(nil), h.queue.entries[:n]...) // in order, which is a heap too
	h.bound = h.queue.greatest()
	return true
}

// Cut begins a round: what is added after it may be missed by what the caller is about to make readable.
func (f *Frontier) Cut() (round uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.elsewhere.round++
	return f.elsewhere.round
}

// Written says that all that was added before Cut returned round can be read now.
func (f *Frontier) Written(round uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := &f.elsewhere
	e.written = max(e.written, round)
	dry := e.dry
	e.dry = nil
	for _, h := range dry {
		if h.sent == sentLater {
			f.send(h, sentFor)
		}
	}
}

// BeginSweep begins a sweep, for which Written must have been called.
func (f *Frontier) BeginSweep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := &f.elsewhere
	e.sweeping, e.unfound, e.later = true, false, false
}

// EndSweep ends a sweep. begun is the round with which it began; 0: it did not go through all hosts, and another is to
// follow.
func (f *Frontier) EndSweep(begun uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := &f.elsewhere
	e.sweeping, e.unfound = false, e.unfound || begun == 0
	e.swept, e.turn = f.now(), min(2*e.turn, maxTurn)
	for _, h := range f.hosts {
		if h.backlog && !h.dense && h.declinedIn < begun && h.moreIn < begun {
			h.backlog = false // the sweep would have met it
			f.look(h, false)
			f.schedule(h, f.now())
		}
	}
	f.dispatch(f.now())
}

// Refill brings tasks of a host into memory that wait elsewhere, in their order, and says whether more are left there:
// about how many, where that is known. Tasks in memory and done ones are passed over. It returns false where there is no room: come again
// with the same ones when Wish asks for it.
func (f *Frontier) Refill(host string, tasks []Task, left int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	h := f.hosts[host]
	asked := h != nil && h.sent == sentFor
	if !asked && !f.roomFor(h) {
		return false
	}
	if h == nil {
		h = f.host(host)
		h.backlog = true
		if f.leaveForLong(h, now) {
			return true
		}
	}
	f.send(h, notSent)
	f.look(h, false)
	h.moreIn = f.elsewhere.round
	switch {
	case h.givenUp != "":
		h.backlog = true
		f.strand(h, len(tasks)+left-h.stranded)
		f.schedule(h, now)
		return true
	case !asked && !f.wantsTurn(h, now):
		h.backlog = true
		f.schedule(h, now)
		return true
	}
	for _, t := range tasks {
		f.comeBack(h, t, now)
	}
	f.bookLeft(h, left)
	f.schedule(h, now)
	f.dispatch(now)
	return true
}

// comeBack brings t into memory, unless it is there or done.
func (f *Frontier) comeBack(h *host, t Task, now moment) {
	if _, held := f.held[t.Seq]; held || f.done.has(t.Seq) {
		return
	}
	f.elsewhere.n--
	if o := t.order(); o.compare(h.bound) > 0 {
		h.bound = o
	}
	if t.again() {
		f.pushAgain(h, t, now)
	} else {
		f.push(h, t, false)
	}
}

// largeHost is from how many tasks elsewhere on a host's tasks are asked for by name: less are found cheaper by a sweep.
const largeHost = 512

// bookLeft notes what a refill left elsewhere.
func (f *Frontier) bookLeft(h *host, left int) {
	switch {
	case left > 0:
		h.backlog, h.dense = true, h.dense || left >= largeHost
	case h.declinedIn < f.elsewhere.written:
		h.backlog, h.dense, h.bound = false, false, order{}
		f.look(h, false)
	case h.dense: // what is left is not yet written
		f.send(h, sentLater)
	}
}

// feed sees to it that more of h's tasks come into memory, where some wait elsewhere and few are left here.
func (f *Frontier) feed(h *host, now moment) {
	if !h.backlog || h.sent != notSent || h.looked || h.givenUp != "" || len(h.queue.entries) > f.share()/4 {
		return
	}
	if f.waitsLong(h, now) {
		return // its turn comes when it is due
	}
	if h.dense {
		f.send(h, sentFor)
		return
	}
	if len(h.queue.entries) == 0 {
		f.look(h, true)
		f.nudge()
	}
}

// look notes whether h waits for a sweep.
func (f *Frontier) look(h *host, waits bool) {
	if h.looked != waits {
		h.looked = waits
		if waits {
			f.elsewhere.looked++
		} else {
			f.elsewhere.looked--
		}
	}
}

// sending is whether a host's tasks are asked for by name.
type sending uint8

const (
	notSent   sending = iota
	sentFor           // they are
	sentLater         // they will be, when what is unwritten is written
)

// send notes that h's tasks are, or are no longer, asked for by name.
func (f *Frontier) send(h *host, s sending) {
	e := &f.elsewhere
	if h.sent != notSent {
		e.asked--
	}
	h.sent = s
	switch s {
	case notSent:
		return
	case sentFor:
		e.hungry = append(e.hungry, h)
	case sentLater:
		e.dry = append(e.dry, h)
	}
	e.asked++
	f.nudge()
}

// nudge tells whoever waits for wishes that there may be one.
func (f *Frontier) nudge() {
	select {
	case f.elsewhere.wake <- struct{}{}:
	default: // told already
	}
}

// minShare is a host's turn where many hosts have work. A smaller one would ask for its robots.txt too often.
const minShare = 32

// share is how many tasks of one host are in memory: less the more hosts have work, so that all of them get their turn.
func (f *Frontier) share() int {
	return max(f.cfg.MaxTasks/(8*max(f.working(), 1)), minShare)
}

// working is how many hosts in memory have work.
func (f *Frontier) working() int { return len(f.hosts) - len(f.idle) }

// atOnce is how many tasks one refill brings at most.
const atOnce = 4096

// hasRoom reports whether a sweep is worth its while.
func (f *Frontier) hasRoom() bool {
	return len(f.held) <= f.cfg.MaxTasks-f.cfg.MaxTasks/8 && f.working() < f.cfg.MaxHosts
}

// crowded reports whether memory is short.
func (f *Frontier) crowded() bool {
	return len(f.held) > f.cfg.MaxTasks-f.cfg.MaxTasks/4 || f.working() > f.cfg.MaxHosts-f.cfg.MaxHosts/4
}

// roomFor reports whether a task fits into memory, h being its host if that is in memory.
func (f *Frontier) roomFor(h *host) bool {
	if len(f.held) >= f.cfg.MaxTasks {
		return false
	}
	return h != nil || f.working() < f.cfg.MaxHosts
}

// Room returns how many tasks of a host, of those that a sweep meets, Refill would take: 0 for none of this host, and less
// for none of any.
func (f *Frontier) Room(host string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[host]
	switch {
	case !f.roomFor(h):
		return -1
	case h == nil:
		return f.elsewhere.turn
	}
	h.moreIn = f.elsewhere.round
	if now := f.now(); h.givenUp != "" || !f.wantsTurn(h, now) {
		h.backlog = true
		f.look(h, false)
		f.schedule(h, now)
		return 0
	}
	return f.elsewhere.turn
}

// wantsTurn reports whether h has use for more tasks now.
func (f *Frontier) wantsTurn(h *host, now moment) bool {
	return len(h.queue.entries) <= f.elsewhere.turn/4 && !f.waitsLong(h, now)
}

// takes reports whether a new task of h, which may be nil, is taken into memory.
func (f *Frontier) takes(h *host, t *Task) bool {
	switch {
	case !f.roomFor(h):
		return false
	case h == nil: // it has no precedence over those that wait for a sweep
		return !f.elsewhere.unfound && !f.elsewhere.sweeping
	case h.queue.len() == 0 && !h.backlog:
		return true
	case h.backlog: // it must come before those that wait elsewhere
		return t.order().compare(h.bound) <= 0 && h.queue.len() < 2*f.share()
	}
	return h.queue.len() < f.share()
}

// decline leaves t elsewhere. h is nil where its host is not in memory.
func (f *Frontier) decline(h *host) {
	f.elsewhere.n++
	if h == nil {
		f.elsewhere.unfound = true
		f.nudge()
		return
	}
	f.look(h, false) // a sweep under way may have passed it
	if !h.backlog {
		h.backlog = true
		h.bound = h.queue.greatest()
		h.dense = h.queue.len() >= minShare // it has met more than a turn's worth: ask for it by name
	}
	h.declinedIn = f.elsewhere.round
	if h.givenUp != "" {
		f.strand(h, 1)
	}
}

// strand counts n more tasks elsewhere that are known to be of a host given up.
func (f *Frontier) strand(h *host, n int) {
	h.stranded += n
	f.elsewhere.stranded += n
}

// release takes a task that is pending in memory out of it: it stays pending elsewhere.
func (f *Frontier) release(h *host, t *Task) {
	delete(f.held, t.Seq)
	f.counters.queued--
	if h.givenUp != "" {
		f.counters.stranded--
	}
	f.decline(h)
	h.rewind = true
}

// releaseLast sends the task of h that stands aside the longest elsewhere.
func (f *Frontier) releaseLast(h *host) {
	if len(h.queue.aside) > 0 {
		f.release(h, &h.queue.aside[0])
		h.queue.aside = slices.Delete(h.queue.aside, 0, 1)
	}
}

// park sends h's tasks elsewhere until it may be asked: others have better use for the room.
func (f *Frontier) park(h *host) {
	for i := range h.queue.entries {
		f.release(h, &h.queue.entries[i].Task)
	}
	for i := range h.queue.aside {
		f.release(h, &h.queue.aside[i])
	}
	h.queue = queue{}
	h.bound, h.dense = order{}, false
	f.look(h, false)
}

// leaveForLong forgets a host without tasks in memory that may not be asked for long, where too many hosts are in memory.
// A sweep finds it when it may be asked.
func (f *Frontier) leaveForLong(h *host, now moment) bool {
	tooMany := f.working() > f.cfg.MaxHosts-f.cfg.MaxHosts/4
	if !tooMany || !f.waitsLong(h, now) || f.cfg.Lookup == nil || h.givenUp != "" || h.busy() || h.queue.len() > 0 {
		return false
	}
	e := &f.elsewhere
	if due := f.notBefore(h); !e.later || due < e.soonest {
		e.soonest = due
	}
	e.later = true
	f.forget(h)
	return true
}

// longWait is from how long a wait on a host gives its room up where room is short.
const longWait = moment(time.Minute)

func (f *Frontier) waitsLong(h *host, now moment) bool { return f.notBefore(h)-now > longWait }
