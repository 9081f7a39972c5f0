package frontier

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// TestRandomWalkElsewhere is TestRandomWalk with most tasks elsewhere. Once the frontier is drained, each task has ended
// once or is on a host given up; when those are revived, the rest end too. What is wished for is bounded by what is done.
func TestRandomWalkElsewhere(t *testing.T) {
	for kind, cfg := range []Config{
		{MaxTasks: 300, MaxHosts: 10, HostConcurrency: 2, HostDelay: 100 * time.Millisecond},
		{MaxTasks: 120, MaxHosts: 3, MaxIdleHosts: 1, BackoffBase: 70 * time.Second, HostDelay: 100 * time.Millisecond},
		{MaxTasks: 64, MaxHosts: 10, MaxIdleHosts: 3},
		{MaxTasks: 40, MaxHosts: 200, GiveUpAfter: 3},
		{MaxTasks: 300, MaxHosts: 4, MaxIdleHosts: 1, HostConcurrency: 2},
		{MaxTasks: 1, MaxHosts: 1, MaxIdleHosts: None},
		{MaxTasks: 7, MaxHosts: 3, MaxIdleHosts: 2, HostConcurrency: 3, HostDelay: None},
		{MaxTasks: 120, MaxHosts: 8, MaxIdleHosts: 5, GiveUpAfter: 2, BackoffBase: 70 * time.Second, BackoffMax: time.Hour},
		{MaxTasks: 100, MaxHosts: 20, MaxIdleHosts: 5, PerIP: true, HostConcurrency: 2, HostDelay: 300 * time.Millisecond},
		{MaxTasks: 100, MaxHosts: 12, MaxIdleHosts: 5, MaxHostPages: 20, HostConcurrency: 3},
	} {
		cfg.MaxCrawlDelay, cfg.DelayFactor = None, None // a host forgotten has no delay of its own
		hosts, tasks := 60, 1500
		if kind < 2 { // large ones
			hosts, tasks = 3, 2500
		}
		eachWalk(t, kind, func(t *testing.T, seed uint64) {
			synctest.Test(t, func(t *testing.T) { walkElsewhere(t, cfg, seed, hosts, uint64(tasks)) })
		})
	}
}

// week is far longer than a walk takes.
const week = 7 * 24 * time.Hour

func walkElsewhere(t *testing.T, cfg Config, seed uint64, hosts int, tasks uint64) {
	w := newWalk(t, cfg)
	w.loose = true
	w.hosts, w.limit = hosts, tasks
	cfg.Lookup = w.lookup
	w.pile = newPile(t, cfg)
	w.pile.atOnce = 1 + int(seed%20)
	w.f = w.pile.f
	done := make(chan struct{})
	defer close(done)
	go w.pile.grantAll(done)
	start := time.Now()
	late := time.AfterFunc(week, func() { panic(fmt.Sprintf("stalled: %+v\n%s", w.f.Stats(), w.f.dump())) })
	defer late.Stop()
	w.links(rand.New(rand.NewPCG(seed, 0)), int(tasks)-1100)
	w.run(seed)
	w.reckon(seed)
	first := w.pile.granted
	w.collect()
	w.calm = true
	w.reviveAll()
	w.run(seed + 500)
	w.reckon(seed)
	if cfg.MaxHostPages == 0 && len(w.ended) != len(w.added) {
		t.Errorf("%d of %d tasks ended after all hosts were revived: %+v", len(w.ended), len(w.added), w.f.Stats())
	}
	if wished := w.pile.sweeps + w.pile.named; wished > w.leases+len(w.added) {
		t.Errorf("%d sweeps and wishes for one host, with %d leases", wished, w.leases)
	}
	t.Logf("%d added, %d ended, %d and %d wishes, %d of them for one host, %d sweeps, %d leases, %v", len(w.added), len(w.ended),
		first, w.pile.granted-first, w.pile.named, w.pile.sweeps, w.leases, time.Since(start).Round(time.Second))
}

// reckon compares what is left when the frontier is drained with what should be.
func (w *walk) reckon(seed uint64) {
	s := w.f.Stats()
	if s.Queued != s.Stranded || len(w.ended)+s.Queued != len(w.added) {
		w.t.Errorf("%d tasks added, %d ended, %+v", len(w.added), len(w.ended), s)
	}
	for seq, n := range w.ended {
		if n != 1 {
			w.t.Errorf("task %d ended %d times", seq, n)
		}
	}
	left := w.left()
	for seq, hosts := range left {
		if !w.anyGivenUp(hosts) {
			w.failf("task %d is left, and none of its hosts %v is given up", seq, hosts)
		}
	}
	if len(left) != s.Queued {
		w.t.Errorf("%d tasks left, %d queued", len(left), s.Queued)
	}
}

// left returns the tasks that have not ended, each with the hosts at which it may wait.
func (w *walk) left() map[uint64][]string {
	w.pile.mu.Lock()
	defer w.pile.mu.Unlock()
	w.pile.write()
	left := map[uint64][]string{}
	for host := range w.pile.tasks {
		for _, t := range w.pile.pending(host) {
			left[t.Seq] = append(left[t.Seq], host)
		}
	}
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	for _, h := range w.f.hosts { // where redirects took them
		for e := range h.queue.all() {
			left[e.seq] = append(left[e.seq], h.name)
		}
		for _, t := range h.queue.aside {
			left[t.Seq] = append(left[t.Seq], h.name)
		}
	}
	return left
}

func (w *walk) anyGivenUp(hosts []string) bool {
	for _, host := range hosts {
		if w.f.GivenUp(host) != "" {
			return true
		}
	}
	return false
}

func (w *walk) reviveAll() {
	hosts := map[string]bool{}
	for _, at := range w.left() {
		for _, host := range at {
			hosts[host] = true
		}
	}
	for host := range hosts {
		w.f.Revive(host)
	}
}
