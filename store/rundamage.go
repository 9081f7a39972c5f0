package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// What is made from the logs can be made again: this is how a damaged run leaves the set while the crawl goes on.

// aroundDamage does fn, and again for as long as it fails by the damage of a run that it has taken out of the set.
func (s *runSet) aroundDamage(fn func() error) error {
	for {
		before := s.told()
		err := fn()
		if _, damaged := errors.AsType[*DamageError](err); !damaged || s.told() == before {
			return err
		}
	}
}

// told counts the runs that were ever found damaged.
func (s *runSet) told() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// fault notes a run's damage. The lock is held.
func (s *runSet) fault(err error) {
	s.news = append(s.news, err)
	s.faults++
}

// TakeDamage returns what was found wrong with runs since the last call, *DamageErrors each, opening the crawl included.
// Those runs are out of use, and are made again from the logs. It may be called from any goroutine.
func (s *Store) TakeDamage() []error {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	news := s.runs.news
	s.runs.news = nil
	return news
}

// OfRun reports whether an error is the damage of a run, which can be made again.
func (s *Store) OfRun(err error) bool {
	damage, damaged := errors.AsType[*DamageError](err)
	return damaged && filepath.Dir(damage.File) == filepath.Clean(s.runs.dir)
}

// Forget takes all runs of a kind out of use, so that they are made again from the logs: QueueRun is not for it. Their
// files go once a checkpoint that does not name them is durable.
func (s *Store) Forget(kind RunKind) {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	for _, r := range slices.Clone(s.runs.runs[kind]) {
		s.runs.retire(r)
	}
}

// ForgetRun takes the run out of use that an error is about, as Forget does those of a kind.
func (s *Store) ForgetRun(failure error) {
	damage, damaged := errors.AsType[*DamageError](failure)
	if !damaged {
		return
	}
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	for kind, runs := range s.runs.runs {
		for _, r := range slices.Clone(runs) {
			if kind != QueueRun && filepath.Base(r.file.Name()) == filepath.Base(damage.File) {
				s.runs.retire(r)
			}
		}
	}
}

// Harm is the damage of an entry that was read, and of which err is what is wrong: a *DamageError that names the run which
// holds it.
func (q *Queue) Harm(p *Pending, err error) error {
	err = fmt.Errorf("the entry of URL %d: %w", p.Seq, err)
	runs := q.runs.newest(QueueRun)
	defer q.runs.release(runs)
	key := appendQueueKey(nil, HostKey(p.Host), orderOf(p.Class, p.Depth, p.Seq))
	for _, r := range runs {
		if _, found, getErr := r.Get(key); found || getErr != nil {
			return r.harm(-1, err)
		}
	}
	return &DamageError{File: q.runs.dir, Offset: -1, Err: err}
}

// Damaged returns which run of the queue an error is about; false where it is about none, or about one that is gone.
func (q *Queue) Damaged(err error) (RunInfo, bool) {
	damage, damaged := errors.AsType[*DamageError](err)
	if !damaged || filepath.Dir(damage.File) != filepath.Clean(q.runs.dir) {
		return RunInfo{}, false
	}
	for _, info := range q.runs.infos(QueueRun) {
		if filepath.Base(q.runs.name(info.Number)) == filepath.Base(damage.File) {
			return info, true
		}
	}
	return RunInfo{}, false
}
