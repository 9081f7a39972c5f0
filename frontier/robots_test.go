package frontier

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// resolve answers the next lease, which must ask for the addresses that url needs.
func resolve(t testing.TB, f *Frontier, url string) {
	t.Helper()
	must(t, f.Resolved(leaseOf(t, f, Resolve, url), loopback, year))
}

func TestRobotsComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{}, "https://a.example/1", "http://a.example/2")
		start := time.Now()
		resolve(t, f, "https://a.example/1")
		l := leaseOf(t, f, Robots, "https://a.example/robots.txt")
		if l.Origin != "https://a.example" || l.RobotsHop != 0 || l.Attempt != 0 || len(l.Addrs) != 1 {
			t.Errorf("leased %+v", l)
		}
		noLease(t, f, time.Minute) // no page before its rules
		must(t, f.Permit(l, crawlDelay(10*time.Second), year, answered))
		first := leaseOf(t, f, Page, "https://a.example/1")
		if first.Permission != crawlDelay(10*time.Second) || first.Origin != "https://a.example" {
			t.Errorf("leased %+v", first)
		}
		if got := first.LeasedAt.Sub(start); got != time.Minute+10*time.Second {
			t.Errorf("leased after %v, want the Crawl-delay to run from the end of robots.txt", got)
		}
		must(t, f.Done(first, answered))
		end := time.Now()
		resolve(t, f, "http://a.example/2") // another origin in the same queue: its own addresses and rules
		other := leaseOf(t, f, Robots, "http://a.example/robots.txt")
		if got := other.LeasedAt.Sub(end); got != 10*time.Second {
			t.Errorf("leased after %v, want the host's delay of 10s", got)
		}
	})
}

func TestIgnoreRobots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{IgnoreRobots: true}, "https://a.example/1")
		resolve(t, f, "https://a.example/1")
		if l := leaseOf(t, f, Page, "https://a.example/1"); l.Permission != nil {
			t.Errorf("permission %v, want none", l.Permission)
		}
	})
}

func TestRobotsTTL(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
		ttl  time.Duration
		age  time.Duration // of the rules when the second page is due
		want Kind
	}{
		{"still holds", Config{}, time.Hour, 59 * time.Minute, Page},
		{"asked again", Config{}, time.Hour, time.Hour, Robots},
		{"holds for a day at most", Config{}, year, 24 * time.Hour, Robots},
		{"or what is configured", Config{RobotsTTL: time.Minute}, year, time.Minute, Robots},
		{"serves one page in any case", Config{}, 0, time.Minute, Robots},
		{"a negative one is none", Config{}, -time.Hour, time.Minute, Robots},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, tt.cfg, "https://a.example/1", "https://a.example/2")
				resolve(t, f, "https://a.example/1")
				must(t, f.Permit(lease(t, f), nil, tt.ttl, Outcome{}))
				learnt := time.Now()
				must(t, f.Done(leaseOf(t, f, Page, "https://a.example/1"), answered))
				wait(tt.age - time.Since(learnt))
				if l := lease(t, f); l.Kind != tt.want {
					t.Errorf("leased %s, want %s", l.Kind, tt.want)
				}
			})
		})
	}
}

func TestRobotsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{}, "https://a.example/1")
		resolve(t, f, "https://a.example/1")
		must(t, f.Retry(leaseOf(t, f, Robots, "https://a.example/robots.txt"), 0, Outcome{Requested: true, Failed: true}))
		end := time.Now()
		l := leaseOf(t, f, Robots, "https://a.example/robots.txt")
		if l.Attempt != 1 || l.LeasedAt.Sub(end) != 2*time.Second {
			t.Errorf("attempt %d after %v, want 1 after the back-off", l.Attempt, l.LeasedAt.Sub(end))
		}
		must(t, f.Permit(l, nil, year, answered))
		if l := leaseOf(t, f, Page, "https://a.example/1"); l.Attempt != 0 {
			t.Errorf("the page is at attempt %d, want 0", l.Attempt)
		}
	})
}

func TestRobotsRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: 4 * time.Second}, "https://b.example/1")
		must(t, f.Done(leasePage(t, f), answered)) // b.example has been asked and must wait
		wait(time.Second)
		f.Add(Task{URL: parse(t, "https://a.example/2"), Seq: 2}, Task{URL: parse(t, "https://b.example/3"), Seq: 3})
		start := time.Now()
		resolve(t, f, "https://a.example/2")
		l := leaseOf(t, f, Robots, "https://a.example/robots.txt")
		must(t, f.RedirectRobots(l, parse(t, "http://b.example/r?x"), answered))

		// It waits for b.example's delay and needs its addresses, not its rules.
		resolve(t, f, "http://b.example/r?x")
		l = leaseOf(t, f, Robots, "http://b.example/r?x")
		if l.Origin != "https://a.example" || l.RobotsHop != 1 {
			t.Errorf("leased %+v, want the rules of https://a.example after 1 redirect", l)
		}
		if got := l.LeasedAt.Sub(start); got != 3*time.Second {
			t.Errorf("leased after %v, want the rest of b.example's delay, 3s", got)
		}
		noLease(t, f, time.Second) // a.example has no rules yet, and b.example's slot is taken
		must(t, f.Permit(l, crawlDelay(6*time.Second), year, answered))
		permitted := time.Now()

		// The rules are a.example's: its Crawl-delay runs from its own last request. b.example has its own delay.
		l = leaseOf(t, f, Page, "https://a.example/2")
		if got := l.LeasedAt.Sub(start); got != 6*time.Second {
			t.Errorf("leased after %v, want 6s", got)
		}
		l = leaseOf(t, f, Page, "https://b.example/3")
		if got := l.LeasedAt.Sub(permitted); got != 4*time.Second {
			t.Errorf("leased after %v, want 4s", got)
		}
	})
}

func TestRobotsHops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None}, "https://a.example/1")
		resolve(t, f, "https://a.example/1")
		l := leaseOf(t, f, Robots, "https://a.example/robots.txt")
		for hop := 1; hop <= MaxRobotsHops; hop++ {
			to := fmt.Sprintf("https://%d.example/", hop)
			if hop == 3 { // back to its own host
				to = "https://a.example/r"
			}
			must(t, f.RedirectRobots(l, parse(t, to), answered))
			if hop != 3 {
				resolve(t, f, to)
			}
			if l = leaseOf(t, f, Robots, to); l.RobotsHop != hop {
				t.Errorf("hop %d, want %d", l.RobotsHop, hop)
			}
		}
		if err := f.RedirectRobots(l, l.URL, answered); !errors.Is(err, ErrTooManyHops) {
			t.Fatalf("one more: %v, want %v", err, ErrTooManyHops)
		}
		must(t, f.Permit(l, nil, year, answered)) // the lease is still open
		must(t, f.Done(leaseOf(t, f, Page, "https://a.example/1"), answered))
		drained(t, f)
	})
}

// TestRobotsOverdue has a robots.txt wait for a host that will not be asked in time.
func TestRobotsOverdue(t *testing.T) {
	redirect := func(t *testing.T, f *Frontier) {
		resolve(t, f, "https://a.example/1")
		l := leaseOf(t, f, Robots, "https://a.example/robots.txt")
		must(t, f.RedirectRobots(l, parse(t, "https://b.example/r"), answered))
	}
	busy := Outcome{Requested: true, Failed: true, RetryAfter: time.Hour}
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, f *Frontier)
		want time.Duration
	}{
		{"the deadline passes while it waits", func(t *testing.T, f *Frontier) {
			f.Add(Task{URL: parse(t, "https://b.example/9"), Seq: 9})
			must(t, f.Done(leasePage(t, f), busy))
			f.Add(Task{URL: parse(t, "https://a.example/1"), Seq: 1})
			redirect(t, f)
		}, 30 * time.Second},
		{"the deadline passes while it is asked", func(t *testing.T, f *Frontier) {
			f.Add(Task{URL: parse(t, "https://a.example/1"), Seq: 1})
			redirect(t, f)
			resolve(t, f, "https://b.example/r")
			l := leaseOf(t, f, Robots, "https://b.example/r")
			noLease(t, f, 50*time.Second)
			must(t, f.Retry(l, 0, answered))
		}, 50 * time.Second},
		{"the deadline passes before it is redirected", func(t *testing.T, f *Frontier) {
			f.Add(Task{URL: parse(t, "https://a.example/1"), Seq: 1})
			resolve(t, f, "https://a.example/1")
			l := leaseOf(t, f, Robots, "https://a.example/robots.txt")
			wait(40 * time.Second)
			must(t, f.RedirectRobots(l, parse(t, "https://b.example/r"), answered))
		}, 40 * time.Second},
		{"the other host is given up already", func(t *testing.T, f *Frontier) {
			f.GiveUp("b.example", "dropped")
			f.Add(Task{URL: parse(t, "https://a.example/1"), Seq: 1})
			redirect(t, f)
		}, 0},
		{"the other host is given up later", func(t *testing.T, f *Frontier) {
			f.Add(Task{URL: parse(t, "https://a.example/1"), Seq: 1})
			redirect(t, f)
			wait(time.Second)
			f.GiveUp("b.example", "dropped")
		}, time.Second},
		{"the other host is given up while it is asked", func(t *testing.T, f *Frontier) {
			f.Add(Task{URL: parse(t, "https://a.example/1"), Seq: 1})
			redirect(t, f)
			resolve(t, f, "https://b.example/r")
			l := leaseOf(t, f, Robots, "https://b.example/r")
			f.GiveUp("b.example", "dropped")
			must(t, f.Return(l))
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, Config{RobotsDeadline: 30 * time.Second})
				start := time.Now()
				tt.run(t, f)
				l := lease(t, f)
				if l.Kind != Robots || !l.RobotsOverdue || l.Origin != "https://a.example" || l.Addrs != nil {
					t.Fatalf("leased %+v, want to be told that https://a.example does not answer", l)
				}
				if got := l.LeasedAt.Sub(start); got != tt.want {
					t.Errorf("leased after %v, want %v", got, tt.want)
				}
				must(t, f.Return(l)) // the question stays overdue
				if l = lease(t, f); !l.RobotsOverdue {
					t.Fatalf("leased %+v", l)
				}
				must(t, f.Permit(l, crawlDelay(0), year, Outcome{}))
				if l := leaseOf(t, f, Page, "https://a.example/1"); l.Permission != crawlDelay(0) {
					t.Errorf("permission %v", l.Permission)
				}
			})
		})
	}
}

// TestRobotsOfAHostGivenUp drops the question with the host, wherever it stands, and asks again after a revival.
func TestRobotsOfAHostGivenUp(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, f *Frontier, own Lease) // gives up a.example
	}{
		{"while its own is asked", func(t *testing.T, f *Frontier, own Lease) {
			f.GiveUp("a.example", "dropped")
			must(t, f.RedirectRobots(own, parse(t, "https://b.example/r"), answered))
		}},
		{"while it waits for a retry", func(t *testing.T, f *Frontier, own Lease) {
			must(t, f.Retry(own, time.Minute, answered))
			f.GiveUp("a.example", "dropped")
		}},
		{"while it waits for another host", func(t *testing.T, f *Frontier, own Lease) {
			must(t, f.RedirectRobots(own, parse(t, "https://b.example/r"), answered))
			f.GiveUp("a.example", "dropped")
		}},
		{"while another host is asked", func(t *testing.T, f *Frontier, own Lease) {
			must(t, f.RedirectRobots(own, parse(t, "https://b.example/r"), answered))
			resolve(t, f, "https://b.example/r")
			l := leaseOf(t, f, Robots, "https://b.example/r")
			f.GiveUp("a.example", "dropped")
			must(t, f.Retry(l, time.Minute, answered))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, Config{}, "https://a.example/1")
				resolve(t, f, "https://a.example/1")
				tt.run(t, f, leaseOf(t, f, Robots, "https://a.example/robots.txt"))
				drained(t, f)
				f.Revive("a.example")
				if l := lease(t, f); l.Kind != Robots || l.RobotsHop != 0 || l.Attempt != 0 || l.RobotsOverdue {
					t.Errorf("leased %+v, want its robots.txt asked anew", l)
				}
			})
		})
	}
}

// TestRedirectTargetIsCrawledAllTheSame sends the robots.txt of many hosts to one, whose own pages take turns with them.
func TestRedirectTargetIsCrawledAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{RobotsDeadline: time.Hour})
		target := parse(t, "https://b.example/r")
		const hosts = 20
		for i := range hosts {
			f.Add(Task{URL: parse(t, fmt.Sprintf("https://a%d.example/", i)), Seq: uint64(i)})
		}
		var asked []string
		for redirected := 0; redirected < hosts; {
			l := lease(t, f)
			switch {
			case l.Kind == Resolve:
				must(t, f.Resolved(l, loopback, year))
			case l.URL == target: // the first question is there before the last is redirected
				must(t, f.Return(l))
			default:
				redirected++
				asked = append(asked, l.Origin)
				must(t, f.RedirectRobots(l, target, answered))
			}
		}
		for i := range hosts {
			f.Add(Task{URL: parse(t, fmt.Sprintf("https://b.example/%d", i)), Seq: uint64(100 + i)})
		}
		robots, pages := 0, 0
		var order []string
		for robots+pages < hosts {
			l := lease(t, f)
			switch {
			case l.Kind == Resolve:
				must(t, f.Resolved(l, loopback, year))
			case l.Kind == Robots:
				robots++
				if l.RobotsHop > 0 { // b.example's own comes in between
					order = append(order, l.Origin)
				}
				must(t, f.Permit(l, nil, year, answered))
			default:
				if l.URL.Host() == target.Host() {
					pages++
				}
				must(t, f.Done(l, answered))
			}
		}
		if robots > pages+2 || pages > robots+2 {
			t.Errorf("%d questions and %d pages, want turns", robots, pages)
		}
		if !slices.Equal(order, asked[:len(order)]) {
			t.Errorf("asked for %v, want the order in which they came, %v", order, asked)
		}
	})
}

// TestHasOtherWork: a robots.txt that failed is worth waiting for while something else is left, and no longer.
func TestHasOtherWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{HostDelay: None, BackoffBase: None}, "https://a.example/", "https://b.example/", "https://c.example/")
		robots := map[string]Lease{}
		for len(robots) < 3 {
			l := lease(t, f)
			if l.Kind == Resolve {
				must(t, f.Resolved(l, loopback, year))
				continue
			}
			robots[l.URL.Host()] = l
		}
		failed := Outcome{Requested: true, Failed: true}
		if !f.HasOtherWork(robots["a.example"]) {
			t.Error("a alone is left, although b and c were never answered")
		}
		must(t, f.Retry(robots["b.example"], time.Hour, failed))
		must(t, f.Permit(robots["c.example"], nil, year, answered))
		if !f.HasOtherWork(robots["a.example"]) {
			t.Error("a alone is left, although c has a page")
		}
		c := leaseOf(t, f, Page, "https://c.example/")
		if !f.HasOtherWork(robots["a.example"]) {
			t.Error("a alone is left, although c's page is in flight")
		}
		must(t, f.Done(c, answered))
		if f.HasOtherWork(robots["a.example"]) {
			t.Error("something else is left, although b has failed too")
		}
		release := f.Intake()
		if !f.HasOtherWork(robots["a.example"]) {
			t.Error("nothing else is left, although seeds are being read")
		}
		release()
		must(t, f.Return(robots["a.example"]))
		check(t, f)
	})
}
