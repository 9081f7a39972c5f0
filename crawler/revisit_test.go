package crawler_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"crawl/crawler"
	"crawl/store"
)

// visits lists URL, visit and outcome of each page record, sorted.
func visits(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	for _, p := range records(t, dir) {
		lines = append(lines, fmt.Sprintf("%s %d %s", strings.TrimPrefix(p.URL, "http://"), p.Visit, p.Outcome))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// healing is a web whose failures are over once healed is set.
func healing(healed *atomic.Bool, status map[string]int) map[string]answer {
	web := map[string]answer{}
	for url, code := range status {
		web[url] = answer{do: func(w http.ResponseWriter, _ int) {
			if !healed.Load() {
				w.WriteHeader(code)
			}
		}}
	}
	return web
}

func revisit(t *testing.T, c *crawler.Crawler, want crawler.Selection, n uint64) {
	t.Helper()
	done, err := c.Revisit(t.Context(), want)
	if err != nil || done.Again != n {
		t.Fatalf("%+v, %v; want %d again", done, err, n)
	}
	if s := c.Snapshot(); s.Queued < n {
		t.Errorf("%d queued, want %d at least", s.Queued, n)
	}
	checkSums(t, c.Snapshot())
}

// What ended as selected is fetched once more, of a crawl that has ended: each URL once, however often it is asked for, and
// by its last visit alone.
func TestRevisit(t *testing.T) {
	t.Parallel()
	var healed atomic.Bool
	web := healing(&healed, map[string]int{"http://a.test/500": 500, "http://a.test/404": 404, "http://b.test/503": 503})
	web["http://a.test/"] = answer{body: "<a href=/500><a href=/404><a href=http://b.test/503>"}
	w := serve(t, web)
	cfg := w.quick()
	cfg.Retries, cfg.Scope.Mode = 0, "any"
	c, dir := create(t, cfg, "http://a.test/")
	run(t, c)
	reopen := func() *crawler.Crawler {
		t.Helper()
		c, err := crawler.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c = reopen()
	if _, err := c.Revisit(t.Context(), crawler.Selection{}); err == nil {
		t.Error("nothing is selected, and it is done")
	}
	revisit(t, c, crawler.Selection{Status: []string{"301"}, Error: []string{"dns"}}, 0)
	if s := c.Snapshot(); s.State != crawler.Complete {
		t.Errorf("%s after nothing was selected", s.State)
	}
	revisit(t, c, crawler.Selection{Status: []string{"5xx"}}, 2)
	revisit(t, c, crawler.Selection{Status: []string{"5xx", "404"}}, 1) // the others are pending
	if s := onDisk(t, dir); s.State != crawler.Stopped || s.Queued != 3 || s.Done != 1 {
		t.Errorf("by the checkpoint: %s, %d queued, %d done", s.State, s.Queued, s.Done)
	}
	if err := c.Close(); err != nil { // what is pending outlives the process
		t.Fatal(err)
	}
	healed.Store(true)
	run(t, reopen())
	c = reopen()
	revisit(t, c, crawler.Selection{Status: []string{"5xx", "404"}}, 0) // those are not their last visits
	run(t, c)
	want := "a.test/ 1 ok\na.test/404 1 client_error\na.test/404 2 ok\na.test/500 1 server_error\na.test/500 2 ok\n" +
		"b.test/503 1 server_error\nb.test/503 2 ok"
	if got := visits(t, dir); got != want {
		t.Errorf("records:\n%s\nwant:\n%s", got, want)
	}
}

// A running crawl takes it too, and asks a host again that it had given up.
func TestRevisitWhileRunning(t *testing.T) {
	t.Parallel()
	var healed atomic.Bool
	release := make(chan struct{})
	web := healing(&healed, map[string]int{"http://b.test/1": 503, "http://b.test/2": 503})
	web["http://a.test/"] = answer{body: "<a href=http://b.test/1><a href=http://b.test/2><a href=/slow>"}
	web["http://a.test/slow"] = answer{do: func(http.ResponseWriter, int) { <-release }}
	w := serve(t, web)
	cfg := quickSaved(w)
	cfg.Retries, cfg.Scope.Mode, cfg.Frontier.GiveUpAfter = 0, "any", 1
	c, dir := create(t, cfg, "http://a.test/")
	wait := goRun(t, t.Context(), c)
	eventually(t, "a host is given up", func() bool { return c.Snapshot().HostsGivenUp == 1 })
	healed.Store(true)
	if done, err := c.Revisit(t.Context(), crawler.Selection{Outcome: []store.Outcome{store.OutcomeServerError}}); err != nil || done.Again != 1 {
		t.Fatalf("%+v, %v; want 1 again", done, err)
	}
	close(release)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	s := c.Snapshot()
	checkSums(t, s)
	if s.State != crawler.Complete || s.HostsGivenUp != 0 {
		t.Errorf("%s with %d hosts given up", s.State, s.HostsGivenUp)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	got := visits(t, dir)
	for _, want := range []string{"b.test/1 1 ", "b.test/2 1 ", " 2 ok"} {
		if !strings.Contains(got, want) {
			t.Errorf("no record of %q in\n%s", want, got)
		}
	}
}

// More URLs than a batch holds; each is fetched twice, none three times.
func TestRevisitInBatches(t *testing.T) {
	t.Parallel()
	const n = 2500
	var healed atomic.Bool
	status := map[string]int{}
	for i := range n {
		status[fmt.Sprintf("http://a.test/%d", i)] = 500
	}
	w := serve(t, healing(&healed, status))
	cfg := w.quick()
	cfg.Retries = 0
	c, dir := create(t, cfg, slices.Collect(maps.Keys(status))...)
	run(t, c)
	c, err := crawler.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	revisit(t, c, crawler.Selection{Hosts: []string{"*.test"}}, n)
	healed.Store(true)
	run(t, c)
	seen := map[string]int{}
	for _, p := range records(t, dir) {
		seen[p.URL]++
		if p.Visit != seen[p.URL] {
			t.Fatalf("record %d of %s is of visit %d", seen[p.URL], p.URL, p.Visit)
		}
	}
	for url := range status {
		if seen[url] != 2 {
			t.Errorf("%s was visited %d times", url, seen[url])
		}
	}
}

// What is fetched again is bound by the scope, before and after a restart, and what it redirects to does not widen that.
func TestRevisitStaysInScope(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		t.Run(fmt.Sprintf("restarted=%t", restarted), func(t *testing.T) {
			t.Parallel()
			var healed atomic.Bool
			w := serve(t, map[string]answer{
				"http://a.test/": {body: "<a href=/moved>"},
				"http://a.test/moved": {do: func(w http.ResponseWriter, _ int) {
					if !healed.Load() {
						w.WriteHeader(500)
						return
					}
					w.Header().Set("Location", "http://elsewhere.test/")
					w.WriteHeader(302)
				}},
			})
			cfg := w.quick()
			cfg.Retries = 0
			c, dir := create(t, cfg, "http://a.test/")
			run(t, c)
			healed.Store(true)
			open := func() {
				t.Helper()
				var err error
				if c, err = crawler.Open(dir, nil); err != nil {
					t.Fatal(err)
				}
			}
			open()
			revisit(t, c, crawler.Selection{Outcome: []store.Outcome{store.OutcomeServerError}}, 1)
			if restarted {
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				open()
			}
			run(t, c)
			if n := len(w.times("http://elsewhere.test/")); n > 0 {
				t.Errorf("%d requests to a host out of scope", n)
			}
			if s := onDisk(t, dir); s.ByReason["out_of_scope"] != 1 || s.State != crawler.Complete {
				t.Errorf("%s, %v", s.State, s.ByReason)
			}
		})
	}
}
