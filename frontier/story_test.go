package frontier

import (
	"testing"
	"testing/synctest"
	"time"
)

// tell returns the story of the n-th task of openFrontier.
func tell(t *testing.T, f *Frontier, n uint64, url string) Story {
	t.Helper()
	return f.Story(Task{URL: parse(t, url), Seq: n, Class: Navigation})
}

// What a host waits for changes on its way to a page, and a task that waits behind others is due after them.
func TestStoryOnTheWayToAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const first, second, third = "https://a.example/1", "https://a.example/2", "https://a.example/3"
		f := openFrontier(t, Config{HostDelay: 5 * time.Second}, first, second, third)
		want := func(n uint64, url string, standing Standing, wait Wait, ahead int) Story {
			t.Helper()
			s := tell(t, f, n, url)
			if s.Standing != standing || s.Wait != wait || s.Ahead != ahead || !s.InMemory || s.Backlog {
				t.Fatalf("task %d: standing %d, waits for %q, %d ahead, host in memory %t, backlog %t; want %d, %q, %d, true, false",
					n, s.Standing, s.Wait, s.Ahead, s.InMemory, s.Backlog, standing, wait, ahead)
			}
			return s
		}
		want(2, second, Queued, WaitResolving, 1)
		resolve := lease(t, f)
		want(2, second, Queued, WaitResolving, 1)
		must(t, f.Resolved(resolve, loopback, year))
		want(2, second, Queued, WaitRobots, 1)
		robots := lease(t, f)
		if s := want(1, first, Queued, WaitRobots, 0); s.Asked {
			t.Error("the rules are known before they are answered")
		}
		must(t, f.Permit(robots, crawlDelay(7*time.Second), year, answered))
		s := want(3, third, Queued, WaitDelay, 2)
		if !s.Asked || s.Permission != crawlDelay(7*time.Second) {
			t.Errorf("rules %v, known %t", s.Permission, s.Asked)
		}
		if until, due := time.Until(s.Until), time.Until(s.Due); until != 7*time.Second || due != 21*time.Second {
			t.Errorf("waits for %v, due in %v; want 7s, 21s", until, due)
		}
		wait(7 * time.Second)
		want(1, first, Queued, WaitTurn, 0)
		page := leaseOf(t, f, Page, first)
		if s := want(1, first, Leased, WaitNone, 0); !s.LeasedAt.Equal(time.Now()) {
			t.Errorf("leased at %v", s.LeasedAt)
		}
		want(2, second, Queued, WaitBusy, 0)
		must(t, f.Done(page, answered))
		if s := tell(t, f, 1, first); s.Standing != Elsewhere {
			t.Errorf("an ended task stands at %d", s.Standing)
		}
		f.Pause()
		if s := want(3, third, Queued, WaitPaused, 1); !s.Due.IsZero() {
			t.Error("due in a pause")
		}
	})
}

// A host that is not to be asked says why.
func TestStoryOfHosts(t *testing.T) {
	const first, second = "https://a.example/1", "https://a.example/2"
	failed := Outcome{Requested: true, Failed: true}
	for _, tt := range []struct {
		name  string
		cfg   Config
		do    func(t *testing.T, f *Frontier)
		wait  Wait          // of the second task
		until time.Duration // 0: nobody knows
	}{
		{"it backs off", Config{}, func(t *testing.T, f *Frontier) {
			must(t, f.Retry(leasePage(t, f), time.Minute, failed))
		}, WaitBackOff, 2 * time.Second},
		{"it asked to be left alone", Config{}, func(t *testing.T, f *Frontier) {
			o := failed
			o.RetryAfter = 10 * time.Minute
			must(t, f.Retry(leasePage(t, f), time.Minute, o))
		}, WaitRetryAfter, 10 * time.Minute},
		{"it asked to be left alone, and answered", Config{}, func(t *testing.T, f *Frontier) {
			must(t, f.Done(leasePage(t, f), Outcome{Requested: true, RetryAfter: time.Hour}))
		}, WaitRetryAfter, time.Hour},
		{"an earlier process left a wait", Config{Resumed: true, Lookup: func(string) (HostState, bool) {
			return HostState{Until: time.Now().Add(3 * time.Minute), Failures: 1}, true
		}}, func(*testing.T, *Frontier) {}, WaitBackOff, 3 * time.Minute},
		{"it is given up", Config{GiveUpAfter: 1}, func(t *testing.T, f *Frontier) {
			must(t, f.Retry(leasePage(t, f), time.Minute, failed))
		}, WaitGivenUp, 0},
		{"its budget is used up", Config{MaxHostPages: 1}, func(t *testing.T, f *Frontier) {
			must(t, f.Done(leasePage(t, f), Outcome{Requested: true, Recorded: true}))
		}, WaitBudget, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, tt.cfg, first, second)
				tt.do(t, f)
				s := tell(t, f, 2, second)
				if s.Wait != tt.wait || s.Standing != Queued {
					t.Errorf("stands at %d, waits for %q, want %q", s.Standing, s.Wait, tt.wait)
				}
				if until := time.Until(s.Until); tt.until == 0 && !s.Until.IsZero() || tt.until != 0 && until != tt.until {
					t.Errorf("until %v (in %v), want in %v", s.Until, until, tt.until)
				}
			})
		})
	}
}

// A page that failed stands aside; one that a redirect took to another host is found there.
func TestStoryAwayFromTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None}, "https://a.example/1", "https://a.example/2")
		must(t, f.Retry(leasePage(t, f), time.Minute, answered))
		s := tell(t, f, 1, "https://a.example/1")
		if s.Standing != Aside || s.Wait != WaitRetry || time.Until(s.Until) != time.Minute || time.Until(s.Due) != time.Minute || s.Task.Attempt != 1 {
			t.Errorf("%+v", s)
		}
		must(t, f.Reroute(leasePage(t, f), parse(t, "https://b.example/2"), answered))
		s = tell(t, f, 2, "https://a.example/2")
		if s.Standing != Queued || s.Host.Name != "b.example" || s.Task.Reroutes != 1 || s.Wait != WaitResolving {
			t.Errorf("%+v", s)
		}
		l := leasePage(t, f)
		if s = tell(t, f, 2, "https://a.example/2"); s.Standing != Leased || s.Host.Name != "b.example" || s.Host.InFlight != 1 {
			t.Errorf("%+v", s)
		}
		must(t, f.Done(l, answered))
	})
}

// Of a task that is not in memory only the least number of those before it is known.
func TestStoryElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPile(t, Config{MaxTasks: 2})
		for n := range uint64(4) {
			p.add(Task{URL: parse(t, "https://a.example/"), Seq: n + 1, Class: Navigation, Visit: 1})
		}
		s := tell(t, p.f, 4, "https://a.example/")
		if s.Standing != Elsewhere || !s.Backlog || s.Ahead != 2 || s.Wait != WaitResolving {
			t.Errorf("%+v", s)
		}
		s = tell(t, p.f, 9, "https://b.example/")
		if s.Standing != Elsewhere || s.InMemory || s.Host.Name != "b.example" || s.Wait != WaitRoom || !s.Due.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}
