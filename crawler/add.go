package crawler

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"crawl/frontier"
	"crawl/store"
)

// Added says what became of URLs that were added to a crawl.
type Added struct {
	Admitted int      `json:"admitted"` // new to the crawl
	Again    int      `json:"again"`    // fetched before, and to be fetched once more
	Known    int      `json:"known"`    // met before and left alone, or pending already
	Refused  []string `json:"refused"`  // no URLs, or on a denylist: why
	// Revived are hosts that were given up or dropped, and are asked again since a URL of theirs is wanted again.
	Revived []string `json:"revived,omitempty"`
	// UsedUp are hosts that stay given up: they have used up what they may have, which a higher limit alone takes back.
	UsedUp []string `json:"used_up,omitempty"`
}

// Add makes more seeds part of the crawl; their hosts join its scope. With again, what was fetched before is fetched once
// more, and hosts that were given up or dropped are asked again. It returns when a checkpoint holds them all. A URL that
// cannot be used is reported in Added, not as an error.
func (c *Crawler) Add(ctx context.Context, seeds iter.Seq[Seed], again bool) (Added, error) {
	release := c.frontier.Intake()
	defer release()
	var sum Added
	batch := make([]seedTask, 0, seedBatch)
	denied := make(map[string]uint64)
	for s := range seeds {
		u, guessed, err := s.parse()
		if err != nil {
			sum.Refused = append(sum.Refused, err.Error())
			continue
		}
		why, err := c.deny.url(u)
		switch {
		case err != nil:
			return sum, err
		case why != nil:
			sum.Refused = append(sum.Refused, (&SeedError{s, why}).Error())
			countIn(&denied, why.rule(), 1)
			continue
		}
		if guessed {
			c.guessed.add(u.Host())
		}
		c.trusted.add(u)
		if batch = append(batch, c.seedTask(u, guessed, s.Label, frontier.Added)); len(batch) == seedBatch {
			if err := c.committer.add(batch, again, &sum); err != nil {
				return sum, err
			}
			batch = batch[:0]
		}
	}
	if err := c.committer.add(batch, again, &sum); err != nil {
		return sum, err
	}
	if err := c.committer.countDenied(denied); err != nil {
		return sum, err
	}
	return sum, c.awaitCheckpoint(ctx)
}

// add is one commit of added seeds. All are looked up in the log: what a user names is not left to chance. A log that
// cannot be read fails it before anything has changed.
func (k *committer) add(batch []seedTask, again bool, sum *Added) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed != nil {
		return k.failed
	}
	known, err := k.admissionsOf(batch)
	if err != nil {
		return err
	}
	repeats := make(map[uint64]repeat)
	if again {
		if repeats, err = k.repeatsOf(known); err != nil {
			return err
		}
	}
	for _, s := range batch {
		if again {
			k.wantAgain(s.url.Host(), sum)
		}
		if err := k.addOne(s, known, repeats, sum); err != nil {
			k.failed = fmt.Errorf("add %s: %w", s.url, err)
			return k.failed
		}
	}
	k.failed = k.committed()
	return k.failed
}

// wantAgain has a host asked again of which a URL is wanted again.
func (k *committer) wantAgain(host string, sum *Added) {
	switch why, revived := k.revive(host); {
	case revived:
		sum.Revived = append(sum.Revived, host)
	case why == frontier.BudgetUsed && !slices.Contains(sum.UsedUp, host):
		sum.UsedUp = append(sum.UsedUp, host)
	}
}

// admissionsOf returns the sequence numbers of those seeds that were admitted before, by hash.
func (k *committer) admissionsOf(seeds []seedTask) (map[uint64]uint64, error) {
	hashes := make([]uint64, len(seeds))
	for i, s := range seeds {
		hashes[i] = s.hash
	}
	return k.store.Find(hashes)
}

// addOne keeps known and repeats up to date: a URL that is named twice is added once, and fetched once more.
func (k *committer) addOne(s seedTask, known map[uint64]uint64, repeats map[uint64]repeat, sum *Added) error {
	if k.scope.AddSeed(s.url) {
		k.books.RulesAt = time.Now().UTC()
	}
	k.rows = append(k.rows, store.Row{Key: addedPrefix + s.text(), Value: []byte(s.label)})
	seq, met := known[s.hash]
	r, ended := repeats[seq]
	switch {
	case !met:
		sum.Admitted++
		k.reopen()
		if err := k.addNew(s); err != nil {
			return err
		}
		known[s.hash] = k.store.Admissions.Len()
	case ended:
		sum.Again++
		k.reopen()
		delete(repeats, seq)
		return k.addAgain(r, 0)
	default:
		sum.Known++
		k.books.Counters.Reasons[Seen]++
	}
	return nil
}

func (k *committer) addNew(s seedTask) error {
	was, err := k.testOne(s.hash)
	if err != nil {
		return err
	}
	if was { // wrongly so: the filter counts one hash for each admission all the same
		k.met.add(s.hash)
	}
	return k.enterSeed(s)
}

// repeat is another visit of a URL whose last one has ended.
type repeat struct {
	task    frontier.Task
	outcome store.Outcome // of the last visit
}

// addAgain makes a URL pending once more: its outcome is taken back, and counted again when the visit ends. why is that
// outcome where it is the reason; 0 where the user named the URL.
func (k *committer) addAgain(r repeat, why store.Outcome) error {
	err := k.store.Done.Append(store.DoneEntry{
		Seq: r.task.Seq, Event: store.EventAgain, Outcome: why, Visit: uint16(r.task.Visit), At: time.Now(), Record: r.task.Former,
	})
	if err != nil {
		return err
	}
	k.books.Counters.Outcomes[r.outcome]--
	k.wait(r.task)
	return nil
}

// repeatsOf returns another visit for each of the known URLs, by sequence number. Those that are pending are left out.
func (k *committer) repeatsOf(known map[uint64]uint64) (map[uint64]repeat, error) {
	ends, err := k.endsOf(known)
	if err != nil {
		return nil, err
	}
	repeats := make(map[uint64]repeat, len(ends))
	for seq, end := range ends {
		task, err := k.repeatTask(end)
		if err != nil {
			return nil, err
		}
		repeats[seq] = repeat{task, end.Outcome}
	}
	return repeats, nil
}

// repeatTask remakes the task of a URL as a restart would.
func (k *committer) repeatTask(end store.DoneEntry) (frontier.Task, error) {
	log := k.store.Admissions
	a, err := log.Get(end.Seq)
	if err != nil {
		return frontier.Task{}, err
	}
	task, err := pendingTask(end.Seq, a, store.DoneEntry{Visit: end.Visit + 1, Record: end.Record})
	if err != nil {
		return frontier.Task{}, err
	}
	if a.From != 0 {
		from, err := log.Get(a.From)
		if err != nil {
			return frontier.Task{}, err
		}
		task.Referrer = strings.Clone(from.URL) // a block's URLs share one string
	}
	task.Via, err = redirectChain(log, task)
	return task, err
}

// endsOf returns how the last visits of URLs ended, by sequence number; those that are pending are left out.
func (k *committer) endsOf(known map[uint64]uint64) (map[uint64]store.DoneEntry, error) {
	ends, err := k.store.LastDoneOf(slices.Sorted(maps.Values(known)))
	maps.DeleteFunc(ends, func(_ uint64, e store.DoneEntry) bool { return e.Event != store.EventDone })
	return ends, err
}

// awaitCheckpoint returns when a checkpoint holds all that was committed before the call.
func (c *Crawler) awaitCheckpoint(ctx context.Context) error {
	durable, running := c.committer.nextCheckpoint()
	if !running {
		return c.checkpoint()
	}
	c.committer.askForCheckpoint()
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
