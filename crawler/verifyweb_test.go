package crawler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/vfs"
	"crawl/internal/vfs/vfstest"
	"crawl/store"
)

// listWeb is a web in memory: a.test has a page that links to so many others, some of which are gone, redirect, or answer
// at the second attempt only; b.test/ redirects to joined.test/.
type listWeb struct {
	pages int

	mu    sync.Mutex // guards all below
	asked map[string]int
}

func newListWeb(pages int) *listWeb { return &listWeb{pages: pages, asked: make(map[string]int)} }

func (w *listWeb) Resolve(context.Context, canon.URL) (fetch.Resolution, error) {
	return fetch.Resolution{}, nil
}

func (w *listWeb) Close() error { return nil }

func (w *listWeb) Fetch(_ context.Context, r fetch.Request) (*fetch.Result, error) {
	url := r.URL.String()
	w.mu.Lock()
	w.asked[url]++
	n := w.asked[url]
	w.mu.Unlock()
	answer := func(status int, body string) (*fetch.Result, error) {
		return &fetch.Result{
			URL: r.URL, Status: status, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body), Payload: []byte(body),
		}, nil
	}
	number, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path(), "/"))
	switch {
	case url == "http://a.test/":
		var body strings.Builder
		for i := range w.pages {
			fmt.Fprintf(&body, "<a href=/%d>", i)
		}
		return answer(200, body.String())
	case url == "http://b.test/":
		result, _ := answer(301, "")
		result.Header.Set("Location", "http://joined.test/")
		return result, nil
	case url == "http://joined.test/":
		return answer(200, "<a href=/in><a href=http://outside.test/>")
	case err != nil:
		return answer(200, "<a href=/>home</a>")
	case number%10 == 3:
		return answer(404, "")
	case number%10 == 5 && n == 1:
		return answer(503, "")
	}
	return answer(200, fmt.Sprintf("<title>%d</title><a href=/%d>", number, number/2))
}

// listConfig crawls a listWeb as fast as it goes, with runs that are small.
func listConfig(w *listWeb) Config {
	cfg := DefaultConfig()
	cfg.Fetcher = w
	cfg.Frontier.IgnoreRobots = true
	cfg.Frontier.HostDelay, cfg.Frontier.DelayFactor = frontier.None, frontier.None
	cfg.Frontier.HostConcurrency = 16
	cfg.Frontier.BackoffBase = time.Millisecond
	cfg.Frontier.GiveUpAfter = frontier.None
	cfg.Frontier.MaxTasks, cfg.Frontier.MaxHosts = 300, 40
	cfg.RetryDelay = time.Millisecond
	cfg.CheckpointInterval = time.Hour
	cfg.Store = store.Config{QueueEntries: 50, RunBlocks: 1, LogBytes: 64 << 10, PagesBytes: 256 << 10, FS: unsyncedFS()}
	return cfg
}

// unsyncedFS is the real file system, which is never asked to sync.
func unsyncedFS() vfs.FS { return vfstest.Ignore(vfs.OS{}, func(vfstest.Op) bool { return true }) }

// memoryFolder returns a folder in memory where the system has one.
func memoryFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "crawl-crawler-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func seedList(seeds ...Seed) func(func(Seed, error) bool) {
	return func(yield func(Seed, error) bool) {
		for _, s := range seeds {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// listCrawl makes a crawl of a listWeb that was stopped half-way, with every part that a directory may have.
func listCrawl(t testing.TB, web *listWeb, pages uint64) string {
	t.Helper()
	dir := filepath.Join(memoryFolder(t), "a.crawl")
	cfg := listConfig(web)
	cfg.MaxPages = &pages
	c, err := Create(dir, cfg, seedList(Seed{URL: "http://a.test/", Label: "first"}, Seed{URL: "http://b.test/", Label: "second"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	added := []Seed{{URL: "http://added.test/", Label: "third"}, {URL: "http://a.test/"}}
	if _, err := c.Add(t.Context(), slices.Values(added), true); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.committer.store.Queue.Spill(t.Context()), c.workThrough(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := c.checkpoint(); err != nil {
		t.Fatal(err)
	}
	filter, err := c.committer.met.filter.Header().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var chunks []store.FilterChunk
	for i := range c.committer.met.filter.Chunks(0) {
		chunks = append(chunks, store.FilterChunk{Index: i, Data: c.committer.met.filter.AppendChunk(nil, 0, i)})
	}
	if err := c.committer.store.Filter().Write(chunks, filter); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// goOn opens a listWeb's crawl as it was run.
func goOn(dir string, w *listWeb, set func(*Config)) (*Crawler, error) {
	cfg := listConfig(w)
	st, err := store.Open(dir, cfg.Store)
	if err != nil {
		return nil, err
	}
	return open(st, func(c *Config) {
		cfg.Seen = c.Seen
		*c = cfg
		if set != nil {
			set(c)
		}
	}, true)
}

// copyCrawl copies a crawl's directory.
func copyCrawl(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(memoryFolder(t), "copy.crawl")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// recordedOnce checks that every page of the web has a record, and none has two but the one that was asked for again.
func recordedOnce(t *testing.T, dir string, w *listWeb) {
	t.Helper()
	r, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int)
	for p, err := range r.Pages(t.Context(), store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n[p.URL]++
	}
	want := map[string]int{
		"http://a.test/": 2, "http://b.test/": 1, "http://joined.test/": 1, "http://joined.test/in": 1, "http://added.test/": 1,
	}
	for i := range w.pages {
		want[fmt.Sprintf("http://a.test/%d", i)] = 1
	}
	wrong := 0
	for url := range want {
		if n[url] != want[url] && wrong < 5 {
			wrong++
			t.Errorf("%s has %d records, want %d", url, n[url], want[url])
		}
		delete(n, url)
	}
	if len(n) > 0 {
		t.Errorf("these have records too: %v", n)
	}
}

// logged collects what a crawl says.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// finish runs a crawl to its end and closes it.
func finish(t *testing.T, c *Crawler) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return errors.Join(c.Run(ctx), c.Close())
}
