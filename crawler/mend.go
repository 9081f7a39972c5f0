package crawler

import (
	"context"
	"errors"

	"crawl/store"
)

// mend makes a view's damaged run again from the logs, and says so. The runs of one log have left the store's set by
// themselves; one of the queue is remade here, beside commits and reading, before it goes. ok false: err is about
// something that cannot be made again.
func (c *Crawler) mend(ctx context.Context, failure error) (ok bool, err error) {
	k := c.committer
	if !k.store.OfRun(failure) {
		return false, failure
	}
	c.mending.Lock()
	defer c.mending.Unlock()
	c.sayDamage()
	info, found := k.store.Queue.Damaged(failure)
	if !found {
		return true, nil // mended meanwhile
	}
	c.log.Warn("a run of the queue is damaged, and is made again from the logs", "err", failure)
	if err := c.remakeQueueRun(ctx, info); err != nil {
		return false, err
	}
	return true, nil
}

// sayDamage tells which runs were found damaged since it was last called.
func (c *Crawler) sayDamage() {
	for _, err := range c.committer.store.TakeDamage() {
		c.log.Warn("a run is damaged, and is made again from the logs", "err", err)
	}
}

// remakeQueueRun writes all that is pending of a run's spans into others.
func (c *Crawler) remakeQueueRun(ctx context.Context, info store.RunInfo) error {
	k := c.committer
	again, err := k.againSince(0)
	if err != nil {
		return err
	}
	return k.store.Queue.Remake(ctx, info, func(add func(*store.Pending) error) error {
		for at := info.Admissions.After; at < info.Admissions.Upto; at += tailBatch {
			span := store.Span{After: at, Upto: min(at+tailBatch, info.Admissions.Upto)}
			if err := addAll(ctx, add)(k.pendingAdmissions(span, again)); err != nil {
				return err
			}
		}
		for _, seq := range within(again, info.Done) {
			if seq > info.Admissions.After && seq <= info.Admissions.Upto {
				continue // was among them
			}
			if err := addAll(ctx, add)(k.pendingAdmissions(store.Span{After: seq - 1, Upto: seq}, again)); err != nil {
				return err
			}
		}
		return nil
	})
}

func addAll(ctx context.Context, add func(*store.Pending) error) func([]store.Pending, error) error {
	return func(pending []store.Pending, err error) error {
		for i := range pending {
			err = errors.Join(err, add(&pending[i]))
		}
		return errors.Join(err, ctx.Err())
	}
}

// pendingAdmissions returns what is pending of a stretch of the admission log.
func (k *committer) pendingAdmissions(span store.Span, again map[uint64]lastAgain) (pending []store.Pending, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	err = k.store.Admissions.Each(span.After+1, func(seq uint64, a store.Admission) error {
		if seq > span.Upto {
			return errBatch
		}
		if k.frontier.IsDone(seq) {
			return nil
		}
		task, err := k.taskAgain(seq, a, again[seq].DoneEntry)
		if err != nil {
			return err
		}
		pending = append(pending, pendingOf(&task))
		return nil
	})
	if errors.Is(err, errBatch) {
		err = nil
	}
	return pending, err
}
