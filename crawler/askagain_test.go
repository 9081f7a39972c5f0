package crawler_test

import (
	"net/http"
	"testing"
	"time"

	"crawl/crawler"
)

// hangUp ends the connection of a request that was read, without a word.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

// A server that reads what comes on a kept connection and hangs up is asked once more, on a new connection, and no earlier
// than its delay says. That costs no attempt, so no retry, and is no error. One that hangs up on new connections too has
// no more than one request beyond its attempts.
func TestStaleConnectionsCostTheirDelay(t *testing.T) {
	t.Parallel()
	const delay = 60 * time.Millisecond
	closing := func(times int) answer {
		return answer{do: func(w http.ResponseWriter, n int) {
			if n <= times {
				hangUp(w)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("page"))
		}}
	}
	w := serve(t, map[string]answer{
		"http://a.test/robots.txt": {body: "User-agent: *\nDisallow:\n"},
		"http://a.test/1":          closing(1), "http://a.test/2": closing(1), "http://a.test/never": closing(99),
		"http://b.test/robots.txt": {status: http.StatusFound, header: map[string]string{"Location": "/rules"}},
		"http://b.test/rules":      closing(1), // the connection is kept from the redirect
		"http://b.test/":           {body: "page"},
	})
	cfg := w.quick()
	cfg.Frontier.HostDelay, cfg.Retries = delay, 1
	pages, s := crawl(t, cfg, "http://a.test/1", "http://a.test/2", "http://a.test/never", "http://b.test/")
	for url, want := range map[string]int{
		"http://a.test/1": 2, "http://a.test/2": 2, "http://a.test/never": 3, "http://b.test/rules": 2, "http://b.test/": 1,
	} {
		if n := w.asked(url); n != want {
			t.Errorf("%s was asked for %d times, want %d", url, n, want)
		}
	}
	for _, host := range []string{"http://a.test/", "http://b.test/"} {
		if gap := leastGap(w.times(host)); gap < delay {
			t.Errorf("two requests to %s were %v apart; the delay is %v", host, gap, delay)
		}
	}
	if p := pages["http://a.test/never"]; p.Error == nil || p.Error.Code != "closed" || s.ByOutcome["ok"] != 3 {
		t.Errorf("/never: %+v; outcomes %v", p.Error, s.ByOutcome)
	}
	if s.State != crawler.Complete || s.Retries != 1 || s.Requests != 1+2+2+3+1+2+1 {
		t.Errorf("%s after %d requests and %d retries, errors %v", s.State, s.Requests, s.Retries, s.Errors)
	}
}
