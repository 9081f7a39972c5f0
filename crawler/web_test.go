package crawler_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/store"
)

// answer is what a web's URL says.
type answer struct {
	status int // 0: 200
	header map[string]string
	body   string
	do     func(w http.ResponseWriter, n int) // instead, when not nil; n counts the requests for the URL from 1
}

// web is a few hosts of ours, by URL.
type web struct {
	server *httptest.Server
	urls   map[string]answer
	other  func(url string) string // body of what is not listed; nil: that is not found

	mu       sync.Mutex // guards all below
	requests map[string][]time.Time
	order    []string
}

func serve(t *testing.T, urls map[string]answer) *web {
	t.Helper()
	w := &web{urls: urls, requests: make(map[string][]time.Time)}
	w.server = httptest.NewServer(w)
	t.Cleanup(w.server.Close)
	return w
}

func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	url := "http://" + r.Host + r.URL.RequestURI()
	w.mu.Lock()
	w.requests[url] = append(w.requests[url], time.Now())
	w.order = append(w.order, url)
	n := len(w.requests[url])
	w.mu.Unlock()
	a, ok := w.urls[url]
	if !ok && w.other != nil {
		a, ok = answer{body: w.other(url)}, true
	}
	switch {
	case !ok:
		http.Error(out, "no such page", http.StatusNotFound)
	case a.do != nil:
		a.do(out, n)
	default:
		if a.header["Content-Type"] == "" {
			out.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		for name, value := range a.header {
			out.Header()[name] = []string{value}
		}
		out.WriteHeader(max(a.status, 200))
		fmt.Fprint(out, a.body)
	}
}

func (w *web) asked(url string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.requests[url])
}

// times returns when requests for URLs with a prefix came, in order.
func (w *web) times(prefix string) []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []time.Time
	for url, at := range w.requests {
		if strings.HasPrefix(url, prefix) {
			all = append(all, at...)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// quick is a Config for tests: all names lead to the web, no host waits, and nothing is retried for long.
func (w *web) quick() crawler.Config {
	cfg := crawler.DefaultConfig()
	cfg.Frontier.HostDelay = frontier.None
	cfg.Frontier.BackoffBase = time.Millisecond
	cfg.RetryDelay = time.Millisecond
	cfg.Concurrency = 4
	cfg.Fetch.ConnectTo = []fetch.ConnectTo{everythingTo(w.server.Listener.Addr().String())}
	return cfg
}

func everythingTo(address string) fetch.ConnectTo {
	host, port, _ := strings.Cut(address, ":")
	return fetch.ConnectTo{ToHost: host, ToPort: port}
}

func seeds(urls ...string) iter.Seq2[crawler.Seed, error] {
	return func(yield func(crawler.Seed, error) bool) {
		for _, url := range urls {
			if !yield(crawler.Seed{URL: url}, nil) {
				return
			}
		}
	}
}

// crawl runs a crawl to its end and returns its page records by URL and its last snapshot.
func crawl(t *testing.T, cfg crawler.Config, urls ...string) (map[string]*store.Page, crawler.Snapshot) {
	t.Helper()
	dir := t.TempDir()
	c, err := crawler.Create(dir, cfg, seeds(urls...))
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	return pagesByURL(t, dir), c.Snapshot()
}

// run runs a crawl to its end, closes it, and checks that its sums match.
func run(t *testing.T, c *crawler.Crawler) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		t.Error(err)
	}
	s := c.Snapshot()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	checkSums(t, s)
}

// checkSums: every link ends in a reason, every admission in an outcome or in the queue, and the filter counts each.
func checkSums(t *testing.T, s crawler.Snapshot) {
	t.Helper()
	var reasons, outcomes uint64
	for _, n := range s.ByReason {
		reasons += n
	}
	for _, n := range s.ByOutcome {
		outcomes += n
	}
	if reasons != s.Discovered || s.Admitted != s.ByReason["admitted"] {
		t.Errorf("%d links discovered and %d admitted, but the reasons are %v", s.Discovered, s.Admitted, s.ByReason)
	}
	if s.Seen.Items != s.Admitted {
		t.Errorf("%d URLs admitted, %d in the filter", s.Admitted, s.Seen.Items)
	}
	if outcomes != s.Done || s.Admitted != s.Done+s.Queued+s.InFlight {
		t.Errorf("%d admitted, %d done, %d queued, %d in flight, and the outcomes are %v", s.Admitted, s.Done, s.Queued, s.InFlight, s.ByOutcome)
	}
}

// records returns the page records that the last checkpoint holds.
func records(t *testing.T, dir string) []*store.Page {
	t.Helper()
	reader, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	var pages []*store.Page
	for page, err := range reader.Pages(t.Context(), store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}
	return pages
}

func pagesByURL(t *testing.T, dir string) map[string]*store.Page {
	t.Helper()
	byURL := make(map[string]*store.Page)
	for _, page := range records(t, dir) {
		if byURL[page.URL] != nil {
			t.Errorf("%s has two records", page.URL)
		}
		byURL[page.URL] = page
	}
	return byURL
}

func outcome(p *store.Page) string {
	if p == nil {
		return "no record"
	}
	return p.Outcome.String()
}
