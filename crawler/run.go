package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"crawl/frontier"
	"crawl/store"
)

// Why a run ended, as the cause of its context.
var (
	errStopped  = errors.New("stopped by a command")
	errMaxTime  = errors.New("max_time is reached")
	errMaxBytes = errors.New("max_bytes is reached")
)

// Run crawls until nothing is left, a limit is reached, Stop is called or ctx ends; then requests in flight have
// Config.Grace to finish, and a last checkpoint is made. It returns nil when the crawl is complete, partial, stopped by
// Stop or at a limit the user set, which Snapshot tells apart; ctx's cause when ctx ended it. With any other error there
// is no last checkpoint, and the one before it stands. No goroutine it started outlives it.
func (c *Crawler) Run(ctx context.Context) error {
	c.committer.begin()
	run, end := context.WithCancelCause(ctx)
	defer end(nil)
	if err := c.crawl(ctx, run, end); err != nil {
		c.committer.abandon(err)
		return err
	}
	return c.finish(context.Cause(run))
}

// crawl fetches until run ends, with checkpoints all the while. Requests have a context of their own, since they go on
// for a while after run has ended.
func (c *Crawler) crawl(ctx, run context.Context, end context.CancelCauseFunc) error {
	c.lookAtSpace()
	select {
	case <-c.stop: // before the run has begun: nothing is to be fetched, however quick that would be
		end(errStopped)
	default:
	}
	requests, cancelRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelRequests()

	// The helpers live until the fetchers are done, so that what these committed last is in a checkpoint too.
	var helpers errgroup.Group
	done := make(chan struct{})
	background, cancelBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelBackground()
	for _, help := range []func() error{
		func() error { return c.checkpoints(done) },
		func() error { return c.refill(background, done) },
		func() error { return c.tidy(background, done) },
		func() error { return c.watchDenylists(background, done) },
	} {
		helpers.Go(func() error {
			err := help()
			if err != nil {
				end(err)
			}
			return err
		})
	}
	helpers.Go(func() error { c.guardSpace(done, end); return nil })
	helpers.Go(func() error { c.watch(run, end, done, cancelRequests); return nil })

	err := c.fetchAll(run, requests, end)
	close(done)
	cancelBackground()
	if failure := helpers.Wait(); err == nil { // of two failures one is the other's echo
		err = failure
	}
	return err
}

// fetchAll runs the fetchers and the reader of seeds until each of them is done.
func (c *Crawler) fetchAll(run, requests context.Context, end context.CancelCauseFunc) error {
	workers, wctx := errgroup.WithContext(run)
	workers.Go(func() error { // lives as long as the run, so that a fetcher may be added at any time
		<-wctx.Done()
		c.fetchers.close()
		return nil
	})
	release := c.frontier.Intake()
	worker := func(work func() error) {
		workers.Go(func() error {
			err := work()
			if err == nil || run.Err() != nil && errors.Is(err, run.Err()) {
				return nil
			}
			end(err) // whatever ended this worker ends the run
			if errors.Is(err, frontier.ErrDrained) || errors.Is(err, errMaxPages) || errors.Is(err, errMaxBytes) {
				return nil
			}
			if _, broken := errors.AsType[*PromiseError](err); broken {
				return nil // the state is sound, and is saved
			}
			if _, unread := errors.AsType[*unreadDenylist](err); unread {
				return nil // likewise
			}
			return err
		})
	}
	worker(func() error {
		defer release()
		return c.feedSeeds(wctx)
	})
	c.fetchers.open(func() *fetcher {
		wait, end := context.WithCancel(wctx)
		me := &fetcher{end: end}
		worker(func() error {
			defer end()
			err := c.work(wait, requests, me)
			if wait.Err() != nil && errors.Is(err, wait.Err()) {
				return nil // the run is over, or one fetcher less is wanted
			}
			return err
		})
		return me
	})
	return workers.Wait()
}

// work is one fetcher. It returns why there is no more work: frontier.ErrDrained, errMaxPages, the end of wait, or an
// error that ends the crawl; nil when fewer fetchers are wanted.
func (c *Crawler) work(wait, requests context.Context, me *fetcher) error {
	s, looks := newScratch(), 0
	for c.fetchers.rest(me) {
		if err := c.budget.take(wait); err != nil {
			return err
		}
		l, err := c.lease(wait)
		if err != nil {
			c.budget.give(false)
			if errors.Is(err, frontier.ErrDrained) {
				again, failure := c.lookOnce(wait, &looks)
				if again {
					continue
				}
				err = cmp.Or(failure, err)
			}
			return err
		}
		c.fetchers.work(me)
		if c.bytesUsedUp() { // by a visit that ended after this fetcher had begun to wait
			c.budget.give(false)
			return cmp.Or(c.frontier.Return(l), errMaxBytes)
		}
		if !c.budget.keep() {
			if err := c.frontier.Return(l); err != nil {
				return err
			}
			continue
		}
		recorded, err := c.serve(requests, s, l)
		c.budget.give(recorded)
		if err != nil {
			return err
		}
		c.saveLongWaits()
		if c.bytesUsedUp() {
			return errMaxBytes
		}
	}
	return nil
}

// bytesUsedUp reports whether Config.MaxBytes is reached.
func (c *Crawler) bytesUsedUp() bool {
	most := c.live.Load().maxBytes
	return most != nil && c.committer.bodyBytes() >= *most
}

// serve does what a lease asks for, and reports whether a page record came of it.
func (c *Crawler) serve(requests context.Context, s *scratch, l frontier.Lease) (recorded bool, err error) {
	switch l.Kind {
	case frontier.Resolve:
		return false, c.resolve(requests, l)
	case frontier.Robots:
		return false, c.askRobots(requests, l)
	}
	v := c.visit(requests, s, l)
	if v.ticket.host != nil {
		v.asked.Outcome = v.answer
		c.ledger.end(v.ticket, v.asked)
	}
	if v.end == endRetry {
		why := v.page.Error
		if why == nil { // no error as yet: a HEAD was refused
			why = &store.PageError{Code: statusCode(v.page.Status)}
		}
		c.log.Debug("again later", "url", v.page.URL, "wait", v.wait, "code", why.Code, "err", why.Message)
	}
	if err := c.committer.commit(v); err != nil {
		return false, fmt.Errorf("commit %s: %w", l.URL, err)
	}
	return v.end == endDone, v.broken
}

// watch ends the run when Stop is called or its time is used up, and the requests in flight when their grace is over.
func (c *Crawler) watch(run context.Context, end context.CancelCauseFunc, done <-chan struct{}, cancelRequests func()) {
	c.awaitEnd(run, end)
	c.committer.windDown()
	grace := time.NewTimer(c.cfg.Grace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		cancelRequests()
	}
}

// timeCheck is the least time between two looks at whether a run's time is used up: a pause puts its end off.
const timeCheck = 10 * time.Millisecond

// awaitEnd returns when run has ended, and ends it when Stop is called or its time is used up.
func (c *Crawler) awaitEnd(run context.Context, end context.CancelCauseFunc) {
	limit := time.NewTimer(0)
	limit.Stop()
	defer limit.Stop()
	for {
		limit.Stop()
		if most := c.live.Load().maxTime; most != nil {
			left := *most - c.committer.active()
			if left <= 0 {
				end(errMaxTime)
				return
			}
			limit.Reset(max(left, timeCheck))
		}
		select {
		case <-run.Done():
			return
		case <-c.stop:
			end(errStopped)
			return
		case <-limit.C:
		case <-c.retimed:
		}
	}
}
