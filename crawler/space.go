package crawler

import (
	"context"
	"fmt"
	"time"
)

// Why a crawl is paused: Snapshot.PausedFor. A pause of the user's lies under one for want of space, and outlasts it.
const (
	PausedForUser  = "user"
	PausedForSpace = "min_free" // the disk has less left than store.Config.MinFreeBytes
)

// A SpaceError says that a run ended, its state saved, because the disk had too little space left for too long.
type SpaceError struct {
	Dir        string
	Free, Want uint64 // bytes
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s: the disk has %d bytes left, min_free keeps %d", e.Dir, e.Free, e.Want)
}

// spaceCheck is how often a run that waits for space looks for it.
const spaceCheck = time.Second

// enough is how much a crawl that ran out of space waits for: a sixteenth more than is kept, or it would stop and go at each
// checkpoint.
func enough(keep uint64) uint64 { return keep + keep/16 }

// lookAtSpace pauses the run when the disk has less left than is to stay free. It is cheap: called behind whatever writes
// much.
func (c *Crawler) lookAtSpace() {
	free, keep := c.committer.store.Space()
	if free >= keep || !c.committer.runShort() {
		return
	}
	c.log.Warn("paused: the disk is nearly full", "free", free, "min_free", keep, "goes_on_at", enough(keep))
	select {
	case c.shortage <- struct{}{}:
	default: // guardSpace knows
	}
}

// guardSpace ends pauses for want of space when there is some, and the run when there is none for too long.
func (c *Crawler) guardSpace(done <-chan struct{}, end context.CancelCauseFunc) {
	for {
		select {
		case <-done:
			return
		case <-c.shortage:
		}
		if err := c.awaitSpace(done); err != nil {
			end(err)
			return
		}
	}
}

// awaitSpace returns when there is space again, or done; or why the run has to end.
func (c *Crawler) awaitSpace(done <-chan struct{}) error {
	tick := time.NewTicker(spaceCheck)
	defer tick.Stop()
	patience := time.NewTimer(c.cfg.MinFreeWait)
	defer patience.Stop()
	if c.cfg.MinFreeWait == 0 {
		patience.Stop()
	}
	for {
		select {
		case <-done:
			return nil
		case <-patience.C:
			free, keep := c.committer.store.Space()
			return &SpaceError{Dir: c.Dir(), Free: free, Want: keep}
		case <-tick.C:
		}
		if free, keep := c.committer.store.Space(); free >= enough(keep) {
			c.log.Info("the disk has room again", "free", free)
			c.committer.endShort()
			return nil
		}
	}
}

// runShort pauses a run for want of space, and reports whether that is news.
func (k *committer) runShort() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.short != nil || !k.running || k.ending {
		return false
	}
	k.short = make(chan struct{})
	k.settlePause()
	return true
}

// endShort ends the pause for want of space.
func (k *committer) endShort() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.short == nil || k.ending {
		return
	}
	close(k.short)
	k.short = nil
	k.settlePause()
}

// roomForMore waits while a run is paused for want of space.
func (k *committer) roomForMore(ctx context.Context) error {
	k.mu.Lock()
	short := k.short
	k.mu.Unlock()
	if short == nil {
		return ctx.Err()
	}
	select {
	case <-short:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
