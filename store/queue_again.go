package store

import "math"

// superseded knows the numbers that were added again: runs may hold an older entry of theirs, with an attempt and a due
// time that count no more, which a reader must pass over until he reads the run that holds the newest.
type superseded struct {
	numbers map[uint64]newest
	epoch   uint64   // memtables that became runs so far
	sweeps  int      // that are under way, with the runs of some earlier epoch
	written []uint64 // numbers that no reader has to be told of once those have ended
}

// newest is where the newest entry of a number is.
type newest struct {
	in    *memtable // nil: in a run
	epoch uint64    // from this epoch on
}

// isAgain reports whether an earlier entry of p's number may be about.
func isAgain(p *Pending) bool { return p.Attempt > 0 || p.Visit > 1 || !p.Due.IsZero() }

// added notes that the newest entry of a number is in a memtable.
func (s *superseded) added(seq uint64, m *memtable) {
	m.again = append(m.again, seq)
	s.numbers[seq] = newest{in: m, epoch: math.MaxUint64}
}

// moved notes that m's entries of the commit that has not ended are in next.
func (s *superseded) moved(m, next *memtable) {
	for _, seq := range m.again[m.settledAgain:] {
		s.added(seq, next)
	}
	m.again = m.again[:m.settledAgain]
}

// spilled notes that m is a run. Readers that begin from now on see it.
func (s *superseded) spilled(m *memtable) {
	s.epoch++
	for _, seq := range m.again {
		if s.numbers[seq].in == m {
			s.numbers[seq] = newest{epoch: s.epoch}
			s.written = append(s.written, seq)
		}
	}
	s.clean()
}

// swept notes the end of a sweep.
func (s *superseded) swept() {
	s.sweeps--
	s.clean()
}

func (s *superseded) clean() {
	if s.sweeps > 0 {
		return
	}
	for _, seq := range s.written {
		if s.numbers[seq].in == nil {
			delete(s.numbers, seq)
		}
	}
	s.written = nil
}

// stale reports whether an entry is not the newest of its number, for a reader who began in an epoch.
func (q *Queue) stale(seq, epoch uint64) bool {
	if q.superseded.Load() == 0 {
		return false // no number was added again lately
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	n, found := q.again.numbers[seq]
	return found && n.epoch > epoch
}

// readEpoch returns the epoch of a reader who begins.
func (q *Queue) readEpoch(sweeps int) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.again.sweeps += sweeps
	return q.again.epoch
}

// swept ends a sweep, or a part of one. whole: the last host is through.
func (q *Queue) swept(whole bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if whole {
		q.sweeps++
	}
	q.again.swept()
	q.superseded.Store(int64(len(q.again.numbers)))
}
