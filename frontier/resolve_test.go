package frontier

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errNoSuchHost = errors.New("no such host")

func TestAddressesExpire(t *testing.T) {
	for _, tt := range []struct {
		name string
		ttl  time.Duration
		want []Kind
	}{
		{"they hold", time.Hour, []Kind{Resolve, Page, Page}},
		{"they are asked for again", time.Minute, []Kind{Resolve, Page, Resolve, Page}},
		{"they serve one lease in any case", 0, []Kind{Resolve, Page, Resolve, Page}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, Config{HostDelay: time.Minute, IgnoreRobots: true}, "https://a.example/1", "https://a.example/2")
				for i, want := range tt.want {
					l := lease(t, f)
					if l.Kind != want {
						t.Fatalf("lease %d is of kind %s, want %s", i, l.Kind, want)
					}
					if l.Kind == Resolve {
						must(t, f.Resolved(l, loopback, tt.ttl))
						continue
					}
					if len(l.Addrs) != 1 || l.Addrs[0] != loopback[0] || l.ResolveErr != nil {
						t.Errorf("addresses %v, %v", l.Addrs, l.ResolveErr)
					}
					must(t, f.Done(l, answered))
				}
				drained(t, f)
			})
		})
	}
}

// TestNoSuchHost fails each task of a host by one answer, at once and without asking for robots.txt.
func TestNoSuchHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{}, numbered("https://a.example/", 50)...)
		start := time.Now()
		must(t, f.ResolveFailed(leaseOf(t, f, Resolve, "https://a.example/1"), errNoSuchHost, time.Hour))
		for i := range 50 {
			l := lease(t, f)
			if l.Kind != Page || !errors.Is(l.ResolveErr, errNoSuchHost) || l.Addrs != nil || l.Seq != uint64(i+1) {
				t.Fatalf("leased %+v", l)
			}
			must(t, f.Done(l, Outcome{}))
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
		drained(t, f)
	})
}

// TestNameServerDown backs the host off, looks the name up again each time, and gives the host up in the end.
func TestNameServerDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{GiveUpAfter: 4}, "https://a.example/1", "https://a.example/2")
		start := time.Now()
		for attempt := range 4 {
			must(t, f.ResolveFailed(leaseOf(t, f, Resolve, "https://a.example/1"), errNoSuchHost, time.Second))
			l := lease(t, f)
			if l.Kind != Page || l.Seq != 1 || l.Attempt != attempt {
				t.Fatalf("leased %+v, want attempt %d", l, attempt)
			}
			must(t, f.Retry(l, 0, Outcome{Failed: true}))
		}
		drained(t, f)
		if took := time.Since(start); took != 14*time.Second { // 2 + 4 + 8
			t.Errorf("took %v, want 14s", took)
		}
		if s := f.Stats(); s.Stranded != 2 {
			t.Errorf("%d stranded, want 2", s.Stranded)
		}
	})
}

// TestRedirectedRobotsUnresolved hands out the question with the reason why it cannot be asked.
func TestRedirectedRobotsUnresolved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{}, "https://a.example/1")
		resolve(t, f, "https://a.example/1")
		must(t, f.RedirectRobots(leaseOf(t, f, Robots, "https://a.example/robots.txt"), parse(t, "https://b.example/r"), answered))
		must(t, f.ResolveFailed(leaseOf(t, f, Resolve, "https://b.example/r"), errNoSuchHost, time.Hour))
		l := leaseOf(t, f, Robots, "https://b.example/r")
		if !errors.Is(l.ResolveErr, errNoSuchHost) {
			t.Errorf("leased %+v", l)
		}
		must(t, f.Permit(l, nil, year, Outcome{}))
		must(t, f.Done(leaseOf(t, f, Page, "https://a.example/1"), answered))
		drained(t, f)
	})
}

// TestUnreachedHostIsLookedUpAgain: a host that no connection came about to may have moved, whatever its addresses' time to
// live; one that answered badly has not.
func TestUnreachedHostIsLookedUpAgain(t *testing.T) {
	for _, tt := range []struct {
		name    string
		outcome Outcome
		want    Kind
	}{
		{"unreached", Outcome{Requested: true, Failed: true, Unreached: true}, Resolve},
		{"overloaded", Outcome{Requested: true, Failed: true}, Page},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, Config{IgnoreRobots: true}, "https://a.example/1")
				must(t, f.Resolved(leaseOf(t, f, Resolve, "https://a.example/1"), loopback, year))
				must(t, f.Retry(leaseOf(t, f, Page, "https://a.example/1"), time.Second, tt.outcome))
				if l := lease(t, f); l.Kind != tt.want {
					t.Errorf("leased %s, want %s", l.Kind, tt.want)
				}
			})
		})
	}
}
