package frontier

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestMaxRate has a hundred hosts asked by fetchers enough: never more than the rate, and no less where there is work.
func TestMaxRate(t *testing.T) {
	for _, tt := range []struct {
		rate  float64
		n     int
		every time.Duration
	}{{10, 60, 100 * time.Millisecond}, {0.5, 10, 2 * time.Second}, {200, 300, 5 * time.Millisecond}, {3.0 / 7, 5, 7 * time.Second / 3}} {
		t.Run(fmt.Sprint(tt.rate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, Config{MaxRate: tt.rate}, spread(tt.n)...)
				var requests []time.Time
				var mu sync.Mutex
				var fetchers sync.WaitGroup
				for range 50 + int(2*tt.rate) {
					fetchers.Go(func() {
						for {
							l, err := f.Lease(t.Context())
							if err != nil {
								return
							}
							if l.Kind != Resolve {
								mu.Lock()
								requests = append(requests, l.LeasedAt)
								mu.Unlock()
							}
							wait(time.Second)
							switch l.Kind {
							case Resolve:
								must(t, f.Resolved(l, loopback, year))
							case Robots:
								must(t, f.Permit(l, nil, year, answered))
							default:
								must(t, f.Done(l, answered))
							}
						}
					})
				}
				fetchers.Wait()
				if len(requests) != 2*tt.n { // each host has one page and a robots.txt
					t.Fatalf("%d requests, want %d", len(requests), 2*tt.n)
				}
				for i, at := range requests[1:] {
					if gap := at.Sub(requests[i]); gap < tt.every-rateSlack || tt.every > rateSlack && gap < tt.every {
						t.Fatalf("request %d came %v after the one before, want %v", i+1, gap, tt.every)
					}
				}
				span := requests[len(requests)-1].Sub(requests[0])
				if least := time.Duration(len(requests)-1)*tt.every - rateSlack; span < least || span > least+3*time.Second {
					t.Errorf("%d requests within %v, want about %v", len(requests), span, least)
				}
			})
		})
	}
}

// spread returns a URL of each of n hosts.
func spread(n int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprintf("https://h%d.example/", i))
	}
	return urls
}

// A request that was none does not count, nor does a look-up; a change of the rate holds at once, paused or not.
func TestMaxRateOfWhatIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{MaxRate: 0.1, IgnoreRobots: true, HostDelay: None}
		f := openFrontier(t, cfg, spread(8)...)
		start := time.Now()
		at := func(l Lease, want time.Duration) {
			t.Helper()
			check(t, f)
			if got := l.LeasedAt.Sub(start); got != want {
				t.Errorf("%s leased after %v, want %v", l.URL, got, want)
			}
		}
		var leases []Lease
		for range 5 {
			l := leasePage(t, f)
			at(l, 0)
			must(t, f.Return(l))
		}
		for i := range 2 {
			leases = append(leases, leasePage(t, f))
			at(leases[i], time.Duration(i)*10*time.Second)
		}
		cfg.MaxRate = 1
		must(t, f.Configure(cfg))
		at(leasePage(t, f), 11*time.Second)
		cfg.MaxRate = 0
		must(t, f.Configure(cfg))
		at(leasePage(t, f), 11*time.Second)
		f.Pause()
		cfg.MaxRate = 0.5
		must(t, f.Configure(cfg))
		wait(time.Minute)
		f.Resume()
		at(leasePage(t, f), 71*time.Second)
		at(leasePage(t, f), 73*time.Second)
	})
}
