package crawler

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"crawl/frontier"
	"crawl/store"
)

// repair makes again what can be made again, and returns what that was. It ends the inspection. A log, page records and seeds
// are not touched: nothing else holds what they did.
func (v *verifier) repair(ctx context.Context) (repaired []string, err error) {
	if v.report.Checkpoint == 0 {
		return nil, nil
	}
	if v.report.has(partFormat) {
		if err := v.inspection.RestoreFormat(); err != nil {
			return nil, err
		}
		repaired = append(repaired, partFormat+": from the checkpoint")
	}
	var rows []store.Row
	if v.twin {
		if rows, err = v.lostRows(ctx); err != nil {
			return repaired, err
		}
	}
	err = v.inspection.Close()
	v.inspection = nil
	if err != nil {
		return repaired, err
	}
	if v.twin {
		err := store.Recover(v.dir, v.options.Store, func(st *store.Store) ([]store.Row, any, error) {
			repaired = append(repaired, madeGood(st)...)
			return rows, v.recoveredBooks(), nil
		})
		if err != nil {
			return repaired, cannot(err)
		}
		repaired = append(repaired, fmt.Sprintf("%s: from checkpoint %d in its twin", partState, v.cut.Number))
	}
	views, err := v.repairViews(ctx)
	return append(repaired, views...), cannot(err)
}

// cannot leaves damage that keeps a crawl from being opened to the next verification, which tells of it.
func cannot(err error) error {
	if _, damaged := asDamage(err); damaged {
		return nil
	}
	return err
}

// recoveredBooks are those of the twin, as a crawl has them that no process runs and that knows of no host but that the user
// dropped it.
func (v *verifier) recoveredBooks() books {
	b := v.books
	b.Counters = v.recounted()
	b.Queue, b.SweptTo, b.HostsLost = queueView{}, 0, true
	if n := len(b.Dropped); n > 0 {
		b.Queue.GivenUp, b.Queue.GivenUpFor = n, map[frontier.Reason]int{Dropped: n}
	}
	if b.State == Running || b.State == Paused || b.State == Stopping {
		b.State = Stopped
	}
	return b
}

// repairViews opens the crawl, which makes the twin and a damaged filter again, remakes runs, and writes a checkpoint with
// the counters.
func (v *verifier) repairViews(ctx context.Context) (repaired []string, err error) {
	st, err := store.Open(v.dir, v.options.Store)
	if err != nil {
		return nil, err
	}
	c, err := open(st, func(cfg *Config) { cfg.RebuildSeen = v.report.has(partFilter) }, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	repaired = append(repaired, madeGood(st)...)
	if v.report.has(partTwin) {
		repaired = append(repaired, partTwin+": from state.db")
	}
	if v.report.has(partFilter) {
		repaired = append(repaired, partFilter+": from the log")
	}
	if v.report.has(partCounters) && !v.twin {
		c.committer.books.Counters = v.recounted()
		repaired = append(repaired, partCounters+": counted again from the logs and page records")
	}
	if v.report.has(partRuns) {
		if err := v.repairRuns(ctx, c); err != nil {
			return repaired, err
		}
		repaired = append(repaired, partRuns+": from the logs")
	}
	if err := c.workThrough(ctx); err != nil {
		return repaired, err
	}
	return repaired, c.checkpoint()
}

// madeGood says what opening a crawl's directory has repaired.
func madeGood(st *store.Store) (repaired []string) {
	for _, damage := range st.Healed() {
		repaired = append(repaired, fmt.Sprintf("%s: from the log itself: %v", partTail, damage))
	}
	return repaired
}

// repairRuns remakes what was found damaged. Runs that could not even be opened have left the set.
func (v *verifier) repairRuns(ctx context.Context, c *Crawler) error {
	st := c.committer.store
	for _, d := range v.report.Damage {
		damage := &store.DamageError{File: filepath.Clean(d.File), Offset: d.Offset, Err: errors.New(d.Problem)}
		if info, found := st.Queue.Damaged(damage); found {
			if err := c.remakeQueueRun(ctx, info); err != nil {
				return err
			}
			continue
		}
		if st.OfRun(damage) {
			st.ForgetRun(damage)
		}
	}
	if !v.queueLacks {
		return nil
	}
	all := v.cut.Queue
	return c.remakeQueueRun(ctx, store.RunInfo{
		Kind: store.QueueRun, Admissions: store.Span{Upto: all.Admissions}, Done: store.Span{Upto: all.Done},
	})
}

// workThrough does all background work that is due.
func (c *Crawler) workThrough(ctx context.Context) error {
	for {
		did, err := c.committer.store.Work(ctx)
		if err != nil {
			if did, err = c.mend(ctx, err); err != nil {
				return err
			}
		}
		if !did {
			return nil
		}
	}
}
