package store

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"crawl/sortedrun"
)

// What is made from the logs can be made again: this is how a damaged run leaves the set while the crawl goes on.

// whole does fn, and again for as long as it fails by the damage of a run that it has taken out of the set.
func (s *runSet) whole(fn func() error) error {
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

// Remake makes other runs in the place of one that is damaged. fill calls add with every URL that is pending and that an
// entry of the spans of info made so; what other runs hold too may be among them. It may take minutes, runs beside the
// committer and readers, and holds a memtable of its own meanwhile. An error of the disk is a *WriteError, and final.
func (q *Queue) Remake(ctx context.Context, info RunInfo, fill func(add func(*Pending) error) error) error {
	made := remaker{ctx: ctx, queue: q, info: RunInfo{Kind: QueueRun, Admissions: info.Admissions, Done: info.Done}}
	err := fill(made.add)
	if err == nil {
		err = made.write()
	}
	if err != nil {
		for _, r := range made.runs {
			err = errors.Join(err, q.runs.discard(r))
		}
		if _, failed := errors.AsType[*WriteError](err); failed {
			return q.fail(err)
		}
		return err
	}
	q.reader.reading.Lock() // nobody's positions are on the way
	defer q.reader.reading.Unlock()
	q.runs.exchange(info.Number, made.runs)
	q.reader.positions.replaced(0, []uint64{info.Number}) // a host is read from its first entry on
	return nil
}

// remaker gathers entries and writes them as runs.
type remaker struct {
	ctx   context.Context
	queue *Queue
	info  RunInfo // of each run
	table memtable
	runs  []*run
}

func (m *remaker) add(p *Pending) error {
	m.table.add(p)
	if m.table.len() < m.queue.cfg.entries && m.table.bytes < m.queue.cfg.bytes {
		return nil
	}
	return m.write()
}

func (m *remaker) write() error {
	if m.table.len() == 0 {
		return nil
	}
	m.table.sort()
	made, err := m.queue.runs.build(m.info, spillOptions, func(w *sortedrun.Writer) error { return m.table.write(m.ctx, w, nil) })
	if err != nil {
		return err
	}
	m.runs = append(m.runs, made)
	m.table = *m.table.recycle(m.queue.cfg.entries)
	return nil
}

// exchange installs runs in the place of one.
func (s *runSet) exchange(number uint64, made []*run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := s.runs[QueueRun]
	at := slices.IndexFunc(runs, func(r *run) bool { return r.Number == number })
	if at < 0 { // merged meanwhile: what it held is in that run, and here once more
		at = len(runs)
	} else {
		s.retire(runs[at])
	}
	s.runs[QueueRun] = slices.Insert(slices.Clone(s.runs[QueueRun]), at, made...)
}
