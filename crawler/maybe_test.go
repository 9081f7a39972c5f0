package crawler_test

import (
	"fmt"
	"net/http"
	"testing"

	"crawl/crawler"
)

// What a user names is not left to the filter's chance: with one that calls nearly everything seen, all seeds are fetched,
// and what they redirect to, while links are lost.
func TestSeedsAreNotLeftToChance(t *testing.T) {
	const n = 3000
	web := map[string]answer{"http://a.test/": {body: "<a href=/link>"}, "http://a.test/link": {body: "x"}}
	urls := []string{}
	for i := range n {
		from, to := fmt.Sprintf("http://a.test/%d", i), fmt.Sprintf("http://b.test/%d", i)
		web[from], web[to] = redirect(to), answer{body: "x"}
		urls = append(urls, from)
	}
	urls = append(urls, "http://a.test/", "http://a.test/7", "http://b.test/7") // named twice, and met twice
	w := serve(t, web)
	cfg := w.quick()
	cfg.Seen.FalsePositiveRate, cfg.Seen.ExpectedItems, cfg.Seen.MaxBytes = 0.5, 1000, 1088
	pages, s := crawl(t, cfg, urls...)
	if s.State != crawler.Complete || s.Seen.Rate < 0.8 {
		t.Fatalf("the crawl is %s, and its filter wrong for %g of new URLs; want complete, and nearly always", s.State, s.Seen.Rate)
	}
	for i := range n {
		if p := pages[fmt.Sprintf("http://b.test/%d", i)]; p == nil || p.Status != http.StatusOK {
			t.Fatalf("what seed %d redirects to was not fetched: %+v", i, p)
		}
	}
	if len(pages) < 2*n+1 || len(pages) > 2*n+2 {
		t.Errorf("%d records, want %d, and one more if the link came through", len(pages), 2*n+1)
	}
}
