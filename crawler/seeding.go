package crawler

import (
	"context"
	"fmt"

	"crawl/canon"
	"crawl/frontier"
)

// seedTask is a seed on its way into the crawl.
type seedTask struct {
	url     canon.URL
	guessed bool // it came without a scheme
	hash    uint64
	label   string
	class   frontier.Class
}

func (c *Crawler) seedTask(u canon.URL, guessed bool, label string, class frontier.Class) seedTask {
	return seedTask{url: u, guessed: guessed, hash: c.hash(u), label: label, class: class}
}

// text is the seed as it is kept: it parses to the same URL, with the same guess.
func (s seedTask) text() string { return seedText(s.url, s.guessed) }

const (
	seedBatch = 1024    // seeds a commit
	maxMaybes = 1 << 16 // seeds that wait for one look into the log
)

// feedSeeds admits the stored seeds from where the last checkpoint left them. Fetching begins meanwhile.
func (c *Crawler) feedSeeds(ctx context.Context) error {
	mark := c.committer.seedMark()
	if mark.Done {
		return nil
	}
	batch := make([]seedTask, 0, seedBatch)
	for s, err := range c.seeds.from(mark.Offset) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		batch = append(batch, c.seedTask(s.url, s.guessed, s.label, frontier.Seed))
		mark.Offset = s.end
		if len(batch) == seedBatch {
			if err := c.committer.admitSeeds(batch, mark); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	mark.Done = true
	return c.committer.admitSeeds(batch, mark)
}

// admitSeeds is one commit of seeds, after which mark is how far they were read.
func (k *committer) admitSeeds(batch []seedTask, mark seedMark) error {
	return k.whole(func() error {
		if err := k.offerSeeds(batch); err != nil {
			return err
		}
		if mark.Done || len(k.maybes) > maxMaybes {
			if err := k.settleMaybes(); err != nil {
				return err
			}
		}
		k.books.Seeds = mark
		return nil
	})
}

// offerSeeds admits seeds that are surely new. The rest waits for settleMaybes: what a user names is not left to chance.
func (k *committer) offerSeeds(batch []seedTask) error {
	for _, s := range batch {
		was, err := k.filter.TestAndAdd(s.hash)
		if err != nil {
			return fmt.Errorf("test seed %s against the filter: %w", s.url, err)
		}
		k.shadow.offer(s.hash, was, &k.books.Loss)
		if was {
			k.maybes = append(k.maybes, s)
			continue
		}
		if err := k.enterSeed(s); err != nil {
			return err
		}
	}
	return nil
}

// settleMaybes looks the seeds that the filter takes for seen up in the log: what is not there is admitted.
func (k *committer) settleMaybes() error {
	if len(k.maybes) == 0 {
		return nil
	}
	known, err := k.admissionsOf(k.maybes)
	if err != nil {
		return err
	}
	for _, s := range k.maybes {
		if _, ok := known[s.hash]; ok {
			k.books.Counters.Reasons[Seen]++
			continue
		}
		k.filter.Add([]uint64{s.hash})
		if err := k.enterSeed(s); err != nil {
			return err
		}
		known[s.hash] = k.store.Admissions.Len()
	}
	k.maybes = nil
	return nil
}

func (k *committer) enterSeed(s seedTask) error {
	task, err := k.enter(link{url: s.url, hash: s.hash, class: s.class}, origin{seed: k.labelNumber(s.label)})
	if err != nil {
		return err
	}
	k.frontier.Add(task)
	return nil
}

func (k *committer) seedMark() seedMark {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.books.Seeds
}
