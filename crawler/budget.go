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
	left  uint64
	taken int
	ended chan struct{} // closed when the next place taken is given; nil while nobody waits for that
}

func newPageBudget(left uint64) *pageBudget { return &pageBudget{left: left} }

// take waits for a place. errMaxPages: all are used.
func (b *pageBudget) take(ctx context.Context) error {
	if b == nil {
		return nil
	}
	for {
		ended, err := b.tryTake()
		if ended == nil {
			return err
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryTake takes a place. When all that are left are taken, it returns what is closed when trying again may help.
func (b *pageBudget) tryTake() (ended <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.left > 0:
		b.left--
		b.taken++
		return nil, nil
	case b.taken == 0:
		return nil, errMaxPages
	case b.ended == nil:
		b.ended = make(chan struct{})
	}
	return b.ended, nil
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
	if b.ended != nil {
		close(b.ended)
		b.ended = nil
	}
}
