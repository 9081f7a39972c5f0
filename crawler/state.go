package crawler

import (
	"context"
	"errors"
	"time"

	"crawl/frontier"
)

// begin makes the crawl a running one.
func (k *committer) begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	k.books.State, k.books.LimitReached = Running, ""
	k.clock.start(now)
	k.rate.since = now
	k.running = true
}

// setState enters what the crawl is doing.
func (k *committer) setState(s State) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if s == Paused {
		k.clock.pause(now)
	} else {
		k.clock.unpause(now)
	}
	k.books.State = s
}

// active is how long this run has gone on, pauses excluded.
func (k *committer) active() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.clock.active(time.Now())
}

func (k *committer) countRequest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.books.Counters.Requests++
}

// finish makes the last checkpoint of a run. cause is why it ended.
func (c *Crawler) finish(cause error) error {
	state, limit, err := c.verdict(cause)
	c.committer.end(state, limit)
	return errors.Join(err, c.checkpoint())
}

// verdict says what the crawl is when its run has ended, and whether Run returns the cause.
func (c *Crawler) verdict(cause error) (state State, limit string, err error) {
	switch {
	case errors.Is(cause, frontier.ErrDrained) && c.frontier.Stats().Queued == 0:
		return Complete, "", nil
	case errors.Is(cause, frontier.ErrDrained):
		return Partial, "", nil
	case errors.Is(cause, errMaxPages):
		return Stopped, "max_pages", nil
	case errors.Is(cause, errMaxTime):
		return Stopped, "max_time", nil
	case errors.Is(cause, errStopped):
		return Stopped, "", nil
	case cause == nil:
		return Stopped, "", context.Canceled
	}
	return Stopped, "", cause
}

func (k *committer) end(state State, limit string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.books.State, k.books.LimitReached = state, limit
	k.clock.stop(time.Now())
	k.running = false
}

// abandon tells those who wait for a checkpoint that none will come, when a run ended by an error.
func (k *committer) abandon() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = false
	for _, w := range k.waiters {
		w <- errors.New("the crawl ended before its checkpoint")
	}
	k.waiters = nil
}
