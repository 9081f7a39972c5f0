package store

import (
	"context"
	"errors"
	"slices"

	"crawl/sortedrun"
)

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
