package frontier

// MarkDone says that the visits of those numbers have ended whose bits are set in words. The least bit of the first word is
// that of number first.
func (f *Frontier) MarkDone(first uint64, words []uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, w := range words {
		if w != 0 {
			f.numbers.setDoneWord(first+64*uint64(i), w)
		}
	}
}

// IsDone reports whether the last visit of a number has ended. It takes no lock.
func (f *Frontier) IsDone(seq uint64) bool { return f.numbers.isDone(seq) }

// Expect says that IsDone will be asked for a number before long: what it reads is asked for from memory, which nobody waits
// for. It takes no lock.
func (f *Frontier) Expect(seq uint64) { f.numbers.prefetch(seq) }

// Low returns a place in the order of a host before which no task of it that Refill was given is pending: the least of
// those in memory, those included that are asked for at another host meanwhile (Reroute). It is the very first place where
// others wait elsewhere again, or nothing is known of the host. With false, no task that Refill was given is pending.
func (f *Frontier) Low(host string) (class Class, depth int, seq uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[host]
	if h == nil || h.passed() {
		return 0, 0, 0, true
	}
	var least order
	look := func(o order) {
		if !ok || o.compare(least) < 0 {
			least, ok = o, true
		}
	}
	for _, t := range f.rerouted {
		if t.host == host {
			look(t.order)
		}
	}
	for e := range h.queue.all() {
		look(e.order())
	}
	for i := range h.queue.aside {
		look(h.queue.aside[i].order())
	}
	for i := range f.open.slots {
		if op := &f.open.slots[i]; op.id != 0 && op.kind == Page && op.host == h {
			look(op.task.order())
		}
	}
	return least.class, least.depth, least.seq, ok
}

// rerouted is where a task comes from that is asked for at another host.
type rerouted struct {
	host string
	order
}
