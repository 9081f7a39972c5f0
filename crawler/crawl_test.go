package crawler_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/testweb"
	"crawl/store"
)

// TestCrawlFetchesExactlyTheList crawls a web of 5,000 URLs on 50 hosts and compares what came of it with the web's own
// list, from both sides: the page records, and what the server was asked.
func TestCrawlFetchesExactlyTheList(t *testing.T) {
	hosts := 50
	if testing.Short() {
		hosts = 10
	}
	const delay = 4 * time.Millisecond
	site, server := startWeb(t, testweb.Config{Seed: 3, Hosts: hosts, PagesPerHost: 100, Latency: 2 * time.Millisecond, FailRate503: 0.01})
	cfg := siteConfig(server)
	cfg.Frontier.HostDelay = delay
	cfg.Concurrency = 32
	dir := t.TempDir()
	c, err := crawler.Create(dir, cfg, seeds(site.Seeds()...))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if s := c.Snapshot(); s.State != crawler.Complete || s.Retries == 0 {
		t.Errorf("the crawl is %s with %d retries, want complete, and some", s.State, s.Retries)
	}
	if report := site.Check(requested(records(t, dir)), testweb.Nofollow); !report.OK() {
		t.Errorf("by its records: %s", report)
	}
	if report := site.Check(server.Journal().Fetched(), testweb.Nofollow); !report.OK() {
		t.Errorf("by what the server was asked: %s", report)
	}
	for h := range server.Journal().Hosts() {
		if h.MaxInFlight > 1 || h.MinPause < delay || !h.RobotsFirst {
			t.Errorf("%s: %d requests at once, a pause of %v, robots.txt first %v; want 1, at least %v, true",
				h.Host, h.MaxInFlight, h.MinPause, h.RobotsFirst, delay)
		}
	}
}

// The counters say what the page records and the web's own server say.
func TestCountersMatch(t *testing.T) {
	t.Parallel()
	site, server := startWeb(t, testweb.Config{Seed: 3, Hosts: 5, PagesPerHost: 60, FailRate503: 0.05})
	c, dir := create(t, siteConfig(server), site.Seeds()...)
	run(t, c)
	s := c.Snapshot()
	links, bytes := uint64(len(site.Seeds())), int64(0)
	statuses := make(map[int]uint64)
	pages := records(t, dir)
	for _, p := range pages {
		links += uint64(p.LinkCount)
		if p.RedirectTo != "" {
			links++
		}
		if p.Status != 0 {
			statuses[p.Status]++
		}
		bytes += p.BodyBytes
	}
	if s.Pages != uint64(len(pages)) || s.Done != s.Pages || s.Admitted != s.Pages {
		t.Errorf("%d pages, %d done, %d admitted, %d records", s.Pages, s.Done, s.Admitted, len(pages))
	}
	if s.Discovered != links || !maps.Equal(s.ByStatus, statuses) || s.BodyBytes < uint64(bytes) {
		t.Errorf("%d links, %v, %d bytes; the records have %d, %v, %d", s.Discovered, s.ByStatus, s.BodyBytes, links, statuses, bytes)
	}
	if got := uint64(server.Journal().Requests()); s.Requests != got || s.Retries == 0 || s.Retries != s.Errors["status_503"] {
		t.Errorf("%d requests, the server counts %d; %d retries, errors %v", s.Requests, got, s.Retries, s.Errors)
	}
}

func TestCrawlOverTLS(t *testing.T) {
	t.Parallel()
	site, err := testweb.New(testweb.Config{Seed: 4, Hosts: 4, PagesPerHost: 20, HTTPS: true, Gzip: true})
	if err != nil {
		t.Fatal(err)
	}
	server, err := site.StartTLS()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	cfg := siteConfig(server)
	cfg.Fetch.InsecureTLS = true
	dir := t.TempDir()
	c, err := crawler.Create(dir, cfg, seeds(site.Seeds()...))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if report := site.Check(requested(records(t, dir)), testweb.Nofollow); !report.OK() {
		t.Error(report)
	}
}

func startWeb(t *testing.T, cfg testweb.Config) (*testweb.Site, *testweb.Server) {
	t.Helper()
	site, err := testweb.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server, err := site.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return site, server
}

func siteConfig(server *testweb.Server) crawler.Config {
	cfg := crawler.DefaultConfig()
	cfg.Frontier.HostDelay = frontier.None
	cfg.Frontier.BackoffBase = 10 * time.Millisecond
	cfg.RetryDelay = 10 * time.Millisecond
	cfg.Fetch.ConnectTo = []fetch.ConnectTo{everythingTo(server.Addr())}
	return cfg
}

// requested yields the URLs of records that a request led to.
func requested(pages []*store.Page) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, p := range pages {
			if p.Status != 0 && !yield(p.URL) {
				return
			}
		}
	}
}

// polite-01: the delay is the host's, not the worker's; robots.txt counts.
func TestDelayBelongsToTheHost(t *testing.T) {
	t.Parallel()
	const delay = 60 * time.Millisecond
	pages := make(map[string]answer)
	var urls []string
	for i := range 12 {
		url := fmt.Sprintf("http://a.test/%d", i)
		pages[url], urls = answer{body: "page"}, append(urls, url)
	}
	w := serve(t, pages)
	cfg := w.quick()
	cfg.Concurrency = 8
	cfg.Frontier.HostDelay = delay
	_, s := crawl(t, cfg, urls...)
	at := w.times("http://a.test/")
	if len(at) != 13 || s.Done != 12 {
		t.Fatalf("%d requests and %d pages done, want 13 and 12", len(at), s.Done)
	}
	for i := 1; i < len(at); i++ {
		if gap := at[i].Sub(at[i-1]); gap < delay {
			t.Errorf("requests %d and %d are %v apart, want %v", i-1, i, gap, delay)
		}
	}
}

// polite-02: a host that must wait is put aside.
func TestSlowHostHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	pages := map[string]answer{"http://slow.test/robots.txt": {body: "User-agent: *\nCrawl-delay: 0.5\n"}}
	urls := []string{}
	for i := range 4 {
		urls = append(urls, fmt.Sprintf("http://slow.test/%d", i))
	}
	for h := range 10 {
		for i := range 20 {
			urls = append(urls, fmt.Sprintf("http://h%d.test/%d", h, i))
		}
	}
	for _, url := range urls {
		pages[url] = answer{body: "page"}
	}
	w := serve(t, pages)
	cfg := w.quick()
	cfg.Concurrency = 2
	start := time.Now()
	crawl(t, cfg, urls...)
	slow := w.times("http://slow.test/")
	for i := 1; i < len(slow); i++ {
		if gap := slow[i].Sub(slow[i-1]); gap < 500*time.Millisecond {
			t.Errorf("two requests to the slow host are %v apart", gap)
		}
	}
	others := w.times("http://h")
	if took := others[len(others)-1].Sub(start); took > slow[len(slow)-1].Sub(start) {
		t.Errorf("the other hosts took %v, as long as the slow one", took)
	}
	if len(others) != 210 {
		t.Errorf("%d requests to the others, want 210", len(others))
	}
}

// polite-03: a server that is busy is left alone for as long as it says.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		value func() string
		least time.Duration
	}{
		{"seconds", func() string { return "1" }, time.Second},
		{"a date", func() string { return time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat) }, time.Second},
		{"negative", func() string { return "-5" }, 100 * time.Millisecond},
		{"no number", func() string { return "soon" }, 100 * time.Millisecond},
		{"a date gone by", func() string { return "Mon, 02 Jan 2006 15:04:05 GMT" }, 100 * time.Millisecond},
		{"a year, capped", func() string { return "31536000" }, 1500 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, map[string]answer{
				"http://a.test/busy": {do: func(out http.ResponseWriter, n int) {
					if n == 1 {
						out.Header().Set("Retry-After", tt.value())
						out.WriteHeader(http.StatusTooManyRequests)
					}
				}},
				"http://a.test/other": {body: "page"},
			})
			cfg := w.quick()
			cfg.RetryDelay, cfg.Frontier.BackoffBase = 100*time.Millisecond, 100*time.Millisecond
			cfg.Frontier.MaxRetryAfter = 1500 * time.Millisecond
			pages, s := crawl(t, cfg, "http://a.test/busy", "http://a.test/other")
			if p := pages["http://a.test/busy"]; p == nil || p.Status != 200 || s.Retries != 1 {
				t.Errorf("%d retries, and the record is %+v", s.Retries, p)
			}
			at := w.times("http://a.test/")[1:] // after robots.txt
			if wait := at[1].Sub(at[0]); wait < tt.least || wait > tt.least+3*time.Second {
				t.Errorf("the host was asked again after %v, want %v", wait, tt.least)
			}
		})
	}
}

// A host's word to be left alone counts with every answer that is no success, and of its robots.txt as of its pages.
func TestRetryAfterOfEveryStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		heeded bool
	}{{200, false}, {206, false}, {301, true}, {302, true}, {307, true}, {403, true}, {404, true}, {413, true}, {500, true}, {502, true}} {
		for _, path := range []string{"/busy", "/robots.txt"} {
			t.Run(fmt.Sprintf("%d%s", tt.status, path), func(t *testing.T) {
				t.Parallel()
				w := serve(t, map[string]answer{
					"http://a.test" + path: {do: func(out http.ResponseWriter, n int) {
						if n == 1 {
							out.Header().Set("Retry-After", "1")
							out.Header().Set("Location", "/other")
							out.WriteHeader(tt.status)
						}
					}},
					"http://a.test/other": {body: "page"},
				})
				crawl(t, w.quick(), "http://a.test/busy", "http://a.test/other")
				at := w.times("http://a.test/")
				if path == "/busy" {
					at = at[1:] // after robots.txt
				}
				if wait := at[1].Sub(at[0]); (wait >= time.Second) != tt.heeded {
					t.Errorf("the host was asked again after %v; Retry-After is 1 s, want it heeded: %v", wait, tt.heeded)
				}
			})
		}
	}
}

// A page whose type is said more than once is what the last of them says, as browsers take it.
func TestSeveralContentTypes(t *testing.T) {
	t.Parallel()
	typed := func(types ...string) answer {
		return answer{do: func(out http.ResponseWriter, _ int) {
			out.Header()["Content-Type"] = types
			io.WriteString(out, "<a href=/of-"+strconv.Itoa(len(types))+">")
		}}
	}
	w := serve(t, map[string]answer{
		"http://a.test/1": typed("text/plain, text/html"), "http://a.test/2": typed("text/plain", "text/html"),
		"http://a.test/3":    typed("text/html", "text/html", "text/plain"),
		"http://a.test/of-1": {body: "page"}, "http://a.test/of-2": {body: "page"}, "http://a.test/of-3": {body: "page"},
	})
	pages, _ := crawl(t, w.quick(), "http://a.test/1", "http://a.test/2", "http://a.test/3")
	wantOutcomes(t, pages, map[string]string{
		"http://a.test/of-1": "ok", "http://a.test/of-2": "ok", "http://a.test/of-3": "no record",
	})
	if got := pages["http://a.test/2"].ContentType; got != "text/html" {
		t.Errorf("the record says %q", got)
	}
}

// robots-09: what robots.txt answers decides, when it is not 200 as well.
func TestRobotsAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		robots answer
		want   string
	}{
		{"404 has no rules", answer{status: 404, body: "User-agent: *\nDisallow: /"}, "ok"},
		{"410 has no rules", answer{status: 410}, "ok"},
		{"500 closes", answer{status: 500, body: "User-agent: *\nAllow: /"}, "robots_denied"},
		{"503 closes", answer{status: 503}, "robots_denied"},
		{"429 closes", answer{status: 429}, "robots_denied"},
		{"a page has no rules", answer{body: "<!doctype html><title>Welcome</title><p>no rules here"}, "ok"},
		{"an empty file", answer{}, "ok"},
		{"a redirect is followed", redirect("/rules"), "robots_denied"},
		{"a redirect to another host is", redirect("http://b.test/rules"), "robots_denied"},
		{"a loop has no rules", redirect("/robots.txt"), "ok"},
		{"no answer closes", answer{do: func(out http.ResponseWriter, _ int) { panic(http.ErrAbortHandler) }}, "failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rules := answer{body: "User-agent: *\nDisallow: /"}
			w := serve(t, map[string]answer{
				"http://a.test/robots.txt": tt.robots, "http://a.test/page": {body: "page"},
				"http://a.test/rules": rules, "http://b.test/rules": rules,
			})
			pages, s := crawl(t, w.quick(), "http://a.test/page")
			if got := outcome(pages["http://a.test/page"]); got != tt.want || s.State != crawler.Complete {
				t.Errorf("the page is %s and the crawl %s, want %s and complete: %+v", got, s.State, tt.want, pages["http://a.test/page"].Error)
			}
			if asked := w.asked("http://a.test/page"); (asked > 0) != (tt.want == "ok") {
				t.Errorf("the page was asked for %d times", asked)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	site := map[string]answer{"http://a.test/": {body: "<a href=/1>"}}
	for i := 1; i < 50; i++ {
		site[fmt.Sprintf("http://a.test/%d", i)] = answer{body: fmt.Sprintf("<a href=/%d><a href=/x%d>", i+1, i)}
	}
	for _, tt := range []struct {
		name    string
		set     func(*crawler.Config)
		records int
		state   crawler.State
		limit   string
	}{
		{"max_pages", func(c *crawler.Config) { c.MaxPages = new(uint64(7)) }, 7, crawler.Stopped, "max_pages"},
		{"max_pages of none", func(c *crawler.Config) { c.MaxPages = new(uint64(0)) }, 0, crawler.Stopped, "max_pages"},
		{"max_depth of seeds only", func(c *crawler.Config) { c.MaxDepth = new(0) }, 1, crawler.Complete, ""},
		{"max_depth", func(c *crawler.Config) { c.MaxDepth = new(2) }, 4, crawler.Complete, ""},
		{"max_time", func(c *crawler.Config) {
			c.MaxTime = new(50 * time.Millisecond)
			c.Frontier.HostDelay = 10 * time.Second
		}, 0, crawler.Stopped, "max_time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, site)
			cfg := w.quick()
			tt.set(&cfg)
			pages, s := crawl(t, cfg, "http://a.test/")
			if len(pages) != tt.records || s.State != tt.state || s.LimitReached != tt.limit {
				t.Errorf("%d records, %s, limit %q; want %d, %s, %q", len(pages), s.State, s.LimitReached, tt.records, tt.state, tt.limit)
			}
		})
	}
}

// A limit that is raised lets the crawl go on where it was.
func TestRaisedLimitGoesOn(t *testing.T) {
	site, server := startWeb(t, testweb.Config{Seed: 5, Hosts: 3, PagesPerHost: 30})
	cfg := siteConfig(server)
	cfg.MaxPages = new(uint64(20))
	dir := t.TempDir()
	c, err := crawler.Create(dir, cfg, seeds(site.Seeds()...))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if n := len(records(t, dir)); n != 20 {
		t.Fatalf("%d records, want 20", n)
	}
	c, err = crawler.Open(dir, func(cfg *crawler.Config) { cfg.MaxPages = nil })
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if report := site.Check(requested(records(t, dir)), testweb.Nofollow); !report.OK() {
		t.Error(report)
	}
}

// resume-02: a crawl that was stopped fetches nothing again, and one that is complete fetches nothing at all.
func TestStoppedCrawlGoesOn(t *testing.T) {
	site, server := startWeb(t, testweb.Config{Seed: 6, Hosts: 5, PagesPerHost: 40, Latency: 2 * time.Millisecond})
	dir := t.TempDir()
	cfg := siteConfig(server)
	c, err := crawler.Create(dir, cfg, seeds(site.Seeds()...))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for c.Snapshot().Pages < 60 {
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
			}
		}
		cancel()
	}()
	if err := c.Run(ctx); err == nil {
		t.Fatal("a crawl that was cut off says that it is done")
	}
	checkSums(t, c.Snapshot())
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		before := server.Journal().Requests()
		if c, err = crawler.Open(dir, nil); err != nil {
			t.Fatal(err)
		}
		again := c.Snapshot().Queued == 0
		run(t, c)
		if again && server.Journal().Requests() != before {
			t.Error("a complete crawl asked for something")
		}
	}
	if report := site.Check(server.Journal().Fetched(), testweb.Nofollow); !report.OK() {
		t.Error(report)
	}
}

func TestAdd(t *testing.T) {
	w := serve(t, map[string]answer{
		"http://a.test/": {body: "<a href=/1>"}, "http://a.test/1": {body: "one"}, "http://b.test/": {body: "<a href=/2>"},
		"http://b.test/2": {body: "two"},
	})
	dir := t.TempDir()
	c, err := crawler.Create(dir, w.quick(), seeds("http://a.test/"))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	c, err = crawler.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	added, err := c.Add(t.Context(), slices.Values([]crawler.Seed{
		{URL: "http://b.test/", Label: "second"}, {URL: "http://a.test/1"}, {URL: "mailto:nobody"},
	}), true)
	if err != nil || added.Admitted != 1 || added.Again != 1 || len(added.Refused) != 1 {
		t.Fatalf("added %+v, %v", added, err)
	}
	if err := c.Close(); err != nil { // what Add answered is on disk
		t.Fatal(err)
	}
	if c, err = crawler.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	run(t, c)
	var got []string
	for _, p := range records(t, dir) {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s", p.URL, p.Visit, p.Seed)))
	}
	slices.Sort(got)
	want := []string{"http://a.test/ 1", "http://a.test/1 1", "http://a.test/1 2", "http://b.test/ 1 second", "http://b.test/2 1 second"}
	if !slices.Equal(got, want) {
		t.Errorf("records %v, want %v", got, want)
	}
}

// One page that is broken is tried again later: the rest of its site is not held up by it, nor lost with it.
func TestBrokenPagesHoldUpNobody(t *testing.T) {
	const wait = 300 * time.Millisecond
	web := map[string]answer{}
	var urls []string
	for i := range 8 {
		bad, good := fmt.Sprintf("http://a.test/bad/%d", i), fmt.Sprintf("http://a.test/good/%d", i)
		web[bad], web[good] = answer{status: 500}, answer{body: "page"}
		if i%2 == 1 {
			web[bad] = answer{header: map[string]string{"Content-Length": "1000"}, body: "cut"}
		}
		urls = append(urls, bad, good)
	}
	w := serve(t, web)
	cfg := w.quick()
	cfg.RetryDelay, cfg.Retries, cfg.Frontier.GiveUpAfter = wait, 2, 3
	start := time.Now()
	pages, s := crawl(t, cfg, urls...)
	if s.State != crawler.Complete || s.Done != 16 || s.Retries != 16 {
		t.Errorf("%s, %d done, %d retries; want complete, 16, 16", s.State, s.Done, s.Retries)
	}
	good := w.times("http://a.test/good/")
	if len(good) != 8 || good[7].Sub(start) > wait {
		t.Errorf("%d good pages, the last after %v; want 8 before the first retry", len(good), good[len(good)-1].Sub(start))
	}
	wantOutcomes(t, pages, map[string]string{"http://a.test/bad/0": "server_error", "http://a.test/bad/1": "truncated"})
}
