package crawler

import (
	"context"
	"time"

	"crawl/frontier"
	"crawl/store"
)

// refiller brings tasks from the queue on disk into the frontier, as the frontier wishes. It is the one reader of the
// queue, and belongs to one goroutine.
type refiller struct {
	c     *Crawler
	queue *store.Queue

	next    uint64 // host key at which the sweep under way goes on
	begun   uint64 // the frontier's round with which it began
	written time.Time
	tasks   []frontier.Task
	pending []store.Pending
}

// A run of the queue holds what was added so long ago, or so much of it; less is written only when there is nothing else
// to do. Until then it cannot be read.
const (
	writePause = 10 * time.Second
	worthARun  = 1 << 14
)

// refill grants the frontier's wishes until done.
func (c *Crawler) refill(ctx context.Context, done <-chan struct{}) error {
	r := &refiller{c: c, queue: c.committer.store.Queue, written: time.Now()}
	pause := time.NewTimer(0)
	pause.Stop()
	defer pause.Stop()
	for {
		w, ok := c.frontier.Wish()
		var wait time.Duration
		var err error
		if ok {
			wait, err = r.grant(ctx, w)
		}
		if err != nil {
			return endedBy(ctx, err)
		}
		if ok && wait == 0 {
			select {
			case <-done:
				return nil
			default:
				continue
			}
		}
		if wait > 0 {
			pause.Reset(wait)
		}
		select {
		case <-done:
			return nil
		case <-c.frontier.Wishes():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// grant does what is wished for, or says how long that should wait unless it becomes urgent.
func (r *refiller) grant(ctx context.Context, w frontier.Wish) (wait time.Duration, err error) {
	if w.Write || w.Begin {
		if wait := r.tooEarly(w); wait > 0 {
			return wait, nil
		}
		round, err := r.write(ctx)
		if err != nil {
			return 0, err
		}
		if w.Begin {
			r.begun = round
			if r.next = r.c.committer.sweptTo(); r.next > 0 {
				r.begun = 0 // a sweep that a restart broke off
			}
			r.c.frontier.BeginSweep()
		}
	}
	switch {
	case w.Host != "":
		return 0, r.mended(ctx, func() error { return r.host(w) })
	case w.Sweep:
		return 0, r.mended(ctx, func() error { return r.sweep(w) })
	}
	return 0, nil
}

// mended reads again once a damaged run is mended: a wish is made but once.
func (r *refiller) mended(ctx context.Context, read func() error) error {
	for {
		err := read()
		if err == nil {
			return nil
		}
		if again, err := r.c.mend(ctx, err); !again {
			return err
		}
	}
}

// tooEarly returns how long what is unwritten should wait.
func (r *refiller) tooEarly(w frontier.Wish) time.Duration {
	n := r.queue.Unwritten()
	if n == 0 || n >= worthARun || w.Short {
		return 0
	}
	return max(0, writePause-time.Since(r.written))
}

// write makes all that was added readable.
func (r *refiller) write(ctx context.Context) (round uint64, err error) {
	round = r.c.frontier.Cut()
	if r.queue.Unwritten() > 0 {
		if err := r.queue.Spill(ctx); err != nil {
			return 0, err
		}
		r.written = time.Now()
		r.c.lookAtSpace()
	}
	r.c.frontier.Written(round)
	return round, nil
}

// host brings more tasks of one host.
func (r *refiller) host(w frontier.Wish) error {
	key := store.HostKey(w.Host)
	r.c.committer.noteAsked(key, w.Host)
	if w.Rewind {
		r.queue.Forget(key)
	}
	pending, more, err := r.queue.Host(r.pending[:0], key, w.Max, r.c.frontier.IsDone)
	if err != nil {
		return err
	}
	r.pending = pending
	left := 0
	if more {
		left = len(pending)
	}
	taken, err := r.give(w.Host, pending, left)
	if err == nil && !taken { // the host has left memory meanwhile
		r.queue.Forget(key)
	}
	return err
}

// sweep goes on with the sweep under way, for as long as there is room.
func (r *refiller) sweep(w frontier.Wish) error {
	var failed error
	hosts := 0
	key, full := uint64(0), false
	turn := func(first *store.Pending) int {
		if n := r.c.frontier.Room(first.Host); n >= 0 {
			return min(n, w.Max)
		}
		return store.StopSweep
	}
	next, ended, err := r.queue.Sweep(r.next, turn, r.c.frontier.IsDone, func(at uint64, entries []store.Pending, left int) bool {
		ok, err := r.give("", entries, left)
		if err != nil || !ok {
			key, full, failed = at, true, err
			return false
		}
		hosts++
		return hosts < sweepHosts
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case full:
		r.next = key // it was not taken
	case ended:
		r.next = 0
		r.c.frontier.EndSweep(r.begun)
	default:
		r.next = next
	}
	r.c.committer.noteSweep(r.next)
	return nil
}

// sweepHosts is how many hosts are brought before the wishes for single ones get their turn.
const sweepHosts = 1024

// give hands the frontier entries of one host key, which different hosts may share. named is a host that must hear of it
// even if it has none. ok: they were taken.
func (r *refiller) give(named string, entries []store.Pending, left int) (ok bool, err error) {
	now := time.Now()
	r.tasks = r.tasks[:0]
	for i := range entries {
		t, err := r.c.taskOf(&entries[i], now)
		if err != nil {
			return false, err
		}
		r.tasks = append(r.tasks, t)
	}
	for rest := r.tasks; len(rest) > 0; {
		host, n := rest[0].URL.Host(), 1
		for n < len(rest) && rest[n].URL.Host() == host {
			n++
		}
		if !r.c.frontier.Refill(host, rest[:n], left) {
			return false, nil
		}
		if host == named {
			named = ""
		}
		rest = rest[n:]
	}
	if named != "" {
		return r.c.frontier.Refill(named, nil, left), nil
	}
	return true, nil
}
