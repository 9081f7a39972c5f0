package crawler

import (
	"context"
	"errors"
	"math"
	"sync"
)

// errMaxPages: no further page record fits.
var errMaxPages = errors.New("max_pages is reached")

// pageBudget keeps the page records within Config.MaxPages: a fetcher takes a place before it leases, so that what is in
// flight never exceeds what may still be recorded.
type pageBudget struct {
	mu    sync.Mutex // guards all below
	most  uint64
	used  uint64
	taken uint64
	ended chan struct{} // closed when there may be a place again; nil while nobody waits for that
}

// newPageBudget returns the budget of a crawl that has used so many places.
func newPageBudget(most *uint64, used uint64) *pageBudget {
	b := &pageBudget{used: used}
	b.limit(most)
	return b
}

// limit changes how many places there are over the crawl's life; nil: as many as are wanted. Places taken stay so.
func (b *pageBudget) limit(most *uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = math.MaxUint64
	if most != nil {
		b.most = *most
	}
	b.wake()
}

// take waits for a place. errMaxPages: all are used.
func (b *pageBudget) take(ctx context.Context) error {
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
	case b.used+b.taken < b.most:
		b.taken++
		return nil, nil
	case b.used >= b.most:
		return nil, errMaxPages
	case b.ended == nil:
		b.ended = make(chan struct{})
	}
	return b.ended, nil
}

// keep reports whether a place is still to be used: when the limit was lowered since it was taken, it may not, and has ended.
func (b *pageBudget) keep() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+b.taken <= b.most {
		return true
	}
	b.taken--
	b.wake()
	return false
}

// give ends a place: used when a page record was made, free again otherwise.
func (b *pageBudget) give(used bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken--
	if used {
		b.used++
	}
	b.wake()
}

func (b *pageBudget) wake() {
	if b.ended != nil {
		close(b.ended)
		b.ended = nil
	}
}
