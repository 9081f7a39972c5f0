package store

import (
	"context"
	"errors"
	"math"
)

// job is a piece of background work: it writes a run and installs it, or leaves nothing.
type job func(context.Context) error

// Work does the most urgent piece of background work, if one is due: a run of what was appended, the bitmap, or a merge
// of runs. did tells that there may be more. It belongs to one goroutine beside the committer, which it never holds up:
// it reads full blocks only, by files of its own. When ctx ends it stops soon, and what it was writing is removed.
//
// A *WriteError is final, as it is for the committer. A *DamageError of a run takes that run out of use: the next Work
// remakes it from the log.
func (s *Store) Work(ctx context.Context) (did bool, err error) {
	s.working.Lock()
	defer s.working.Unlock()
	if err := s.failure(); err != nil {
		return false, err
	}
	next := s.nextJob()
	if next == nil {
		return false, nil
	}
	err = next(ctx)
	if _, failed := errors.AsType[*WriteError](err); failed {
		return false, s.fail(err)
	}
	return err == nil, err
}

// nextJob returns the most urgent job, nil when none is due. What is appended waits for runs, so runs come first.
func (s *Store) nextJob() job {
	if j := s.Queue.spillJob(); j != nil {
		return j
	}
	if j := s.nextBuild(); j != nil {
		return j
	}
	if j := s.Queue.mergeJob(); j != nil {
		return j
	}
	for _, v := range []pairView{s.hashView(), s.doneView()} {
		if j := s.mergeJob(v); j != nil {
			return j
		}
	}
	return nil
}

// nextBuild returns the most urgent job that appends made due.
func (s *Store) nextBuild() job {
	for _, v := range []pairView{s.hashView(), s.doneView()} {
		if j := s.buildJob(v); j != nil {
			return j
		}
	}
	return s.bitsJob()
}

// Wake returns a channel that holds a value when what was appended made a piece of work due. It says nothing of merges,
// and of what was due when the crawl was opened: call Work until it did nothing, then wait.
func (s *Store) Wake() <-chan struct{} { return s.wake }

// noticeWork is called when a log got a full block.
func (s *Store) noticeWork() {
	if s.nextBuild() == nil {
		return
	}
	s.signal()
}

// signal says that work is due.
func (s *Store) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // it was said already
	}
}

// Space returns how many bytes the disk has left, and how many Config.MinFreeBytes keeps of them. A disk that does not say
// how much is left has room. It may be called from any goroutine.
func (s *Store) Space() (free, keep uint64) {
	keep = uint64(max(s.minFree.Load(), 0))
	free, err := s.dir.fs.Free(s.dir.root)
	if err != nil {
		return math.MaxUint64, keep
	}
	return free, keep
}

// fits tells whether the disk has room for one run in the place of others, which go only later.
func (s *Store) fits(in []RunInfo) bool {
	free, need := s.Space()
	if need == 0 {
		return true
	}
	for _, info := range in {
		need += uint64(info.Bytes)
	}
	return free >= need
}
