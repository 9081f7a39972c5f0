package crawler

import (
	"context"
	"sync"

	"crawl/canon"
	"crawl/frontier"
	"crawl/store"
)

// drainedLook is the last look before a run ends because nothing that may be asked for is left: what the logs say is
// pending must be on hosts that are given up. The queue is a view of them, and one that lacks something would end the crawl
// without it.
type drainedLook struct {
	mu     sync.Mutex // held while one looks, guards all below
	events uint64     // length of the done log when somebody looked last
	found  int        // looks that found something
}

// mostLeft is up to how many pending URLs are looked through: a few seconds. What more there is of hosts given up is not worth
// a longer wait at the end of each run; crawl verify looks at it.
const mostLeft = 1 << 22

// lookOnce has the caller, whom the frontier told that it is drained, try again if the frontier had not been given all. seen
// is how many such finds the caller knows of. Without an end of a visit since the last look there is no other.
func (c *Crawler) lookOnce(ctx context.Context, seen *int) (again bool, err error) {
	l := &c.drained
	l.mu.Lock()
	defer l.mu.Unlock()
	if *seen < l.found {
		*seen = l.found // another fetcher's find
		return true, nil
	}
	events, left := c.committer.left()
	if left == 0 || left > mostLeft || l.found > 0 && events == l.events {
		return false, nil
	}
	l.events = events
	lost, err := c.findLost(ctx)
	if err != nil || lost == "" {
		return false, err
	}
	c.log.Warn("URLs that are pending were passed over: the queue is made again from the logs", "url", lost)
	if err := c.requeueAll(ctx); err != nil {
		return false, err
	}
	l.found++
	*seen = l.found
	return true, nil
}

// left returns how many URLs are pending, and of how many events that is the sum.
func (k *committer) left() (events, pending uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.store.Done.Len(), k.books.Counters.Reasons[Admitted] - k.books.Counters.done()
}

// findLost returns a URL that is pending, on a host that may be asked, and not in the frontier's memory; empty: there is
// none. The frontier is drained, so the queue does not have it.
func (c *Crawler) findLost(ctx context.Context) (url string, err error) {
	givenUp := make(map[string]bool)
	k := c.committer
	for after, last := uint64(0), k.admitted(); after < last && url == "" && err == nil; after += tailBatch {
		url, err = k.findLost(store.Span{After: after, Upto: min(after+tailBatch, last)}, func(host string) bool {
			gone, known := givenUp[host]
			if !known {
				gone = c.frontier.GivenUp(host) != ""
				if len(givenUp) >= maxAsked {
					clear(givenUp)
				}
				givenUp[host] = gone
			}
			return gone
		})
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return url, err
}

// findLost looks through a stretch of the log.
func (k *committer) findLost(span store.Span, givenUp func(host string) bool) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for seq := span.After + 1; seq <= span.Upto; seq++ {
		if k.frontier.IsDone(seq) {
			continue
		}
		a, err := k.store.Admissions.Get(seq)
		if err != nil {
			return "", err
		}
		u, err := canon.Parse(a.URL)
		if err != nil {
			return "", unreadable(seq, err)
		}
		task := frontier.Task{URL: u, Seq: seq, Class: frontier.Class(a.Class), Depth: int(a.Depth)}
		if !givenUp(u.Host()) && k.frontier.Story(task).Standing == frontier.Elsewhere {
			return u.String(), nil
		}
	}
	return "", nil
}

func (k *committer) admitted() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.store.Admissions.Len()
}

// requeueAll makes a run of the queue of all that the logs say is pending, and has the frontier sweep through it.
func (c *Crawler) requeueAll(ctx context.Context) error {
	c.mending.Lock()
	defer c.mending.Unlock()
	k := c.committer
	events, _ := k.left()
	err := c.remakeQueueRun(ctx, store.RunInfo{
		Kind: store.QueueRun, Admissions: store.Span{Upto: k.admitted()}, Done: store.Span{Upto: events},
	})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	cfg, err := k.books.config()
	if err != nil {
		return err
	}
	return c.frontier.Configure(cfg.Frontier) // with the settings that it has: that is when it looks at all hosts anew
}
