package fetch

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"
	"time"
)

// budget bounds the memory that all bodies in flight hold together: as sent, as decoded, and the windows of decoders. A
// body's share of it grows as bytes arrive, never by what a peer claims, and ends with Result.Release.
//
// The first freeBytes of a share are not counted, so a usual page never waits: what lies outside the budget is at most so
// much for each fetch in flight. Beyond that there are four rules.
//
// One share at a time is first: it may grow to most, what a single body can need, and the budget keeps a reserve of what it
// lacks. So there is always a body that waits for no other one's peer; it ends by its deadline, and one that waits takes
// its place. So no set of bodies can block itself. Of those that wait, the one whose bytes come fastest becomes first, since
// it is done soonest; a slow one that does not wait gives way to a faster one.
//
// The body of every other share may grow while it is at most a bodyHunger-th of what is then still free (the dynamic
// threshold of Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998). However
// many large bodies there are, they stop growing while memory is left: k of them leave bodyHunger/(bodyHunger+k) of it to
// the small ones. The one that needs least is served first.
//
// Windows may use windowBytes that no body may, and nobody holds one while waiting for memory of a body: decoding that
// comes to that point gives up what it has, and begins anew once it may have all that it can need. So a small page waits
// for a window only as long as others compute.
//
// That memory may be a loan from the reserve: who has it needs nothing more, of memory or of a peer, to give it back.
//
// The price: many large bodies at a time finish one after another, and share what the first one leaves. A caller that
// holds results and fetches on may wait for itself, as long as patience lasts.
//
// Memory on the heap counts twice, since the garbage collector lets garbage grow to the size of what is alive.
type budget struct {
	total, most int64 // not written after newBudget

	mu       sync.Mutex // guards all below, and of each share what is said to be guarded by it
	used     int64
	lent     int64 // of that, from the reserve
	first    *share
	bodies   waiters // for memory of bodies and for windows
	decoding waiters // for all that decoding can need
}

const (
	freeBytes   = 4 * firstBytes // two first buffers, as sent and as decoded, on the heap
	heapFactor  = 2
	bodyHunger  = 4
	windowBytes = 64 << 20
)

// mostOfBody is what one fetch can hold: its body as sent and as decoded, each with the buffer that it outgrows, the
// windows of its decoders, and what it captures beside the payload. A robots.txt is read whole under any maxBodyBytes.
func mostOfBody(maxBodyBytes int64, captured bool) int64 {
	maxBodyBytes = max(maxBodyBytes, MaxRobotsBytes)
	most := 2*(maxBodyBytes+bufferSlack) + windowsMost
	if captured {
		most += mostWireFraming(maxBodyBytes) + bufferSlack
	}
	return most
}

// leastBudget is enough for one body, and for the windows of others.
func leastBudget(maxBodyBytes int64, captured bool) int64 {
	return mostOfBody(maxBodyBytes, captured) + windowBytes
}

// use is what memory is taken for.
type use int

const (
	forBody use = iota
	forWindow
	forDecoding // all that it can need
)

// need is how much must be free for a share that has held bytes to get more.
func (u use) need(held, more int64) int64 {
	if u == forWindow {
		return more
	}
	return more + windowBytes + bodyHunger*(held+more)
}

func newBudget(total, most int64) *budget { return &budget{total: total, most: most} }

// open returns a share that holds nothing and may wait for so long in all.
func (b *budget) open(patience time.Duration) *share {
	return &share{budget: b, opened: time.Now(), patience: patience, at: -1}
}

// ask gives s more bytes if it may have them; if not, it puts s among those that wait for them, if that is wanted.
func (b *budget) ask(s *share, more int64, u use, queue bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.use, s.wants, s.needs = u, more, u.need(s.held, more)
	if queue && !b.fits(s) {
		s.speed = float64(s.charged) / (time.Since(s.opened) - s.waited + time.Millisecond).Seconds()
		b.promote(s)
	}
	if b.fits(s) {
		b.grant(s)
		return true
	}
	if queue {
		b.enqueue(s)
	}
	return false
}

func (b *budget) enqueue(s *share) {
	if s.granted == nil {
		s.granted = make(chan struct{}, 1)
	}
	s.queue = &b.bodies
	if s.use == forDecoding {
		s.queue = &b.decoding
	}
	heap.Push(s.queue, s)
}

// withdraw ends the waiting of s. It reports false when s has what it waited for.
func (b *budget) withdraw(s *share) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.at < 0 {
		<-s.granted // it came beside the end of patience
		return false
	}
	heap.Remove(s.queue, s.at)
	return true
}

func (b *budget) giveBack(s *share, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reduce(s, n)
	b.serve()
}

func (b *budget) leave(s *share) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.held == 0 && b.first != s {
		return
	}
	b.reduce(s, s.held)
	b.vacate(s)
	b.serve()
}

func (b *budget) resign(s *share) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.vacate(s) {
		b.serve()
	}
}

// reduce takes n bytes from s: what is lent is given back first.
func (b *budget) reduce(s *share, n int64) {
	back := min(n, s.lent)
	s.lent -= back
	b.lent -= back
	s.held -= n
	b.used -= n
}

// reserve is what the first share lacks, or would.
func (b *budget) reserve() int64 {
	if b.first == nil {
		return b.most
	}
	return max(b.most-b.first.held, 0)
}

// free is what is neither held nor kept.
func (b *budget) free() int64 { return b.total - (b.used - b.lent) - max(b.reserve(), b.lent) }

func (b *budget) fits(s *share) bool {
	switch {
	case b.used+s.wants > b.total:
		return false
	case s == b.first && s.held+s.wants <= b.most && b.lent <= b.reserve()-s.wants:
		return true
	}
	return s.needs <= b.free() || b.lends(s)
}

// lends reports whether s gets what it wants as a loan.
func (b *budget) lends(s *share) bool {
	return s != b.first && s.use == forDecoding && b.lent+s.wants <= b.reserve()
}

func (b *budget) grant(s *share) {
	if b.lends(s) {
		s.lent += s.wants
		b.lent += s.wants
	}
	s.held += s.wants
	b.used += s.wants
}

// promote makes s the first share, if there is none, or a slower one that does not wait and leaves enough for s.
func (b *budget) promote(s *share) {
	was := b.first
	if was != nil && (was.at >= 0 || was.speed >= s.speed) {
		return
	}
	b.first = s
	if was != nil && b.free() < 0 {
		b.first = was
	}
}

// vacate has another share be first in the place of s.
func (b *budget) vacate(s *share) bool {
	if b.first != s {
		return false
	}
	b.first = nil
	if len(b.decoding) > 0 {
		b.first = b.decoding[0]
	} else if len(b.bodies) > 0 {
		b.first = slices.MaxFunc(b.bodies, func(a, b *share) int { return cmp.Compare(a.speed, b.speed) })
	}
	return true
}

// serve gives to those that wait what they may have by now.
func (b *budget) serve() {
	for {
		s := b.next()
		if s == nil {
			return
		}
		heap.Remove(s.queue, s.at)
		b.grant(s)
		s.granted <- struct{}{}
	}
}

func (b *budget) next() *share {
	if s := b.first; s != nil && s.at >= 0 && b.fits(s) {
		return s
	}
	for _, queue := range []waiters{b.decoding, b.bodies} {
		if len(queue) > 0 && b.fits(queue[0]) {
			return queue[0]
		}
	}
	return nil
}

// waiters is a heap of the shares that wait, the one that needs least first.
type waiters []*share

func (w waiters) Len() int           { return len(w) }
func (w waiters) Less(i, j int) bool { return w[i].needs < w[j].needs }

func (w waiters) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].at, w[j].at = i, j
}

func (w *waiters) Push(x any) {
	s := x.(*share)
	s.at = len(*w)
	*w = append(*w, s)
}

func (w *waiters) Pop() any {
	last := len(*w) - 1
	s := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	s.at = -1
	return s
}
