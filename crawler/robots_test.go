package crawler_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/fetch"
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

// What a page may have of memory says nothing of a robots.txt: it is read as far as it counts, and no further.
func TestRobotsOfEverySize(t *testing.T) {
	t.Parallel()
	const late = "Disallow: /late\n"
	filler := func(n int) string { return strings.Repeat("#"+strings.Repeat(" ", 1022)+"\n", n) }
	for _, tt := range []struct {
		name    string
		maxBody int64
		fill    int // KiB before the rule
		gzip    bool
		unbound bool // it goes on without end
		outcome string
	}{
		{name: "longer than a page may be", maxBody: 1 << 10, fill: 400, outcome: "robots_denied"},
		{name: "likewise, as decoded", maxBody: 1 << 10, fill: 400, gzip: true, outcome: "robots_denied"},
		{name: "a rule beyond what counts", maxBody: 1 << 10, fill: 500, outcome: "ok"},
		{name: "without end", maxBody: 64 << 20, fill: 400, unbound: true, outcome: "robots_denied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, map[string]answer{
				"http://a.test/robots.txt": {do: func(out http.ResponseWriter, _ int) {
					text := "User-agent: *\n" + filler(tt.fill) + late
					if !tt.gzip {
						io.WriteString(out, text)
					} else {
						out.Header().Set("Content-Encoding", "gzip")
						zip := gzip.NewWriter(out)
						io.WriteString(zip, text)
						zip.Close()
					}
					for more := filler(64); tt.unbound; {
						if _, err := io.WriteString(out, more); err != nil {
							return
						}
					}
				}},
				"http://a.test/late": {body: "page"},
			})
			cfg := w.quick()
			cfg.Fetch.MaxBodyBytes = tt.maxBody
			dir := t.TempDir()
			c, err := crawler.Create(dir, cfg, seeds("http://a.test/late"))
			if err != nil {
				t.Fatal(err)
			}
			run(t, c)
			page := pagesByURL(t, dir)["http://a.test/late"]
			if got := outcome(page); got != tt.outcome {
				t.Errorf("the page is %s, want %s: %+v", got, tt.outcome, page)
			}
			if got, most := c.Asked().Hosts[0].BodyBytes, uint64(fetch.MaxRobotsBytes+len("page")); got > most {
				t.Errorf("%d bytes of bodies were read, want at most %d", got, most)
			}
		})
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

// sickFor answers 503 so many times, and then with a body.
func sickFor(times int, body string) func(http.ResponseWriter, int) {
	return func(out http.ResponseWriter, n int) {
		if n <= times {
			out.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		out.Write([]byte(body))
	}
}

// The pages of a site whose robots.txt answers 5xx wait while the crawl has other work, longer than the retries of a page
// last; when nothing else is left they are recorded as denied.
func TestPagesWaitForRobots(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /secret\n"
	for _, tt := range []struct {
		name    string
		sick    int // answers of 503
		busy    bool
		retries int
		want    string
		asked   int
	}{
		{"other work is left", 6, true, 1, "ok", 7},
		{"nothing else is left", 6, false, 1, "robots_denied", 2},
		{"back before the retries are over", 1, false, 1, "ok", 2},
		{"no retries are wanted", 6, true, 0, "robots_denied", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			back := make(chan struct{})
			sick := sickFor(tt.sick, rules)
			urls := map[string]answer{
				"http://a.test/robots.txt": {do: func(out http.ResponseWriter, n int) {
					if n >= tt.asked {
						close(back)
					}
					sick(out, n)
				}},
				"http://a.test/": {body: "<a href=/secret>"},
				"http://b.test/": {do: func(http.ResponseWriter, int) { <-back }},
			}
			w := serve(t, urls)
			cfg := w.quick()
			cfg.Retries = tt.retries
			cfg.Frontier.BackoffMax = 5 * time.Millisecond
			from := []string{"http://a.test/"}
			if tt.busy {
				from = append(from, "http://b.test/")
			}
			pages, _ := crawl(t, cfg, from...)
			wantOutcomes(t, pages, map[string]string{"http://a.test/": tt.want})
			if tt.want == "ok" {
				wantOutcomes(t, pages, map[string]string{"http://a.test/secret": "robots_denied"})
			}
			if n := w.asked("http://a.test/robots.txt"); n != tt.asked {
				t.Errorf("robots.txt was asked for %d times, want %d", n, tt.asked)
			}
		})
	}
}

// A robots.txt that is asked for again since it is a day old, and cannot be had, goes on as it was.
func TestOldRulesGoOn(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/robots.txt": {do: func(out http.ResponseWriter, n int) {
			if n > 1 {
				out.WriteHeader(http.StatusInternalServerError)
				return
			}
			out.Write([]byte("User-agent: *\nDisallow: /secret\n"))
		}},
		"http://a.test/": {body: "<a href=/1><a href=/secret>"}, "http://a.test/1": {body: "<a href=/2>"}, "http://a.test/2": {body: "page"},
	})
	cfg := w.quick()
	cfg.Frontier.RobotsTTL = time.Nanosecond
	pages, _ := crawl(t, cfg, "http://a.test/")
	wantOutcomes(t, pages, map[string]string{
		"http://a.test/": "ok", "http://a.test/1": "ok", "http://a.test/2": "ok", "http://a.test/secret": "robots_denied",
	})
	if e := pages["http://a.test/secret"].Error; e == nil || e.Message != "robots.txt line 2: Disallow: /secret" {
		t.Errorf("denied by %+v, want line 2", e)
	}
	if n := w.asked("http://a.test/robots.txt"); n < 3 {
		t.Errorf("robots.txt was asked for %d times, want it asked for again", n)
	}
}

// TestRobotsStatus has a site's robots.txt answer in each way that counts, from the cases robots_fetch on.
func TestRobotsStatus(t *testing.T) {
	const denyAll = "User-agent: *\nDisallow: /\n"
	for _, tt := range []struct {
		name    string
		robots  answer
		want    string
		message string
	}{
		{"robots-09 404", answer{status: 404, body: denyAll}, "ok", ""},
		{"robots-09 410", answer{status: 410}, "ok", ""},
		{"401", answer{status: 401, body: denyAll}, "ok", ""},
		{"403", answer{status: 403, body: denyAll}, "ok", ""},
		{"451", answer{status: 451, body: denyAll}, "ok", ""},
		{"429", answer{status: 429}, "robots_denied", "robots.txt answered 429"},
		{"robots-09 500", answer{status: 500, body: "User-agent: *\nAllow: /"}, "robots_denied", "robots.txt answered 500"},
		{"robots-09 503", answer{status: 503}, "robots_denied", "robots.txt answered 503"},
		{"599", answer{status: 599}, "robots_denied", "robots.txt answered 599"},
		{"robots-09 HTML", answer{body: "<!doctype html><title>Welcome</title><p>no rules here"}, "ok", ""},
		{"HTML that shows rules", answer{body: "<!doctype html><p>Disallow: /<br>\nDisallow: /\n"}, "ok", ""},
		{"robots-09 empty", answer{}, "ok", ""},
		{"any content type", answer{header: map[string]string{"Content-Type": "application/octet-stream"}, body: denyAll}, "robots_denied", "robots.txt line 2: Disallow: /"},
		{"204 has no rules", answer{status: 204}, "ok", ""},
		{"a redirect without a target", answer{status: 302}, "ok", ""},
		{"a redirect to itself", answer{status: 302, header: map[string]string{"Location": "/robots.txt"}}, "ok", ""},
		{"robots-09 no answer", answer{do: func(http.ResponseWriter, int) { panic(http.ErrAbortHandler) }}, "failed", ""},
		{"cut short", answer{do: func(out http.ResponseWriter, _ int) {
			out.Header().Set("Content-Length", "1000")
			out.Write([]byte("User-agent: *\nAllow: /\n"))
		}}, "robots_denied", "robots.txt was cut short: disconnect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, map[string]answer{"http://a.test/robots.txt": tt.robots, "http://a.test/page": {body: "page"}})
			cfg := w.quick()
			cfg.Retries = 0
			pages, _ := crawl(t, cfg, "http://a.test/page")
			page := pages["http://a.test/page"]
			if outcome(page) != tt.want {
				t.Fatalf("the page is %s, want %s: %+v", outcome(page), tt.want, page)
			}
			if asked := w.asked("http://a.test/page"); asked > 0 != (tt.want == "ok") {
				t.Errorf("the page was asked for %d times", asked)
			}
			if tt.message != "" && (page.Error == nil || page.Error.Message != tt.message) {
				t.Errorf("the record says %+v, want %q", page.Error, tt.message)
			}
		})
	}
}

// A robots.txt is followed through five redirects, each in the queue of its own host; what stands at the end holds for the
// host that was asked first. A sixth leaves the site without rules.
func TestRobotsRedirects(t *testing.T) {
	for hops := range 8 {
		t.Run(fmt.Sprint(hops), func(t *testing.T) {
			t.Parallel()
			urls := map[string]answer{"http://a.test/page": {body: "page"}}
			at := func(i int) string {
				if i == 0 {
					return "http://a.test/robots.txt"
				}
				return fmt.Sprintf("http://h%d.test/rules", i)
			}
			for i := range hops {
				urls[at(i)] = answer{status: 301, header: map[string]string{"Location": at(i + 1)}}
			}
			urls[at(hops)] = answer{body: "User-agent: *\nDisallow: /page\n"}
			w := serve(t, urls)
			pages, _ := crawl(t, w.quick(), "http://a.test/page")
			want := "robots_denied"
			if hops > 5 {
				want = "ok"
			}
			if got := outcome(pages["http://a.test/page"]); got != want {
				t.Errorf("the page is %s, want %s", got, want)
			}
			if n := w.asked(at(min(hops, 5))); n != 1 {
				t.Errorf("%s was asked for %d times, want once", at(min(hops, 5)), n)
			}
			if hops > 5 && w.asked(at(6)) > 0 {
				t.Errorf("a sixth redirect was followed")
			}
		})
	}
}
