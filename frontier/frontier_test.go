package frontier

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"crawl/canon"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:80")}

// answered is how a request ends that went well.
var answered = Outcome{Requested: true}

func parse(t testing.TB, s string) canon.URL {
	t.Helper()
	u, err := canon.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// openFrontier returns a frontier with one navigation task for each URL, numbered from 1. Its cleanup checks it.
func openFrontier(t *testing.T, cfg Config, urls ...string) *Frontier {
	t.Helper()
	f, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		check(t, f)
		f.Close()
		check(t, f)
	})
	for i, u := range urls {
		f.Add(Task{URL: parse(t, u), Seq: uint64(i + 1), Class: Navigation, Visit: 1})
	}
	return f
}

func check(t testing.TB, f *Frontier) {
	t.Helper()
	if err := f.Check(); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wait lets d pass on the bubble's clock.
func wait(d time.Duration) { <-time.After(d) }

// lease returns the next lease, of any kind.
func lease(t testing.TB, f *Frontier) Lease {
	t.Helper()
	l, err := f.Lease(t.Context())
	must(t, err)
	if f.Stats().Queued < 100 { // Check looks at every task
		check(t, f)
	}
	return l
}

// leaseOf returns the next lease, which must be of that kind and URL.
func leaseOf(t testing.TB, f *Frontier, kind Kind, url string) Lease {
	t.Helper()
	l := lease(t, f)
	if l.Kind != kind || l.URL.String() != url {
		t.Fatalf("leased %s %s, want %s %s", l.Kind, l.URL, kind, url)
	}
	return l
}

// leasePage returns the next page lease. Until it comes, names resolve and every robots.txt is taken to say nothing
// without having been asked.
func leasePage(t testing.TB, f *Frontier) Lease {
	t.Helper()
	for {
		l := lease(t, f)
		switch l.Kind {
		case Resolve:
			must(t, f.Resolved(l, loopback, time.Hour))
		case Robots:
			must(t, f.Permit(l, nil, time.Hour, Outcome{}))
		case Page:
			return l
		}
	}
}

// noLease fails if a lease is to be had within d.
func noLease(t testing.TB, f *Frontier, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if l, err := f.Lease(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("leased %s %s, %v; want to wait for more than %v", l.Kind, l.URL, err, d)
	}
	check(t, f)
}

// drained fails unless the frontier is drained.
func drained(t testing.TB, f *Frontier) {
	t.Helper()
	if l, err := f.Lease(t.Context()); !errors.Is(err, ErrDrained) {
		t.Fatalf("leased %s %s, %v; want %v", l.Kind, l.URL, err, ErrDrained)
	}
}

// crawl has workers lease all there is, with each request taking that long, and returns the page leases in order.
func crawl(t *testing.T, f *Frontier, workers int, took time.Duration) []Lease {
	t.Helper()
	var mu sync.Mutex
	var pages []Lease
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				l, err := f.Lease(t.Context())
				if err != nil {
					if !errors.Is(err, ErrDrained) {
						t.Error(err)
					}
					return
				}
				switch l.Kind {
				case Resolve:
					err = f.Resolved(l, loopback, time.Hour)
				case Robots:
					err = f.Permit(l, nil, time.Hour, Outcome{})
				case Page:
					mu.Lock()
					pages = append(pages, l)
					mu.Unlock()
					wait(took)
					err = f.Done(l, Outcome{Requested: true, Took: took})
				}
				if err != nil {
					t.Error(err)
				}
				check(t, f)
			}
		})
	}
	wg.Wait()
	slices.SortStableFunc(pages, func(a, b Lease) int { return a.LeasedAt.Compare(b.LeasedAt) })
	return pages
}

func TestOneHostWaits(t *testing.T) {
	for _, tt := range []struct {
		name string
		urls []string
		want time.Duration // from the first lease to the last
	}{
		{"one host waits", []string{"https://a.example/1", "https://a.example/2"}, 5 * time.Second},
		{"two hosts do not", []string{"https://a.example/1", "https://b.example/1"}, 0},
		{"http and https share a queue", []string{"https://a.example/1", "http://a.example/2"}, 5 * time.Second},
		{"two spellings of a host", []string{"https://a.example/1", "https://A.EXAMPLE:443/2"}, 5 * time.Second},
		{"another port is another host", []string{"https://a.example/1", "https://a.example:8443/2"}, 0},
		{"three pages wait twice", []string{"https://a.example/1", "https://a.example/2", "https://a.example/3"}, 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // ten seconds pass in no time
				f := openFrontier(t, Config{HostDelay: 5 * time.Second}, tt.urls...)
				pages := crawl(t, f, 4, 0)
				if len(pages) != len(tt.urls) {
					t.Fatalf("%d leases, want %d", len(pages), len(tt.urls))
				}
				if got := pages[len(pages)-1].LeasedAt.Sub(pages[0].LeasedAt); got != tt.want {
					t.Errorf("leases of %v took %v, want %v", tt.urls, got, tt.want)
				}
			})
		})
	}
}

func TestHostConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: time.Second, DelayFactor: None, HostConcurrency: 3}, numbered("https://a.example/", 6)...)
		start := time.Now()
		var got []time.Duration
		for _, l := range crawl(t, f, 10, 10*time.Second) {
			got = append(got, l.LeasedAt.Sub(start))
		}
		// Three at a distance of the delay, then one for each that ends.
		want := []time.Duration{0, 1 * time.Second, 2 * time.Second, 10 * time.Second, 11 * time.Second, 12 * time.Second}
		if !slices.Equal(got, want) {
			t.Errorf("leased at %v, want %v", got, want)
		}
	})
}

// numbered returns prefix followed by each of 1 to n.
func numbered(prefix string, n int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = fmt.Sprint(prefix, i+1)
	}
	return urls
}

func TestTasksByPreference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None, IgnoreRobots: true})
		u := parse(t, "https://a.example/")
		f.Add(
			Task{URL: u, Seq: 1, Class: Sitemap},
			Task{URL: u, Seq: 2, Class: Navigation, Depth: 2},
			Task{URL: u, Seq: 4, Class: Navigation, Depth: 1},
			Task{URL: u, Seq: 3, Class: Navigation, Depth: 1},
			Task{URL: u, Seq: 5, Class: Requisite, Depth: 1},
			Task{URL: u, Seq: 6, Class: Added},
			Task{URL: u, Seq: 7, Class: Seed},
			Task{URL: u, Seq: 8, Class: Sitemap, Attempt: 1},
		)
		var got []uint64
		for _, l := range crawl(t, f, 1, 0) {
			got = append(got, l.Seq)
		}
		if want := []uint64{8, 7, 6, 3, 4, 2, 5, 1}; !slices.Equal(got, want) {
			t.Errorf("leased %v, want %v", got, want)
		}
	})
}

func TestHugeHostDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None, IgnoreRobots: true})
		huge, seq := parse(t, "https://huge.example/"), uint64(0)
		for range 5000 {
			seq++
			f.Add(Task{URL: huge, Seq: seq})
		}
		const small = 100
		for i := range small {
			seq++
			f.Add(Task{URL: parse(t, fmt.Sprintf("https://%d.example/", i)), Seq: seq})
		}
		left, ofHuge := small, 0
		for left > 0 {
			l := leasePage(t, f)
			if l.URL == huge {
				ofHuge++
			} else {
				left--
			}
			must(t, f.Done(l, answered))
		}
		if ofHuge > 3 { // a turn for each turn of the others: one while their names resolve, one for their pages
			t.Errorf("%d pages of the huge host before the %d small ones had theirs", ofHuge, small)
		}
	})
}

// TestDueHostsInOrder has hosts come due while nobody leases, one of them with ever better tasks.
func TestDueHostsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{IgnoreRobots: true})
		start, seq := time.Now(), uint64(0)
		add := func(host string, class Class, notBefore time.Time) {
			seq++
			f.Add(Task{URL: parse(t, "https://"+host+"/"), Seq: seq, Class: class, NotBefore: notBefore})
		}
		add("c.example", Sitemap, start.Add(3*time.Second))
		add("b.example", Sitemap, start.Add(2*time.Second))
		add("a.example", Sitemap, start.Add(1*time.Second))
		wait(2500 * time.Millisecond)
		if due := f.Stats().HostsDue; due != 2 {
			t.Errorf("%d hosts due, want 2", due)
		}
		add("d.example", Sitemap, time.Time{}) // due now, and so before c.example
		wait(time.Second)
		add("e.example", Sitemap, time.Time{})
		add("a.example", Seed, time.Time{})
		add("b.example", Seed, time.Time{})
		add("a.example", Sitemap, start)
		for _, want := range []string{"a.example", "b.example", "d.example", "c.example", "e.example"} {
			if l := lease(t, f); l.URL.Host() != want {
				t.Errorf("leased on %s, want %s", l.URL.Host(), want)
			}
		}
	})
}

// TestSlowHostHoldsNobodyUp is case polite-02.
func TestSlowHostHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None}, numbered("http://slow.test/", 100)...)
		seq := uint64(1000)
		for h := range 10 {
			for p := range 20 {
				seq++
				f.Add(Task{URL: parse(t, fmt.Sprintf("http://%d.test/%d", h, p)), Seq: seq})
			}
		}
		start := time.Now()
		var mu sync.Mutex
		var slow []time.Time
		var lastOther time.Time
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for {
					l, err := f.Lease(t.Context())
					if err != nil {
						return
					}
					isSlow := l.URL.Host() == "slow.test"
					if l.Kind == Resolve {
						must(t, f.Resolved(l, loopback, time.Hour))
						continue
					}
					mu.Lock()
					if isSlow {
						slow = append(slow, l.LeasedAt)
					} else {
						lastOther = l.LeasedAt
					}
					mu.Unlock()
					wait(20 * time.Millisecond)
					if l.Kind == Robots {
						p := crawlDelay(0)
						if isSlow {
							p = crawlDelay(2 * time.Second)
						}
						must(t, f.Permit(l, p, time.Hour, answered))
						continue
					}
					must(t, f.Done(l, answered))
				}
			})
		}
		wg.Wait()
		if len(slow) != 101 {
			t.Errorf("%d requests to the slow host, want its robots.txt and 100 pages", len(slow))
		}
		for i := 1; i < len(slow); i++ {
			if gap := slow[i].Sub(slow[i-1]); gap < 2*time.Second {
				t.Errorf("requests %d and %d to the slow host are %v apart, want 2s", i-1, i, gap)
			}
		}
		if got := lastOther.Sub(start); got > 10*time.Second {
			t.Errorf("the other hosts took %v, want 10s at most", got)
		}
	})
}

func TestRefusedPagesCostNoDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: time.Second, HostConcurrency: 2})
		u, start := parse(t, "https://a.example/"), time.Now()
		const n = 3000
		for i := range n {
			f.Add(Task{URL: u, Seq: uint64(i + 1)})
		}
		f.Add(Task{URL: parse(t, "https://b.example/"), Seq: n + 1})
		for i := range n + 1 {
			l := leasePage(t, f)
			if l.URL != u && i > 5 {
				t.Errorf("another host had to wait for %d refused pages", i)
			}
			must(t, f.Done(l, Outcome{}))
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("%d refused pages took %v", n, took)
		}
		drained(t, f)
	})
}

func TestReroute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: 2 * time.Second, IgnoreRobots: true}, "https://b.example/1")
		must(t, f.Done(leasePage(t, f), answered)) // b.example has been asked and must wait
		wait(time.Second)
		f.Add(
			Task{URL: parse(t, "https://b.example/2"), Seq: 2},
			Task{URL: parse(t, "http://a.example/3"), Seq: 3},
			Task{URL: parse(t, "http://a.example/4"), Seq: 4},
		)
		l := leasePage(t, f)
		if l.Seq != 3 {
			t.Fatalf("leased %d, want 3", l.Seq)
		}
		must(t, f.Reroute(l, parse(t, "https://b.example/3"), answered))
		start := time.Now()
		l = leasePage(t, f)
		if l.Seq != 3 || l.URL.String() != "https://b.example/3" || l.Reroutes != 1 || l.Attempt != 0 {
			t.Errorf("leased %+v, want task 3 at the head of b.example", l.Task)
		}
		if got := l.LeasedAt.Sub(start); got != time.Second {
			t.Errorf("leased after %v, want the target's delay to go on for 1s", got)
		}
		must(t, f.Done(l, answered))
		if l = leasePage(t, f); l.Seq != 4 || l.LeasedAt.Sub(start) != 2*time.Second {
			t.Errorf("leased %d after %v, want the source to wait 2s", l.Seq, l.LeasedAt.Sub(start))
		}
	})
}

// TestAskAgain: the page comes before all others of its host, after the host's whole delay, and no attempt is counted.
func TestAskAgain(t *testing.T) {
	const s = time.Second
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: 2 * s, IgnoreRobots: true}, numbered("https://a.example/", 3)...)
		l := leasePage(t, f)
		wait(s)
		must(t, f.AskAgain(l))
		ended := time.Now()
		again := leasePage(t, f)
		if again.Seq != l.Seq || again.Attempt != 0 || !again.Fresh || l.Fresh {
			t.Errorf("leased %+v after %+v, want the same once more, and fresh", again.Task, l.Task)
		}
		if got := again.LeasedAt.Sub(ended); got != 2*s {
			t.Errorf("leased after %v, want 2s", got)
		}
		must(t, f.Retry(again, 5*s, answered))
		for range 2 {
			if l := leasePage(t, f); l.Seq == again.Seq || l.Fresh {
				t.Errorf("leased %+v, want another page", l.Task)
			} else {
				must(t, f.Done(l, answered))
			}
		}
		if l := leasePage(t, f); l.Seq != again.Seq || l.Fresh || l.Attempt != 1 {
			t.Errorf("leased %+v, want a second attempt like any", l.Task)
		}
	})
}

// TestAskAgainForRobots: so it is with a robots.txt, and no page comes before it.
func TestAskAgainForRobots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: 2 * time.Second}, "https://a.example/1")
		must(t, f.Resolved(lease(t, f), loopback, time.Hour))
		l := lease(t, f)
		must(t, f.AskAgain(l))
		again := lease(t, f)
		if again.Kind != Robots || again.URL != l.URL || !again.Fresh || again.Attempt != 0 || again.LeasedAt.Sub(l.LeasedAt) != 2*time.Second {
			t.Errorf("leased %s %+v after %v", again.Kind, again.Task, again.LeasedAt.Sub(l.LeasedAt))
		}
		must(t, f.Permit(again, nil, time.Hour, answered))
		if l := lease(t, f); l.Kind != Page || l.Fresh {
			t.Errorf("leased %s %+v, want the page", l.Kind, l.Task)
		}
	})
}

// TestAskAgainLeavesFailuresAlone: it is no answer, so what counts towards giving a host up goes on.
func TestAskAgainLeavesFailuresAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := Outcome{Requested: true, Failed: true}
		f := openFrontier(t, Config{IgnoreRobots: true, GiveUpAfter: 2}, numbered("https://a.example/", 3)...)
		must(t, f.Done(leasePage(t, f), failed))
		must(t, f.AskAgain(leasePage(t, f)))
		must(t, f.Done(leasePage(t, f), failed))
		drained(t, f)
	})
}

// TestRerouteToAHostGivenUp strands the task: it is pending, and counted.
func TestRerouteToAHostGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{}, "http://a.example/1")
		f.GiveUp("b.example", "dropped")
		must(t, f.Reroute(leasePage(t, f), parse(t, "http://b.example/1"), answered))
		drained(t, f)
		if s := f.Stats(); s.Queued != 1 || s.Stranded != 1 {
			t.Errorf("%+v, want 1 task stranded", s)
		}
	})
}

func TestReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: time.Minute}, "https://a.example/1", "https://a.example/2")
		start := time.Now()
		resolve := leaseOf(t, f, Resolve, "https://a.example/1")
		must(t, f.Return(resolve))
		must(t, f.Resolved(leaseOf(t, f, Resolve, "https://a.example/1"), loopback, time.Hour))
		robots := leaseOf(t, f, Robots, "https://a.example/robots.txt")
		must(t, f.Return(robots))
		must(t, f.Permit(leaseOf(t, f, Robots, "https://a.example/robots.txt"), nil, time.Hour, Outcome{}))
		page := leaseOf(t, f, Page, "https://a.example/1")
		must(t, f.Return(page))
		again := leaseOf(t, f, Page, "https://a.example/1")
		if again.Task != page.Task {
			t.Errorf("leased %+v again, want %+v", again.Task, page.Task)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("leases that were not used cost %v", took)
		}
		for _, h := range slices.Collect(f.Hosts()) {
			if h.Requests != 0 {
				t.Errorf("%d requests counted, none made", h.Requests)
			}
		}
		if err := f.Return(page); !errors.Is(err, ErrNotLeased) {
			t.Errorf("ended twice: %v, want %v", err, ErrNotLeased)
		}
	})
}

func TestLeaseEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{}, "https://a.example/1", "https://b.example/1")
		l := leasePage(t, f)
		for name, end := range map[string]func() error{
			"Resolved":       func() error { return f.Resolved(l, loopback, 0) },
			"ResolveFailed":  func() error { return f.ResolveFailed(l, context.Canceled, 0) },
			"Permit":         func() error { return f.Permit(l, nil, 0, Outcome{}) },
			"RedirectRobots": func() error { return f.RedirectRobots(l, l.URL, Outcome{}) },
		} {
			if err := end(); !errors.Is(err, ErrNotLeased) {
				t.Errorf("%s ended a page lease: %v", name, err)
			}
		}
		must(t, f.Done(l, answered))
		for name, end := range map[string]func() error{
			"Done":     func() error { return f.Done(l, answered) },
			"Retry":    func() error { return f.Retry(l, 0, answered) },
			"Reroute":  func() error { return f.Reroute(l, l.URL, answered) },
			"AskAgain": func() error { return f.AskAgain(l) },
			"Return":   func() error { return f.Return(l) },
		} {
			if err := end(); !errors.Is(err, ErrNotLeased) {
				t.Errorf("%s ended a lease twice: %v", name, err)
			}
		}
		if err := f.Done(Lease{}, answered); !errors.Is(err, ErrNotLeased) {
			t.Errorf("the zero lease: %v", err)
		}
	})
}

func TestHostsMayBeCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{}, "https://a.example/1", "https://b.example/1", "https://b.example/2")
		n := 0
		for range f.Hosts() {
			n++
			f.Stats() // the frontier may be used meanwhile
			break
		}
		if n != 1 {
			t.Errorf("%d hosts, want to stop after one", n)
		}
		queued := map[string]int{}
		for h := range f.Hosts() {
			queued[h.Name] = h.Queued
		}
		if queued["a.example"] != 1 || queued["b.example"] != 2 {
			t.Errorf("queued %v", queued)
		}
	})
}
