package crawler_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"crawl/crawler"
)

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
	cfg.Traps.MaxYearsAhead, cfg.MaxAlike, cfg.MaxNearAlike, cfg.MaxPages = nil, nil, nil, new(uint64(400))
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

// trap-02: a calendar that leads into the past and the future without end, and items under ever new session ids. The
// crawl ends by itself, says why, and fetches what is worth it.
func TestTrapOfPagesThatSayTheSame(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://a.test/robots.txt": {status: 404}})
	w.other = endlessSite
	cfg := w.quick()
	cfg.MaxAlike, cfg.MaxPages = new(256), new(uint64(20_000)) // of a crawl that does not end
	c, dir := create(t, cfg, "http://a.test/")
	run(t, c)
	s := onDisk(t, dir)
	if s.State != crawler.Complete || s.ByTrap["alike"] == 0 || s.ByOutcome["trap"] == 0 || len(s.Alike) != 2 {
		t.Fatalf("%s, %s after %d pages: traps %v, outcomes %v, %v", s.State, s.LimitReached, s.Pages, s.ByTrap, s.ByOutcome, s.Alike)
	}
	if n := len(w.times("http://a.test/")); n > 3000 {
		t.Errorf("%d requests", n)
	}
	want := make(map[string]string)
	for i := range 20 {
		want[fmt.Sprintf("http://a.test/plain/%d", i)] = "ok"
	}
	wantOutcomes(t, pagesByURL(t, dir), want)

	story := storedStory(t, dir, "http://a.test/cal?y=1100&m=3")
	if !slices.ContainsFunc(story.RulesNow, func(r crawler.Ruling) bool {
		return r.By == crawler.ByTrap && r.Rule == "alike: pages of a.test/cal?m&y say the same"
	}) {
		t.Errorf("what is against a URL of a pattern that is shut: %v", story.RulesNow)
	}

	// What is shut stays so when the crawl goes on; what is added by hand is fetched.
	c, err := crawler.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	const refused, wanted = "http://a.test/cal?y=1100&m=3", "http://a.test/cal?y=1100&m=4"
	if _, err := c.Add(t.Context(), slices.Values([]crawler.Seed{{URL: wanted}}), false); err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if w.asked(wanted) != 1 || w.asked(refused) != 0 {
		t.Errorf("asked %d times for what was added, %d for what it links to", w.asked(wanted), w.asked(refused))
	}
}

// endlessSite answers as the server of trap-02 does.
func endlessSite(url string) string {
	var year, month, id int
	var session string
	switch {
	case matches(url, "http://a.test/cal?y=%d&m=%d", &year, &month):
		n := year*12 + month - 1
		return fmt.Sprintf("<title>%d-%02d</title><p>No events in month %d of %d. <a href='/cal?y=%d&m=%d'>next</a> <a href='/cal?y=%d&m=%d'>previous</a>",
			year, month, month, year, (n+1)/12, (n+1)%12+1, (n-1)/12, (n-1)%12+1)
	case matches(strings.ReplaceAll(url, "/item?id=", " "), "http://a.test/s/%s %d", &session, &id):
		var b strings.Builder
		fmt.Fprintf(&b, "<p>Item %c of the catalogue.", 'a'+id)
		sum := sha256.Sum256([]byte(url))
		for i := range 20 {
			fmt.Fprintf(&b, "<a href=/s/%x/item?id=%d>item</a> ", sum[i:i+8], i)
		}
		return b.String()
	case url == "http://a.test/":
		var b strings.Builder
		b.WriteString("<a href='/cal?y=2026&m=11'>calendar</a> <a href='/s/0a1b2c3d4e5f6071/item?id=1'>items</a> ")
		for i := range 20 {
			fmt.Fprintf(&b, "<a href=/plain/%d>plain</a> ", i)
		}
		return b.String()
	}
	return "plain"
}

func matches(text, format string, into ...any) bool {
	n, _ := fmt.Sscanf(text, format, into...)
	return n == len(into)
}

// A calendar whose months have names leads three years ahead, and back into the past until its pages are known to say the
// same: they have one pattern, and each counts for several.
func TestTrapOfNamedMonths(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://a.test/robots.txt": {status: 404}})
	w.other = func(url string) string {
		var year int
		var name string
		if !matches(strings.TrimSuffix(url, "/"), "http://a.test/calendar/%d/%s", &year, &name) {
			return "<a href='/calendar/2026/november/'>"
		}
		i := slices.Index(months, name)
		return fmt.Sprintf("<title>%s %d</title>Nothing is on. <a href='/calendar/%d/%s/'>next</a> <a href='/calendar/%d/%s/'>last</a>",
			name, year, year+(i+1)/12, months[(i+1)%12], year-(12-i)/12, months[(i+11)%12])
	}
	_, s := crawl(t, w.quick(), "http://a.test/")
	if s.State != crawler.Complete || s.ByTrap["calendar"] == 0 || len(s.Alike) != 1 || s.Alike[0].Pattern != "a.test/calendar/#/#/" {
		t.Errorf("%s, traps %v, %v", s.State, s.ByTrap, s.Alike)
	}
	if n := len(w.times("http://a.test/calendar/")); n > 2000 {
		t.Errorf("%d requests", n)
	}
}

// Pages that differ in a word or two under ever new URLs come to an end, later than those that say the same.
func TestTrapOfPagesThatSayNearlyTheSame(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "word%d ", i*i)
	}
	w := serve(t, map[string]answer{"http://a.test/robots.txt": {status: 404}})
	w.other = func(url string) string {
		var n int
		if !matches(url, "http://a.test/day/%d", &n) {
			return "<a href=/day/1>"
		}
		return fmt.Sprintf("%s Made at %x. <a href=/day/%d>next</a>", text.String(), sha256.Sum256([]byte(url)), n+1)
	}
	cfg := w.quick()
	cfg.MaxAlike, cfg.MaxNearAlike, cfg.MaxPages = new(256), new(1000), new(uint64(5_000)) // of a crawl that does not end
	c, dir := create(t, cfg, "http://a.test/")
	run(t, c)
	s := onDisk(t, dir)
	if s.State != crawler.Complete || s.ByTrap["near_alike"] == 0 || len(s.Alike) != 1 || s.Alike[0].Rule != "near_alike" || s.Pages < 1000 {
		t.Errorf("%s after %d pages: traps %v, %v", s.State, s.Pages, s.ByTrap, s.Alike)
	}
}

var months = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// An archive of many pages under one pattern is left alone, and so are pages that differ in their numbers or pictures.
func TestNoTrapInArchives(t *testing.T) {
	t.Parallel()
	const pages = 700
	w := serve(t, map[string]answer{"http://a.test/robots.txt": {status: 404}})
	w.other = func(url string) string {
		var n int
		next := func(path string) string { return fmt.Sprintf("<a href=/%s/%d>next</a>", path, n+1) }
		switch {
		case matches(url, "http://a.test/measured/%d", &n) && n < pages:
			return fmt.Sprintf("Station %d measured %d.%d degrees. ", n, n*7919%40, n*104729%1000) + next("measured")
		case matches(url, "http://a.test/photo/%d", &n) && n < pages:
			return fmt.Sprintf("Photo %d <img src=/images/%d.jpg>", n, n) + next("photo")
		case matches(url, "http://a.test/article/%d", &n) && n < pages:
			return strings.Repeat("Much that is the same everywhere. ", 20) + fmt.Sprintf("On the %c%c%c.", 'a'+n%26, 'a'+n/26%26, 'a'+n/676) + next("article")
		case url == "http://a.test/":
			return "<a href=/measured/0></a><a href=/photo/0></a><a href=/article/0></a>"
		}
		return "the end"
	}
	_, s := crawl(t, w.quick(), "http://a.test/")
	if s.State != crawler.Complete || len(s.ByTrap) > 0 || s.Pages != 3*pages+4 {
		t.Errorf("%s, %d pages, traps %v, %v", s.State, s.Pages, s.ByTrap, s.Alike)
	}
}
