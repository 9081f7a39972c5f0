package frontier

// Reading a host's tasks by name goes on where it ended, so what it has passed is found only when it begins anew
// (Wish.Rewind). That is wanted when tasks that were in memory wait elsewhere again, or were passed since they were not
// to be tried yet.

// passed reports whether tasks of h may wait elsewhere that reading on by name would not find.
func (h *host) passed() bool { return h.rewind || h.rewinding || h.behind < forever }

// noteUnread notes that what was read of h stays elsewhere. Where that was by name, reading on would not find it: h was
// given up or left memory after the wish was made.
func (f *Frontier) noteUnread(h *host) {
	if h.name == f.elsewhere.reading {
		h.named, h.rewind = true, true
	}
}

// rereads remembers hosts with such tasks that are no longer in memory. It keeps so many names; beyond them it takes every
// host for one, which costs no more than reading.
type rereads struct {
	names map[string]struct{}
	all   bool
}

func (r *rereads) add(name string, most int) {
	if r.all {
		return
	}
	if len(r.names) >= most {
		r.names, r.all = nil, true
		return
	}
	if r.names == nil {
		r.names = make(map[string]struct{})
	}
	r.names[name] = struct{}{}
}

// take reports whether name is such a host's, and forgets it.
func (r *rereads) take(name string) bool {
	_, found := r.names[name]
	delete(r.names, name)
	return found || r.all
}
