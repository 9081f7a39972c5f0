package crawler_test

import (
	"net/http"
	"testing"
	"time"

	"crawl/crawler"
)

// The wait that a busy server asks for is capped for its robots.txt as for its pages.
func TestRetryAfterOfRobots(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/robots.txt": {do: func(out http.ResponseWriter, n int) {
			if n == 1 {
				out.Header().Set("Retry-After", "31536000")
				out.WriteHeader(http.StatusServiceUnavailable)
			}
		}},
		"http://a.test/": {body: "page"},
	})
	cfg := w.quick()
	cfg.Frontier.MaxRetryAfter = 300 * time.Millisecond
	cfg.MaxTime = new(10 * time.Second)
	pages, s := crawl(t, cfg, "http://a.test/")
	if got := outcome(pages["http://a.test/"]); got != "ok" || s.State != crawler.Complete {
		t.Errorf("the page is %s and the crawl %s", got, s.State)
	}
	at := w.times("http://a.test/robots.txt")
	if wait := at[1].Sub(at[0]); wait < 300*time.Millisecond {
		t.Errorf("the host was asked again after %v, want 300 ms", wait)
	}
}

// The name by which a site speaks to us is the one in the User-Agent that it is sent, the default one included.
func TestRulesForOurName(t *testing.T) {
	for _, tt := range []struct{ userAgent, name string }{
		{"", "crawl"},
		{"crawl/1.2 (+https://a.example/bot)", "crawl"},
		{"OurBot", "ourbot"},
		{"OurBot 2", "ourbot"},
		{"Mozilla/5.0 (compatible; OurBot/1.0; +https://a.example/bot)", "ourbot"},
	} {
		t.Run(tt.userAgent, func(t *testing.T) {
			t.Parallel()
			w := serve(t, map[string]answer{
				"http://a.test/robots.txt": {body: "User-agent: " + tt.name + "\nDisallow: /secret\n\nUser-agent: *\nDisallow: /open\n"},
				"http://a.test/":           {body: "<a href=/secret><a href=/open><a href=/head><a href=/meta>"},
				"http://a.test/open":       {body: "page"},
				"http://a.test/head":       {header: map[string]string{"X-Robots-Tag": tt.name + ": nofollow"}, body: "<a href=/1>"},
				"http://a.test/meta":       {body: "<meta name=" + tt.name + " content=nofollow><a href=/2>"},
			})
			cfg := w.quick()
			cfg.Fetch.UserAgent = tt.userAgent
			pages, s := crawl(t, cfg, "http://a.test/")
			wantOutcomes(t, pages, map[string]string{
				"http://a.test/secret": "robots_denied", "http://a.test/open": "ok",
				"http://a.test/1": "no record", "http://a.test/2": "no record",
			})
			if s.ByReason["nofollow"] != 2 {
				t.Errorf("reasons %v, want nofollow 2", s.ByReason)
			}
		})
	}
}
