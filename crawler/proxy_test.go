package crawler_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"crawl/canon"
	"crawl/crawler"
	"crawl/fetch"
	"crawl/frontier"
)

const someProxy = "http://proxy.test:3128"

// proxyFails is what a fetch by a proxy that is gone ends with.
func proxyFails(u canon.URL) error {
	return &fetch.Error{URL: u, Phase: fetch.PhaseDial, Transient: true, Err: &fetch.ProxyError{Proxy: someProxy, Err: errors.New("nobody listens")}}
}

// TestProxyOutage: a proxy that worked and goes away costs no page and no host, however long it is gone; the log says so
// once.
func TestProxyOutage(t *testing.T) {
	t.Parallel()
	var failures atomic.Int32
	cfg := ownConfig(func(_ int, u canon.URL) (*fetch.Result, error) {
		if u.Path() != "/" && failures.Add(1) <= 12 {
			return nil, proxyFails(u)
		}
		header := http.Header{"Content-Type": {"text/html"}}
		var page strings.Builder
		for i := range 20 {
			page.WriteString("<a href=/" + strconv.Itoa(i) + ">")
		}
		body := []byte(page.String())
		return &fetch.Result{URL: u, Status: 200, Header: header, Body: body, Payload: body, Proxy: someProxy}, nil
	})
	cfg.Retries, cfg.Concurrency, cfg.Frontier.GiveUpAfter = 0, 4, 2
	cfg.Frontier.HostDelay, cfg.Frontier.HostConcurrency = frontier.None, 4
	var log strings.Builder
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	pages, s := crawl(t, cfg, "http://a.test/")
	if s.State != crawler.Complete || len(pages) != 21 || len(s.Errors) > 0 || s.Retries > 0 || len(s.GivenUp) > 0 {
		t.Errorf("%s, %d pages, errors %v, %d retries, given up %v", s.State, len(pages), s.Errors, s.Retries, s.GivenUp)
	}
	for url, p := range pages {
		if outcome(p) != "ok" || p.Proxy != someProxy || p.IP != "" {
			t.Errorf("%s: %+v", url, p)
		}
	}
	if n := strings.Count(log.String(), "the proxy does not work"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, log.String())
	}
}

// TestProxyThatNeverWorked: pages fail with the code proxy after their retries, and no host is given up for it.
func TestProxyThatNeverWorked(t *testing.T) {
	t.Parallel()
	cfg := ownConfig(func(_ int, u canon.URL) (*fetch.Result, error) { return nil, proxyFails(u) })
	cfg.Frontier.IgnoreRobots = false
	cfg.Frontier.GiveUpAfter = 2
	cfg.Frontier.HostDelay = frontier.None
	cfg.Retry = map[crawler.RetryClass]crawler.RetryRule{crawler.RetryProxy: {Retries: new(2), Delay: new(time.Millisecond)}}
	var urls []string
	for i := range 5 {
		urls = append(urls, "http://a.test/"+strconv.Itoa(i))
	}
	pages, s := crawl(t, cfg, urls...)
	if s.State != crawler.Complete || len(pages) != len(urls) || len(s.GivenUp) > 0 {
		t.Errorf("%s, %d pages, given up %v", s.State, len(pages), s.GivenUp)
	}
	for url, p := range pages {
		if outcome(p) != "failed" || p.Error.Code != "proxy" || p.Error.Phase != "dial" || !strings.Contains(p.Error.Message, someProxy) {
			t.Errorf("%s: %+v %+v", url, p, p.Error)
		}
	}
}
