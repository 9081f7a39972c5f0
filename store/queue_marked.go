package store

// gatherFrom is gather and leave for a host of which all that lies before a mark is done, which may be millions of entries.
func (s *sweep) gatherFrom(mark []hostPlace) (left int) {
	if s.cursors == nil {
		for _, r := range s.runs {
			s.cursors = append(s.cursors, r.Seek(nil))
		}
	}
	s.entries = s.entries[:0]
	w := hostWalk{key: s.key}
	if err := w.begin(s.runs, s.cursors, mark); err != nil {
		return s.fails(err)
	}
	wanted, passed := 1, 0 // to ask how many are; entries behind those
	for passed < ManyLeft {
		h := w.first()
		if h == nil {
			return left
		}
		switch taken := s.passes(h.at.seq); {
		case len(s.entries) == wanted && taken:
			passed++
		case len(s.entries) == wanted:
			passed, left = passed+1, left+1
		case !taken:
			if err := s.take(h); err != nil {
				return s.fails(err)
			}
			if len(s.entries) > 1 {
				break
			}
			if wanted = s.turn(&s.entries[0]); wanted <= 0 {
				s.entries, s.stopped = s.entries[:0], wanted == StopSweep
				return 0
			}
		}
		if err := w.pass(h.at); err != nil {
			return s.fails(err)
		}
	}
	return ManyLeft
}

// take adds the entry of a run.
func (s *sweep) take(h *hostHead) error {
	s.entries = append(s.entries, Pending{})
	if err := decodePending(h.at, h.cursor.Note(), h.cursor.Value(), &s.entries[len(s.entries)-1]); err != nil {
		return h.run.harm(-1, err)
	}
	return nil
}

// fails ends the sweep.
func (s *sweep) fails(err error) (left int) {
	s.ok, s.failed = false, err
	return 0
}
