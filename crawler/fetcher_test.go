package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"crawl/canon"
	"crawl/crawler"
	"crawl/fetch"
)

// ownFetcher is a Fetcher of the caller's. n counts the requests for a URL from 1.
type ownFetcher struct {
	answer func(n int, u canon.URL) (*fetch.Result, error)

	mu    sync.Mutex // guards asked
	asked map[canon.URL]int
}

func ownConfig(answer func(n int, u canon.URL) (*fetch.Result, error)) crawler.Config {
	cfg := crawler.DefaultConfig()
	cfg.Fetcher = &ownFetcher{answer: answer, asked: make(map[canon.URL]int)}
	cfg.Frontier.IgnoreRobots = true
	return cfg
}

func (f *ownFetcher) Resolve(context.Context, canon.URL) (fetch.Resolution, error) {
	return fetch.Resolution{}, nil
}

func (f *ownFetcher) Fetch(_ context.Context, r fetch.Request) (*fetch.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[r.URL]++
	return f.answer(f.asked[r.URL], r.URL)
}

func (f *ownFetcher) Close() error { return nil }

// A Fetcher need not know who answered. What it returns against its contract is a failure like any other, not tried again
// and followed by the host's delay.
func TestOwnFetcher(t *testing.T) {
	t.Parallel()
	page := []byte("<a href=/1>")
	cfg := ownConfig(func(_ int, u canon.URL) (*fetch.Result, error) {
		if u.Path() != "/" {
			return nil, errors.New("no *fetch.Error")
		}
		return &fetch.Result{URL: u, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: page, Payload: page}, nil
	})
	pages, s := crawl(t, cfg, "http://a.test/")
	if p := pages["http://a.test/"]; outcome(p) != "ok" || p.IP != "" {
		t.Errorf("%+v", p)
	}
	if p := pages["http://a.test/1"]; outcome(p) != "failed" || p.Error.Code != "other" {
		t.Errorf("%+v", p)
	}
	if s.Requests != 2 || s.Retries != 0 || s.Errors["other"] != 1 {
		t.Errorf("%d requests, %d retries, errors %v", s.Requests, s.Retries, s.Errors)
	}
}

// A machine that has no file left learns nothing of a host: the request is made again, is no retry, and the log says it
// once.
func TestExhaustedMachine(t *testing.T) {
	t.Parallel()
	cfg := ownConfig(func(n int, u canon.URL) (*fetch.Result, error) {
		if n == 1 {
			return nil, &fetch.Error{URL: u, Phase: fetch.PhaseDial, Err: syscall.EMFILE}
		}
		return &fetch.Result{URL: u, Status: 200, Header: http.Header{}}, nil
	})
	var log strings.Builder
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	var urls []string
	for i := range 10 {
		urls = append(urls, fmt.Sprintf("http://h%d.test/", i))
	}
	pages, s := crawl(t, cfg, urls...)
	for _, url := range urls {
		if p := pages[url]; outcome(p) != "ok" || p.Error != nil {
			t.Errorf("%s: %+v", url, p)
		}
	}
	if s.Retries != 0 || s.Requests != 10 || len(s.Errors) != 0 {
		t.Errorf("%d retries, %d requests, errors %v; want 0, 10 and none", s.Retries, s.Requests, s.Errors)
	}
	if n := strings.Count(log.String(), "no file or port left"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, log.String())
	}
}
