package crawler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crawl/frontier"
	"crawl/internal/vfs"
	"crawl/internal/vfs/vfstest"
	"crawl/sortedrun"
	"crawl/store"
)

// sim is one crawl of a web in memory, over all the processes that it takes. The clock is synctest's, so that days pass in
// seconds; directory and bbolt files are real, on a file system that knows what is durable.
type sim struct {
	web   *simWeb
	dir   string
	fs    vfs.FS
	set   func(*Config)
	delay time.Duration // host_delay, as it is promised
	sum   simStats      // of the processes that have ended

	mu   sync.Mutex // guards all below
	past *simPast
	told uint64 // the last checkpoint that was told
}

// simPatience is more than any crawl here may take, in the time of the simulation: a frontier that has stalled is found.
const simPatience = 60 * 24 * time.Hour

var errSimStall = errors.New("the crawl has not ended: it has stalled")

func newSim(web *simWeb, dir string, fsys vfs.FS, set func(*Config)) *sim {
	return &sim{web: web, dir: dir, fs: fsys, set: set, delay: simDelay, past: newSimPast()}
}

// simFS is the real file system, which is never asked to sync.
func simFS() vfs.FS { return vfstest.Ignore(vfs.OS{}, func(vfstest.Op) bool { return true }) }

// simFolder returns a folder in memory where the system has one.
func simFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "crawl-sim-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// simConfig is polite as usual. Nothing is given up but hosts that never answer.
func simConfig() Config {
	cfg := DefaultConfig()
	cfg.Scope = Scope{Mode: "any", Exclude: []string{`/skip\d+$`}}
	cfg.Frontier.HostDelay, cfg.Frontier.BackoffBase, cfg.Frontier.BackoffMax = simDelay, simBackoff, simBackoffMax
	cfg.Frontier.GiveUpAfter = 25
	delay, slots := simWideDelay, simWideSlots
	cfg.Frontier.Overrides = []frontier.Override{{Pattern: "*.wide.sim", HostDelay: &delay, HostConcurrency: &slots}}
	cfg.Seen.ExpectedItems, cfg.Seen.FalsePositiveRate = 4000, 1e-6
	return cfg
}

// simTiny makes room for so little that tasks and hosts wait elsewhere most of the time, and files are rolled often.
func simTiny(cfg *Config) {
	cfg.Frontier.MaxTasks, cfg.Frontier.MaxHosts, cfg.Frontier.MaxIdleHosts = 300, 40, 20
	cfg.Store.QueueEntries, cfg.Store.LogBytes, cfg.Store.PagesBytes = 500, 64<<10, 256<<10
	cfg.Seen.ExpectedItems = 1000
}

// simProcess is one process of the crawl.
type simProcess struct {
	*Crawler
	sim     *sim
	fetcher *simFetcher
}

// create begins the crawl.
func (s *sim) create() (*simProcess, error) {
	p := &simProcess{sim: s, fetcher: newSimFetcher(s, false)}
	cfg := simConfig()
	s.set(&cfg)
	cfg.Store.FS = s.fs
	p.attach(&cfg)
	var err error
	p.Crawler, err = Create(s.dir, cfg, func(yield func(Seed, error) bool) {
		for _, url := range s.web.seeds() {
			if !yield(Seed{URL: url}, nil) {
				return
			}
		}
	})
	return p, err
}

// open goes on with the crawl in a new process, which knows that it is not the first. ledger is what the directory holds.
func (s *sim) open(ledger *simLedger, edit func(*Config)) (*simProcess, error) {
	return s.openAs(ledger, edit, true)
}

func (s *sim) openAs(ledger *simLedger, edit func(*Config), resumed bool) (*simProcess, error) {
	s.past.cutTo(uint64(len(ledger.pages)), ledger.at)
	p := &simProcess{sim: s, fetcher: newSimFetcher(s, true)}
	cfg := simConfig()
	s.set(&cfg)
	cfg.Store.FS = s.fs
	st, err := store.Open(s.dir, cfg.Store)
	if err != nil {
		return nil, err
	}
	p.fetcher.recall()
	for i, url := range ledger.urls {
		if ledger.last[uint64(i)+1].Event != store.EventDone {
			p.fetcher.admitted(url)
		}
	}
	p.Crawler, err = open(st, func(c *Config) {
		c.Store, c.Log = cfg.Store, cfg.Log
		if edit != nil {
			edit(c)
		}
		p.attach(c)
	}, resumed)
	return p, err
}

func (p *simProcess) attach(cfg *Config) {
	p.fetcher.giveUp = max(cfg.Frontier.GiveUpAfter, 0)
	cfg.Fetcher, cfg.OnCommit = p.fetcher, p.fetcher.committed
	cfg.OnCheckpoint = func(cut store.Cut) {
		p.sim.mu.Lock()
		defer p.sim.mu.Unlock()
		p.sim.told = cut.Number
	}
}

// run goes on until nothing is left, and ends the process.
func (p *simProcess) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, simPatience, errSimStall)
	defer cancel()
	err := p.Run(ctx)
	return errors.Join(err, p.end())
}

// end ends the process, and reports what it did wrong.
func (p *simProcess) end() error {
	err := p.frontier.Check()
	err = errors.Join(err, p.Close(), p.fetcher.err())
	stats := p.fetcher.stats
	p.sim.sum.requests += stats.requests
	p.sim.sum.pages += stats.pages
	if stats.starved > p.sim.sum.starved {
		p.sim.sum.starved, p.sim.sum.starvedHost = stats.starved, stats.starvedHost
	}
	return err
}

// judge compares what the crawl left with the web.
func (s *sim) judge() (*simLedger, error) {
	ledger, err := readSimLedger(s.dir)
	if err != nil {
		return nil, err
	}
	return ledger, errors.Join(ledger.check(s.web, true), ledger.recordsAre(s.past.records))
}

// A crawl of a thousand hosts, most of them small and many in trouble, ends with every page once, and keeps every promise
// to every host: with next to no memory, and with as much as it likes.
func TestSimulation(t *testing.T) {
	for _, tt := range []struct {
		name    string
		set     func(*Config)
		starved time.Duration
	}{
		{"tiny caps", simTiny, time.Hour},
		{"shared addresses", func(cfg *Config) { simTiny(cfg); cfg.Frontier.PerIP, cfg.Frontier.Overrides = true, nil }, 3 * time.Hour},
		{"default caps", func(*Config) {}, 10 * time.Minute}, // that long all fetchers are busy with hosts that answer slowly
	} {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			web := newSimWeb(1, 1000, 5000, 4500)
			if tt.name == "shared addresses" {
				web = newSimWeb(2, 300, 800, 1500)
				web.shareAddresses(5)
			}
			s := newSim(web, filepath.Join(simFolder(t), "a.crawl"), simFS(), tt.set)
			var took time.Duration
			bubble(t, func(t *testing.T) {
				p, err := s.create()
				if err != nil {
					t.Fatal(err)
				}
				if err := p.run(t.Context()); err != nil {
					t.Error(err)
				}
				took = time.Since(simStart)
			})
			ledger, err := s.judge()
			if err != nil {
				t.Fatal(err)
			}
			if s.sum.starved > tt.starved {
				t.Errorf("%s was due for %v and not asked, want at most %v", s.sum.starvedHost, s.sum.starved, tt.starved)
			}
			t.Logf("%s simulated in %v: %s", took, time.Since(began), ledger.report(s))
		})
	}
}

// report says in a line what a crawl was like.
func (l *simLedger) report(s *sim) string {
	return fmt.Sprintf("%d requests, %d records, %d admitted, %d left on hosts given up, %d skipped, checkpoint %d, the longest wait of a due host %v (%s)",
		s.sum.requests, len(l.pages), len(l.urls), l.books.Queued, l.skipped, s.told, s.sum.starved, s.sum.starvedHost)
}

// bubble runs a part of a simulation on a clock of its own, which starts at simStart.
func bubble(t *testing.T, run func(t *testing.T)) {
	t.Helper()
	warmPackers(t)
	synctest.Test(t, run)
}

// warmPackers packs and unpacks a run. The packers of runs are made when the first one wants them, and what a bubble makes
// no other bubble may use.
func warmPackers(t *testing.T) {
	t.Helper()
	var file bytes.Buffer
	w := sortedrun.NewWriter(&file, sortedrun.Options{Compress: true})
	if err := w.Add([]byte("key"), bytes.Repeat([]byte("value "), 1000)); err != nil {
		t.Fatal(err)
	}
	info, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	r, err := sortedrun.Open(bytes.NewReader(file.Bytes()), info.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Seek(nil); !c.Next() {
		t.Fatal(c.Err())
	}
}
