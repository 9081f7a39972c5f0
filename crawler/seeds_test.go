package crawler_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/store"
)

// A seed without a scheme is asked by https, and by http when that gives no answer: whether robots.txt is the first to
// get none or the page itself, and also when the crawl was stopped meanwhile.
func TestBareHostIsAskedByHTTP(t *testing.T) {
	const page = "http://a.test/" // nobody speaks TLS there
	for _, tt := range []struct {
		name string
		set  func(*crawler.Config)
	}{
		{"robots.txt obeyed", func(*crawler.Config) {}},
		{"robots.txt ignored", func(cfg *crawler.Config) { cfg.Frontier.IgnoreRobots = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, map[string]answer{page: {body: "page"}})
			cfg := w.quick()
			tt.set(&cfg)
			pages, _ := crawl(t, cfg, "a.test")
			wantOutcomes(t, pages, map[string]string{"https://a.test/": "failed", page: "ok"})
		})
		t.Run(tt.name+", added and reopened", func(t *testing.T) {
			t.Parallel()
			w := serve(t, map[string]answer{page: {body: "page"}, "http://b.test/": {body: "page"}})
			cfg := w.quick()
			tt.set(&cfg)
			c, dir := create(t, cfg, "http://b.test/")
			if added, err := c.Add(t.Context(), slices.Values(one("a.test")), false); err != nil || added.Admitted != 1 {
				t.Fatalf("%+v, %v", added, err)
			}
			c = reopen(t, c, dir)
			run(t, c)
			wantOutcomes(t, pagesByURL(t, dir), map[string]string{"https://a.test/": "failed", page: "ok", "http://b.test/": "ok"})
		})
	}
	t.Run("not where the scheme was given", func(t *testing.T) {
		w := serve(t, map[string]answer{page: {body: "page"}})
		pages, _ := crawl(t, w.quick(), "https://a.test/")
		wantOutcomes(t, pages, map[string]string{"https://a.test/": "failed", page: "no record"})
	})
}

// What is wrong with the settings or the seeds is told as that, and leaves no crawl behind.
func TestCreateRefuses(t *testing.T) {
	broken := errors.New("the pipe broke")
	for _, tt := range []struct {
		name  string
		set   func(*crawler.Config)
		seeds iter.Seq2[crawler.Seed, error]
		is    func(error) bool
	}{
		{"a pattern that is none", func(c *crawler.Config) { c.Scope.Include = []string{"("} }, seeds("http://a.test/"), mentions("include")},
		{"a mode that is none", func(c *crawler.Config) { c.Scope.Mode = "planet" }, seeds("http://a.test/"), mentions("planet")},
		{"a selector that is none", func(c *crawler.Config) {
			c.Extract = []crawler.Extract{{Field: "price", Selector: "[["}}
		}, seeds("http://a.test/"), mentions("price")},
		{"a negative time", func(c *crawler.Config) { c.MaxTime = new(-time.Second) }, seeds("http://a.test/"), mentions("max_time")},
		{"no seed at all", func(*crawler.Config) {}, seeds(), is(crawler.ErrNoSeed)},
		{"no usable seed", func(*crawler.Config) {}, seeds("mailto:nobody", ""), is(crawler.ErrNoSeed)},
		{"seeds that cannot be read", func(*crawler.Config) {}, func(yield func(crawler.Seed, error) bool) {
			if yield(crawler.Seed{URL: "http://a.test/"}, nil) {
				yield(crawler.Seed{}, broken)
			}
		}, is(broken)},
		{"one line that is too long", func(*crawler.Config) {}, crawler.ReadSeeds(strings.NewReader(strings.Repeat("a", 2<<20))), is(crawler.ErrNoSeed)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := crawler.DefaultConfig()
			tt.set(&cfg)
			dir := filepath.Join(t.TempDir(), "new.crawl")
			_, err := crawler.Create(dir, cfg, tt.seeds)
			if err == nil || !tt.is(err) {
				t.Errorf("error %v", err)
			}
			if failure, ok := errors.AsType[*store.WriteError](err); ok {
				t.Errorf("told as an error of the disk: %v", failure)
			}
			if store.Holds(dir) {
				t.Error("the directory holds a crawl")
			}
		})
	}
}

func mentions(word string) func(error) bool {
	return func(err error) bool { return strings.Contains(err.Error(), word) }
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

// A file of seeds that is not as it was written is damage, wherever it is noticed.
func TestDamagedSeeds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"the last line is cut", func(text []byte) []byte { return text[:len(text)-3] }},
		{"a line is empty", func(text []byte) []byte { return append([]byte("\n"), text...) }},
		{"a line is no URL", func(text []byte) []byte { return append([]byte("mailto:x\t\n"), text...) }},
		{"the file is gone", func([]byte) []byte { return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, dir := create(t, crawler.DefaultConfig(), "http://a.test/", "http://b.test/")
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "seeds")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if text = tt.damage(text); text == nil {
				err = os.Remove(file)
			} else {
				err = os.WriteFile(file, text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = crawler.Open(dir, nil)
			if damage, ok := errors.AsType[*store.DamageError](err); !ok || damage.File != file {
				t.Errorf("%v, want damage of %s", err, file)
			}
		})
	}
}

// A crawl of exactly as many pages as it may have is complete: no limit kept anything back.
func TestLimitWithNothingLeft(t *testing.T) {
	for _, tt := range []struct {
		most  uint64
		state crawler.State
		limit string
	}{
		{3, crawler.Stopped, "max_pages"},
		{4, crawler.Complete, ""},
		{5, crawler.Complete, ""},
	} {
		t.Run(fmt.Sprint(tt.most), func(t *testing.T) {
			t.Parallel()
			w := serve(t, line(3)) // and a link to a fourth, which is missing
			cfg := w.quick()
			cfg.MaxPages = new(tt.most)
			_, s := crawl(t, cfg, "http://a.test/0")
			if s.State != tt.state || s.LimitReached != tt.limit {
				t.Errorf("%s, limit %q; want %s, %q", s.State, s.LimitReached, tt.state, tt.limit)
			}
		})
	}
}

// Fetchers that share a few places among many hosts neither exceed them nor wait for each other for ever.
func TestBudgetIsShared(t *testing.T) {
	t.Parallel()
	web := make(map[string]answer)
	var urls []string
	for h := range 30 {
		for i := range 3 {
			url := fmt.Sprintf("http://h%d.test/%d", h, i)
			web[url], urls = answer{body: "page"}, append(urls, url)
		}
	}
	w := serve(t, web)
	cfg := w.quick()
	cfg.Concurrency = 16
	for _, most := range []uint64{1, 2, 7, 15, 16, 17, 40} {
		cfg.MaxPages = new(most)
		_, s := crawl(t, cfg, urls...)
		if s.Pages != most || s.State != crawler.Stopped || s.LimitReached != "max_pages" {
			t.Errorf("%d pages, %s, limit %q; want %d", s.Pages, s.State, s.LimitReached, most)
		}
	}
}
