package frontier

// forgetSome keeps the number of hosts without work near its cap. It looks at two at most, and so at more than the one
// that joins them, without ever holding the lock for long.
func (f *Frontier) forgetSome(now moment) {
	for range 2 {
		h := f.idle.first
		if f.idle.n <= f.cfg.MaxIdleHosts {
			return
		}
		if h.due <= now && f.canForget(h) {
			f.forgetIdle(h, now)
			continue
		}
		f.idle.remove(h) // others may be forgotten
		f.idle.push(h)
	}
}

// canForget reports whether what must outlive h, a host without work, does so without it.
func (f *Frontier) canForget(h *host) bool {
	return !h.busy() && (h.givenUp == "" || f.cfg.Lookup != nil)
}

// forgetIdle forgets a host without work. What must outlive it is its durable state, and that some of its tasks wait
// elsewhere.
func (f *Frontier) forgetIdle(h *host, now moment) {
	if h.owes() {
		f.elsewhere.unfound = true
		f.nudge()
	}
	f.forget(h, now)
}

// forget takes h out of memory.
func (f *Frontier) forget(h *host, now moment) {
	f.leaveLine(h, now)
	f.take(h)
	delete(f.hosts, h.name)
	h.forgotten = true
	if h.marked {
		f.leaving[h.name] = h // until its state is collected
	}
	if h.named && h.passed() {
		f.rereads.add(h.name, f.cfg.MaxHosts)
	}
	f.want(h, nothing)
	f.bookOwing(h)
	f.strand(h, -h.stranded)
	f.leaveAddresses(h)
	for _, o := range h.origins {
		f.rulesRoom.leave(o)
	}
}
