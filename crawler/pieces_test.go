package crawler_test

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"crawl/canon"
	"crawl/crawler"
	"crawl/fetch"
)

// A page of more links than fit into memory at once has each of them admitted, and counted once. CRAWL_LINKS says how many
// it has, and the log then how much memory they took beside the body.
func TestPageOfManyLinks(t *testing.T) {
	n := 200_000
	if text := os.Getenv("CRAWL_LINKS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href=/%d>", i)
	}
	b.WriteString("<a href=/0><a href=/0><a href=//b.test/><a href=mailto:x>")
	body := []byte(b.String())
	cfg := ownConfig(func(_ int, u canon.URL) (*fetch.Result, error) {
		r := &fetch.Result{URL: u, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}}
		if u.Path() == "/" {
			r.Payload, r.Body = body, body
		}
		return r, nil
	})
	cfg.Concurrency = 1
	cfg.MaxPages = new(uint64(1))
	cfg.MaxAlike = nil
	dir := t.TempDir()
	c, err := crawler.Create(dir, cfg, seeds("http://a.test/"))
	if err != nil {
		t.Fatal(err)
	}
	before, most := heap(), peak(t)
	run(t, c)
	s := storedSnapshot(t, dir)
	met := s.ByReason["seen"] + s.ByReason["repeated"] // the filter takes some new ones for seen
	if s.Admitted+met != uint64(n+3) || met > 2+uint64(n)/200 || s.Pages != 1 || s.ByReason["out_of_scope"] != 1 || s.ByReason["unsupported_scheme"] != 1 {
		t.Errorf("%d admitted of %d; reasons %v, %d pages", s.Admitted, n+1, s.ByReason, s.Pages)
	}
	if p := records(t, dir)[0]; p.LinkCount != n+4 {
		t.Errorf("link_count %d, want %d", p.LinkCount, n+4)
	}
	checkVerified(t, dir)
	t.Logf("%d links in %d MB: %d MiB more of the heap at most", n, len(body)/1e6, (most()-before)>>20)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// peak watches the heap, and returns the most of it so far.
func peak(t *testing.T) (most func() uint64) {
	var high atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			high.Store(max(high.Load(), heap()))
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
	return high.Load
}
