package crawler_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"crawl/crawler"
)

// What style sheets, style elements and style attributes load is fetched with Requisites, each relative to where it stands,
// and nothing without.
func TestStylesAreRequisites(t *testing.T) {
	t.Parallel()
	css := func(body string) answer {
		return answer{header: map[string]string{"Content-Type": "text/css"}, body: body}
	}
	urls := map[string]answer{
		"http://a.test/": {body: `<link rel=stylesheet href=/css/main.css><style>a{background:url(style.png)}</style>
			<p style="background:url('attr.png')"><a href=/next>`},
		"http://a.test/next":              {body: "next"},
		"http://a.test/css/main.css":      css(`@import "deep/more.css"; a{background:url(img/a.png)} b{background:url(data:image/png,x)} c{background:url(//cdn.test/c.png)}`),
		"http://a.test/css/deep/more.css": {header: map[string]string{"Content-Type": "text/plain"}, body: `@font-face{src:url(f.woff2)}`},
		"http://a.test/style.png":         {},
		"http://a.test/attr.png":          {},
		"http://a.test/css/img/a.png":     {},
		"http://a.test/css/deep/f.woff2":  {},
	}
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprint("requisites ", on), func(t *testing.T) {
			t.Parallel()
			w := serve(t, urls)
			cfg := w.quick()
			cfg.Requisites, cfg.MaxDepth = on, new(1)
			pages, s := crawl(t, cfg, "http://a.test/")
			depths := map[string]int{
				"http://a.test/": 0, "http://a.test/next": 1, "http://a.test/css/main.css": 0, "http://a.test/css/deep/more.css": 1,
				"http://a.test/style.png": 0, "http://a.test/attr.png": 0, "http://a.test/css/img/a.png": 1, "http://a.test/css/deep/f.woff2": 2,
			}
			for url, depth := range depths {
				switch p := pages[url]; {
				case !on && !strings.HasSuffix(url, "/") && !strings.HasSuffix(url, "next"):
					if p != nil {
						t.Errorf("%s was fetched", url)
					}
				case p == nil || p.Status != 200 || p.Depth != depth:
					t.Errorf("%s: record %+v, want depth %d", url, p, depth)
				}
			}
			if on && (s.ByReason["out_of_scope"] != 1 || s.ByReason["unsupported_scheme"] != 1) {
				t.Errorf("reasons %v, want one out of scope and one unsupported", s.ByReason)
			}
		})
	}
}

// Style sheets that import ever further ones, and parts of pages that hold ever further ones, end where max_depth is set.
func TestEndlessRequisites(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{"http://a.test/": {body: "<link rel=stylesheet href=/0><object data=/object/0>"}})
	next := func(url, prefix string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(url, prefix))
		return n + 1
	}
	w.other = func(url string) string {
		if strings.HasPrefix(url, "http://a.test/object/") {
			return fmt.Sprintf("<object data=/object/%d>", next(url, "http://a.test/object/"))
		}
		return fmt.Sprintf("<style>@import '/%d'</style>", next(url, "http://a.test/"))
	}
	cfg := w.quick()
	cfg.Requisites, cfg.MaxDepth = true, new(1)
	pages, s := crawl(t, cfg, "http://a.test/")
	if len(pages) < 30 || len(pages) > 50 || s.State != crawler.Complete || s.ByReason["too_deep"] != 2 {
		t.Errorf("%d pages, %s, reasons %v, want two chains of some 18 that end too deep", len(pages), s.State, s.ByReason)
	}
}
