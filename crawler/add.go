package crawler

import (
	"context"
	"fmt"
	"iter"
	"time"

	"crawl/frontier"
	"crawl/store"
)

// Added says what became of URLs that were added to a crawl.
type Added struct {
	Admitted int      `json:"admitted"` // new to the crawl
	Again    int      `json:"again"`    // fetched before, and to be fetched once more
	Known    int      `json:"known"`    // met before and left alone, or pending already
	Refused  []string `json:"refused"`  // no URLs: why
}

// Add makes more seeds part of the crawl; their hosts join its scope. With again, what was fetched before is fetched once
// more. It returns when a checkpoint holds them all. A URL that cannot be used is reported in Added, not as an error.
func (c *Crawler) Add(ctx context.Context, seeds iter.Seq[Seed], again bool) (Added, error) {
	release := c.frontier.Intake()
	defer release()
	var sum Added
	batch := make([]seedTask, 0, seedBatch)
	for s := range seeds {
		task, err := c.seedTask(s, frontier.Added)
		if err != nil {
			sum.Refused = append(sum.Refused, err.Error())
			continue
		}
		if _, guessed, _ := s.parse(); guessed {
			c.guessed.add(task.url.Host())
		}
		if batch = append(batch, task); len(batch) == seedBatch {
			if err := c.committer.add(batch, again, &sum); err != nil {
				return sum, err
			}
			batch = batch[:0]
		}
	}
	if err := c.committer.add(batch, again, &sum); err != nil {
		return sum, err
	}
	return sum, c.awaitCheckpoint(ctx)
}

// add is one commit of added seeds. All are looked up in the log: what a user names is not left to chance.
func (k *committer) add(batch []seedTask, again bool, sum *Added) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	wanted := make(map[uint64]struct{}, len(batch))
	for _, s := range batch {
		wanted[s.hash] = struct{}{}
	}
	known, err := k.store.Admissions.Find(wanted)
	if err != nil {
		return err
	}
	ends, err := k.endsOf(known, again)
	if err != nil {
		return err
	}
	for _, s := range batch {
		k.scope.AddSeed(s.url)
		k.rows = append(k.rows, store.Row{Key: addedPrefix + s.url.String(), Value: []byte(s.label)})
		seq, met := known[s.hash]
		end, ended := ends[seq]
		switch {
		case !met:
			known[s.hash], err = k.addNew(s)
			sum.Admitted++
		case again && ended:
			err = k.addAgain(s, end)
			delete(ends, seq) // named twice, it is fetched once
			sum.Again++
		default:
			k.books.Counters.Reasons[Seen]++
			sum.Known++
		}
		if err != nil {
			return fmt.Errorf("add %s: %w", s.url, err)
		}
	}
	return nil
}

func (k *committer) addNew(s seedTask) (uint64, error) {
	was, err := k.filter.TestAndAdd(s.hash)
	if err != nil {
		return 0, err
	}
	k.shadow.offer(s.hash, was, &k.books.Loss)
	if was { // wrongly so: the filter counts one hash for each admission all the same
		k.filter.Add([]uint64{s.hash})
	}
	if err := k.enterSeed(s); err != nil {
		return 0, err
	}
	return k.store.Admissions.Len(), nil
}

// addAgain makes a URL whose visit has ended pending once more: its outcome is taken back, and counted again then.
func (k *committer) addAgain(s seedTask, end store.DoneEntry) error {
	a, err := k.store.Admissions.Get(end.Seq)
	if err != nil {
		return err
	}
	visit := end.Visit + 1
	err = k.store.Done.Append(store.DoneEntry{Seq: end.Seq, Event: store.EventAgain, Visit: visit, At: time.Now()})
	if err != nil {
		return err
	}
	k.books.Counters.Outcomes[end.Outcome]--
	k.frontier.Add(frontier.Task{
		URL: s.url, Seq: end.Seq, From: a.From, Depth: int(a.Depth), Hop: int(a.Hop), Class: frontier.Added,
		Seed: a.Seed, Visit: int(visit),
	})
	return nil
}

// endsOf returns how the last visits of the given URLs ended; those that are pending are left out.
func (k *committer) endsOf(known map[uint64]uint64, again bool) (map[uint64]store.DoneEntry, error) {
	ends := make(map[uint64]store.DoneEntry)
	if !again || len(known) == 0 {
		return ends, nil
	}
	wanted := make(map[uint64]struct{}, len(known))
	for _, seq := range known {
		wanted[seq] = struct{}{}
	}
	err := k.store.Done.Each(func(e store.DoneEntry) error {
		if _, ok := wanted[e.Seq]; !ok {
			return nil
		}
		if e.Event == store.EventDone {
			ends[e.Seq] = e
		} else {
			delete(ends, e.Seq)
		}
		return nil
	})
	return ends, err
}

// awaitCheckpoint returns when a checkpoint holds all that was committed before the call.
func (c *Crawler) awaitCheckpoint(ctx context.Context) error {
	durable, running := c.committer.nextCheckpoint()
	if !running {
		return c.checkpoint()
	}
	c.askForCheckpoint()
	select {
	case err := <-durable:
		return err
	case <-ctx.Done():
		return fmt.Errorf("no checkpoint came in time: %w", ctx.Err())
	}
}

// nextCheckpoint returns a channel that tells when the next checkpoint is durable, or why it is not.
func (k *committer) nextCheckpoint() (durable <-chan error, running bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.running {
		return nil, false
	}
	w := make(chan error, 1)
	k.waiters = append(k.waiters, w)
	return w, true
}
