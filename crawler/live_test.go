package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crawl/canon"
	"crawl/crawler"
	"crawl/fetch"
	"crawl/frontier"
)

// gate is a Fetcher whose answers come when they are let through, and which counts those that wait.
type gate struct {
	waiting atomic.Int64
	open    chan struct{} // one answer for each receive; closed: all
}

func (g *gate) Resolve(context.Context, canon.URL) (fetch.Resolution, error) {
	return fetch.Resolution{}, nil
}

func (g *gate) Fetch(_ context.Context, r fetch.Request) (*fetch.Result, error) {
	g.waiting.Add(1)
	<-g.open
	g.waiting.Add(-1)
	return &fetch.Result{URL: r.URL, Status: 200}, nil
}

func (g *gate) Close() error { return nil }

// gatedConfig is a crawl of many hosts with a page each, and what lets their pages through.
func gatedConfig(hosts int) (crawler.Config, *gate, []string) {
	g := &gate{open: make(chan struct{})}
	cfg := crawler.DefaultConfig()
	cfg.Fetcher, cfg.Frontier.IgnoreRobots, cfg.Frontier.HostDelay = g, true, frontier.None
	cfg.CheckpointInterval = 10 * time.Millisecond
	var urls []string
	for i := range hosts {
		urls = append(urls, fmt.Sprintf("http://h%d.test/", i))
	}
	return cfg, g, urls
}

// Fetchers that are wanted come at once, those that are too many end after their page: also those that wait for work.
func TestChangeConcurrency(t *testing.T) {
	t.Parallel()
	cfg, g, urls := gatedConfig(60)
	cfg.Concurrency = 2
	c, _ := create(t, cfg, urls...)
	wait := goRun(t, t.Context(), c)
	inFlight := func(n int64) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d in flight", n), func() bool { return g.waiting.Load() == n })
	}
	concurrency := func(n int) {
		t.Helper()
		if _, err := c.Change(t.Context(), crawler.Change{Settings: func(cfg *crawler.Config) { cfg.Concurrency = n }}); err != nil {
			t.Fatal(err)
		}
	}
	inFlight(2)
	concurrency(20)
	inFlight(20)
	concurrency(3)
	for range 17 {
		g.open <- struct{}{}
	}
	inFlight(3)
	for range 10 { // each one that ends makes room for one
		g.open <- struct{}{}
		inFlight(3)
	}
	close(g.open)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if s := c.Snapshot(); s.State != crawler.Complete || s.Pages != 60 {
		t.Errorf("%s with %d pages", s.State, s.Pages)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A limit on pages that is lowered holds for what is not yet in flight.
func TestChangeMaxPages(t *testing.T) {
	t.Parallel()
	cfg, g, urls := gatedConfig(60)
	cfg.Concurrency = 8
	c, dir := create(t, cfg, urls...)
	wait := goRun(t, t.Context(), c)
	eventually(t, "8 in flight", func() bool { return g.waiting.Load() == 8 })
	for _, most := range []uint64{3, 12, 10} {
		if _, err := c.Change(t.Context(), crawler.Change{Settings: func(cfg *crawler.Config) { cfg.MaxPages = &most }}); err != nil {
			t.Fatal(err)
		}
	}
	close(g.open)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if s := onDisk(t, dir); s.Pages != 10 || s.LimitReached != "max_pages" {
		t.Errorf("%d pages, limit %q", s.Pages, s.LimitReached)
	}
}

// A run's time may be limited while it goes on.
func TestChangeMaxTime(t *testing.T) {
	t.Parallel()
	w := serve(t, line(3))
	cfg := quickSaved(w)
	cfg.Frontier.HostDelay = time.Hour
	c, dir := create(t, cfg, "http://a.test/0")
	wait := goRun(t, t.Context(), c)
	eventually(t, "it is asked for", func() bool { return len(w.times("http://")) > 0 })
	if _, err := c.Change(t.Context(), crawler.Change{Settings: func(cfg *crawler.Config) { cfg.MaxTime = new(time.Millisecond) }}); err != nil {
		t.Fatal(err)
	}
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if s := onDisk(t, dir); s.LimitReached != "max_time" {
		t.Errorf("%s, limit %q", s.State, s.LimitReached)
	}
}

// What only Open reads cannot change, nor what is wrong; then nothing changes, and no host either.
func TestChangeRefuses(t *testing.T) {
	w := serve(t, line(1))
	c, dir := create(t, quickSaved(w), "http://a.test/0")
	before := onDisk(t, dir).Checkpoint.Number
	for name, tt := range map[string]struct {
		edit func(*crawler.Config)
		is   func(error) bool
	}{
		"the filter":      {func(c *crawler.Config) { c.Seen.FalsePositiveRate = 0.5 }, is(crawler.ErrNotLive)},
		"the scope":       {func(c *crawler.Config) { c.Scope.Mode = "any" }, is(crawler.ErrNotLive)},
		"per_ip":          {func(c *crawler.Config) { c.Frontier.PerIP = true }, is(crawler.ErrNotLive)},
		"a bad value":     {func(c *crawler.Config) { c.Concurrency = 0 }, mentions("concurrency: want 1 or more")},
		"a bad host rule": {func(c *crawler.Config) { c.Frontier.Overrides = []frontier.Override{{Pattern: "/"}} }, mentions("pattern")},
	} {
		done, err := c.Change(t.Context(), crawler.Change{Settings: tt.edit, Drop: []string{"a.test"}})
		if err == nil || !tt.is(err) || len(done.Dropped) > 0 {
			t.Errorf("%s: %+v, error %v", name, done, err)
		}
	}
	if s := onDisk(t, dir); s.Checkpoint.Number != before || c.Snapshot().HostsGivenUp != 0 {
		t.Errorf("checkpoint %d, was %d; %d hosts are given up", s.Checkpoint.Number, before, c.Snapshot().HostsGivenUp)
	}
	run(t, c)
	if s := onDisk(t, dir); s.State != crawler.Complete {
		t.Errorf("%s", s.State)
	}
	if _, err := c.Change(t.Context(), crawler.Change{Drop: []string{"a.test"}}); err == nil {
		t.Error("a closed crawl was changed")
	}
}

// Settings change at whatever moment of a run, its first and last ones too, and every run ends whole.
func TestChangeWhileTheRunEnds(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		w := serve(t, line(3))
		c, dir := create(t, quickSaved(w), "http://a.test/0")
		rng := rand.New(rand.NewPCG(uint64(round), 0))
		var changer sync.WaitGroup
		over := make(chan struct{})
		last := 0
		changer.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				last = 1 + rng.IntN(9)
				_, err := c.Change(t.Context(), crawler.Change{Settings: func(cfg *crawler.Config) {
					cfg.Concurrency, cfg.MaxPages = last, new(uint64(100+last))
				}})
				if err != nil {
					t.Error(err)
				}
			}
		})
		if err := c.Run(t.Context()); err != nil {
			t.Error(err)
		}
		close(over)
		changer.Wait()
		c = reopen(t, c, dir)
		if s := c.Snapshot(); s.State != crawler.Complete || s.Pages != 4 {
			t.Errorf("%s with %d pages", s.State, s.Pages)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		var kept int
		c, err := crawler.Open(dir, func(cfg *crawler.Config) { kept = cfg.Concurrency })
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if kept != last {
			t.Errorf("the last change was to %d fetchers, %d are kept", last, kept)
		}
	}
}

// Rules that are other ones when a crawl goes on bind what is queued. The seeds are exempt, and so is what the user asked
// for by name. What cannot be reached any more is said with its number.
func TestRulesChangedOnResume(t *testing.T) {
	web := map[string]answer{"http://a.test/": {body: "<a href=/1><a href=/in/1><a href='http://x.test/'>"}}
	for i := 1; i < 9; i++ {
		web[fmt.Sprintf("http://a.test/%d", i)] = answer{body: fmt.Sprintf("<a href=/%d><a href=/in/%d>", i+1, i+1)}
	}
	for _, tt := range []struct {
		name  string
		begin func(*crawler.Config)
		after int // records before the change
		edit  func(*crawler.Config)
		want  map[string]uint64 // of by_outcome, those that refuse
		says  []string
	}{
		{"max_depth lowered", func(*crawler.Config) {}, 2, func(c *crawler.Config) { c.MaxDepth = new(1) }, map[string]uint64{"too_deep": 2}, nil},
		{"max_depth of seeds only", func(*crawler.Config) {}, 1, func(c *crawler.Config) { c.MaxDepth = new(0) }, map[string]uint64{"too_deep": 2}, nil},
		{"max_depth raised", func(c *crawler.Config) { c.MaxDepth = new(1) }, 3, func(c *crawler.Config) { c.MaxDepth = nil }, nil,
			[]string{"max_depth is raised", "links=2", "crawl add --again"}},
		{"exclude", func(*crawler.Config) {}, 1, func(c *crawler.Config) { c.Scope.Exclude = []string{"/in/"} }, map[string]uint64{"out_of_scope": 1},
			[]string{"the scope is another", "links=1", "crawl add --again"}},
		{"nothing changed", func(*crawler.Config) {}, 1, func(*crawler.Config) {}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, web)
			cfg := w.quick()
			cfg.Concurrency, cfg.MaxPages = 1, new(uint64(tt.after))
			tt.begin(&cfg)
			c, dir := create(t, cfg, "http://a.test/")
			run(t, c)
			var log strings.Builder
			c, err := crawler.Open(dir, func(cfg *crawler.Config) {
				cfg.MaxPages, cfg.Log = nil, textLog(&log)
				tt.edit(cfg)
			})
			if err != nil {
				t.Fatal(err)
			}
			run(t, c)
			s := onDisk(t, dir)
			for _, outcome := range []string{"too_deep", "out_of_scope"} {
				if s.ByOutcome[outcome] != tt.want[outcome] {
					t.Errorf("%d are %s, want %d: %v", s.ByOutcome[outcome], outcome, tt.want[outcome], s.ByOutcome)
				}
			}
			for _, p := range records(t, dir) {
				if name := p.Outcome.String(); (name == "too_deep" || name == "out_of_scope") && (p.Status != 0 || p.Error == nil || p.Error.Code != name) {
					t.Errorf("%s: %+v, error %+v", p.URL, p, p.Error)
				}
			}
			for _, want := range tt.says {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %q:\n%s", want, log.String())
				}
			}
			if len(tt.says) == 0 && log.Len() > 0 {
				t.Errorf("the log says\n%s", log.String())
			}
		})
	}
}

// lookUps is a Fetcher that counts questions for addresses, by host.
type lookUps struct {
	crawler.Fetcher
	mu    sync.Mutex // guards all below
	hosts map[string]int
}

func (f *lookUps) Resolve(ctx context.Context, u canon.URL) (fetch.Resolution, error) {
	f.mu.Lock()
	f.hosts[u.Host()]++
	f.mu.Unlock()
	return f.Fetcher.Resolve(ctx, u)
}

// What is queued and refused by rules of now costs its host no request, and name servers no question. What the rules of the
// scope do not bind is asked all the same.
func TestRefusedHostIsNotAsked(t *testing.T) {
	w := serve(t, map[string]answer{
		"http://a.test/":      {body: "<a href=http://x.test/1><a href=http://x.test/2><a href=/out/1><a href=/in><a href=/out/2>"},
		"http://a.test/in":    {body: "in"},
		"http://s.test/":      {status: 302, header: map[string]string{"Location": "http://r.test/out/3"}},
		"http://r.test/out/3": {body: "where a seed leads"},
	})
	cfg := w.quick()
	cfg.Scope.Mode, cfg.Concurrency, cfg.MaxPages = "any", 1, new(uint64(2))
	cfg.Frontier.HostDelay = 20 * time.Millisecond // so that the two seeds come first
	c, dir := create(t, cfg, "http://a.test/", "http://s.test/")
	run(t, c)
	before, beforeX := w.asked("http://a.test/robots.txt"), len(w.times("http://x.test/"))
	client, err := fetch.New(cfg.Fetch)
	if err != nil {
		t.Fatal(err)
	}
	asked := &lookUps{Fetcher: client, hosts: make(map[string]int)}
	if c, err = crawler.Open(dir, func(cfg *crawler.Config) {
		cfg.MaxPages, cfg.Fetcher, cfg.Scope = nil, asked, crawler.Scope{Mode: "host", Exclude: []string{"/out/"}}
	}); err != nil {
		t.Fatal(err)
	}
	run(t, c)
	wantOutcomes(t, pagesByURL(t, dir), map[string]string{
		"http://a.test/": "ok", "http://s.test/": "redirect", "http://r.test/out/3": "ok", "http://a.test/in": "ok",
		"http://x.test/1": "out_of_scope", "http://x.test/2": "out_of_scope",
		"http://a.test/out/1": "out_of_scope", "http://a.test/out/2": "out_of_scope",
	})
	if n := asked.hosts["x.test"] + len(w.times("http://x.test/")) - beforeX; n > 0 {
		t.Errorf("x.test was asked for and asked %d times", n)
	}
	if n := w.asked("http://a.test/robots.txt"); n != before+1 || asked.hosts["a.test"] != 1 || asked.hosts["r.test"] == 0 {
		t.Errorf("a.test was asked for its robots.txt %d times more; looked up: %v", n-before, asked.hosts)
	}
}

// A URL that is asked for again by name is fetched whatever max_depth says now, and its host is asked again.
func TestAgainIsExempt(t *testing.T) {
	w := serve(t, line(4))
	c, dir := create(t, quickSaved(w), "http://a.test/0")
	run(t, c)
	c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.MaxDepth = new(1) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Change(t.Context(), crawler.Change{Drop: []string{"a.test"}}); err != nil {
		t.Fatal(err)
	}
	added, err := c.Add(t.Context(), slices.Values(one("http://a.test/3")), true)
	if err != nil || added.Again != 1 || !slices.Equal(added.Revived, []string{"a.test"}) {
		t.Errorf("%+v, %v", added, err)
	}
	run(t, c)
	pages := records(t, dir)
	if last := pages[len(pages)-1]; last.URL != "http://a.test/3" || last.Visit != 2 || last.Status != 200 {
		t.Errorf("the last record is %+v", last)
	}
}

// It is so until that visit has ended, in however many attempts and processes.
func TestAgainIsExemptAfterRestart(t *testing.T) {
	urls := line(4)
	urls["http://a.test/3"] = answer{do: func(out http.ResponseWriter, n int) {
		if n == 2 {
			out.WriteHeader(http.StatusServiceUnavailable)
		}
	}}
	w := serve(t, urls)
	cfg := quickSaved(w)
	cfg.Frontier.BackoffMax = time.Millisecond
	c, dir := create(t, cfg, "http://a.test/0")
	run(t, c)
	c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.MaxDepth, cfg.RetryDelay = new(1), 200*time.Millisecond })
	if err != nil {
		t.Fatal(err)
	}
	if added, err := c.Add(t.Context(), slices.Values(one("http://a.test/3")), true); err != nil || added.Again != 1 {
		t.Fatalf("%+v, %v", added, err)
	}
	stopAfterFailure(t, c)
	run(t, reopen(t, c, dir))
	pages := records(t, dir)
	if last := pages[len(pages)-1]; last.URL != "http://a.test/3" || last.Visit != 2 || last.Status != 200 {
		t.Errorf("the last record is %+v, %+v", last, last.Error)
	}
}

func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func TestHostOf(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"a.test", "a.test"},
		{"A.Test", "a.test"},
		{" a.test:80 ", "a.test"},
		{"a.test:8080", "a.test:8080"},
		{"https://a.test/x?y", "a.test"},
		{"http://a.test:81", "a.test:81"},
		{"bücher.test", "xn--bcher-kva.test"},
		{"[::1]:8080", "[::1]:8080"},
		{"", ""},
		{"a b", ""},
		{"*.a.test", ""},
		{"a.test/x", ""},
		{"u@a.test", ""},
		{"ftp://a.test/", ""},
		{strings.Repeat("a", 1<<20), ""},
	} {
		got, err := crawler.HostOf(tt.text)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%.40q is host %.40q, %v, want %q", tt.text, got, err, tt.want)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%.40q: an error of %d bytes", tt.text, len(err.Error()))
		}
	}
	if _, err := crawler.HostOf("a b"); errors.Unwrap(err) == nil {
		t.Errorf("%v has no cause", err)
	}
}
