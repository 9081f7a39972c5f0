package fetch

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const mebi = 1 << 20

// check verifies that no more is used than there is.
func (b *budget) check(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used > b.total || b.lent > b.used || b.used < 0 || b.lent < 0 {
		t.Errorf("%d bytes used of %d, %d lent", b.used, b.total, b.lent)
	}
}

// TestBudgetEndsAll: whatever bodies grow at whatever pace, each comes to its size, and never do all hold more than there
// is.
func TestBudgetEndsAll(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			b := newBudget(leastBudget(8*mebi, false)+int64(seed)*8*mebi, mostOfBody(8*mebi, false))
			var all sync.WaitGroup
			for i := range uint64(200) {
				all.Go(func() { growBody(t, b, rand.New(rand.NewPCG(seed, i))) })
			}
			all.Wait()
			if b.used != 0 || b.lent != 0 || b.first != nil || len(b.bodies)+len(b.decoding) != 0 {
				t.Errorf("%d bytes used and %d lent in the end", b.used, b.lent)
			}
		})
	}
}

// growBody is a fetch that pauses between its steps, like a peer would, and decodes with a window.
func growBody(t *testing.T, b *budget, dice *rand.Rand) {
	pause := func() { time.Sleep(time.Duration(dice.IntN(1000)) * time.Millisecond) } // in a bubble: no time at all
	s := b.open(24 * time.Hour)
	defer s.end()
	for size := int64(0); size < dice.Int64N(8*mebi); {
		step := 1 + dice.Int64N(stepBytes)
		if err := s.take(t.Context(), step, forBody); err != nil {
			t.Error(err)
			return
		}
		size += step
		b.check(t)
		pause()
	}
	window := dice.Int64N(40 * mebi)
	if err := s.take(t.Context(), window, forWindow); err != nil {
		t.Error(err)
	}
	size := dice.Int64N(8 * mebi)
	for got := int64(0); got < size; got += stepBytes {
		if s.takeNow(stepBytes) == nil {
			continue
		}
		s.giveBack(window + got)
		if err := s.prepay(t.Context(), 8*mebi+bufferSlack+window); err != nil {
			t.Error(err)
		}
		b.check(t)
		if err := s.take(t.Context(), window, forWindow); err != nil {
			t.Error(err)
		}
		for got = 0; got < size; got += stepBytes {
			if err := s.takeNow(stepBytes); err != nil {
				t.Error(err)
			}
		}
		s.settle()
	}
	s.giveBack(window)
	b.check(t)
	pause()
	s.complete()
	pause()
}

// TestBudgetSmallBesideLarge: a thousand bodies that want all there is leave something for small ones, and the windows.
func TestBudgetSmallBesideLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBudget(512*mebi, mostOfBody(64*mebi, false))
		var large sync.WaitGroup
		for range 1000 {
			large.Go(func() {
				s := b.open(time.Hour)
				defer s.end()
				for s.take(ctx, stepBytes/4, forBody) == nil {
				}
				<-ctx.Done()
			})
		}
		synctest.Wait()
		start := time.Now()
		for range 100 {
			s := b.open(time.Hour)
			for _, take := range []func() error{
				func() error { return s.take(ctx, freeBytes+100<<10, forBody) },
				func() error { return s.take(ctx, heapFactor*(8*mebi+tableBytes), forWindow) },
			} {
				if err := take(); err != nil {
					t.Error(err)
				}
			}
			s.end()
		}
		if waited := time.Since(start); waited > 0 {
			t.Errorf("small bodies waited %v", waited)
		}
		b.check(t)
		cancel()
		large.Wait()
	})
}

// TestBudgetFirstGrows: one body comes to what it may need while all others hold what they could get, and a faster one
// goes before a slow one that does not wait.
func TestBudgetFirstGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 100 * mebi
		b := newBudget(most+windowBytes+50*mebi, most)
		begin := func() *share {
			s := b.open(time.Hour)
			if err := s.take(t.Context(), freeBytes, forBody); err != nil {
				t.Fatal(err)
			}
			return s
		}
		slow := begin()
		time.Sleep(time.Minute)
		for range 50 {
			s := b.open(time.Hour)
			for s.takeNow(mebi/4) == nil {
			}
		}
		fast := begin()
		start := time.Now()
		for _, s := range []*share{slow, fast} {
			for range 5 {
				if err := s.take(t.Context(), mebi, forBody); err != nil {
					t.Fatal(err)
				}
			}
			if b.first != s {
				t.Fatal("the fast one that waits is not first")
			}
		}
		for fast.held < most {
			if err := fast.take(t.Context(), min(mebi, most-fast.held), forBody); err != nil {
				t.Fatal(err)
			}
			b.check(t)
		}
		if time.Since(start) > 0 {
			t.Error("the first one waited")
		}
	})
}

// TestBudgetLends: while a slow body is first, decoding goes on with what is kept for it.
func TestBudgetLends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 100 * mebi
		b := newBudget(most+windowBytes, most) // so that nobody gets anything but by a rule of its own
		slow, one, other := b.open(time.Hour), b.open(time.Hour), b.open(time.Hour)
		if err := slow.take(t.Context(), 10*mebi, forBody); err != nil || b.first != slow {
			t.Fatal(err, "or it is not first")
		}
		start := time.Now()
		for _, s := range []*share{one, other} {
			if err := s.prepay(t.Context(), 40*mebi); err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(start) > 0 || b.lent != 80*mebi-2*freeBytes {
			t.Errorf("%d bytes are lent after %v", b.lent, time.Since(start))
		}
		var waits sync.WaitGroup
		waits.Go(func() {
			if err := slow.take(t.Context(), 40*mebi, forBody); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		b.check(t)
		one.settle()
		waits.Wait()
		other.settle()
		if b.check(t); b.lent != 0 || slow.waited != time.Second {
			t.Errorf("%d bytes are lent in the end; the first one waited %v", b.lent, slow.waited)
		}
	})
}

func TestBudgetPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(10*mebi, 10*mebi)
		oldest, other := b.open(time.Hour), b.open(3*time.Second)
		if err := oldest.take(t.Context(), mebi, forBody); err != nil {
			t.Fatal(err)
		}
		wantWait := func(ctx context.Context, cause error, waited time.Duration) {
			t.Helper()
			err := other.take(ctx, mebi, forBody)
			if !errors.Is(err, cause) || !isTimeout(err) || other.waited != waited {
				t.Errorf("%v after %v, want %v after %v", err, other.waited, cause, waited)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantWait(ctx, context.DeadlineExceeded, time.Second)
		wantWait(t.Context(), errPatience, 3*time.Second)
		wantWait(t.Context(), errPatience, 3*time.Second)
		oldest.end()
		if err := other.take(t.Context(), mebi, forBody); err != nil {
			t.Error(err)
		}
		other.end()
		other.end() // a second time does no harm
		b.check(t)
	})
}

// TestBudgetHandsOver: the next one goes on as soon as the oldest ends.
func TestBudgetHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(10*mebi, 10*mebi)
		start := time.Now()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				s := b.open(time.Hour)
				defer s.end()
				if err := s.take(t.Context(), 10*mebi, forBody); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second)
			})
		}
		all.Wait()
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("five bodies, one at a time, took %v, want 5s", took)
		}
	})
}
