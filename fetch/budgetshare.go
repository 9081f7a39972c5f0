package fetch

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// share is what one fetch holds of the budget. One goroutine at a time uses it.
type share struct {
	budget   *budget
	charged  int64 // with what is free, and with what is prepaid
	prepaid  int64 // for decoding to come
	opened   time.Time
	patience time.Duration // how long it may still wait
	waited   time.Duration

	// Guarded by budget.mu.
	held, lent   int64
	at           int      // its place among those waiting; -1: none
	queue        *waiters // where it waits
	use          use      // while it waits, as what follows
	wants, needs int64    // how much, and how much must be free for it
	speed        float64  // of its bytes when it last asked, by the second
	granted      chan struct{}
}

var (
	errPatience = errors.New("other bodies hold all of body_memory")
	errShort    = errors.New("not enough memory at once")
)

// take waits until the share may have n bytes more, if they are not prepaid. It fails, with a *memoryError, when its
// patience or ctx ends.
func (s *share) take(ctx context.Context, n int64, u use) error {
	if s.usePrepaid(n) {
		return nil
	}
	return s.takeNew(ctx, n, u)
}

// takeNow takes n bytes of a body without waiting, or fails with errShort.
func (s *share) takeNow(n int64) error {
	if s.usePrepaid(n) {
		return nil
	}
	if more := s.uncounted(n); more > 0 && !s.budget.ask(s, more, forBody, false) {
		return errShort
	}
	s.charged += n
	return nil
}

// prepay waits for n bytes, which is all that decoding can need.
func (s *share) prepay(ctx context.Context, n int64) error {
	if err := s.takeNew(ctx, n, forDecoding); err != nil {
		return err
	}
	s.prepaid += n
	return nil
}

func (s *share) takeNew(ctx context.Context, n int64, u use) error {
	if more := s.uncounted(n); more > 0 && !s.budget.ask(s, more, u, true) {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	s.charged += n
	return nil
}

// uncounted is how much must be asked for, so that n bytes more may be charged.
func (s *share) uncounted(n int64) int64 { return max(s.charged+n-freeBytes, 0) - s.held }

func (s *share) usePrepaid(n int64) bool {
	if n > s.prepaid {
		return false
	}
	s.prepaid -= n
	return true
}

// settle gives back what was prepaid and not used.
func (s *share) settle() {
	unused := s.prepaid
	s.prepaid = 0
	s.giveBack(unused)
}

// complete says that the share needs no more.
func (s *share) complete() { s.budget.resign(s) }

// giveBack ends the use of n bytes.
func (s *share) giveBack(n int64) {
	s.charged -= n
	if less := s.held - max(s.charged-freeBytes, 0); less > 0 {
		s.budget.giveBack(s, less)
	}
}

// end gives back all there is.
func (s *share) end() {
	s.charged, s.prepaid = 0, 0
	s.budget.leave(s)
}

func (s *share) wait(ctx context.Context) error {
	start := time.Now()
	patience := time.NewTimer(s.patience)
	defer patience.Stop()
	var cause error
	select {
	case <-s.granted:
	case <-patience.C:
		cause = errPatience
	case <-ctx.Done():
		cause = ctx.Err()
	}
	took := time.Since(start)
	s.waited += took
	s.patience = max(s.patience-took, 0)
	if cause == nil || !s.budget.withdraw(s) {
		return nil
	}
	return &memoryError{waited: s.waited, cause: cause}
}

// memoryError ends a body that got no memory. It counts as a timeout: the same request may do better later.
type memoryError struct {
	waited time.Duration
	cause  error
}

func (e *memoryError) Error() string {
	return fmt.Sprintf("no memory for it in %v: %v", e.waited.Round(time.Millisecond), e.cause)
}

func (e *memoryError) Unwrap() error { return e.cause }
func (*memoryError) Timeout() bool   { return true }
func (*memoryError) Temporary() bool { return true }
