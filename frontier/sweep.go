package frontier

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
	unread := e.unread
	e.unread = nil
	for _, h := range unread {
		if h.wanted == onceWritten {
			f.want(h, byName)
		}
	}
}

// BeginSweep begins a sweep, for which Written must have been called.
func (f *Frontier) BeginSweep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := &f.elsewhere
	e.sweeping, e.unfound, e.returns = true, false, forever
}

// EndSweep ends a sweep. begun is the round with which it began; 0: it did not go through all hosts, and another is to
// follow.
func (f *Frontier) EndSweep(begun uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	e := &f.elsewhere
	e.sweeping, e.unfound = false, e.unfound || begun == 0
	e.sweptAt, e.turn = now, min(2*e.turn, maxTurn)
	for _, h := range f.hosts {
		if h.backlog && !h.large && h.declinedIn < begun && h.metIn < begun {
			h.backlog = false // the sweep would have met it
			f.want(h, nothing)
			f.schedule(h, now)
		}
	}
	f.dispatch(now)
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
		return f.turn()
	}
	if now := f.now(); !f.wantsTurn(h, now) {
		f.passOver(h, now)
		return 0
	}
	h.metIn = f.elsewhere.round
	return f.turn()
}

// wantsTurn reports whether h has use for tasks that a sweep met.
func (f *Frontier) wantsTurn(h *host, now moment) bool {
	switch {
	case h.givenUp != "" || !h.backlog && h.behind < forever && h.behind > now:
		return false
	}
	return h.queue.standing() <= f.elsewhere.turn/4 && !f.waitsLong(h, now)
}

// passOver notes that a sweep met tasks of h, and left them there.
func (f *Frontier) passOver(h *host, now moment) {
	h.metIn = f.elsewhere.round
	h.backlog = h.backlog || h.behind == forever
	f.want(h, nothing)
	f.schedule(h, now)
}
