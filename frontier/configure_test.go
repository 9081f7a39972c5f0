package frontier

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Another delay holds from the next request on, for hosts that wait already too.
func TestConfigureDelay(t *testing.T) {
	for _, tt := range []struct {
		name   string
		robots crawlDelay
		to     Config
		want   time.Duration // from the end of the request before
	}{
		{"shorter", 0, Config{HostDelay: 5 * time.Second}, 5 * time.Second},
		{"none", 0, Config{HostDelay: None}, 0},
		{"longer", 0, Config{HostDelay: time.Hour}, time.Hour},
		{"for this host", 0, Config{HostDelay: time.Hour, Overrides: []Override{
			{Pattern: "a.example", HostDelay: new(7 * time.Second)}}}, 7 * time.Second},
		{"for another", 0, Config{HostDelay: time.Minute, Overrides: []Override{
			{Pattern: "b.example", HostDelay: new(7 * time.Second)}}}, time.Minute},
		{"its Crawl-delay stays", crawlDelay(20 * time.Second), Config{HostDelay: None}, 20 * time.Second},
		{"its Crawl-delay is granted as far as the new cap", crawlDelay(90 * time.Second),
			Config{HostDelay: None, MaxCrawlDelay: 30 * time.Second}, 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, Config{HostDelay: time.Minute}, numbered("https://a.example/", 9)...)
				resolve(t, f, "https://a.example/1")
				must(t, f.Permit(lease(t, f), tt.robots, year, Outcome{}))
				must(t, f.Done(leasePage(t, f), answered))
				start := time.Now()
				must(t, f.Configure(tt.to))
				check(t, f)
				leasePage(t, f)
				if got := time.Since(start); got != tt.want {
					t.Errorf("asked again after %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// A caller that waits for a lease gets it by the change alone.
func TestConfigureWakesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: time.Hour}, numbered("https://a.example/", 9)...)
		must(t, f.Done(leasePage(t, f), answered))
		start := time.Now()
		time.AfterFunc(time.Second, func() { must(t, f.Configure(Config{HostDelay: None})) })
		leasePage(t, f)
		if got := time.Since(start); got != time.Second {
			t.Errorf("leased after %v, want 1s", got)
		}
	})
}

func TestConfigureConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None}, numbered("https://a.example/", 9)...)
		first := leasePage(t, f)
		noLease(t, f, time.Minute)
		must(t, f.Configure(Config{HostDelay: None, HostConcurrency: 3}))
		second, third := leasePage(t, f), leasePage(t, f)
		noLease(t, f, time.Minute)
		must(t, f.Configure(Config{HostDelay: None}))
		must(t, f.Done(first, answered))
		must(t, f.Done(second, answered))
		noLease(t, f, time.Minute) // one is in flight still
		must(t, f.Done(third, answered))
		leasePage(t, f)
	})
}

// A budget that the host has used up gives it up, a higher one takes it back; also where it is not in memory.
func TestConfigureBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := map[string]HostState{"b.example": {Host: "b.example", GivenUp: BudgetUsed, Pages: 2}}
		cfg := Config{HostDelay: None, MaxHostPages: 2}
		cfg.Lookup = func(host string) (HostState, bool) { s, ok := kept[host]; return s, ok }
		f := openFrontier(t, cfg, numbered("https://a.example/", 9)...)
		must(t, f.Done(leasePage(t, f), Outcome{Requested: true, Recorded: true}))
		must(t, f.Configure(Config{MaxHostPages: 1}))
		check(t, f)
		for host, want := range map[string]Reason{"a.example": BudgetUsed, "b.example": BudgetUsed, "c.example": ""} {
			if got := f.GivenUp(host); got != want {
				t.Errorf("%s: given up for %q, want %q", host, got, want)
			}
		}
		if s := f.Stats(); s.Stranded != 8 || s.HostsGivenUp != 1 {
			t.Errorf("%d stranded on %d hosts, want 8 on 1", s.Stranded, s.HostsGivenUp)
		}
		must(t, f.Configure(Config{HostDelay: None, MaxHostPages: 3}))
		for _, host := range []string{"a.example", "b.example"} {
			if got := f.GivenUp(host); got != "" {
				t.Errorf("%s: given up for %q under a higher limit", host, got)
			}
		}
		for range 2 {
			must(t, f.Done(leasePage(t, f), Outcome{Requested: true, Recorded: true}))
		}
		if _, err := f.Lease(t.Context()); !errors.Is(err, ErrDrained) {
			t.Errorf("a third page under a limit of 3, with one before: %v", err)
		}
	})
}

// What the user dropped no setting takes back; failures are judged by the limit in force.
func TestConfigureGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None, GiveUpAfter: 1}, "https://a.example/1", "https://b.example/1")
		f.GiveUp("b.example", "dropped")
		must(t, f.Retry(leasePage(t, f), 0, Outcome{Requested: true, Failed: true}))
		wantGivenUp(t, f, map[Reason]int{"dropped": 1, TooManyFailures: 1})
		must(t, f.Configure(Config{HostDelay: None, GiveUpAfter: 5}))
		wantGivenUp(t, f, map[Reason]int{"dropped": 1})
		if a, b := f.GivenUp("a.example"), f.GivenUp("b.example"); a != "" || b != "dropped" {
			t.Errorf("given up: a %q, b %q; want b alone", a, b)
		}
		leasePage(t, f)
	})
}

func wantGivenUp(t *testing.T, f *Frontier, want map[Reason]int) {
	t.Helper()
	sum := 0
	for _, n := range want {
		sum += n
	}
	if s := f.Stats(); !maps.Equal(s.GivenUpFor, want) || s.HostsGivenUp != sum {
		t.Errorf("%d hosts are given up: %v, want %v", s.HostsGivenUp, s.GivenUpFor, want)
	}
}

// Hosts that were given up are counted by their reason, those too that are not in memory.
func TestGivenUpForOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := map[string]HostState{
			"a.example": {Host: "a.example", GivenUp: TooManyFailures, Failures: 3}, "b.example": {Host: "b.example", GivenUp: "dropped"},
		}
		cfg := Config{HostDelay: None, GiveUpAfter: 5}
		cfg.Lookup = func(host string) (HostState, bool) { s, ok := kept[host]; return s, ok }
		f := openFrontier(t, cfg)
		f.Begin(Kept{HostsGivenUp: 2, GivenUpFor: map[Reason]int{TooManyFailures: 1, "dropped": 1}})
		wantGivenUp(t, f, map[Reason]int{TooManyFailures: 1, "dropped": 1})
		f.Add(Task{URL: parse(t, "https://a.example/1"), Seq: 1, Visit: 1}, Task{URL: parse(t, "https://b.example/1"), Seq: 2, Visit: 1})
		wantGivenUp(t, f, map[Reason]int{"dropped": 1}) // the limit is higher than it was
		f.GiveUp("b.example", TooManyFailures)
		wantGivenUp(t, f, map[Reason]int{TooManyFailures: 1})
		f.Revive("b.example")
		wantGivenUp(t, f, nil)
	})
}

// What is wrong changes nothing.
func TestConfigureRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None}, numbered("https://a.example/", 3)...)
		for _, bad := range []Config{{HostDelay: -5}, {Overrides: []Override{{Pattern: "/"}}}} {
			if f.Configure(bad) == nil {
				t.Errorf("%+v was taken", bad)
			}
		}
		must(t, f.Done(leasePage(t, f), answered))
		leasePage(t, f) // without a delay
	})
}

// Under changes at any moment the frontier keeps its books, and every task that may be asked for is.
func TestConfigureAtAnyMoment(t *testing.T) {
	for _, perIP := range []bool{false, true} {
		t.Run(fmt.Sprintf("per_ip %v", perIP), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { configureAtAnyMoment(t, perIP) })
		})
	}
}

func configureAtAnyMoment(t *testing.T, perIP bool) {
	rng := rand.New(rand.NewPCG(1, 2))
	var urls []string
	for _, host := range []string{"a", "b", "c", "d", "e"} {
		urls = append(urls, numbered("https://"+host+".example/", 40)...)
	}
	plain := Config{HostDelay: None, HostConcurrency: 3, GiveUpAfter: None, MaxIdleHosts: None, PerIP: perIP}
	f := openFrontier(t, plain, urls...)
	release := f.Intake() // for as long as settings change
	var fetchers sync.WaitGroup
	var done atomic.Int64
	for i := range 6 {
		fetchers.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(i)))
			for {
				l, err := f.Lease(t.Context())
				if errors.Is(err, ErrDrained) {
					return
				}
				wait(time.Duration(rng.IntN(20)) * time.Millisecond)
				switch l.Kind {
				case Resolve:
					err = f.Resolved(l, loopback, time.Hour)
				case Robots:
					err = f.Permit(l, nil, time.Hour, answered)
				case Page:
					err = f.Done(l, Outcome{Requested: true, Recorded: true, Failed: rng.IntN(5) == 0})
					done.Add(1)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 300 {
		wait(time.Duration(rng.IntN(10)) * time.Millisecond)
		must(t, f.Configure(Config{
			HostDelay: time.Duration(1+rng.IntN(30)) * time.Millisecond, HostConcurrency: 3, MaxHostPages: uint64(20 + rng.IntN(40)),
			GiveUpAfter: 1 + rng.IntN(3), BackoffBase: 5 * time.Millisecond, MaxIdleHosts: None,
			Overrides: []Override{{Pattern: "b.example", HostDelay: new(time.Duration(rng.IntN(50)) * time.Millisecond)}},
		}))
		check(t, f)
	}
	must(t, f.Configure(plain))
	release()
	fetchers.Wait()
	if got := int(done.Load()); got != len(urls) {
		t.Errorf("%d of %d tasks were done", got, len(urls))
	}
}
