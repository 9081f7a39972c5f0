package crawler_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
				admitted := c.Snapshot().Admitted
				wait := goRun(t, ctx, c)
				eventually(t, "seeds are read", func() bool { return c.Snapshot().Admitted > admitted })
				cancel()
				_ = wait() // the context's end
				c = reopen(t, c, dir)
			}
			s := c.Snapshot()
			checkSums(t, s)
			if s.Admitted != count || s.Discovered != count || s.Queued != count {
				t.Errorf("after %d rounds %d of %d seeds are admitted, reasons %v", rounds, s.Admitted, count, s.ByReason)
			}
			if added, err := c.Add(t.Context(), slices.Values(one("http://new.test/")), false); err != nil || added.Admitted != 1 {
				t.Errorf("one more is added: %+v, %v", added, err)
			}
			checkSums(t, c.Snapshot())
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

// A filter is remade from the log bit for bit, also where a layer fills up amid the links of one page.
func TestFilterIsRemadeBitForBit(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&body, "<a href=/%d>", i)
	}
	w := serve(t, map[string]answer{"http://a.test/page": {body: body.String()}})
	cfg := w.quick()
	cfg.Seen.ExpectedItems, cfg.MaxPages = 1000, new(uint64(1))
	c, dir := create(t, cfg, "http://a.test/page")
	run(t, c)
	c, err := crawler.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, c.Snapshot()) // what was not saved is in the filter again
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dir, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var header seen.Header
	var saved []byte
	found, err := st.Filter().Read(header.UnmarshalBinary, func(c store.FilterChunk) error {
		saved = slices.Clone(c.Data)
		return nil
	})
	if err != nil || !found || len(header.Layers) != 1 || header.Layers[0].Count >= st.Admissions.Len() {
		t.Fatalf("want the first layer saved of several, got %+v, %v", header, err)
	}
	remade, err := seen.NewScalable(header.Config)
	if err != nil {
		t.Fatal(err)
	}
	err = st.Admissions.EachHashes(1, func(_ uint64, hashes []uint64) error {
		remade.Add(hashes)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(remade.AppendChunk(nil, 0, 0), saved) {
		t.Error("the first layer is not the one that was saved")
	}
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
	stopAfterFailure(t, c)
	run(t, reopen(t, c, dir))
	at := w.times("http://a.test/")
	at = at[len(at)-3:]                                       // the attempt, robots.txt once more, the next attempt
	if gap := at[2].Sub(at[0]); gap < wait-time.Millisecond { // it is kept to the millisecond
		t.Errorf("the page was asked for again after %v, want %v", gap, wait)
	}
	if p := pagesByURL(t, dir)["http://a.test/"]; outcome(p) != "ok" {
		t.Errorf("%+v", p)
	}
}

// A page has as many attempts as are allowed, in however many processes.
func TestAttemptsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://a.test/": {status: 500}})
	cfg := w.quick()
	cfg.Retries, cfg.RetryDelay = 2, 50*time.Millisecond
	c, dir := create(t, cfg, "http://a.test/")
	stopAfterFailure(t, c)
	run(t, reopen(t, c, dir))
	if n := w.asked("http://a.test/"); n != 3 {
		t.Errorf("asked for %d times, want 3", n)
	}
	wantOutcomes(t, pagesByURL(t, dir), map[string]string{"http://a.test/": "server_error"})
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
	bodies := make([]strings.Builder, 3)
	for i := range 30_000 {
		fmt.Fprintf(&bodies[i%2], "<a href=/%d>", i)
	}
	bodies[2].WriteString(bodies[0].String() + bodies[1].String())
	web, urls := make(map[string]answer), []string{}
	for i := range bodies {
		url := fmt.Sprintf("http://a.test/page/%d", i)
		web[url], urls = answer{body: bodies[i].String()}, append(urls, url)
	}
	w := serve(t, web)
	cfg := w.quick()
	cfg.Seen.ExpectedItems, cfg.Seen.MaxBytes = 1000, 16<<10 // full after a third of the links: then new ones are called seen
	c, dir := create(t, cfg, urls...)
	var said []crawler.FilterView // after each page, which has a process to itself
	for n := range bodies {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		c, err = crawler.Open(dir, func(cfg *crawler.Config) { cfg.MaxPages = new(uint64(n + 1)) })
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		said = append(said, c.Snapshot().Seen)
	}
	if said[1].Measured == 0 || said[2].Measured != said[1].Measured {
		t.Errorf("%v measured, and %v when the same links were met once more", said[1].Measured, said[2].Measured)
	}
	if said[0].ExpectedSkipped == 0 || said[1].ExpectedSkipped < said[0].ExpectedSkipped {
		t.Errorf("%v expected to be skipped, then %v", said[0].ExpectedSkipped, said[1].ExpectedSkipped)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// resume-02: a crawl that is stopped after any of its pages, and goes on in another process, records what one does that is
// never stopped: each URL with the depth, the referrer, the label and the redirects by which it was first met.
func TestStoppedAnywhereRecordsTheSame(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/":       {body: "<a href=/1><a href=/r1><a href=/deep/1>"},
		"http://a.test/1":      {body: "<a href=/2><a href=/gone><a href='http://x.test/'>"},
		"http://a.test/2":      {body: "<a href=/1>"},
		"http://a.test/r1":     redirect("/r2"),
		"http://a.test/r2":     redirect("/r3"),
		"http://a.test/r3":     redirect("/r1"),
		"http://b.test/":       redirect("http://c.test/"),
		"http://c.test/":       {body: "<a href=/1>"},
		"http://c.test/1":      {body: "<a href=/late>"},
		"http://c.test/late":   {body: "page"},
		"http://d.test/":       redirect("/1"),
		"http://d.test/1":      {body: "<a href=/2>"},
		"http://d.test/2":      {body: "page"},
		"http://a.test/deep/1": {body: "<a href=/deep/2>"},
		"http://a.test/deep/2": {body: "<a href=/deep/3>"},
		"http://a.test/deep/3": {body: "<a href=/deep/4>"},
	})
	cfg := w.quick()
	cfg.MaxDepth, cfg.Concurrency = new(3), 1
	whole := t.TempDir()
	total := runTo(t, whole, cfg, 1000)
	want := described(t, whole)
	if len(want) != total || total < 15 {
		t.Fatalf("%d records of %d URLs", total, len(want))
	}
	for most := range total {
		dir := t.TempDir()
		runTo(t, dir, cfg, most)
		c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.MaxPages = nil })
		if err != nil {
			t.Fatal(err)
		}
		run(t, c)
		if got := described(t, dir); !maps.Equal(got, want) {
			t.Errorf("stopped after %d of %d records:\n%v\nnever stopped:\n%v", most, total, got, want)
		}
	}
}

// runTo crawls until so many records are made, and returns how many there are.
func runTo(t *testing.T, dir string, cfg crawler.Config, most int) int {
	t.Helper()
	cfg.MaxPages = new(uint64(most))
	c, err := crawler.Create(dir, cfg, labelled("http://a.test/", "http://b.test/", "http://d.test/"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	return len(records(t, dir))
}

func labelled(urls ...string) iter.Seq2[crawler.Seed, error] {
	return func(yield func(crawler.Seed, error) bool) {
		for _, url := range urls {
			if !yield(crawler.Seed{URL: url, Label: "from " + url}, nil) {
				return
			}
		}
	}
}

// described returns what each record says that does not depend on when and in which order pages were fetched.
func described(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for url, p := range pagesByURL(t, dir) {
		code := ""
		if p.Error != nil {
			code = p.Error.Code
		}
		all[url] = fmt.Sprintf("%s %d depth %d from %s by %s to %s %s", p.Outcome, p.Visit, p.Depth, p.Referrer, p.Seed, p.RedirectTo, code)
	}
	return all
}

// What the crawl expects to have skipped is what it has skipped, on a page of so many links too that the filter's error
// grows while they are met.
func TestExpectedSkips(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&body, "<a href=/%d>", i)
	}
	w := serve(t, map[string]answer{"http://a.test/page": {body: body.String()}})
	cfg := w.quick()
	cfg.Seen.ExpectedItems, cfg.Seen.MaxBytes, cfg.MaxPages = 1000, 64<<10, new(uint64(1))
	_, s := crawl(t, cfg, "http://a.test/page")
	skipped, expected := float64(s.ByReason["seen"]), s.Seen.ExpectedSkipped
	if skipped < 1000 || math.Abs(skipped-expected) > skipped/10 {
		t.Errorf("%v links were skipped, %v expected", skipped, expected)
	}
}
