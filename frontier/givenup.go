package frontier

// setGivenUp changes why h is given up; empty: it is not.
func (f *Frontier) setGivenUp(h *host, why Reason) {
	f.recount(h.givenUp, why)
	h.givenUp = why
}

// recount enters that a host is given up for another reason than it was; empty: it is, or was, not.
func (f *Frontier) recount(was, is Reason) {
	if was != "" {
		f.counters.givenUp--
		if n := f.givenUpFor[was]; n > 1 {
			f.givenUpFor[was] = n - 1
		} else {
			delete(f.givenUpFor, was)
		}
	}
	if is != "" {
		f.counters.givenUp++
		if f.givenUpFor == nil {
			f.givenUpFor = make(map[Reason]int)
		}
		f.givenUpFor[is]++
	}
}
