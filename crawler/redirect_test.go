package crawler_test

import (
	"strconv"
	"testing"

	"crawl/crawler"
	"crawl/store"
)

func redirect(to string) answer {
	return answer{status: 302, header: map[string]string{"Location": to}}
}

// The ids are those of faults that other crawlers have had.
func TestRedirects(t *testing.T) {
	for _, tt := range []struct {
		name  string
		web   map[string]answer
		check func(t *testing.T, w *web, pages map[string]*store.Page)
	}{
		{
			name: "redirect-01 loops end, each reported once",
			web: map[string]answer{
				"http://a.test/":     {body: "<a href=/self><a href=/r1><a href=/ok>"},
				"http://a.test/self": redirect("/self"),
				"http://a.test/r1":   redirect("/r2"),
				"http://a.test/r2":   redirect("/r3"),
				"http://a.test/r3":   redirect("/r2"),
				"http://a.test/ok":   {body: "ok"},
			},
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				atMost(t, w, map[string]int{
					"http://a.test/self": 1, "http://a.test/r1": 1, "http://a.test/r2": 1, "http://a.test/r3": 1, "http://a.test/ok": 1,
				})
				for _, url := range []string{"http://a.test/self", "http://a.test/r3"} {
					if p := pages[url]; p == nil || p.Error == nil || p.Error.Code != "redirect_loop" {
						t.Errorf("%s is not reported as a loop: %+v", url, p)
					}
				}
				wantOutcomes(t, pages, map[string]string{"http://a.test/ok": "ok", "http://a.test/r1": "redirect"})
			},
		},
		{
			name: "redirect-02 a target that is known finishes the source",
			web: map[string]answer{
				"http://a.test/":    {body: "<a href=/new><a href=/old>"},
				"http://a.test/old": redirect("/new"),
				"http://a.test/new": {body: "page"},
			},
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				atMost(t, w, map[string]int{"http://a.test/old": 1, "http://a.test/new": 1})
				wantOutcomes(t, pages, map[string]string{"http://a.test/old": "redirect", "http://a.test/new": "ok"})
			},
		},
		{
			name: "redirect-02 the same when the source is met first",
			web: map[string]answer{
				"http://a.test/":    {body: "<a href=/old><a href=/new>"},
				"http://a.test/old": redirect("/new"),
				"http://a.test/new": {body: "page"},
			},
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				atMost(t, w, map[string]int{"http://a.test/old": 1, "http://a.test/new": 1})
				wantOutcomes(t, pages, map[string]string{"http://a.test/old": "redirect", "http://a.test/new": "ok"})
			},
		},
		{
			name: "redirect-03 robots.txt applies to the target",
			web: map[string]answer{
				"http://a.test/robots.txt": {body: "User-agent: *\nDisallow: /private/\n"},
				"http://a.test/":           {body: "<a href=/go>"},
				"http://a.test/go":         redirect("/private/x"),
				"http://a.test/private/x":  {body: "secret"},
			},
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				atMost(t, w, map[string]int{"http://a.test/private/x": 0})
				wantOutcomes(t, pages, map[string]string{"http://a.test/go": "redirect", "http://a.test/private/x": "robots_denied"})
			},
		},
		{
			name: "redirect-04 a page's redirect does not widen the scope",
			web: map[string]answer{
				"http://a.test/":        {body: "<a href=/out>"},
				"http://a.test/out":     redirect("http://b.test/landing"),
				"http://b.test/landing": {body: "<a href=/more>"},
				"http://b.test/more":    {body: "x"},
			},
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				atMost(t, w, map[string]int{"http://b.test/landing": 0, "http://b.test/more": 0})
			},
		},
		{
			name: "redirect-05 raw bytes are encoded as they came",
			web: map[string]answer{
				"http://a.test/":             redirect("/caf\xc3\xa9"),
				"http://a.test/caf%C3%A9":    {body: "ok"},
				"http://a.test/caf%C3%83%A9": {body: "wrong"},
			},
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				wantOutcomes(t, pages, map[string]string{"http://a.test/caf%C3%A9": "ok"})
			},
		},
		{
			name: "a seed's redirect does widen it",
			web: map[string]answer{
				"http://a.test/":      redirect("http://b.test/"),
				"http://b.test/":      {body: "<a href=/more><a href='http://www.b.test/x'><a href='http://c.test/'>"},
				"http://b.test/more":  {body: "x"},
				"http://www.b.test/x": {body: "x"},
				"http://c.test/":      {body: "x"},
			},
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				wantOutcomes(t, pages, map[string]string{"http://b.test/more": "ok", "http://www.b.test/x": "ok"})
				atMost(t, w, map[string]int{"http://c.test/": 0})
			},
		},
		{
			name: "another spelling of the same page is asked for as the same page",
			web: map[string]answer{
				"http://a.test/":       {body: "<a href='/%7Eann'>"},
				"http://a.test/%7Eann": redirect("/~ann"),
				"http://a.test/~ann":   {body: "hello"},
			},
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				wantOutcomes(t, pages, map[string]string{"http://a.test/~ann": "ok"})
				if pages["http://a.test/%7Eann"] != nil {
					t.Error("one page has two records")
				}
			},
		},
		{
			name: "two spellings that redirect to each other are a loop",
			web: map[string]answer{
				"http://a.test/":       {body: "<a href='/%7Eann'>"},
				"http://a.test/%7Eann": redirect("/~ann"),
				"http://a.test/~ann":   redirect("/%7Eann"),
			},
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				if n := w.asked("http://a.test/~ann") + w.asked("http://a.test/%7Eann"); n > 6 {
					t.Errorf("asked %d times", n)
				}
			},
		},
		{
			name: "an endless chain ends",
			web:  chain(40),
			check: func(t *testing.T, w *web, pages map[string]*store.Page) {
				if p := pages["http://a.test/10"]; p == nil || p.Error == nil || p.Error.Code != "too_many_redirects" {
					t.Errorf("the tenth redirect is not reported: %+v", p)
				}
				atMost(t, w, map[string]int{"http://a.test/12": 0})
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, tt.web)
			pages, s := crawl(t, w.quick(), "http://a.test/")
			if s.State != crawler.Complete {
				t.Errorf("the crawl is %s, want complete", s.State)
			}
			tt.check(t, w, pages)
		})
	}
}

func chain(n int) map[string]answer {
	web := map[string]answer{"http://a.test/": redirect("/1")}
	for i := 1; i < n; i++ {
		web["http://a.test/"+strconv.Itoa(i)] = redirect("/" + strconv.Itoa(i+1))
	}
	return web
}

func atMost(t *testing.T, w *web, limits map[string]int) {
	t.Helper()
	for url, most := range limits {
		if n := w.asked(url); n > most {
			t.Errorf("%s was asked for %d times, want at most %d", url, n, most)
		}
	}
}

func wantOutcomes(t *testing.T, pages map[string]*store.Page, want map[string]string) {
	t.Helper()
	for url, w := range want {
		if got := outcome(pages[url]); got != w {
			t.Errorf("%s: %s, want %s", url, got, w)
		}
	}
}
