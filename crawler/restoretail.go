package crawler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"crawl/frontier"
	"crawl/store"
)

// restorePending tells the frontier what is done and how much is pending, and adds again what the queue's runs do not hold
// yet.
func (c *Crawler) restorePending() error {
	k := c.committer
	done, err := k.store.DoneBits()
	if err != nil {
		return err
	}
	last := k.store.Admissions.Len()
	if done.Len() > last {
		return &store.DamageError{File: "the done log", Offset: -1, Err: fmt.Errorf("it names URL %d of %d", done.Len(), last)}
	}
	done.Words(c.frontier.MarkDone)
	t := tail{crawler: c, covered: k.store.Queue.Coverage(), isDone: done.Test}
	if t.again, err = k.againSince(t.covered.Done); err != nil {
		return err
	}
	k.store.Queue.SetPending(last - done.Count()) // or all its runs seem to hold nothing but what is done, until a checkpoint
	above := last - min(last, t.covered.Admissions) - done.CountAfter(t.covered.Admissions)
	c.frontier.Begin(frontier.Kept{
		Pending: int(last - done.Count() - above - uint64(len(t.earlier()))), HostsGivenUp: k.books.Queue.GivenUp, GivenUpFor: k.books.Queue.GivenUpFor,
	})
	return t.add(last)
}

// tail is what is pending and in no run of the queue: of the last admissions, and what was to be tried again lately. It is
// long where a run was lost, so it is added in batches. In memory are only the numbers that were to be tried again.
type tail struct {
	crawler *Crawler
	covered store.Coverage
	isDone  func(seq uint64) bool
	again   map[uint64]lastAgain // of events that are not covered
	batch   []frontier.Task
}

// tailBatch is how many tasks are added at once.
const tailBatch = 4096

// earlier returns the covered numbers that are to be tried again.
func (t *tail) earlier() []uint64 {
	var seqs []uint64
	for seq := range t.again {
		if seq <= t.covered.Admissions {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	return seqs
}

// add makes all of it pending.
func (t *tail) add(last uint64) error {
	k := t.crawler.committer
	err := k.store.Admissions.Each(t.covered.Admissions+1, func(seq uint64, a store.Admission) error {
		if !t.isDone(seq) {
			if err := t.put(seq, a); err != nil {
				return err
			}
		}
		if len(t.batch) < tailBatch {
			return nil
		}
		return t.flush(store.Coverage{Admissions: seq, Done: t.covered.Done})
	})
	if err == nil {
		err = t.flush(store.Coverage{Admissions: last, Done: t.covered.Done})
	}
	if err != nil {
		return err
	}
	for seqs := range slices.Chunk(t.earlier(), tailBatch) {
		for _, seq := range seqs {
			a, err := k.store.Admissions.Get(seq)
			if err != nil {
				return err
			}
			if err := t.put(seq, a); err != nil {
				return err
			}
		}
		if err := t.flush(store.Coverage{Admissions: last, Done: t.covered.Done}); err != nil {
			return err
		}
	}
	return k.committed()
}

func (t *tail) put(seq uint64, a store.Admission) error {
	task, err := t.crawler.committer.taskAgain(seq, a, t.again[seq].DoneEntry)
	t.batch = append(t.batch, task)
	return err
}

// flush adds the batch; covered is what the queue then holds.
func (t *tail) flush(covered store.Coverage) error {
	k := t.crawler.committer
	k.wait(t.batch...)
	t.batch = t.batch[:0]
	k.store.Queue.Committed(covered.Admissions, covered.Done)
	if k.store.Queue.Full() {
		return k.store.Queue.Spill(context.Background())
	}
	return nil
}

// taskAgain remakes the task of a pending admission, with the redirects that led to it.
func (k *committer) taskAgain(seq uint64, a store.Admission, last store.DoneEntry) (frontier.Task, error) {
	task, err := pendingTask(seq, a, last)
	if err == nil && task.Hop > 0 {
		task.Via, err = redirectChain(k.store.Admissions, task)
	}
	return task, err
}

// lastAgain is the last event of a number that is pending again.
type lastAgain struct {
	store.DoneEntry
	position uint64 // in the done log, from 1
}

// againSince returns the numbers that became pending again after the first so many events of the log and are so still.
func (k *committer) againSince(events uint64) (map[uint64]lastAgain, error) {
	again := make(map[uint64]lastAgain)
	for more := true; more; {
		var err error
		if events, more, err = k.readAgain(again, events); err != nil {
			return nil, err
		}
	}
	return again, nil
}

// againBatch is how many events are read before the committer gets its turn.
const againBatch = 1 << 16

var errBatch = errors.New("the batch is full")

// readAgain goes on with again for a batch of events, and says after which one to go on.
func (k *committer) readAgain(again map[uint64]lastAgain, events uint64) (upto uint64, more bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	upto = events
	err = k.store.Done.Each(events, func(e store.DoneEntry) error {
		if upto-events == againBatch {
			return errBatch
		}
		upto++
		if e.Event == store.EventAgain {
			again[e.Seq] = lastAgain{e, upto}
		} else {
			delete(again, e.Seq)
		}
		return nil
	})
	if errors.Is(err, errBatch) {
		return upto, true, nil
	}
	return upto, false, err
}

// within returns the numbers, in order, whose last event is of a stretch of the log.
func within(again map[uint64]lastAgain, span store.Span) []uint64 {
	var seqs []uint64
	for _, seq := range slices.Sorted(maps.Keys(again)) {
		if at := again[seq].position; at > span.After && at <= span.Upto {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}
