package crawler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"crawl/crawler"
)

// A URL of megabytes, wherever it stands, is refused and ends nothing.
func TestEndlessURL(t *testing.T) {
	long := "http://a.test/" + strings.Repeat("x", 300<<10)
	w := serve(t, map[string]answer{
		"http://a.test/":   {body: "<link rel=canonical href='" + long + "'><a href='" + long + "'><a href=/go><a href=/1>"},
		"http://a.test/go": redirect("/" + strings.Repeat("y", 20<<10)),
		"http://a.test/1":  {body: "page"},
	})
	c, dir := create(t, w.quick(), "http://a.test/", long)
	added, err := c.Add(t.Context(), slices.Values([]crawler.Seed{{URL: long}, {URL: "http://b.test/"}}), false)
	if err != nil || added.Admitted != 1 || len(added.Refused) != 1 || len(added.Refused[0]) > 1000 {
		t.Errorf("added %d, refused %d, %v", added.Admitted, len(added.Refused), err)
	}
	run(t, c)
	pages := pagesByURL(t, dir)
	wantOutcomes(t, pages, map[string]string{"http://a.test/": "ok", "http://a.test/1": "ok", "http://a.test/go": "redirect"})
	if p := pages["http://a.test/"]; p.Canonical != "" || p.Error != nil {
		t.Errorf("the page is recorded with an error %+v and a canonical URL of %d bytes", p.Error, len(p.Canonical))
	}
	if p := pages["http://a.test/go"]; p.Error == nil || p.Error.Code != "bad_location" {
		t.Errorf("the redirect to it is recorded as %+v", p.Error)
	}
	if s := onDisk(t, dir); s.ByReason["malformed"] != 2 || s.State != crawler.Complete {
		t.Errorf("%s, reasons %v", s.State, s.ByReason)
	}
}

// A page of more links than a fetcher keeps room for is read whole, and so is what follows it.
func TestHugePage(t *testing.T) {
	const links = 20_000
	var body strings.Builder
	for i := range links {
		fmt.Fprintf(&body, "<a href='http://b.test/%d'>", i)
	}
	w := serve(t, map[string]answer{"http://a.test/": {body: body.String() + "<a href=/1>"}, "http://a.test/1": {body: "<a href=/>"}})
	cfg := w.quick()
	cfg.Concurrency = 1
	pages, s := crawl(t, cfg, "http://a.test/")
	if n := pages["http://a.test/"].LinkCount; n != links+1 || s.ByReason["out_of_scope"] != links || s.ByReason["seen"] != 1 {
		t.Errorf("%d links, reasons %v", n, s.ByReason)
	}
	wantOutcomes(t, pages, map[string]string{"http://a.test/1": "ok"})
}

// A filter that is full calls everything seen. What the user names is admitted all the same, and the books can be kept.
func TestFullFilter(t *testing.T) {
	w := serve(t, nil)
	cfg := quickSaved(w)
	cfg.Seen.ExpectedItems, cfg.Seen.MaxBytes = 1000, 4096
	var urls []string
	for i := range 30_000 {
		urls = append(urls, fmt.Sprintf("http://a.test/%d", i))
	}
	c, dir := create(t, cfg, urls...)
	if err := c.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait := goRun(t, t.Context(), c)
	eventually(t, "all seeds are admitted", func() bool { return c.Snapshot().Admitted == uint64(len(urls)) })
	c.Stop()
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	s := onDisk(t, dir)
	checkSums(t, s)
	if !s.Seen.Capped || s.Queued != uint64(len(urls)) || s.Seen.ExpectedSkipped < float64(len(urls)) {
		t.Errorf("%d queued, the filter is %+v", s.Queued, s.Seen)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
