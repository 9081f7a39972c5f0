package fetch

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"context"
)

// rateWindow is how long a body may be slower than Config.MinRate. A page whose making pauses so long between two parts is
// rare, and one that comes to an end after it rarer.
const rateWindow = 15 * time.Second

// clock says how long an exchange may still take: up to the end of the answer's head, and then as long as the body comes
// fast enough, and never past the end of the whole fetch.
//
// Nothing is set anew while all goes well. Where a deadline passes, next says whether that was the end or what the next one
// is. So the first window of a body may last until what was left for the head has passed.
type clock struct {
	rate int64        // bytes per second; 0: any
	came atomic.Int64 // bytes of the body in this window

	mu     sync.Mutex // guards all below
	begun  time.Time  // the fetch
	end    time.Time  // of the whole fetch
	sent   time.Time  // the request
	headBy time.Time
	body   bool
	since  time.Time // the window's begin
}

// reset starts the clock of an exchange, and returns the first deadline.
func (k *clock) reset(h hop, now time.Time, forHead time.Duration, rate int64) time.Time {
	k.rate = rate
	k.came.Store(0)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.begun, k.end = h.start, h.deadline
	k.sent, k.headBy = now, now.Add(forHead)
	k.body = false
	return earlier(k.headBy, k.end)
}

// headDone says that the body comes next, of which so many bytes are there.
func (k *clock) headDone(now time.Time, came int) {
	k.came.Store(int64(came))
	k.mu.Lock()
	defer k.mu.Unlock()
	k.body, k.since = true, now
}

// extend begins the window anew: the body has waited for us. It returns the next deadline.
func (k *clock) extend(now, end time.Time) time.Time {
	k.came.Store(0)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.end, k.since = end, now
	return k.deadline()
}

// next is asked when a deadline has passed: it returns another, or why there is none.
func (k *clock) next(now time.Time) (time.Time, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch window := now.Sub(k.since); {
	case !now.Before(k.end) && k.body:
		return now, timeoutError{"not whole", k.end.Sub(k.begun)}
	case !now.Before(k.end):
		return now, timeoutError{"no answer", k.end.Sub(k.begun)}
	case !k.body && !now.Before(k.headBy):
		return now, timeoutError{"no answer", k.headBy.Sub(k.sent)}
	case k.body && k.rate > 0 && window >= rateWindow:
		came := k.came.Swap(0)
		if came < int64(float64(k.rate)*window.Seconds()) {
			return now, &slowError{came: came, window: window, rate: k.rate}
		}
		k.since = now
	}
	return k.deadline(), nil
}

func (k *clock) deadline() time.Time {
	switch {
	case !k.body:
		return earlier(k.headBy, k.end)
	case k.rate > 0:
		return earlier(k.since.Add(rateWindow), k.end)
	}
	return k.end
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// timeoutError says how long was waited, and for what; the connection's own error does not know.
type timeoutError struct {
	missing string
	after   time.Duration
}

func (e timeoutError) Error() string {
	return fmt.Sprintf("%s in %v", e.missing, e.after.Round(time.Millisecond))
}

func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func (timeoutError) Is(target error) bool {
	return target == os.ErrDeadlineExceeded || target == context.DeadlineExceeded
}

// slowError ends a body that comes slower than Config.MinRate.
type slowError struct {
	came   int64
	window time.Duration
	rate   int64
}

func (e *slowError) Error() string {
	return fmt.Sprintf("%d bytes in %v: less than min_rate, %d a second", e.came, e.window.Round(time.Millisecond), e.rate)
}

func (*slowError) Timeout() bool        { return true }
func (*slowError) Temporary() bool      { return true }
func (*slowError) Is(target error) bool { return target == os.ErrDeadlineExceeded }
