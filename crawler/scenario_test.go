package crawler_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/fetch"
)

// http-06: a server that sends byte after byte for ever is cut off, at its head as in its body, and holds up nobody.
func TestDrippingServer(t *testing.T) {
	const timeout = 300 * time.Millisecond
	over := make(chan struct{})
	drip := func(head string) answer {
		return answer{do: func(out http.ResponseWriter, _ int) {
			conn, _, err := http.NewResponseController(out).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			tick := time.NewTicker(timeout / 20)
			defer tick.Stop()
			for text := head; err == nil; text = "a" {
				_, err = conn.Write([]byte(text))
				select {
				case <-tick.C:
				case <-over:
					return
				}
			}
		}}
	}
	web := map[string]answer{
		"http://a.test/drip-head": drip("HTTP/1.1 200 OK\r\nX: "),
		"http://a.test/drip-body": drip("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/linked>"),
	}
	urls := []string{"http://a.test/drip-head", "http://a.test/drip-body"}
	for i := range 20 {
		url := fmt.Sprintf("http://a.test/p%d", i)
		web[url], urls = answer{body: "page"}, append(urls, url)
	}
	w := serve(t, web)
	defer close(over)
	cfg := w.quick()
	cfg.Fetch.Timeout, cfg.Retries = timeout, 0
	start := time.Now()
	pages, s := crawl(t, cfg, urls...)
	if took := time.Since(start); took > 4*timeout+3*time.Second {
		t.Errorf("the crawl took %v", took)
	}
	if p := pages["http://a.test/drip-head"]; outcome(p) != "failed" || p.Error.Code != "timeout" {
		t.Errorf("the endless head is recorded as %+v", p)
	}
	if p := pages["http://a.test/drip-body"]; outcome(p) != "truncated" || p.Truncated != "time" || p.LinkCount != 1 {
		t.Errorf("the endless body is recorded as %+v", p)
	}
	if s.ByOutcome["ok"] != 20 {
		t.Errorf("outcomes %v, want 20 ok", s.ByOutcome)
	}
	if left := goroutinesOf("crawl/fetch."); len(left) > 0 {
		t.Errorf("left behind:\n%s", strings.Join(left, "\n\n"))
	}
}

// url-12: a URL of 40 kB, longer than bbolt's keys may be, loses neither the links beside it nor the next checkpoint.
func TestLongURL(t *testing.T) {
	for _, length := range []int{8_000, 40_000} { // RFC 9110, section 4.1, asks for the first at least
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			long := "http://a.test/" + strings.Repeat("x", length)
			w := serve(t, map[string]answer{
				"http://a.test/": {body: "<a href='" + long + "'>long</a> <a href=/short>short</a>"}, "http://a.test/short": {body: "<a href=/1>"},
				"http://a.test/1": {body: "page"}, long: {body: "page"},
			})
			cfg := w.quick()
			cfg.MaxPages = new(uint64(2))
			cfg.Traps.MaxURLBytes = nil
			c, dir := create(t, cfg, "http://a.test/")
			run(t, c)
			c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.MaxPages = nil })
			if err != nil {
				t.Fatal(err)
			}
			run(t, c)
			s := onDisk(t, dir)
			wantOutcomes(t, pagesByURL(t, dir), map[string]string{"http://a.test/short": "ok", "http://a.test/1": "ok"})
			if fetched := w.asked(long); fetched+int(s.ByReason["malformed"]) != 1 || fetched == 0 && length == 8_000 {
				t.Errorf("the long URL was asked for %d times, reasons %v", fetched, s.ByReason)
			}
		})
	}
}

// scale-01, made small: of a page's links to hundreds of hosts that all refuse, and of a page that is nothing but links,
// none is lost without a count.
func TestHostsThatRefuse(t *testing.T) {
	t.Parallel()
	const hosts, perHost, inside = 400, 5, 5_000
	var refusing, own strings.Builder
	for i := range hosts * perHost {
		fmt.Fprintf(&refusing, "<a href='http://h%d.test:81/%d'>", i%hosts, i)
	}
	for i := range inside {
		fmt.Fprintf(&own, "<a href=/%d>", i)
	}
	w := serve(t, map[string]answer{"http://a.test/links": {body: refusing.String()}, "http://b.test/": {body: own.String()}})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := w.quick()
	host, port, _ := strings.Cut(closed.Addr().String(), ":")
	cfg.Fetch.ConnectTo = append([]fetch.ConnectTo{{Port: "81", ToHost: host, ToPort: port}}, cfg.Fetch.ConnectTo...)
	cfg.Concurrency, cfg.Retries, cfg.Scope.Mode, cfg.MaxDepth = 64, 1, "any", new(1)
	_, s := crawl(t, cfg, "http://a.test/links", "http://b.test/")
	if s.State != crawler.Complete || s.ByOutcome["failed"] != hosts*perHost || s.ByOutcome["client_error"] != inside {
		t.Errorf("%s, outcomes %v; want %d failed, %d client_error", s.State, s.ByOutcome, hosts*perHost, inside)
	}
	if s.Discovered != 2+hosts*perHost+inside || s.ByReason["seen"] > 50 {
		t.Errorf("%d links, reasons %v", s.Discovered, s.ByReason)
	}
}
