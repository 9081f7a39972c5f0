package frontier

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestDrained(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, f *Frontier)
	}{
		{"nothing was ever added", func(t *testing.T, f *Frontier) {}},
		{"all is done", func(t *testing.T, f *Frontier) {
			f.Add(Task{URL: parse(t, "https://a.example/"), Seq: 1})
			must(t, f.Done(leasePage(t, f), answered))
		}},
		{"paused with nothing left", func(t *testing.T, f *Frontier) { f.Pause() }},
		{"all that is left is of a host given up", func(t *testing.T, f *Frontier) {
			f.Add(Task{URL: parse(t, "https://a.example/"), Seq: 1})
			f.GiveUp("a.example", "budget")
		}},
		{"an intake was opened and released", func(t *testing.T, f *Frontier) {
			release := f.Intake()
			release()
			release()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, Config{})
				tt.run(t, f)
				drained(t, f)
			})
		})
	}
}

// waitForLease calls Lease in a goroutine and returns its answer's channel, once it waits.
func waitForLease(ctx context.Context, f *Frontier) <-chan answer {
	c := make(chan answer, 1)
	go func() {
		l, err := f.Lease(ctx)
		c <- answer{l, err}
	}()
	synctest.Wait()
	return c
}

type answer struct {
	Lease
	err error
}

func TestDrainWakesAllWaiters(t *testing.T) {
	for _, tt := range []struct {
		name string
		last func(t *testing.T, f *Frontier, l Lease, release func())
		want error
	}{
		{"the last lease ends", func(t *testing.T, f *Frontier, l Lease, release func()) {
			release()
			synctest.Wait()
			must(t, f.Done(l, answered))
		}, ErrDrained},
		{"the intake ends", func(t *testing.T, f *Frontier, l Lease, release func()) {
			must(t, f.Done(l, answered))
			synctest.Wait()
			release()
		}, ErrDrained},
		{"the last host is given up", func(t *testing.T, f *Frontier, l Lease, release func()) {
			release()
			must(t, f.Retry(l, time.Hour, answered))
			synctest.Wait()
			f.GiveUp("a.example", "dropped")
		}, ErrDrained},
		{"the frontier is closed", func(t *testing.T, f *Frontier, l Lease, release func()) {
			f.Close()
			must(t, f.Done(l, answered))
			release()
		}, ErrClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, Config{}, "https://a.example/")
				l, release := leasePage(t, f), f.Intake()
				waiters := []<-chan answer{waitForLease(t.Context(), f), waitForLease(t.Context(), f), waitForLease(t.Context(), f)}
				check(t, f)
				if got := f.Stats().Waiting; got != len(waiters) {
					t.Fatalf("%d waiting, want %d", got, len(waiters))
				}
				tt.last(t, f, l, release)
				for _, w := range waiters {
					if a := <-w; !errors.Is(a.err, tt.want) {
						t.Errorf("Lease: %v, want %v", a.err, tt.want)
					}
				}
				if _, err := f.Lease(t.Context()); !errors.Is(err, tt.want) {
					t.Errorf("a later Lease: %v, want %v", err, tt.want)
				}
			})
		})
	}
}

func TestOpenIntakeIsNotDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{})
		release := f.Intake()
		noLease(t, f, time.Hour)
		w := waitForLease(t.Context(), f)
		f.Add(Task{URL: parse(t, "https://a.example/"), Seq: 1})
		if a := <-w; a.err != nil || a.Kind != Resolve {
			t.Fatalf("leased %s, %v", a.Kind, a.err)
		}
		release()
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: time.Second}, "https://a.example/1", "https://a.example/2", "https://b.example/1")
		l := leasePage(t, f)
		f.Pause()
		if !f.Paused() || !f.Stats().Paused {
			t.Error("not paused")
		}
		noLease(t, f, time.Hour)
		must(t, f.Done(l, answered)) // leases out end as usual
		noLease(t, f, time.Hour)
		w := waitForLease(t.Context(), f)
		f.Resume()
		if a := <-w; a.err != nil {
			t.Fatal(a.err)
		}
		if f.Paused() {
			t.Error("still paused")
		}
	})
}

func TestWaitersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: time.Second, IgnoreRobots: true}, numbered("https://a.example/", 4)...)
		must(t, f.Done(leasePage(t, f), answered))
		ctx, cancel := context.WithCancel(t.Context())
		first, second, third := waitForLease(t.Context(), f), waitForLease(ctx, f), waitForLease(t.Context(), f)
		cancel()
		if a := <-second; !errors.Is(a.err, context.Canceled) {
			t.Errorf("leased %s, %v; want %v", a.URL, a.err, context.Canceled)
		}
		check(t, f)
		a := <-first
		if a.err != nil || a.Seq != 2 {
			t.Errorf("leased %d, %v; want 2", a.Seq, a.err)
		}
		synctest.Wait()
		select {
		case b := <-third:
			t.Errorf("leased %d, %v while the host is asked", b.Seq, b.err)
		default:
		}
		must(t, f.Done(a.Lease, answered))
		if b := <-third; b.err != nil || b.Seq != 3 || b.LeasedAt.Sub(a.LeasedAt) != time.Second {
			t.Errorf("leased %d after %v, %v; want 3 after 1s", b.Seq, b.LeasedAt.Sub(a.LeasedAt), b.err)
		}
	})
}

// TestNobodyJumpsTheLine calls Lease in the very moment in which a host comes due that another call waits for.
func TestNobodyJumpsTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: time.Second, IgnoreRobots: true}, numbered("https://a.example/", 100)...)
		l := leasePage(t, f)
		for range 50 {
			must(t, f.Done(l, answered))
			first := waitForLease(t.Context(), f)
			wait(time.Second)
			ctx, cancel := context.WithCancel(t.Context())
			second := waitForLease(ctx, f)
			cancel()
			if a := <-second; a.err == nil {
				t.Fatalf("leased %d out of turn", a.Seq)
			}
			a := <-first
			must(t, a.err)
			l = a.Lease
		}
	})
}

// TestCancelledWaiterLosesNoLease cancels a waiter in the very moment in which it is granted a lease.
func TestCancelledWaiterLosesNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None, IgnoreRobots: true})
		release := f.Intake()
		u := parse(t, "https://a.example/")
		for seq := uint64(1); seq <= 200; seq++ {
			ctx, cancel := context.WithCancel(t.Context())
			w := waitForLease(ctx, f)
			f.mu.Lock()
			cancel() // the waiter is on its way out, and not out of the line before the lock is free
			now := f.now()
			h := f.host(u.Host())
			h.origin(u).addrsTerm = term{until: forever}
			f.push(h, Task{URL: u, Seq: seq}, false)
			f.schedule(h, now)
			f.dispatch(now)
			f.mu.Unlock()
			if a := <-w; !errors.Is(a.err, context.Canceled) {
				t.Fatalf("leased %d, %v; want %v", a.Seq, a.err, context.Canceled)
			}
			l := lease(t, f)
			if l.Seq != seq {
				t.Fatalf("leased %d, want %d", l.Seq, seq)
			}
			must(t, f.Done(l, answered))
		}
		release()
		drained(t, f)
	})
}

func TestCancelledContext(t *testing.T) {
	f, err := New(Config{})
	must(t, err)
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Lease(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Lease: %v, want %v", err, context.Canceled)
	}
}

// TestManyWaiters has 12,000 callers wait for 1,000 hosts that come due at different times.
func TestManyWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{IgnoreRobots: true})
		const hosts, fetchers = 1000, 12000
		start := time.Now()
		for i := range hosts {
			u := numbered("https://", i+1)[i] + ".example/"
			f.Add(Task{URL: parse(t, u), Seq: uint64(i), Attempt: 1, NotBefore: start.Add(time.Duration(i) * time.Millisecond)})
		}
		var mu sync.Mutex
		var leased []time.Time
		var wg sync.WaitGroup
		for range fetchers {
			wg.Go(func() {
				for {
					l, err := f.Lease(t.Context())
					if err != nil {
						return
					}
					if l.Kind == Resolve {
						must(t, f.Resolved(l, loopback, time.Hour))
						continue
					}
					mu.Lock()
					leased = append(leased, l.LeasedAt)
					mu.Unlock()
					must(t, f.Done(l, answered))
				}
			})
		}
		wg.Wait()
		slices.SortFunc(leased, time.Time.Compare)
		if len(leased) != hosts || leased[0] != start || !leased[hosts-1].Equal(start.Add((hosts-1)*time.Millisecond)) {
			t.Errorf("%d leases from %v to %v", len(leased), leased[0].Sub(start), leased[len(leased)-1].Sub(start))
		}
	})
}
