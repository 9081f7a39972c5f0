package crawler_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/store"
)

// A host that was asked by the process before is left alone for its whole delay, and asked for its rules once more.
func TestDelayAfterRestart(t *testing.T) {
	t.Parallel()
	const delay = 300 * time.Millisecond
	w := serve(t, map[string]answer{
		"http://a.test/robots.txt": {body: "User-agent: *\nDisallow: /secret\n"},
		"http://a.test/":           {body: "<a href=/1><a href=/secret>"}, "http://a.test/1": {body: "page"},
	})
	cfg := w.quick()
	cfg.Frontier.HostDelay = delay
	cfg.MaxPages = new(uint64(1))
	c, dir := create(t, cfg, "http://a.test/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	opened := time.Now()
	c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.MaxPages = nil })
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	at := w.times("http://a.test/") // the last two: robots.txt, /1
	if gap := at[len(at)-2].Sub(opened); gap < delay {
		t.Errorf("asked %v after the start, want %v", gap, delay)
	}
	if n := w.asked("http://a.test/robots.txt"); n != 2 {
		t.Errorf("robots.txt was asked for %d times, want once by each process", n)
	}
	wantOutcomes(t, pagesByURL(t, dir), map[string]string{"http://a.test/1": "ok", "http://a.test/secret": "robots_denied"})
}

// A host that wants to be left alone is, by the next process too.
func TestBackoffAfterRestart(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/busy": {do: busyOnce("1")}, "http://a.test/other": {body: "page"},
	})
	c, dir := create(t, w.quick(), "http://a.test/busy", "http://a.test/other")
	stopAfterFailure(t, c)
	run(t, reopen(t, c, dir))
	if gap := w.times("http://a.test/robots.txt")[1].Sub(w.times("http://a.test/busy")[0]); gap < time.Second {
		t.Errorf("the host was asked again after %v, want 1s", gap)
	}
	wantOutcomes(t, pagesByURL(t, dir), map[string]string{"http://a.test/busy": "ok", "http://a.test/other": "ok"})
}

// A long back-off is in a checkpoint at once, and not only when the next one is due: whoever kills the process meanwhile
// does not make it impolite. A shorter one is too where the host has asked for it.
func TestLongBackoffIsSavedAtOnce(t *testing.T) {
	t.Parallel()
	for _, retryAfter := range []string{"3600", "30"} {
		t.Run(retryAfter, func(t *testing.T) {
			t.Parallel()
			backoffIsSavedAtOnce(t, retryAfter)
		})
	}
}

func backoffIsSavedAtOnce(t *testing.T, retryAfter string) {
	w := serve(t, map[string]answer{"http://a.test/": {do: busyOnce(retryAfter)}})
	dir := t.TempDir()
	cfg := w.quick()
	cfg.CheckpointInterval = time.Minute
	told := make(chan store.Cut, 1)
	cfg.OnCheckpoint = func(cut store.Cut) {
		select {
		case told <- cut:
		default: // the first is enough
		}
	}
	c, err := crawler.Create(dir, cfg, seeds("http://a.test/"))
	if err != nil {
		t.Fatal(err)
	}
	ended := goRun(t, t.Context(), c)
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Fatal("no checkpoint was made")
	}
	killed := filepath.Join(t.TempDir(), "killed.crawl")
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	c.Stop()
	if err := ended(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	before := len(w.times("http://"))
	c, err = crawler.Open(killed, func(cfg *crawler.Config) { cfg.MaxTime = new(200 * time.Millisecond) })
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if after := len(w.times("http://")); after != before {
		t.Errorf("%d requests to a host that wants none for %s seconds", after-before, retryAfter)
	}
}

func busyOnce(retryAfter string) func(http.ResponseWriter, int) {
	return func(out http.ResponseWriter, n int) {
		if n == 1 {
			out.Header().Set("Retry-After", retryAfter)
			out.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}
