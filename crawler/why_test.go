package crawler_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"crawl/canon"
	"crawl/crawler"
	"crawl/store"
)

func parseURL(t *testing.T, text string) canon.URL {
	t.Helper()
	u, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// told returns the story of a URL in both forms, from the crawl's process and from its directory.
func told(t *testing.T, c *crawler.Crawler, url string) (live, stored crawler.Story) {
	t.Helper()
	live, err := c.Why(t.Context(), parseURL(t, url))
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return live, storedStory(t, c.Dir(), url)
}

func storedStory(t *testing.T, dir, url string) crawler.Story {
	t.Helper()
	s, err := crawler.ReadStory(t.Context(), dir, parseURL(t, url))
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return s
}

func rulingBy(s crawler.Story, by crawler.RulingBy) crawler.Ruling {
	i := slices.IndexFunc(s.RulesNow, func(r crawler.Ruling) bool { return r.By == by })
	if i < 0 {
		return crawler.Ruling{}
	}
	return s.RulesNow[i]
}

// Each fate of a URL, of a crawl that runs and has one page in flight.
func TestWhyWhileRunning(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	w := serve(t, map[string]answer{
		"http://a.test/robots.txt": {body: "User-agent: *\nDisallow: /secret\n"},
		"http://a.test/":           {body: "<a href=/slow><a href=/next><a href=/gone.pdf>"},
		"http://a.test/slow":       {do: func(http.ResponseWriter, int) { <-release }},
		"http://a.test/next":       {body: "next"},
	})
	cfg := quickSaved(w)
	cfg.Scope.Exclude = []string{`\.pdf$`}
	cfg.MaxDepth = new(3)
	c, _ := create(t, cfg, "http://a.test/")
	wait := goRun(t, t.Context(), c)
	eventually(t, "the slow page is asked for", func() bool { return w.asked("http://a.test/slow") == 1 })
	eventually(t, "a checkpoint holds the first page", func() bool { return onDisk(t, c.Dir()).Pages == 1 })

	live, stored := told(t, c, "http://A.test:80/#top")
	for _, s := range []crawler.Story{live, stored} {
		if s.Fate != crawler.FateDone || s.URL != "http://a.test/" || s.Last.Outcome != "ok" || s.Last.Status != 200 ||
			s.Page == nil || s.Page.Record != 1 || s.Admission.Class != "seed" {
			t.Errorf("the seed: %+v, last event %+v", s, s.Last)
		}
	}
	live, stored = told(t, c, "http://a.test/slow")
	if q := live.Queue; live.Fate != crawler.FateInFlight || q.LeasedAt.IsZero() || time.Since(q.LeasedAt) > time.Minute || q.WaitsFor != "" {
		t.Errorf("in flight: %+v, %+v", live, live.Queue)
	}
	if q := stored.Queue; stored.Fate != crawler.FatePending || q.WaitsFor != crawler.WaitsForResume {
		t.Errorf("in flight, by the checkpoint: %+v, %+v", stored, stored.Queue)
	}
	live, stored = told(t, c, "http://a.test/next")
	if q := live.Queue; live.Fate != crawler.FatePending || q.Where != "memory" || q.WaitsFor != "busy" || q.Ahead != 0 || q.AtLeast {
		t.Errorf("pending: %+v, %+v", live, live.Queue)
	}
	for _, s := range []crawler.Story{live, stored} {
		if a := s.Admission; !s.Met() || a.Depth != 1 || a.Referrer != "http://a.test/" || a.Class != "navigation" {
			t.Errorf("pending: admitted as %+v", s.Admission)
		}
	}
	live, stored = told(t, c, "http://a.test/never")
	if r := rulingBy(live, crawler.ByMaxDepth); live.Fate != crawler.FateNeverMet || live.Met() || r.Verdict != crawler.Unknown ||
		live.Filter.Says != crawler.FilterNew || live.Filter.Rate >= 0.001 {
		t.Errorf("never met: %+v, %+v", live, live.Filter)
	}
	if r := rulingBy(stored, crawler.ByRobots); stored.Fate != crawler.FateNeverMet || r.Verdict != crawler.Unknown ||
		stored.Filter.Says != crawler.FilterNotAsked {
		t.Errorf("never met, by the checkpoint: %+v, %+v", stored, stored.Filter)
	}
	for url, by := range map[string]crawler.RulingBy{
		"http://b.test/": crawler.ByScope, "http://a.test/gone.pdf": crawler.ByScope, "http://a.test/secret": crawler.ByRobots,
	} {
		live, stored := told(t, c, url)
		if r := rulingBy(live, by); live.Fate != crawler.FateRefused || live.RefusedBy != by || r.Verdict != crawler.Refuses || r.Rule == "" {
			t.Errorf("%s: %+v", url, live)
		}
		if by == crawler.ByScope && (stored.Fate != crawler.FateRefused || stored.RefusedBy != by) {
			t.Errorf("%s, by the checkpoint: %+v", url, stored)
		}
	}

	close(release)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if live, _ := told(t, c, "http://a.test/next"); live.Fate != crawler.FateDone || live.Page == nil || live.State != crawler.Complete {
		t.Errorf("at the end: %+v", live)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Why(t.Context(), parseURL(t, "http://a.test/")); err == nil {
		t.Error("a closed crawl tells stories")
	}
}

// A URL that the filter calls seen and the log does not have is said to be lost to it.
func TestWhyFalsePositive(t *testing.T) {
	t.Parallel()
	const n = 3000
	web := map[string]answer{}
	urls := []string{}
	for i := range n {
		url := fmt.Sprintf("http://a.test/%d", i)
		web[url], urls = answer{body: "x"}, append(urls, url)
	}
	w := serve(t, web)
	cfg := w.quick()
	cfg.Seen.FalsePositiveRate, cfg.Seen.ExpectedItems, cfg.Seen.MaxBytes = 0.5, 1000, 1088
	c, dir := create(t, cfg, urls...)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken := 0
	for i := range 100 {
		s, err := c.Why(t.Context(), parseURL(t, fmt.Sprintf("http://a.test/new/%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		if s.Fate == crawler.FateTakenForSeen {
			taken++
		}
		if seen := s.Filter.Says == crawler.FilterSeen; seen != (s.Fate == crawler.FateTakenForSeen) || s.Met() || s.Filter.Rate < 0.2 {
			t.Errorf("%+v, the filter says %+v", s, s.Filter)
		}
	}
	if taken < 10 || taken > 90 {
		t.Errorf("%d of 100 are taken for seen by a filter that errs for one in three", taken)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if s := storedStory(t, dir, "http://a.test/new/1"); s.Fate != crawler.FateNeverMet || s.Filter.Rate < 0.2 {
		t.Errorf("by the checkpoint: %+v, %+v", s, s.Filter)
	}
}

// A page that failed waits aside; when its host is given up, that is what it waits for, in the checkpoint too.
func TestWhyOfFailures(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/":    {body: "<a href=/5xx><a href=http://b.test/>"},
		"http://a.test/5xx": {status: 500},
		"http://b.test/":    {status: 503}, "http://b.test/more": {body: "x"},
	})
	cfg := quickSaved(w)
	cfg.Scope.Mode = "any"
	cfg.RetryDelay = time.Hour
	cfg.Frontier.GiveUpAfter = 1
	c, dir := create(t, cfg, "http://a.test/")
	wait := goRun(t, t.Context(), c)
	eventually(t, "both have failed", func() bool { return c.Snapshot().Retries == 2 })
	live, _ := told(t, c, "http://a.test/5xx")
	if q := live.Queue; live.Fate != crawler.FatePending || q.Where != "aside" || q.WaitsFor != "retry" || q.Attempts != 1 ||
		time.Until(q.Until) < 59*time.Minute || !q.Due.Equal(q.Until) {
		t.Errorf("%+v, %+v", live, live.Queue)
	}
	if e := live.Last; e == nil || e.Event != "again" || e.Status != 500 || e.Outcome != "server_error" || e.Due.IsZero() {
		t.Errorf("last event %+v", live.Last)
	}
	live, _ = told(t, c, "http://b.test/")
	if q := live.Queue; q.WaitsFor != "given_up" || q.Detail != "too many failures" || q.HostFailures != 1 || !q.Due.IsZero() {
		t.Errorf("%+v, %+v", live, live.Queue)
	}
	c.Stop()
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if live, _ := told(t, c, "http://a.test/5xx"); live.Queue.WaitsFor != crawler.WaitsForResume {
		t.Errorf("stopped: %+v", live.Queue)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.Frontier.MaxHosts = 1 })
	if err != nil {
		t.Fatal(err)
	}
	live, stored := told(t, c, "http://b.test/") // there is room in memory for the other host alone
	if q := live.Queue; q.WaitsFor != "given_up" || q.Detail != "too many failures" || stored.Queue.WaitsFor != crawler.WaitsForResume {
		t.Errorf("given up before: %+v; by the checkpoint %+v", live.Queue, stored.Queue)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	s := storedStory(t, dir, "http://a.test/5xx")
	if s.Fate != crawler.FatePending || s.Queue.Attempts != 1 || s.Queue.WaitsFor != crawler.WaitsForResume || s.State != crawler.Stopped {
		t.Errorf("%+v, %+v", s, s.Queue)
	}
}

// What is no URL has a story too, and a bare host stands for two.
func TestSpelledAs(t *testing.T) {
	for text, want := range map[string]string{
		"http://A.test/b/../c": "http://a.test/c",
		"a.test":               "https://a.test/ http://a.test/",
		"a.test:8080/x":        "https://a.test:8080/x http://a.test:8080/x",
		"http://u:p@a.test/x":  "http://a.test/x",
		"//a.test/x":           "https://a.test/x http://a.test/x",
	} {
		urls, err := crawler.SpelledAs(text)
		var got []string
		for _, u := range urls {
			got = append(got, u.String())
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
	for text, rule := range map[string]string{
		"mailto:a@a.test": "unsupported scheme: mailto", "http://": "malformed: no host",
		"/a": "malformed: no scheme, and no base URL to resolve it against",
		"http://a.test/" + strings.Repeat("x", 16<<10): "malformed: the URL is longer than 16384 bytes",
	} {
		_, err := crawler.SpelledAs(text)
		e, unreadable := errors.AsType[*canon.Error](err)
		if !unreadable {
			t.Fatalf("%.30s: %v", text, err)
		}
		s := crawler.Unreadable(text, e)
		if s.Fate != crawler.FateRefused || s.RefusedBy != crawler.ByURL || rulingBy(s, crawler.ByURL).Rule != rule {
			t.Errorf("%.30s: %+v", text, s)
		}
	}
}

// A directory that holds no crawl has no stories.
func TestReadStoryOfNoCrawl(t *testing.T) {
	if _, err := crawler.ReadStory(t.Context(), t.TempDir(), parseURL(t, "http://a.test/")); !errors.Is(err, store.ErrNotCrawl) {
		t.Errorf("%v, want ErrNotCrawl", err)
	}
}

// A seed that was not read yet is no URL that nobody has met: the rules for links do not bind it.
func TestWhyUnreadSeed(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://a.test/": {body: "a"}, "http://b.test/x": {body: "b"}})
	cfg := quickSaved(w)
	cfg.Scope.Exclude = []string{"/x$"}
	c, _ := create(t, cfg, "http://a.test/", "http://b.test/x")
	live, stored := told(t, c, "http://b.test/x#top")
	for _, s := range []crawler.Story{live, stored} {
		if s.Fate != crawler.FateUnreadSeed || s.Met() || rulingBy(s, crawler.ByScope).Verdict != crawler.Allows {
			t.Errorf("before it was read: %+v", s)
		}
	}
	if live.State != crawler.Stopped {
		t.Errorf("the crawl is %s before it runs", live.State)
	}
	if live, stored := told(t, c, "http://b.test/y"); live.Fate != crawler.FateNeverMet || stored.Fate != crawler.FateNeverMet {
		t.Errorf("no seed: %s, %s", live.Fate, stored.Fate)
	}
	run(t, c)
	if s := storedStory(t, c.Dir(), "http://b.test/x"); s.Fate != crawler.FateDone {
		t.Errorf("once it was read: %+v", s)
	}
}
