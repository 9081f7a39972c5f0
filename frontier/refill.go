package frontier

// Refill brings tasks of a host into memory that wait elsewhere, in their order, and says whether more are left there:
// about how many, where that is known. Tasks in memory and done ones are passed over. It returns false where there is no
// room: come again with the same ones when Wish asks for it.
func (f *Frontier) Refill(host string, tasks []Task, left int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	h := f.hosts[host]
	asked := h != nil && h.wanted == byName
	if !asked && !f.roomFor(h) {
		return false
	}
	if h == nil {
		h = f.host(host)
		h.backlog = true
		f.noteUnread(h)
		if f.leaveForLong(h, now) {
			f.dispatch(now)
			return true
		}
	}
	if h.givenUp != "" {
		f.strand(h, f.countElsewhere(tasks)+left-h.stranded)
	}
	if h.givenUp != "" || !asked && !f.wantsTurn(h, now) {
		f.noteUnread(h)
		f.passOver(h, now)
		f.dispatch(now)
		return true
	}
	if asked {
		h.rewinding = false
	}
	f.want(h, nothing)
	h.metIn = f.elsewhere.round
	f.bookLeft(h, left, f.comeBack(h, tasks, now))
	f.schedule(h, now)
	f.dispatch(now)
	return true
}

// isElsewhere reports whether the task of that number, which is or was pending, waits elsewhere.
func (f *Frontier) isElsewhere(seq uint64) bool {
	return !f.numbers.isHeld(seq) && !f.numbers.isDone(seq)
}

func (f *Frontier) countElsewhere(tasks []Task) (n int) {
	for i := range tasks {
		if f.isElsewhere(tasks[i].Seq) {
			n++
		}
	}
	return n
}

// comeBack brings those tasks into memory that are elsewhere, and returns how many.
func (f *Frontier) comeBack(h *host, tasks []Task, now moment) (n int) {
	h.queue.line.grow(len(tasks), &f.lines)
	for i := range tasks {
		t := &tasks[i]
		if !f.isElsewhere(t.Seq) {
			continue
		}
		if due := f.moment(t.NotBefore); due > now && f.leavesBehind(h, due, now) {
			h.behind = min(h.behind, due)
			continue
		}
		n++
		f.elsewhere.n--
		if o := t.order(); o.compare(h.readTo) > 0 {
			h.readTo = o
		}
		if t.again() {
			f.pushAgain(h, *t, now)
		} else {
			f.push(h, *t, false)
		}
	}
	return n
}

// largeHost is from how many tasks elsewhere on a host's tasks are asked for by name: less are found cheaper by a sweep.
const largeHost = 512

// bookLeft notes what a refill that brought so many tasks left elsewhere.
func (f *Frontier) bookLeft(h *host, left, brought int) {
	switch {
	case left > 0:
		h.backlog = true
		// A sweep always begins with a host's first task. Where all that it gave are here already, only reading on helps.
		h.large = h.large || left >= largeHost || brought == 0
	case h.declinedIn < f.elsewhere.written:
		h.backlog, h.large, h.readTo = false, false, order{}
	case h.large: // what is left cannot be read yet
		f.want(h, onceWritten)
	}
}
