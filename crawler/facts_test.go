package crawler_test

import (
	"slices"
	"strings"
	"testing"

	"crawl/store"
)

// What people ask of a page is in its record; pages that look empty without scripts are counted apart.
func TestPageFacts(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/": {
			header: map[string]string{"X-Robots-Tag": "noarchive"},
			body: "<html lang=de><title>t</title><meta name=description content='d e'><meta name=robots content=noindex><h1>h <b>1</b></h1>" +
				"<link rel=alternate hreflang=en href=/en><a href=/app>app</a><a href=/said>said</a><script src=/x.js></script>",
		},
		"http://a.test/app":  {body: "<div id=root></div><script>start()</script><noscript>Please enable scripts.</noscript>"},
		"http://a.test/said": {body: "<p>" + strings.Repeat("Much to read. ", 100) + "<script>start()</script>"},
	})
	pages, s := crawl(t, w.quick(), "http://a.test/")
	p := pages["http://a.test/"]
	if p.Description != "d e" || p.H1 != "h 1" || p.Lang != "de" || p.Robots != "noindex" || p.XRobotsTag != "noarchive" ||
		!slices.Equal(p.Hreflang, []store.Alternate{{Lang: "en", URL: "http://a.test/en"}}) || p.NeedsScripts {
		t.Errorf("%+v", p)
	}
	if !pages["http://a.test/app"].NeedsScripts || pages["http://a.test/said"].NeedsScripts || s.NeedsScripts != 1 {
		t.Errorf("%d pages need scripts: %+v, %+v", s.NeedsScripts, pages["http://a.test/app"], pages["http://a.test/said"])
	}
}

// A page that names itself in more languages than a record may hold is recorded all the same.
func TestManyAlternates(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://a.test/": {body: strings.Repeat("<link rel=alternate hreflang=en href=/"+strings.Repeat("x", 2000)+">", 100)}})
	pages, _ := crawl(t, w.quick(), "http://a.test/")
	if n := len(pages["http://a.test/"].Hreflang); n < 10 || n > 20 {
		t.Errorf("%d alternates", n)
	}
}
