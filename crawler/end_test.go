package crawler_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"crawl/crawler"
)

// A request that is in flight when the run is ended has its grace; then it is cut off, and its URL is pending again.
func TestGrace(t *testing.T) {
	for _, tt := range []struct {
		name      string
		grace     time.Duration
		takes     time.Duration // the answer
		wantPages uint64
	}{
		{"within it a request is answered", 5 * time.Second, 100 * time.Millisecond, 2},
		{"past it a request is cut off", 50 * time.Millisecond, time.Minute, 1},
		{"without it a request is cut off at once", 0, time.Minute, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			defer close(over)
			w := serve(t, map[string]answer{
				"http://a.test/": {body: "<a href=/slow>"},
				"http://a.test/slow": {do: func(http.ResponseWriter, int) {
					select {
					case <-over:
					case <-time.After(tt.takes):
					}
				}},
			})
			cfg := w.quick()
			cfg.Grace = tt.grace
			c, dir := create(t, cfg, "http://a.test/")
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			wait := goRun(t, ctx, c)
			eventually(t, "the request is in flight", func() bool { return w.asked("http://a.test/slow") == 1 })
			ended := time.Now()
			cancel(why)
			if err := wait(); !errors.Is(err, why) {
				t.Errorf("Run returns %v, want the cause of its context's end", err)
			}
			if took := time.Since(ended); took > tt.grace+2*time.Second {
				t.Errorf("the run ended %v later", took)
			}
			s := onDisk(t, dir)
			checkSums(t, s)
			if s.Pages != tt.wantPages || s.Queued != 2-tt.wantPages || s.Retries != 0 || len(s.Errors) != 0 {
				t.Errorf("%d pages, %d queued, %d retries, errors %v; want %d pages", s.Pages, s.Queued, s.Retries, s.Errors, tt.wantPages)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// No goroutine outlives Run, whichever way it ends.
func TestRunLeavesNoGoroutine(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(*crawler.Config)
		end  func(c *crawler.Crawler, cancel func())
	}{
		{"complete", func(*crawler.Config) {}, func(*crawler.Crawler, func()) {}},
		{"stopped", func(*crawler.Config) {}, func(c *crawler.Crawler, _ func()) { c.Stop() }},
		{"cut off", func(*crawler.Config) {}, func(_ *crawler.Crawler, cancel func()) { cancel() }},
		{"at max_pages", func(cfg *crawler.Config) { cfg.MaxPages = new(uint64(5)) }, func(*crawler.Crawler, func()) {}},
		{"stopped on the way to max_pages", func(cfg *crawler.Config) {
			cfg.MaxPages = new(uint64(1))
			cfg.Frontier.HostDelay = time.Hour
		}, func(c *crawler.Crawler, _ func()) { c.Stop() }},
		{"at max_time", func(cfg *crawler.Config) {
			cfg.MaxTime = new(20 * time.Millisecond)
			cfg.Frontier.HostDelay = time.Hour
		}, func(*crawler.Crawler, func()) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := serve(t, line(20))
			cfg := w.quick()
			tt.set(&cfg)
			c, _ := create(t, cfg, "http://a.test/0")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			wait := goRun(t, ctx, c)
			eventually(t, "the run has begun", func() bool { return w.asked("http://a.test/robots.txt") > 0 })
			tt.end(c, cancel)
			if err := wait(); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if left := goroutinesOf("crawl/crawler."); len(left) > 0 {
				t.Errorf("left behind:\n%s", strings.Join(left, "\n\n"))
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// goroutinesOf returns the stacks of goroutines that run a package's functions.
func goroutinesOf(pkg string) []string {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	var found []string
	for stack := range strings.SplitSeq(string(all), "\n\n") {
		if waits := strings.Contains(stack, "testing.(*T).Parallel("); strings.Contains(stack, pkg) && !waits {
			found = append(found, stack)
		}
	}
	return found
}
