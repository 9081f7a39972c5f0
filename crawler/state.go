package crawler

import (
	"errors"
	"fmt"
	"time"

	"crawl/frontier"
	"crawl/store"
)

// errEnding: what is ending, or has ended, is not paused.
var errEnding = errors.New("the crawl's run is ending or has ended")

// begin makes the crawl a running one.
func (k *committer) begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	k.running, k.ending, k.short = true, false, nil
	k.books.LimitReached, k.books.HostsLost = "", false // which Open has told
	k.clock.start(now)
	k.rate.since = now
	k.settlePause() // one that was asked for before this run
}

// pause keeps the frontier from handing anything out. The books say so only of a run that goes on.
func (k *committer) pause() error { return k.hold(true) }

// resume ends a pause. One for want of space goes on until there is some.
func (k *committer) resume() error { return k.hold(false) }

func (k *committer) hold(held bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ending {
		return errEnding
	}
	k.held = held
	k.settlePause()
	return nil
}

// settlePause pauses for as long as there is a reason. The lock is held.
func (k *committer) settlePause() {
	k.books.PausedFor = ""
	switch {
	case k.short != nil:
		k.books.PausedFor = PausedForSpace
	case k.held:
		k.books.PausedFor = PausedForUser
	}
	paused, now := k.books.PausedFor != "", time.Now()
	if paused {
		k.frontier.Pause()
	} else {
		k.frontier.Resume()
	}
	switch {
	case !k.running:
		k.books.PausedFor = ""
	case paused:
		k.books.State = Paused
		k.clock.pause(now)
	default:
		k.books.State = Running
		k.clock.unpause(now)
	}
}

// windDown says that a run is ending: what is in flight finishes, and nothing else.
func (k *committer) windDown() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ending = true
	k.books.State, k.books.PausedFor = Stopping, ""
	k.clock.unpause(time.Now())
}

// active is how long this run has gone on, pauses excluded.
func (k *committer) active() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.clock.active(time.Now())
}

// finish makes the last checkpoint of a run, and returns what Run returns. cause is why the run ended. It is returned only
// when the state is saved: whoever ended the run relies on that.
func (c *Crawler) finish(cause error) error {
	err := c.committer.end(cause)
	if failure := c.checkpoint(); failure != nil {
		c.committer.abandon(failure)
		return failure
	}
	return err
}

// end closes the books of a run, and returns its cause if that is an error.
func (k *committer) end(cause error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closeRun(k.verdict(cause))
	limit, err := limitOf(cause)
	if k.books.State != Complete { // with nothing left, no limit kept anything back
		k.books.LimitReached = limit
	}
	return err
}

// limitOf tells the ends that the user wanted from errors, and which limit it was, if any.
func limitOf(cause error) (limit string, err error) {
	switch {
	case errors.Is(cause, frontier.ErrDrained), errors.Is(cause, errStopped):
		return "", nil
	case errors.Is(cause, errMaxPages):
		return "max_pages", nil
	case errors.Is(cause, errMaxTime):
		return "max_time", nil
	case errors.Is(cause, errMaxBytes):
		return "max_bytes", nil
	}
	if _, short := errors.AsType[*SpaceError](cause); short {
		return "min_free", cause
	}
	return "", cause
}

// verdict says what the crawl is when its run has ended. What was added while the run was ending is left, and may be
// fetched: that crawl is neither complete nor partial.
func (k *committer) verdict(cause error) State {
	queue := k.frontier.Stats()
	switch {
	case queue.Queued == 0 && k.books.Seeds.Done:
		return Complete
	case queue.Queued == queue.Stranded && errors.Is(cause, frontier.ErrDrained):
		return Partial
	}
	return Stopped
}

// closeRun ends a run in the books.
func (k *committer) closeRun(s State) {
	k.running, k.ending = false, true
	k.books.State, k.books.PausedFor = s, ""
	k.clock.stop(time.Now())
}

// reopen: what was added to a crawl that had nothing left, or nothing that may be fetched, is left to fetch.
func (k *committer) reopen() {
	if k.books.State == Complete || k.books.State == Partial {
		k.books.State = Stopped
	}
}

// abandon ends a run that failed without a last checkpoint, and tells those who wait for one that none will come.
func (k *committer) abandon(failure error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := Stopped
	if _, damaged := errors.AsType[*store.DamageError](failure); damaged {
		s = Damaged
	}
	k.closeRun(s)
	for _, w := range k.waiters {
		w <- fmt.Errorf("the crawl ended before its checkpoint: %w", failure)
	}
	k.waiters = nil
}
