package frontier

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// sizedRules are rules of so many bytes.
type sizedRules int64

func (sizedRules) Delay() (time.Duration, bool) { return 0, false }
func (r sizedRules) Size() int64                { return int64(r) }

// TestLargeRulesTakeTurns: hosts with large rules that have no room together are crawled all the same, each page with its
// host's rules, and a host with a small file is not held up.
func TestLargeRulesTakeTurns(t *testing.T) {
	const hosts, pages = 12, 5
	synctest.Test(t, func(t *testing.T) {
		var urls []string
		for h := range hosts {
			urls = append(urls, numbered(fmt.Sprintf("https://%d.example/", h), pages)...)
		}
		urls = append(urls, numbered("https://small.example/", pages)...)
		f := openFrontier(t, Config{MaxRulesBytes: 100 << 10, DelayFactor: None}, urls...)
		start, asked, done := time.Now(), 0, 0
		var small time.Duration
		for {
			l, err := f.Lease(t.Context())
			if check(t, f); err == ErrDrained {
				break
			}
			must(t, err)
			rules := sizedRules(largeRules - 1)
			if l.URL.Host() != "small.example" {
				rules = 40 << 10
			}
			switch l.Kind {
			case Resolve:
				must(t, f.Resolved(l, loopback, year))
			case Robots:
				asked++
				must(t, f.Permit(l, rules, year, answered))
			case Page:
				if l.Permission != Permission(rules) {
					t.Errorf("%s leased with rules %v", l.URL, l.Permission)
				}
				if done++; rules < largeRules {
					small = l.LeasedAt.Sub(start)
				}
				must(t, f.Done(l, answered))
			}
		}
		if done != len(urls) || asked <= hosts+1 || asked > 3*len(urls) {
			t.Errorf("%d pages done of %d, robots.txt asked for %d times", done, len(urls), asked)
		}
		if small != pages*time.Second {
			t.Errorf("the host with a small file took %v, want %v", small, pages*time.Second)
		}
		if n := f.rulesRoom.held; n > 100<<10 {
			t.Errorf("%d bytes held", n)
		}
	})
}

// TestLargeRulesOfIdleHosts: what a host without work was never asked with is in nobody's way.
func TestLargeRulesOfIdleHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{MaxRulesBytes: 50 << 10, DelayFactor: None}, "https://a.example/1", "https://b.example/1")
		for _, host := range []string{"a.example", "b.example"} {
			must(t, f.Resolved(leaseOf(t, f, Resolve, "https://"+host+"/1"), loopback, year))
		}
		must(t, f.Permit(leaseOf(t, f, Robots, "https://a.example/robots.txt"), sizedRules(40<<10), year, answered))
		f.GiveUp("a.example", "dropped")
		must(t, f.Permit(leaseOf(t, f, Robots, "https://b.example/robots.txt"), sizedRules(40<<10), year, answered))
		if l := leaseOf(t, f, Page, "https://b.example/1"); l.Permission != Permission(sizedRules(40<<10)) {
			t.Errorf("leased with %v", l.Permission)
		}
		check(t, f)
	})
}
