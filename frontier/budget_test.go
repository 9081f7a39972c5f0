package frontier

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestBudget: never more page records of a host than it may have, however many fetchers there are. Its robots.txt, retries
// and pages without a record are no page records.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		name    string
		cfg     Config
		want    uint64 // page records of each host
		givenUp Reason
	}{
		{"pages", Config{MaxHostPages: 7, HostConcurrency: 5}, 7, BudgetUsed},
		{"one page", Config{MaxHostPages: 1, HostConcurrency: 5, HostDelay: None}, 1, BudgetUsed},
		{"bytes", Config{MaxHostBytes: 250}, 3, BudgetUsed},
		{"more than there are", Config{MaxHostPages: 50, HostConcurrency: 5}, 20, ""},
		{"as many as there are", Config{MaxHostPages: 20, HostConcurrency: 5}, 20, BudgetUsed},
		{"none", Config{Overrides: []Override{{Pattern: "*", MaxPages: new(uint64(0))}}}, 0, BudgetUsed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := openFrontier(t, tt.cfg, append(numbered("https://a.example/", 20), numbered("https://b.example/", 20)...)...)
				var mu sync.Mutex // guards recorded
				recorded := map[string]uint64{}
				var fetchers sync.WaitGroup
				for range 10 {
					fetchers.Go(func() {
						for visitOnce(t, f, func(l Lease) error {
							if l.Attempt == 0 {
								return f.Retry(l, time.Second, Outcome{Requested: true, Bytes: 0})
							}
							mu.Lock()
							recorded[l.URL.Host()]++
							mu.Unlock()
							return f.Done(l, Outcome{Requested: true, Recorded: true, Bytes: 100})
						}) {
							check(t, f)
						}
					})
				}
				fetchers.Wait()
				for _, host := range []string{"a.example", "b.example"} {
					if recorded[host] != tt.want || f.GivenUp(host) != tt.givenUp {
						t.Errorf("%s: %d page records, given up %q; want %d, %q", host, recorded[host], f.GivenUp(host), tt.want, tt.givenUp)
					}
				}
			})
		})
	}
}

// visitOnce leases something, takes a second for it, and has end end it where it is a page. False: there is nothing.
func visitOnce(t *testing.T, f *Frontier, end func(l Lease) error) bool {
	l, err := f.Lease(t.Context())
	if err == ErrDrained {
		return false
	}
	wait(time.Second)
	switch {
	case err != nil:
	case l.Kind == Resolve:
		err = f.Resolved(l, loopback, year)
	case l.Kind == Robots:
		err = f.Permit(l, nil, year, Outcome{Requested: true, Recorded: true}) // it is no page, whatever is said
	default:
		err = end(l)
	}
	if err != nil {
		t.Error(err)
	}
	return err == nil
}

// TestBudgetIsKept: a budget is one over the crawl's life. A host that has used it up is revived by a higher one at the next
// start, and by nothing else.
func TestBudgetIsKept(t *testing.T) {
	for _, tt := range []struct {
		pages  uint64 // at the second start
		bytes  uint64
		want   int // page records more
		revive bool
	}{
		{pages: 3}, {pages: 3, revive: true}, {pages: 2}, {pages: 5, want: 2}, {pages: 0, want: 7}, {pages: 5, bytes: 300}, {pages: 9, bytes: 301, want: 1},
	} {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				states := map[string]HostState{}
				first := openFrontier(t, Config{MaxHostPages: 3}, numbered("https://a.example/", 10)...)
				recorded := 0
				record := func(f *Frontier) {
					for visitOnce(t, f, func(l Lease) error {
						recorded++
						return f.Done(l, Outcome{Requested: true, Recorded: true, Bytes: 100})
					}) {
						check(t, f)
					}
				}
				record(first)
				for _, s := range first.Changed() {
					states[s.Host] = s
				}
				recorded = 0
				f := openFrontier(t, Config{MaxHostPages: tt.pages, MaxHostBytes: tt.bytes, Resumed: true, Lookup: lookup(states)})
				f.Begin(Kept{HostsGivenUp: 1})
				for i, u := range numbered("https://a.example/", 10)[3:] {
					f.Add(Task{URL: parse(t, u), Seq: uint64(i + 4), Class: Navigation})
				}
				if tt.revive {
					f.Revive("a.example")
				}
				record(f)
				if s := f.Stats(); recorded != tt.want || s.Stranded != 7-tt.want || (s.HostsGivenUp == 0) != (s.Stranded == 0) {
					t.Errorf("%d page records more, want %d; %+v", recorded, tt.want, s)
				}
			})
		})
	}
}
