package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/frontier"
	"crawl/internal/testweb"
	"crawl/seen"
	"crawl/store"
)

// The books go on where they were: nothing that was counted starts anew.
func TestBooksOutliveTheProcess(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/": {body: "<a href=/busy><a href=/gone><a href=/1><a href=/1#x><a href=/2><a href='http://b.test/'><a href='mailto:x'>"},
		"http://a.test/busy": {do: func(out http.ResponseWriter, n int) {
			if n == 1 {
				out.WriteHeader(http.StatusServiceUnavailable)
			}
		}},
		"http://a.test/1": {body: "<a href=/>"}, "http://a.test/2": {body: "page"},
	})
	cfg := w.quick()
	cfg.MaxPages = new(uint64(4))
	c, dir := create(t, cfg, "http://a.test/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := lasting(c)
	c = reopen(t, c, dir)
	if after := lasting(c); !reflect.DeepEqual(before, after) {
		t.Errorf("reopened as\n%+v\nit was\n%+v", after, before)
	}
	checkSums(t, before)
	if before.Requests != 6 || before.Retries != 1 || before.BodyBytes == 0 || before.ElapsedS == 0 || before.Queued != 1 ||
		len(before.ByStatus) != 2 || len(before.ByReason) != 5 || len(before.ByOutcome) != 2 || len(before.Errors) != 1 {
		t.Errorf("something was not counted at all: %+v", before)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// lasting is a snapshot without what is the process's own: its speed, its memory, and the hosts that it knows.
func lasting(c *crawler.Crawler) crawler.Snapshot {
	s := c.Snapshot()
	s.PagesPerS, s.BytesPerS, s.RSSBytes, s.Hosts, s.Checkpoint = 0, 0, 0, 0, crawler.CheckpointView{}
	return s
}

// resume-03: a crawl that is stopped while its seeds are read goes on behind the last one that it has: none is lost or
// admitted twice, not even one that still waits to be looked up in the log.
func TestStoppedAmongItsSeeds(t *testing.T) {
	const count = 20_000
	var urls []string
	for i := range count {
		urls = append(urls, fmt.Sprintf("http://h%d.test/", i))
	}
	for _, tt := range []struct {
		name string
		set  func(*crawler.Config)
	}{
		{"all surely new", func(*crawler.Config) {}},
		{"most taken for seen", func(cfg *crawler.Config) { cfg.Seen.ExpectedItems, cfg.Seen.MaxBytes = 1000, 4096 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := crawler.DefaultConfig()
			tt.set(&cfg)
			c, dir := create(t, cfg, urls...)
			rounds := 0
			for ; c.Snapshot().Admitted < count && rounds < 100; rounds++ {
				if err := c.Pause(t.Context()); err != nil { // nobody is asked
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				wait, admitted := goRun(t, ctx, c), c.Snapshot().Admitted
				eventually(t, "seeds are read", func() bool { return c.Snapshot().Admitted > admitted })
				cancel()
				_ = wait() // the context's end
				c = reopen(t, c, dir)
			}
			t.Logf("%d rounds", rounds)
			s := c.Snapshot()
			checkSums(t, s)
			if s.Admitted != count || s.Discovered != count || s.Queued != count {
				t.Errorf("after %d rounds %d of %d seeds are admitted, reasons %v", rounds, s.Admitted, count, s.ByReason)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a saved filter calls seen is in a durable log: when a checkpoint is told, the filter on disk holds nothing that is
// newer than the checkpoint before.
func TestFilterIsSavedBehindTheLog(t *testing.T) {
	t.Parallel()
	site, server := startWeb(t, testweb.Config{Seed: 8, Hosts: 5, PagesPerHost: 80, Latency: time.Millisecond})
	dir := t.TempDir()
	cfg := siteConfig(server)
	cfg.Seen.ExpectedItems, cfg.Seen.FalsePositiveRate = 1000, 0.4 // a small layer is saved often
	cfg.CheckpointInterval = 20 * time.Millisecond
	var before, saved uint64
	cfg.OnCheckpoint = func(cut store.Cut) {
		if saved = savedHashes(t, dir); saved > before {
			t.Errorf("before checkpoint %d was told, a filter of %d URLs was saved; the checkpoint before has %d", cut.Number, saved, before)
		}
		before = cut.Admissions.Entries
	}
	c, err := crawler.Create(dir, cfg, seeds(site.Seeds()...))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if saved == 0 {
		t.Error("no filter was ever saved")
	}
	if n := savedHashes(t, dir); n > before {
		t.Errorf("a filter of %d URLs was saved, the last checkpoint has %d", n, before)
	}
}

// savedHashes returns the number of hashes that the filter on disk says it holds. It looks at a copy: the crawl is open.
func savedHashes(t *testing.T, dir string) uint64 {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.crawl")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(copied, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var header seen.Header
	_, err = st.Filter().Read(header.UnmarshalBinary, func(store.FilterChunk) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return header.Len()
}

// A retry's due time outlives the process by itself, also where its host may be asked at once.
func TestRetryIsDueAfterRestart(t *testing.T) {
	t.Parallel()
	const wait = 700 * time.Millisecond
	w := serve(t, map[string]answer{"http://a.test/": {do: func(out http.ResponseWriter, n int) {
		if n == 1 {
			out.WriteHeader(http.StatusServiceUnavailable)
		}
	}}})
	cfg := w.quick()
	cfg.RetryDelay = wait
	cfg.Frontier.BackoffMax, cfg.Frontier.MaxRetryAfter = time.Millisecond, frontier.None
	c, dir := create(t, cfg, "http://a.test/")
	ended := goRun(t, t.Context(), c)
	eventually(t, "the page has failed", func() bool { return c.Snapshot().Retries == 1 })
	c.Stop()
	if err := ended(); err != nil {
		t.Fatal(err)
	}
	run(t, reopen(t, c, dir))
	at := w.times("http://a.test/")
	at = at[len(at)-3:] // the attempt, robots.txt once more, the next attempt
	if gap := at[2].Sub(at[0]); gap < wait {
		t.Errorf("the page was asked for again after %v, want %v", gap, wait)
	}
	if p := pagesByURL(t, dir)["http://a.test/"]; outcome(p) != "ok" {
		t.Errorf("%+v", p)
	}
}

// A clock that is set back between two runs holds no retry for longer than it was to wait.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://a.test/": {body: "page"}})
	c, dir := create(t, quickSaved(w), "http://a.test/")
	if err := c.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := goRun(t, t.Context(), c)
	eventually(t, "the seed is queued", func() bool { return c.Snapshot().Queued == 1 })
	c.Stop()
	if err := ended(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	ahead := time.Now().AddDate(1, 0, 0)
	logEvent(t, dir, store.DoneEntry{
		Seq: 1, Event: store.EventAgain, Outcome: store.OutcomeFailed, Attempt: 1, Visit: 1, At: ahead, Due: ahead.Add(50 * time.Millisecond),
	})
	c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.MaxTime = new(10 * time.Second) })
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if s := onDisk(t, dir); s.State != crawler.Complete {
		t.Errorf("%s, want complete", s.State)
	}
}

// logEvent adds an event to a crawl that nobody runs.
func logEvent(t *testing.T, dir string, e store.DoneEntry) {
	t.Helper()
	st, err := store.Open(dir, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Done.Append(e); err != nil {
		t.Fatal(err)
	}
	cp, err := st.Prepare(nil, st.Last().Books)
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Commit(); err != nil {
		t.Fatal(err)
	}
}

// What the crawl says about the filter's error outlives the process: links that were offered before are not sampled anew.
func TestMeasuredErrorOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&body, "<a href=/%d>", i)
	}
	w := serve(t, map[string]answer{"http://a.test/": {body: body.String()}, "http://a.test/again": {body: body.String()}})
	cfg := w.quick()
	cfg.Seen.ExpectedItems, cfg.Seen.MaxBytes = 1000, 4096 // soon full: most new links are called seen
	cfg.MaxPages, cfg.Concurrency = new(uint64(1)), 1
	c, dir := create(t, cfg, "http://a.test/", "http://a.test/again")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := c.Snapshot().Seen
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.MaxPages = new(uint64(2)) })
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	after := c.Snapshot().Seen
	if before.Measured == 0 || after.Measured != before.Measured {
		t.Errorf("%v measured, %v when the same links were met once more", before.Measured, after.Measured)
	}
	if before.ExpectedSkipped == 0 || after.ExpectedSkipped < before.ExpectedSkipped {
		t.Errorf("%v expected to be skipped, then %v", before.ExpectedSkipped, after.ExpectedSkipped)
	}
}
