package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crawl/crawler"
	"crawl/store"
)

// sightWeb: the seed leads to two pages, which have links in common and of their own.
func sightWeb(t *testing.T) *web {
	return serve(t, map[string]answer{
		"http://a.test/":            {body: "<a href=/one><a href=/two>"},
		"http://a.test/one":         {body: "<a href=/both><a href=/once><a href=/once#again><a href=/ONCE><a href=/moved><a href=/two><img src=/img>"},
		"http://a.test/two":         {body: "<a href=/both><a href=/only><a href=/moved>"},
		"http://a.test/both":        {body: "<a href=/below>"},
		"http://a.test/moved":       {status: 301, header: map[string]string{"Location": "/target"}},
		"http://a.test/target":      {body: "page"},
		"http://a.test/sitemap.xml": {header: map[string]string{"Content-Type": "application/xml"}, body: "<urlset><url><loc>http://a.test/listed</loc></url></urlset>"},
		"http://a.test/listed":      {body: "page"},
		"http://a.test/img":         {header: map[string]string{"Content-Type": "image/png"}, body: "x"},
	})
}

func sightConfig(w *web) crawler.Config {
	cfg := w.quick()
	cfg.Concurrency, cfg.Requisites, cfg.AdmitAfter.Pages = 1, true, 2
	return cfg
}

// With admit_after 2 a URL is fetched once two pages link to it. Links on a seed, redirects' targets, what pages are made of
// and what a list names wait for nothing. Two links on one page are one.
func TestAdmitAfterTwo(t *testing.T) {
	t.Parallel()
	w := sightWeb(t)
	c, dir := create(t, sightConfig(w), "http://a.test/", "http://a.test/sitemap.xml")
	run(t, c)
	wantOutcomes(t, pagesByURL(t, dir), map[string]string{
		"http://a.test/one": "ok", "http://a.test/two": "ok", "http://a.test/both": "ok", "http://a.test/moved": "redirect",
		"http://a.test/target": "ok", "http://a.test/img": "ok", "http://a.test/listed": "ok",
		"http://a.test/once": "no record", "http://a.test/only": "no record", "http://a.test/below": "no record",
	})
	s := onDisk(t, dir)
	// both, once, ONCE and moved on one page, only on another, below on a third.
	if s.State != crawler.Complete || s.ByReason["first_sight"] != 6 || s.ByReason["repeated"] != 1 || s.FirstSights == nil {
		t.Fatalf("%s, %v, %+v", s.State, s.ByReason, s.FirstSights)
	}
	if f := s.FirstSights; f.Items != 6 || f.Promoted != 2 || f.Bytes == 0 || f.Pages != 2 {
		t.Errorf("%+v", f)
	}
	if _, off := crawl(t, w.quick(), "http://a.test/"); off.ByReason["first_sight"] != 0 || off.FirstSights != nil || off.ByOutcome["client_error"] == 0 {
		t.Errorf("without it: %v, %v", off.ByReason, off.ByOutcome)
	}
}

// A page that is fetched again is no second page. First sights outlive the process, and a second page that comes later
// admits them; a crawl that is asked says what a URL waits for.
func TestFirstSightsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	for _, exact := range []bool{false, true} {
		t.Run(fmt.Sprintf("exact %v", exact), func(t *testing.T) {
			t.Parallel()
			w := serve(t, map[string]answer{
				"http://a.test/":      {body: "<a href=/one>"},
				"http://a.test/one":   {body: "<a href=/x>"},
				"http://a.test/two":   {body: "<a href=/three>"},
				"http://a.test/three": {body: "<a href=/x>"},
				"http://a.test/x":     {body: "page"},
			})
			cfg := sightConfig(w)
			cfg.Exact, cfg.Conditional = exact, false
			c, dir := create(t, cfg, "http://a.test/")
			run(t, c)
			if c = reopened(t, dir); c.Snapshot().FirstSights.Items != 1 {
				t.Errorf("reopened with %+v", c.Snapshot().FirstSights)
			}
			if r := rulingBy(why(t, c, "http://a.test/x"), crawler.BySights); r.Verdict != crawler.Refuses || !strings.HasPrefix(r.Rule, "one page links to it") {
				t.Errorf("why says %+v", r)
			}
			if r := rulingBy(why(t, c, "http://a.test/y"), crawler.BySights); r.Verdict != crawler.Unknown {
				t.Errorf("why says %+v", r)
			}
			if _, err := c.Revisit(t.Context(), crawler.Selection{Outcome: []store.Outcome{store.OutcomeOK}}); err != nil {
				t.Fatal(err)
			}
			run(t, c)
			if w.asked("http://a.test/one") != 2 || w.asked("http://a.test/x") != 0 {
				t.Errorf("a page that was fetched %d times is a second page", w.asked("http://a.test/one"))
			}
			c = reopened(t, dir)
			if _, err := c.Add(t.Context(), slices.Values([]crawler.Seed{{URL: "http://a.test/two"}}), false); err != nil {
				t.Fatal(err)
			}
			run(t, c)
			if w.asked("http://a.test/x") != 1 {
				t.Errorf("a second page links to it, and it was asked for %d times", w.asked("http://a.test/x"))
			}
		})
	}
}

func reopened(t *testing.T, dir string) *crawler.Crawler {
	t.Helper()
	c, err := crawler.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func why(t *testing.T, c *crawler.Crawler, url string) crawler.Story {
	t.Helper()
	s, err := c.Why(t.Context(), parseURL(t, url))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// First sights that cannot be read back are lost, which is said, and no page is.
func TestFirstSightsDamaged(t *testing.T) {
	t.Parallel()
	w := sightWeb(t)
	cfg := sightConfig(w)
	c, dir := create(t, cfg, "http://a.test/")
	run(t, c)
	logs, err := filepath.Glob(filepath.Join(dir, "sights", "*.sights"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	text, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	if err := os.WriteFile(logs[0], text, 0o644); err != nil {
		t.Fatal(err)
	}
	said := new(logged)
	for range 2 { // the second time nothing is wrong any more
		c, err = crawler.Open(dir, func(cfg *crawler.Config) { cfg.Log = said.log() })
		if err != nil {
			t.Fatal(err)
		}
		run(t, c)
	}
	if n := strings.Count(said.String(), "first sights of URLs are lost"); n != 1 {
		t.Errorf("said %d times: %s", n, said)
	}
}

// Another process goes on from a checkpoint: first sights after it are gone with the pages that they stood on, which are
// fetched again; those before it count.
func TestFirstSightsAreCutAtTheCheckpoint(t *testing.T) {
	t.Parallel()
	var copied string
	var c *crawler.Crawler
	var dir string
	w := serve(t, map[string]answer{
		"http://a.test/":    {body: "<a href=/one><a href=/two><a href=/gate>"},
		"http://a.test/one": {body: "<a href=/x>"},
		"http://a.test/two": {body: "<a href=/y>"},
		"http://a.test/gate": {do: func(out http.ResponseWriter, n int) {
			if n == 1 { // both first sights are in a checkpoint
				if err := c.Pause(context.Background()); err != nil {
					t.Error(err)
				}
				copied = filepath.Join(t.TempDir(), "copy")
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					t.Error(err)
				}
				if err := c.Resume(context.Background()); err != nil {
					t.Error(err)
				}
			}
			out.Header().Set("Content-Type", "text/html")
			fmt.Fprint(out, "<a href=/x><a href=/z>")
		}},
		"http://a.test/x": {body: "page"},
	})
	cfg := sightConfig(w)
	c, dir = create(t, cfg, "http://a.test/")
	run(t, c)
	again, err := crawler.Open(copied, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := again.Snapshot().FirstSights; f.Items != 2 {
		t.Errorf("the copy has %+v", f)
	}
	run(t, again)
	for _, d := range []string{dir, copied} {
		wantOutcomes(t, pagesByURL(t, d), map[string]string{"http://a.test/x": "ok", "http://a.test/y": "no record", "http://a.test/z": "no record"})
		if s := onDisk(t, d); s.FirstSights.Promoted != 1 || s.ByReason["first_sight"] != 3 {
			t.Errorf("%+v, %v", s.FirstSights, s.ByReason)
		}
	}
}
