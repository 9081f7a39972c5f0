package crawler

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crawl/frontier"
	"crawl/internal/vfs/vfstest"
	"crawl/seen"
	"crawl/store"
)

// smallSim is a crawl in which all files are rolled, but those of the logs.
func smallSim(t *testing.T) *sim {
	return newSim(newSimWeb(3, 120, 700, 600), filepath.Join(simFolder(t), "a.crawl"), nil, simTiny)
}

// blockSim is a crawl just large enough for full blocks in both logs.
func blockSim(t *testing.T) *sim {
	return newSim(newSimWeb(3, 100, 2600, 1900), filepath.Join(simFolder(t), "a.crawl"), nil, simTiny)
}

// moments runs a crawl and returns what a power cut would leave behind the first checkpoint that is late enough for each of
// late, in their order. The last one ends the run.
func (s *sim) moments(t *testing.T, crash *vfstest.Crash, keep float64, late ...func(*simProcess, store.Cut) bool) (kills []*simKill) {
	t.Helper()
	clones := simFolder(t)
	var err error
	bubble(t, func(t *testing.T) {
		p, failed := s.create()
		if err = failed; err != nil {
			return
		}
		p.cfg.OnCheckpoint = func(cut store.Cut) {
			if len(kills) == len(late) || !late[len(kills)](p, cut) {
				return
			}
			to := filepath.Join(clones, fmt.Sprint(len(kills)))
			kill := &simKill{dir: filepath.Join(to, filepath.Base(s.dir)), at: time.Now(), told: cut.Number}
			if err := crash.CloneTo(to, func() float64 { return keep }); err != nil {
				panic(err) // the test's own disk
			}
			kill.past = s.lastPast()
			if kills = append(kills, kill); len(kills) == len(late) {
				p.Stop()
			}
		}
		err = p.run(t.Context())
	})
	if err != nil || len(kills) != len(late) {
		t.Fatalf("%d moments of %d: %v", len(kills), len(late), err)
	}
	return kills
}

// admitted is late enough when so many URLs are admitted.
func admitted(n uint64) func(*simProcess, store.Cut) bool {
	return func(_ *simProcess, cut store.Cut) bool { return cut.Admissions.Entries >= n }
}

// ended is late enough when there are so many events.
func ended(n uint64) func(*simProcess, store.Cut) bool {
	return func(_ *simProcess, cut store.Cut) bool { return cut.Done.Entries >= n }
}

// partSaved is late enough when the newest layer of the filter was saved, and has grown since.
func partSaved(p *simProcess, _ store.Cut) bool {
	k := p.committer
	var saved seen.Header
	found, err := k.store.Filter().Read(saved.UnmarshalBinary, func(store.FilterChunk) error { return nil })
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.met.filter.Header()
	last := len(now.Layers) - 1
	return err == nil && found && len(saved.Layers) == len(now.Layers) && saved.Layers[last].Count < now.Layers[last].Count
}

// backingOff is late enough when some host is to be left alone for minutes, and it is known for a while.
func backingOff(p *simProcess, cut store.Cut) bool {
	p.fetcher.mu.Lock()
	defer p.fetcher.mu.Unlock()
	for _, h := range p.fetcher.past.holds {
		if h.until.Sub(cut.At) > 4*time.Minute && h.at.Before(cut.At) {
			return true
		}
	}
	return false
}

// onCrash puts the crawl on a file system that knows what is durable.
func (s *sim) onCrash(t *testing.T) *vfstest.Crash {
	t.Helper()
	crash, err := vfstest.NewCrash(filepath.Dir(s.dir))
	if err != nil {
		t.Fatal(err)
	}
	s.fs = crash
	return crash
}

// copyOf returns a kill whose directory may be changed.
func (k *simKill) copyOf(t *testing.T) *simKill {
	t.Helper()
	other := *k
	other.dir = filepath.Join(simFolder(t), filepath.Base(k.dir))
	if err := os.CopyFS(other.dir, os.DirFS(k.dir)); err != nil {
		t.Fatal(err)
	}
	other.past = k.past.clone()
	return &other
}

// What a build with one fault would leave is found by the simulation, or healed by the crawl itself.
func TestSimulationHasTeeth(t *testing.T) {
	s := smallSim(t)
	kills := s.moments(t, s.onCrash(t), 1, partSaved, admitted(1200))
	early, late := kills[0], kills[1]
	for _, tt := range []struct {
		name  string
		from  *simKill
		fault func(t *testing.T, dir string)
		want  string // part of what the simulation says; empty: the crawl heals it
	}{
		{"none", late, func(*testing.T, string) {}, ""},
		{"the filter of a later moment", early, func(t *testing.T, dir string) { takeFilter(t, late, dir) }, ""},
		{"seen first: bits of URLs that the log does not hold", early, func(t *testing.T, dir string) { seenFirst(t, late, dir) }, "is lost"},
		{"marks ahead, to the end of each host", late, marksToTheEnd, ""}, // merges drop marks, and the logs are asked at the end
		{"done before its page record", late, doneWithoutRecord, "record"},
		{"page record before done", late, recordWithoutDone, "record"},
		{"a manifest that forgets the queue's runs", late, forgetQueueRuns, ""}, // looked for in the logs before the end
		{"queue runs that are gone", late, removeQueueRuns, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kill := tt.from.copyOf(t)
			tt.fault(t, kill.dir)
			rng := rand.New(rand.NewPCG(1, 2))
			_, err := kill.revive(t, kill.after(s), nil, rng, nil)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("want it healed, got %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("want %q, got %v", tt.want, err)
			}
		})
	}
}

// With any one sort of file or folder that is not synced, a power cut is found to lose something.
func TestSimulationFindsMissingSyncs(t *testing.T) {
	for _, tt := range []struct {
		kind  vfstest.Kind
		of    string // folder
		ext   string // of its files; empty: all
		crawl func(*testing.T) *sim
		late  func(*simProcess, store.Cut) bool
	}{
		{vfstest.Sync, "log", ".log", blockSim, admitted(store.BlockEntries)}, {vfstest.SyncDir, "log", "", blockSim, admitted(store.BlockEntries)},
		{vfstest.Sync, "log", ".tail", smallSim, ended(700)}, {vfstest.Sync, "done", ".tail", smallSim, ended(700)},
		{vfstest.Sync, "done", ".log", blockSim, ended(store.BlockEntries)}, {vfstest.SyncDir, "done", "", smallSim, ended(700)},
		{vfstest.Sync, "pages", "", smallSim, ended(700)}, {vfstest.SyncDir, "pages", "", smallSim, ended(700)},
		{vfstest.Sync, "runs", "", smallSim, ended(700)}, {vfstest.SyncDir, "runs", "", smallSim, ended(700)},
	} {
		t.Run(fmt.Sprintf("%s of %s%s", tt.kind, tt.of, tt.ext), func(t *testing.T) {
			s := tt.crawl(t)
			crash := s.onCrash(t)
			s.fs = vfstest.Ignore(crash, func(op vfstest.Op) bool {
				return op.Kind == tt.kind && s.place(op) == tt.of && (tt.ext == "" || filepath.Ext(op.Name) == tt.ext)
			})
			kill := s.moments(t, crash, 0, tt.late)[0]
			_, err := kill.lost(kill.after(s), nil)
			if tt.of == "runs" { // they are made again from the logs
				_, err = kill.revive(t, kill.after(s), nil, rand.New(rand.NewPCG(1, 3)), nil)
				if err != nil {
					t.Errorf("want it healed, got %v", err)
				}
				return
			}
			if err == nil {
				t.Error("nothing is found to be lost")
			}
			t.Log(err)
		})
	}
}

// Marks that are ahead in a crawl that has room for all its tasks, and merges no runs, which drops marks, are found before it
// ends, and healed: hosts are read on from where they are.
func TestSimulationFindsMarksAhead(t *testing.T) {
	var said logged
	revived := false
	s := newSim(newSimWeb(3, 100, 4000, 1000), filepath.Join(simFolder(t), "a.crawl"), nil, func(cfg *Config) {
		simTiny(cfg)
		roomy := frontier.Default()
		cfg.Frontier.MaxTasks, cfg.Frontier.MaxHosts, cfg.Frontier.MaxIdleHosts = roomy.MaxTasks, roomy.MaxHosts, roomy.MaxIdleHosts
		cfg.Log = said.logger()
		if revived {
			cfg.Store.QueueEntries = store.Config{}.QueueEntries
		}
	})
	kill := s.moments(t, s.onCrash(t), 1, admitted(3500))[0]
	marksToTheEnd(t, kill.dir)
	revived = true
	_, err := kill.revive(t, kill.after(s), nil, rand.New(rand.NewPCG(1, 4)), nil)
	if err != nil || !strings.Contains(said.String(), "were passed over") {
		t.Errorf("want it found and healed, got %v; the log says:\n%s", err, said.String())
	}
}

// A crawl that does not keep one of its promises to hosts is found out.
func TestSimulationFindsImpoliteCrawls(t *testing.T) {
	two := 2
	for _, tt := range []struct {
		name string
		set  func(*Config)
		want string
	}{
		{"delay", func(c *Config) { c.Frontier.HostDelay = simDelay - time.Millisecond }, "too early"},
		{"no heed of response times", func(c *Config) { c.Frontier.DelayFactor = 0.9 }, "too early"},
		{"Crawl-delay", func(c *Config) { c.Frontier.MaxCrawlDelay = 2 * time.Second }, "too early"},
		{"concurrency", func(c *Config) {
			c.Frontier.Overrides = append(c.Frontier.Overrides, frontier.Override{Pattern: "*", HostConcurrency: &two})
		}, "requests in flight"},
		{"per_ip", func(c *Config) {}, "its address"},
		{"robots.txt", func(c *Config) { c.Frontier.IgnoreRobots = true }, "before its robots.txt"},
		{"back-off", func(c *Config) { c.Frontier.BackoffBase = time.Second }, "back-off"},
		{"Retry-After", func(c *Config) { c.Frontier.MaxRetryAfter = time.Second }, "back-off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			web := newSimWeb(4, 150, 300, 600)
			if tt.name == "per_ip" {
				web.shareAddresses(10)
			}
			s := newSim(web, filepath.Join(simFolder(t), "a.crawl"), simFS(), tt.set)
			var err error
			bubble(t, func(t *testing.T) {
				var p *simProcess
				if p, err = s.create(); err == nil {
					err = p.run(t.Context())
				}
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want %q, got %v", tt.want, err)
			}
		})
	}
}

// So is one that forgets after a restart what it was told, or that it was there before.
func TestSimulationFindsImpoliteRestarts(t *testing.T) {
	s := smallSim(t)
	kill := s.moments(t, s.onCrash(t), 1, backingOff)[0]
	for _, tt := range []struct {
		name    string
		resumed bool
		fault   func(t *testing.T, dir string)
		want    string
	}{
		{"the states of hosts", true, forgetHosts, "back-off or Retry-After"},
		{"that it was there before", false, func(*testing.T, string) {}, "after the start"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kill := kill.copyOf(t)
			tt.fault(t, kill.dir)
			next := kill.after(s)
			ledger, err := kill.lost(next, nil)
			if err != nil {
				t.Fatal(err)
			}
			bubble(t, func(t *testing.T) {
				_ = rest(t.Context(), kill.at.Sub(simStart)) // its clock starts at its own beginning
				var p *simProcess
				if p, err = next.openAs(ledger, nil, tt.resumed); err == nil {
					err = p.run(t.Context())
				}
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want %q, got %v", tt.want, err)
			}
		})
	}
}
