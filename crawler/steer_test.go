package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/store"
)

// line is a web of one host whose n pages stand in a line.
func line(n int) map[string]answer {
	web := make(map[string]answer)
	for i := range n {
		web[fmt.Sprintf("http://a.test/%d", i)] = answer{body: fmt.Sprintf("<a href=/%d>", i+1)}
	}
	return web
}

func create(t *testing.T, cfg crawler.Config, urls ...string) (*crawler.Crawler, string) {
	t.Helper()
	dir := t.TempDir()
	c, err := crawler.Create(dir, cfg, seeds(urls...))
	if err != nil {
		t.Fatal(err)
	}
	return c, dir
}

// onDisk is the crawl as its last checkpoint holds it.
func onDisk(t *testing.T, dir string) crawler.Snapshot {
	t.Helper()
	reader, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := crawler.ReadSnapshot(reader.Cut())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// goRun begins a run, and returns what waits for its end.
func goRun(t *testing.T, ctx context.Context, c *crawler.Crawler) (wait func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return func() error {
		t.Helper()
		select {
		case err := <-ended:
			return err
		case <-time.After(20 * time.Second):
			t.Fatal("the run does not end")
			return nil
		}
	}
}

// stopAfterFailure runs a crawl until a page is to be tried again.
func stopAfterFailure(t *testing.T, c *crawler.Crawler) {
	t.Helper()
	ended := goRun(t, t.Context(), c)
	eventually(t, "a page has failed", func() bool { return c.Snapshot().Retries == 1 })
	c.Stop()
	if err := ended(); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

// quickSaved is a quick Config with a checkpoint whenever one is waited for.
func quickSaved(w *web) crawler.Config {
	cfg := w.quick()
	cfg.CheckpointInterval = 10 * time.Millisecond
	return cfg
}

func one(url string) []crawler.Seed { return []crawler.Seed{{URL: url}} }

// A pause before the run begins holds it: nothing is asked for, and the crawl says that it is paused, until Resume.
func TestPauseBeforeRun(t *testing.T) {
	w := serve(t, line(3))
	c, dir := create(t, quickSaved(w), "http://a.test/0")
	if err := c.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait := goRun(t, t.Context(), c)
	eventually(t, "the seed is queued", func() bool { return c.Snapshot().Queued == 1 })
	if s := c.Snapshot(); s.State != crawler.Paused {
		t.Errorf("%s, want paused", s.State)
	}
	if n := len(w.times("http://")); n > 0 {
		t.Errorf("%d requests in a pause", n)
	}
	if err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if s := onDisk(t, dir); s.State != crawler.Complete || s.Pages != 4 {
		t.Errorf("%s with %d pages, want complete with 4", s.State, s.Pages)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	w := serve(t, line(1000))
	cfg := quickSaved(w)
	cfg.Frontier.HostDelay = 2 * time.Millisecond
	c, dir := create(t, cfg, "http://a.test/0")
	wait := goRun(t, t.Context(), c)
	eventually(t, "pages come", func() bool { return c.Snapshot().Pages > 3 })
	if err := c.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is in flight", func() bool { return c.Snapshot().InFlight == 0 })
	if s := c.Snapshot(); s.State != crawler.Paused || s.Pages == 1000 {
		t.Errorf("%s after %d pages, want paused before the end", s.State, s.Pages)
	}
	pages := c.Snapshot().Pages
	if err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "pages come again", func() bool { return c.Snapshot().Pages > pages })
	if s := c.Snapshot(); s.State != crawler.Running {
		t.Errorf("%s after a pause, want running", s.State)
	}
	c.Stop()
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if s := onDisk(t, dir); s.State != crawler.Stopped {
		t.Errorf("%s, want stopped", s.State)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A pause is for a run that goes on. One that is ending, or has ended, keeps its state.
func TestSteeringTooLate(t *testing.T) {
	release := make(chan struct{})
	w := serve(t, map[string]answer{
		"http://a.test/":     {body: "<a href=/slow>"},
		"http://a.test/slow": {do: func(out http.ResponseWriter, _ int) { <-release }},
	})
	c, dir := create(t, quickSaved(w), "http://a.test/")
	wait := goRun(t, t.Context(), c)
	eventually(t, "a request is in flight", func() bool { return w.asked("http://a.test/slow") == 1 })
	c.Stop()
	eventually(t, "the crawl is stopping", func() bool { return c.Snapshot().State == crawler.Stopping })
	if c.Pause(t.Context()) == nil || c.Resume(t.Context()) == nil {
		t.Error("a run that is ending was paused, or resumed")
	}
	if s := c.Snapshot(); s.State != crawler.Stopping {
		t.Errorf("%s, want stopping", s.State)
	}
	close(release)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if c.Pause(t.Context()) == nil || c.Resume(t.Context()) == nil {
		t.Error("a run that has ended was paused, or resumed")
	}
	if s := onDisk(t, dir); s.State != crawler.Complete || c.Snapshot().State != crawler.Complete {
		t.Errorf("%s on disk and %s in memory, want complete: what was in flight was the last page", s.State, c.Snapshot().State)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestStopBeforeRun(t *testing.T) {
	w := serve(t, line(3))
	c, dir := create(t, quickSaved(w), "http://a.test/0")
	c.Stop()
	c.Stop()
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := onDisk(t, dir); s.State != crawler.Stopped {
		t.Errorf("%s, want stopped", s.State)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// What is added to a complete crawl makes it one that can go on, whoever looks: it is never called complete with
// something left to fetch.
func TestAddToCompleteCrawl(t *testing.T) {
	for _, tt := range []struct {
		name  string
		url   string
		again bool
		want  crawler.State
	}{
		{"a new URL", "http://b.test/", false, crawler.Stopped},
		{"a URL once more", "http://a.test/1", true, crawler.Stopped},
		{"a URL that is known", "http://a.test/1", false, crawler.Complete},
	} {
		for _, reopened := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, reopened %v", tt.name, reopened), func(t *testing.T) {
				t.Parallel()
				w := serve(t, line(2))
				c, dir := create(t, quickSaved(w), "http://a.test/0")
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if reopened {
					c = reopen(t, c, dir)
				}
				if _, err := c.Add(t.Context(), slices.Values(one(tt.url)), tt.again); err != nil {
					t.Fatal(err)
				}
				if s := onDisk(t, dir); s.State != tt.want || c.Snapshot().State != tt.want {
					t.Errorf("%s on disk, %s in memory, want %s", s.State, c.Snapshot().State, tt.want)
				}
				run(t, c)
				if s := onDisk(t, dir); s.State != crawler.Complete || s.Queued != 0 {
					t.Errorf("in the end %s with %d queued", s.State, s.Queued)
				}
			})
		}
	}
}

func reopen(t *testing.T, c *crawler.Crawler, dir string) *crawler.Crawler {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := crawler.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// URLs are added at whatever moment of a run, its last ones too. Each that is acknowledged is fetched, or the crawl says
// that it is not complete.
func TestAddWhileTheRunEnds(t *testing.T) {
	t.Parallel()
	for round := range 12 {
		w := serve(t, line(3))
		c, dir := create(t, quickSaved(w), "http://a.test/0")
		var adder sync.WaitGroup
		over := make(chan struct{})
		adder.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				if _, err := c.Add(t.Context(), slices.Values(one(fmt.Sprintf("http://b.test/%d", i))), false); err != nil {
					t.Error(err)
				}
			}
		})
		if err := c.Run(t.Context()); err != nil {
			t.Error(err)
		}
		<-time.After(time.Duration(round%4) * time.Millisecond)
		close(over)
		adder.Wait()
		s := onDisk(t, dir)
		checkSums(t, s)
		if (s.State == crawler.Complete) != (s.Queued == 0) || s.State == crawler.Partial {
			t.Errorf("the crawl is %s with %d queued", s.State, s.Queued)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Calls that come after Close fail, and touch nothing.
func TestCallsAfterClose(t *testing.T) {
	w := serve(t, line(2))
	c, dir := create(t, quickSaved(w), "http://a.test/0")
	run(t, c)
	before := onDisk(t, dir)
	if _, err := c.Add(t.Context(), slices.Values(one("http://a.test/x")), false); err == nil {
		t.Error("a closed crawl took a seed")
	}
	if _, err := c.Add(t.Context(), slices.Values([]crawler.Seed{}), false); err == nil {
		t.Error("a closed crawl made a checkpoint")
	}
	if err := c.Run(t.Context()); err == nil {
		t.Error("a closed crawl ran")
	}
	if after := onDisk(t, dir); after.Checkpoint.Number != before.Checkpoint.Number {
		t.Errorf("checkpoint %d after Close, the last one was %d", after.Checkpoint.Number, before.Checkpoint.Number)
	}
}

// A repeated visit says where its page was met, as the first one did.
func TestRepeatedVisitKeepsReferrer(t *testing.T) {
	w := serve(t, line(2))
	c, dir := create(t, quickSaved(w), "http://a.test/0")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if added, err := c.Add(t.Context(), slices.Values(one("http://a.test/1")), true); err != nil || added.Again != 1 {
		t.Fatalf("%+v, %v", added, err)
	}
	run(t, c)
	pages := records(t, dir)
	last := pages[len(pages)-1]
	if last.URL != "http://a.test/1" || last.Visit != 2 || last.Referrer != "http://a.test/0" || last.Depth != 1 {
		t.Errorf("the repeated visit is %+v", last)
	}
}

// The time of a pause does not count to max_time.
func TestMaxTimeLeavesPausesOut(t *testing.T) {
	t.Parallel()
	w := serve(t, line(1))
	cfg := quickSaved(w)
	cfg.Frontier.HostDelay = time.Hour
	cfg.MaxTime = new(150 * time.Millisecond)
	c, dir := create(t, cfg, "http://a.test/0", "http://a.test/1")
	if err := c.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait := goRun(t, t.Context(), c)
	eventually(t, "the crawl is paused", func() bool { return c.Snapshot().State == crawler.Paused })
	<-time.After(300 * time.Millisecond)
	if s := c.Snapshot(); s.State != crawler.Paused {
		t.Errorf("%s during a pause", s.State)
	}
	resumed := time.Now()
	if err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(resumed); took < 140*time.Millisecond {
		t.Errorf("the run ended %v after its pause, want 150 ms", took)
	}
	if s := onDisk(t, dir); s.LimitReached != "max_time" || s.State != crawler.Stopped {
		t.Errorf("%s, limit %q", s.State, s.LimitReached)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A run whose last checkpoint fails says so, and not that it was merely ended: whoever ended it would think its state
// saved.
func TestFailedLastCheckpoint(t *testing.T) {
	w := serve(t, line(50))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := w.quick()
	dir := t.TempDir()
	var once sync.Once
	cfg.OnCommit = func(*store.Page) {
		once.Do(func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
			cancel()
		})
	}
	c, err := crawler.Create(dir, cfg, seeds("http://a.test/0"))
	if err != nil {
		t.Fatal(err)
	}
	err = c.Run(ctx)
	if _, ok := errors.AsType[*store.WriteError](err); !ok || errors.Is(err, context.Canceled) {
		t.Errorf("%v, want an error of the disk alone", err)
	}
	if s := c.Snapshot(); s.State != crawler.Stopped {
		t.Errorf("%s, want stopped", s.State)
	}
	_ = c.Close() // what it would close is gone
}

// Somebody who waits for a checkpoint of a run that fails is told so.
func TestFailedRunTellsWhoWaits(t *testing.T) {
	t.Parallel()
	w := serve(t, line(50))
	cfg := w.quick()
	cfg.Frontier.HostDelay = 5 * time.Millisecond
	cfg.CheckpointInterval = 20 * time.Millisecond
	c, dir := create(t, cfg, "http://a.test/0")
	wait := goRun(t, t.Context(), c)
	eventually(t, "pages come", func() bool { return c.Snapshot().Pages > 3 })
	if err := os.Rename(dir, dir+".gone"); err != nil { // a removal would race with new files
		t.Fatal(err)
	}
	if err := c.Pause(t.Context()); err == nil {
		t.Error("a pause that no checkpoint holds was acknowledged")
	}
	err := wait()
	if _, ok := errors.AsType[*store.WriteError](err); !ok {
		t.Errorf("%v, want an error of the disk", err)
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 1 {
		t.Errorf("one failure is told as several: %v", err)
	}
	if s := c.Snapshot(); s.State != crawler.Stopped {
		t.Errorf("%s, want stopped", s.State)
	}
	_ = c.Close() // what it would close is gone
}

// A host that is given up leaves its URLs, and the crawl partial; what is added to it is another matter.
func TestPartialCrawl(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/": {do: func(http.ResponseWriter, int) { panic(http.ErrAbortHandler) }}, "http://b.test/": {body: "page"},
	})
	cfg := w.quick()
	cfg.Frontier.GiveUpAfter = 1
	cfg.Frontier.IgnoreRobots = true
	c, dir := create(t, cfg, "http://a.test/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := onDisk(t, dir); s.State != crawler.Partial || s.Stranded != 1 || s.HostsGivenUp != 1 {
		t.Errorf("%s, %d stranded", s.State, s.Stranded)
	}
	if _, err := c.Add(t.Context(), slices.Values(one("http://b.test/")), false); err != nil {
		t.Fatal(err)
	}
	if s := onDisk(t, dir); s.State != crawler.Stopped || s.Queued != 2 {
		t.Errorf("%s with %d queued, want stopped with 2", s.State, s.Queued)
	}
	run(t, c)
	if s := onDisk(t, dir); s.State != crawler.Partial || s.Queued != 1 {
		t.Errorf("%s with %d queued, want partial with 1", s.State, s.Queued)
	}
}
