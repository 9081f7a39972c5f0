package crawler

import (
	"context"
	"errors"
	"sync"
)

// errMaxPages: no further page record fits.
var errMaxPages = errors.New("max_pages is reached")

// pageBudget keeps the page records within Config.MaxPages: a fetcher takes a place before it leases, so that what is in
// flight never exceeds what may still be recorded. The nil budget has no limit.
type pageBudget struct {
	mu    sync.Mutex // guards all below
	freed *sync.Cond // a place was given back or used
	left  uint64
	taken int
}

func newPageBudget(left uint64) *pageBudget {
	b := &pageBudget{left: left}
	b.freed = sync.NewCond(&b.mu)
	return b
}

// take waits for a place. errMaxPages: all are used.
func (b *pageBudget) take(ctx context.Context) error {
	if b == nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.freed.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.left == 0 && b.taken > 0 && ctx.Err() == nil {
		b.freed.Wait()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.left == 0 {
		return errMaxPages
	}
	b.left--
	b.taken++
	return nil
}

// give ends a place: used when a page record was made, free again otherwise.
func (b *pageBudget) give(used bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken--
	if !used {
		b.left++
	}
	b.freed.Broadcast()
}
