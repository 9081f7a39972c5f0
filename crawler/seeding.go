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
	seedBatch = 1024 // seeds a commit
)

// feedSeeds admits the stored seeds from where the last checkpoint left them. Fetching begins meanwhile.
func (c *Crawler) feedSeeds(ctx context.Context) error {
	mark := c.committer.seedMark()
	if mark.Done {
		return nil
	}
	batch := make([]seedTask, 0, seedBatch)
	denied := make(map[string]uint64)
	for s, err := range c.seeds.from(mark.Offset) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		mark.Offset = s.end
		why, err := c.deny.url(s.url)
		switch {
		case err != nil:
			return err
		case why != nil:
			c.log.Warn("a seed is on a denylist, and is not fetched", "seed", s.url.String(), "by", why.String())
			countIn(&denied, why.rule(), 1)
			continue
		}
		batch = append(batch, c.seedTask(s.url, s.guessed, s.label, frontier.Seed))
		if len(batch) == seedBatch {
			if err := c.takeSeeds(ctx, batch, denied, mark); err != nil {
				return err
			}
			batch = batch[:0]
			clear(denied)
		}
	}
	mark.Done = true
	return c.takeSeeds(ctx, batch, denied, mark)
}

// takeSeeds admits a batch once the disk has room for it. denied are the seeds before mark that lists refuse.
func (c *Crawler) takeSeeds(ctx context.Context, batch []seedTask, denied map[string]uint64, mark seedMark) error {
	if err := c.committer.roomForMore(ctx); err != nil {
		return err
	}
	return c.committer.admitSeeds(batch, denied, mark)
}

// admitSeeds is one commit of seeds, after which mark is how far they were read.
func (k *committer) admitSeeds(batch []seedTask, denied map[string]uint64, mark seedMark) error {
	return k.whole(func() error {
		if err := k.offerSeeds(batch); err != nil {
			return err
		}
		k.books.Counters.deniedByHand(denied)
		k.books.Seeds = mark
		return nil
	})
}

// offerSeeds admits the seeds that are new.
func (k *committer) offerSeeds(batch []seedTask) error {
	var maybes []maybe
	for _, s := range batch {
		was, err := k.testOne(s.hash)
		switch {
		case err != nil:
			return fmt.Errorf("test seed %s: %w", s.url, err)
		case was:
			maybes = append(maybes, k.maybeOf(s))
			continue
		}
		if err := k.enterSeed(s); err != nil {
			return err
		}
	}
	return k.settle(maybes)
}

// testOne tests a URL that a user named, and takes it in if it is new.
func (k *committer) testOne(hash uint64) (was bool, err error) {
	answer := k.batch.was[:1]
	if err := k.test([]uint64{hash}, answer); err != nil {
		return false, err
	}
	k.shadow.offer(hash, answer[0], &k.books.Loss)
	return answer[0], nil
}

func (k *committer) maybeOf(s seedTask) maybe {
	return maybe{link{url: s.url, hash: s.hash, class: s.class}, origin{seed: k.labelNumber(s.label)}}
}

func (k *committer) enterSeed(s seedTask) error {
	m := k.maybeOf(s)
	task, err := k.enter(&m.link, m.origin)
	if err != nil {
		return err
	}
	k.wait(task)
	return nil
}

func (k *committer) seedMark() seedMark {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.books.Seeds
}
