package crawler_test

import (
	"fmt"
	"strings"
	"testing"

	"crawl/crawler"
)

// trap-01: a server that answers everything with relative links comes to an end, and keeps no real page from being
// fetched.
func TestTrapOfRelativeLinks(t *testing.T) {
	t.Parallel()
	const page = `<a href="AJAX/index.php">a</a> <a href="infra/www/">b</a>`
	w := serve(t, map[string]answer{"http://a.test/robots.txt": {status: 404}})
	want := make(map[string]string)
	var real strings.Builder
	for i := range 10 {
		url := fmt.Sprintf("http://a.test/real/%d", i+1)
		want[url] = "ok"
		fmt.Fprintf(&real, "<a href=%s>", url)
	}
	w.other = func(url string) string {
		if url == "http://a.test/" {
			return page + real.String()
		}
		return page
	}
	pages, s := crawl(t, w.quick(), "http://a.test/")
	wantOutcomes(t, pages, want)
	if n := len(w.times("http://a.test/")); n >= 500 {
		t.Errorf("%d requests, want fewer than 500", n)
	}
	if s.State != crawler.Complete || s.ByTrap["repeats"] == 0 || s.ByTrap["repeats"] != s.ByReason["trap"] {
		t.Errorf("%s, traps %v, reasons %v", s.State, s.ByTrap, s.ByReason)
	}
}

// A calendar without end is left when its dates lie ahead by more than they may. Seeds and what is added by hand are
// exempt; a limit that is lifted is none.
func TestTrapOfCalendar(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://a.test/robots.txt": {status: 404}})
	w.other = func(url string) string {
		var year, month int
		if _, err := fmt.Sscanf(url, "http://a.test/cal?y=%d&m=%d", &year, &month); err != nil {
			return "<a href='/cal?y=2020&m=1'>"
		}
		return fmt.Sprintf("<a href='/cal?y=%d&m=%d'>next", year+month/12, month%12+1)
	}
	_, s := crawl(t, w.quick(), "http://a.test/", "http://a.test/cal?y=2999&m=12")
	if s.State != crawler.Complete || s.ByTrap["calendar"] == 0 || w.asked("http://a.test/cal?y=2999&m=12") != 1 || s.Pages < 60 {
		t.Errorf("%s, %d pages, traps %v", s.State, s.Pages, s.ByTrap)
	}
	cfg := w.quick()
	cfg.Traps.MaxYearsAhead, cfg.MaxPages = nil, new(uint64(400))
	if _, s := crawl(t, cfg, "http://a.test/"); s.LimitReached != "max_pages" || len(s.ByTrap) > 0 {
		t.Errorf("without the limit: %s, %s, traps %v", s.State, s.LimitReached, s.ByTrap)
	}
}

// What the rules have against a URL can be asked for.
func TestWhyTrap(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://a.test/": {body: "<a href=/a/a/a/a>"}})
	c, dir := create(t, w.quick(), "http://a.test/")
	run(t, c)
	story := storedStory(t, dir, "http://a.test/a/a/a/a")
	if story.Fate != crawler.FateRefused || story.RefusedBy != crawler.ByTrap {
		t.Errorf("%+v", story)
	}
}
