package frontier

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestTasksElsewhereComeBack fetches every task once, whatever the room in memory and the sizes of hosts, and keeps to the
// room.
func TestTasksElsewhereComeBack(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cfg   Config
		sizes []int // tasks of each host
	}{
		{"one host", Config{MaxTasks: 100}, []int{5000}},
		{"many small ones", Config{MaxTasks: 200, MaxHosts: 20}, slices.Repeat([]int{7}, 300)},
		{"more hosts than fit", Config{MaxTasks: 1000, MaxHosts: 5, MaxIdleHosts: 2}, slices.Repeat([]int{40}, 60)},
		{"uneven ones", Config{MaxTasks: 300, MaxHosts: 10, HostConcurrency: 2}, []int{4000, 1, 1, 1, 300, 50, 50, 2000, 1, 1, 90, 33, 32, 31}},
		{"all fits", Config{}, []int{10, 20, 30}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPile(t, tt.cfg)
				total := p.addHosts(tt.sizes)
				ended, limit := map[uint64]int{}, p.f.cfg.MaxTasks+atOnce
				p.crawl(func(l Lease) {
					ended[l.Seq]++
					must(t, p.f.Done(l, answered))
					if s := p.f.Stats(); s.Queued-s.Elsewhere > limit || s.Hosts-s.HostsIdle > p.f.cfg.MaxHosts+1 {
						t.Fatalf("%+v: memory is exceeded", s)
					}
				})
				if len(ended) != total {
					t.Errorf("%d tasks ended, want %d", len(ended), total)
				}
				if s := p.f.Stats(); s.Queued != 0 {
					t.Errorf("%+v when all is done", s)
				}
				if tt.name == "all fits" && p.sweeps+p.named > 0 {
					t.Errorf("%d sweeps and %d refills, although all is in memory", p.sweeps, p.named)
				}
			})
		})
	}
}

// addHosts adds tasks in a random order and returns how many there are.
func (p *pile) addHosts(sizes []int) (total int) {
	var all []Task
	for i, n := range sizes {
		for j := range n {
			u := parse(p.t, fmt.Sprintf("https://h%03d.example/%d", i, j))
			all = append(all, Task{URL: u, Class: Navigation, Depth: 1 + j/10})
		}
	}
	rnd := rand.New(rand.NewPCG(1, uint64(len(all))))
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range all {
		all[i].Seq = uint64(i + 1)
		p.add(all[i])
	}
	return len(all)
}

// TestGivenUpWhileRead: what was read for a host that was given up meanwhile is found again once the host is revived.
func TestGivenUpWhileRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPile(t, Config{MaxTasks: 1000})
		total, reads, ended, retried := p.addHosts([]int{3000}), 0, map[uint64]int{}, false
		p.read = func(host string) {
			if reads++; reads == 3 {
				p.f.GiveUp(host, "dropped")
			}
		}
		end := func(l Lease) {
			if !retried { // one that stands aside keeps the host from being parked
				retried = true
				must(t, p.retry(l, time.Hour, answered))
				return
			}
			ended[l.Seq]++
			must(t, p.f.Done(l, answered))
		}
		p.crawl(end)
		if len(ended) == total || reads != 3 {
			t.Fatalf("%d of %d tasks ended after %d reads of a host that was given up", len(ended), total, reads)
		}
		p.f.Revive("h000.example")
		p.crawl(end)
		if s := p.f.Stats(); len(ended) != total || s.Queued != 0 {
			t.Errorf("%d tasks ended, want %d; %+v", len(ended), total, s)
		}
	})
}

// TestRereadOutlivesReturns: a host that must be read anew is so too if it comes into memory and leaves before that.
func TestRereadOutlivesReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFrontier(t, Config{})
		f.mu.Lock()
		defer f.mu.Unlock()
		f.rereads.add("a.test", 10)
		for i := range 3 {
			h := f.host("a.test")
			if !h.rewind {
				t.Errorf("time %d: reading goes on where it ended", i)
			}
			f.forget(h, f.now())
		}
	})
}

// TestOrderAcrossMemory: what is met in order is taken in order, although most of it was elsewhere.
func TestOrderAcrossMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPile(t, Config{MaxTasks: 64})
		for i := range 3000 {
			u := parse(t, fmt.Sprintf("https://h%d.example/%d", i%3, i))
			p.add(Task{URL: u, Seq: uint64(i + 1), Class: Navigation, Depth: i / 500})
		}
		last := map[string]order{}
		p.crawl(func(l Lease) {
			host := l.URL.Host()
			if o := l.Task.order(); o.compare(last[host]) < 0 {
				t.Errorf("%s: %+v after %+v", host, o, last[host])
			}
			last[host] = l.Task.order()
			must(t, p.f.Done(l, answered))
		})
	})
}

// TestFailingHostsGiveTheirRoomUp: hosts that back off for long do not keep others out of memory.
func TestFailingHostsGiveTheirRoomUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards states
		states := map[string]HostState{}
		p := newPile(t, Config{MaxTasks: 64, MaxHosts: 8, MaxIdleHosts: 2, GiveUpAfter: 8, Lookup: func(host string) (HostState, bool) {
			mu.Lock()
			defer mu.Unlock()
			return lookup(states)(host)
		}})
		total := p.addHosts(slices.Repeat([]int{12}, 200))
		start, good := time.Now(), 0
		var lastGood time.Duration
		p.crawl(func(l Lease) {
			changed := p.f.Changed()
			mu.Lock()
			for _, s := range changed {
				states[s.Host] = s
			}
			mu.Unlock()
			if l.URL.Host()[2]%2 == 0 { // half of the hosts are dead
				must(t, p.retry(l, time.Second, Outcome{Requested: true, Failed: true}))
				return
			}
			good++
			lastGood = time.Since(start)
			must(t, p.f.Done(l, answered))
		})
		if good != total/2 {
			t.Errorf("%d pages of good hosts, want %d", good, total/2)
		}
		if lastGood > time.Hour {
			t.Errorf("the good hosts took %v", lastGood)
		}
		if s := p.f.Stats(); s.HostsGivenUp != 100 || s.Queued != total/2 || s.Stranded != s.Queued {
			t.Errorf("%+v, want 100 hosts given up with all their tasks", s)
		}
	})
}

// TestPagesToBeTriedAgainFillNoMemory: where every page of a host is to be tried again much later, the others are tried
// meanwhile, and memory is not full of those that wait.
func TestPagesToBeTriedAgainFillNoMemory(t *testing.T) {
	for _, cfg := range []Config{{MaxTasks: 64}, {MaxTasks: 200, MaxHosts: 1}, {MaxTasks: 8}} {
		synctest.Test(t, func(t *testing.T) {
			const pages = 400
			p := newPile(t, cfg)
			p.addHosts([]int{pages})
			start, tried, ended := time.Now(), 0, 0
			p.crawl(func(l Lease) {
				if held := p.f.Stats().Queued - p.f.Stats().Elsewhere; held > cfg.MaxTasks+minShare {
					t.Fatalf("%d tasks in memory, want %d or so", held, cfg.MaxTasks)
				}
				if l.Attempt > 0 {
					ended++
					must(t, p.f.Done(l, answered))
					return
				}
				if tried++; tried == pages && time.Since(start) > 10*time.Minute {
					t.Errorf("it took %v to try each page", time.Since(start))
				}
				must(t, p.retry(l, time.Hour, answered))
			})
			if tried != pages || ended != pages {
				t.Errorf("%d pages tried, %d ended, want %d", tried, ended, pages)
			}
			if p.granted > 3*pages {
				t.Errorf("%d wishes for %d pages", p.granted, pages)
			}
		})
	}
}

// TestParkedTasksAreReadAgain: a large host whose tasks leave memory misses none of those that were read for it when it is
// asked again.
func TestParkedTasksAreReadAgain(t *testing.T) {
	const large = "h000.example"
	for _, tt := range []struct {
		name           string
		lookup, giveUp bool
	}{
		{name: "it is to be left alone"},
		{name: "it is forgotten meanwhile", lookup: true},
		{name: "it is given up and revived", giveUp: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				states := map[string]HostState{}
				cfg := Config{MaxTasks: 8000, MaxHosts: 2, IgnoreRobots: true}
				if tt.lookup {
					cfg.Lookup = lookup(states)
				}
				p := newPile(t, cfg)
				total, ended, named := p.addHosts([]int{4000, 3000}), 0, 0
				p.crawl(func(l Lease) {
					o := answered
					if ended++; p.refills() > named && l.URL.Host() == large {
						named = p.refills()
						o.RetryAfter = 10 * time.Minute
					}
					if tt.giveUp && o.RetryAfter > 0 {
						o.RetryAfter = 0
						p.f.GiveUp(large, "dropped")
						p.f.Revive(large)
					}
					must(t, p.f.Done(l, o))
					for _, s := range p.f.Changed() {
						states[s.Host] = s
					}
				})
				if ended != total || named == 0 {
					t.Errorf("%d tasks ended, want %d; %d wishes for one host", ended, total, named)
				}
			})
		})
	}
}

// TestDeclinedDuringASweep: a sweep says nothing of what was added after it had begun.
func TestDeclinedDuringASweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPile(t, Config{MaxTasks: 2})
		add := func(seq uint64) {
			p.add(Task{URL: parse(t, fmt.Sprintf("https://a.example/%d", seq)), Seq: seq, Class: Navigation})
		}
		add(1)
		add(2)
		begun := p.write()
		p.f.BeginSweep()
		add(3)
		p.f.EndSweep(begun)
		ended := 0
		p.crawl(func(l Lease) {
			ended++
			must(t, p.f.Done(l, answered))
		})
		if ended != 3 {
			t.Errorf("%d tasks ended, want 3", ended)
		}
	})
}

// TestOlderCopyComesTooLate: a copy that was read before its task was tried once more does not come back in its stead.
func TestOlderCopyComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPile(t, Config{MaxTasks: 4, IgnoreRobots: true})
		total := p.addHosts([]int{6})
		must(t, p.f.Resolved(lease(t, p.f), nil, year))
		l := lease(t, p.f)
		if w, ok := p.f.Wish(); ok { // nothing can be wished for yet but that more can be read
			t.Fatalf("wished for %+v", w)
		}
		p.f.mu.Lock()
		p.f.elsewhere.granting = true // tasks have been read, l's among them
		p.f.mu.Unlock()
		must(t, p.retry(l, time.Hour, answered))
		if p.f.isElsewhere(l.Seq) {
			t.Error("the task was sent elsewhere")
		}
		start, attempts := time.Now(), map[int]int{}
		p.crawl(func(l Lease) {
			attempts[l.Attempt]++
			must(t, p.f.Done(l, answered))
		})
		if attempts[0] != total-1 || attempts[1] != 1 || time.Since(start) < time.Hour {
			t.Errorf("attempts %v after %v, want one second attempt after an hour", attempts, time.Since(start))
		}
	})
}
