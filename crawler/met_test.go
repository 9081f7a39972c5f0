package crawler_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crawl/crawler"
	"crawl/seen"
	"crawl/store"
)

// tangle is pages that each link to the next and to five others.
func tangle(n int) map[string]answer {
	rnd := rand.New(rand.NewPCG(1, 2))
	web := make(map[string]answer)
	for i := range n {
		body := fmt.Sprintf("<a href=/%d>", (i+1)%n)
		for range 5 {
			body += fmt.Sprintf("<a href=/%d>", rnd.IntN(n))
		}
		web[fmt.Sprintf("http://a.test/%d", i)] = answer{body: body}
	}
	return web
}

// exact is a crawl of a web whose filter errs as often as a filter may.
func (w *web) exact() crawler.Config {
	cfg := w.quick()
	cfg.Exact = true
	cfg.Seen.FalsePositiveRate, cfg.Seen.ExpectedItems = 0.5, 1000
	cfg.Store.QueueEntries = 200
	cfg.CheckpointInterval = 5 * time.Millisecond
	return cfg
}

func TestExactSkipsNothing(t *testing.T) {
	const pages = 3000
	w := serve(t, tangle(pages))
	c, dir := create(t, w.exact(), "http://a.test/0")
	run(t, c)
	s := onDisk(t, dir)
	if s.Done != pages || s.Seen.Kind != "exact" || s.Seen.Caught == 0 || s.Seen.ExpectedSkipped > 1e-6 || s.Seen.Measured != 0 {
		t.Errorf("%d pages of %d, %+v", s.Done, pages, s.Seen)
	}
	if files, err := os.ReadDir(filepath.Join(dir, "exact")); err != nil || len(files) < 3 {
		t.Errorf("%d files behind the filter, %v", len(files), err)
	}
}

// TestExactGoesOn stops a crawl half-way and goes on with it, after something has happened to what is behind the filter.
func TestExactGoesOn(t *testing.T) {
	const pages = 2000
	for _, tt := range []struct {
		name   string
		harm   func(t *testing.T, dir string)
		edit   func(*crawler.Config)
		remade bool
	}{
		{name: "as it was"},
		{name: "all is gone", harm: func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }},
		{name: "a run is gone", harm: func(t *testing.T, dir string) { must(t, os.Remove(oneRun(t, dir))) }, remade: true},
		{name: "a run is cut", harm: func(t *testing.T, dir string) { must(t, os.Truncate(oneRun(t, dir), 100)) }, remade: true},
		{name: "a run is zeroed", harm: zeroed, remade: true},
		{name: "the manifest is rubbish", harm: func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "manifest"), []byte("rubbish"), 0o644))
		}, remade: true},
		{name: "it is of another state", harm: func(t *testing.T, dir string) {
			seed := seedOf(t, filepath.Dir(dir))
			must(t, os.RemoveAll(dir))
			other, err := seen.OpenHashes(dir, seed)
			must(t, err)
			for h := range uint64(400) {
				other.Add(h * 0x9e3779b97f4a7c15)
			}
			other.Gather(1)
			must(t, other.SyncTo(400))
			must(t, other.Close())
		}, remade: true},
		{name: "the filter is made again", edit: func(cfg *crawler.Config) { cfg.RebuildSeen, cfg.Seen.FalsePositiveRate = true, 0.25 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := serve(t, tangle(pages))
			cfg := w.exact()
			first := uint64(pages / 2)
			cfg.MaxPages = &first
			c, dir := create(t, cfg, "http://a.test/0")
			run(t, c)
			if tt.harm != nil {
				tt.harm(t, filepath.Join(dir, "exact"))
			}
			var log strings.Builder
			c, err := crawler.Open(dir, func(cfg *crawler.Config) {
				cfg.MaxPages, cfg.Log = nil, slog.New(slog.NewTextHandler(&log, nil))
				if tt.edit != nil {
					tt.edit(cfg)
				}
			})
			must(t, err)
			run(t, c)
			if s := onDisk(t, dir); s.Done != pages {
				t.Errorf("%d pages of %d", s.Done, pages)
			}
			for url, times := range w.requests {
				if len(times) > 1 && !strings.HasSuffix(url, "robots.txt") {
					t.Fatalf("%s was asked for %d times", url, len(times))
				}
			}
			if remade := strings.Contains(log.String(), "made again from the log"); remade != tt.remade && tt.edit == nil {
				t.Errorf("said to be made again: %t\n%s", remade, log.String())
			}
		})
	}
}

// TestExactOfAnotherHistory puts a folder behind the filter as a crawl leaves it that went another way from a common backup
// on, and came back to the same URLs: it differs in a single one, long before its end.
func TestExactOfAnotherHistory(t *testing.T) {
	const pages = 6000
	w := serve(t, tangle(pages))
	cfg := w.exact()
	cfg.CheckpointInterval = 50 * time.Millisecond
	first := uint64(5000)
	cfg.MaxPages = &first
	c, dir := create(t, cfg, "http://a.test/0")
	run(t, c)
	hashes := admitted(t, dir)
	folder := filepath.Join(dir, "exact")
	seed := seedOf(t, dir)
	must(t, os.RemoveAll(folder))
	other, err := seen.OpenHashes(folder, seed)
	must(t, err)
	hashes[100] ^= 1
	other.Add(hashes...)
	other.Gather(1)
	must(t, other.SyncTo(uint64(len(hashes))))
	must(t, other.Close())
	var log strings.Builder
	c, err = crawler.Open(dir, func(cfg *crawler.Config) {
		cfg.MaxPages, cfg.Log = nil, slog.New(slog.NewTextHandler(&log, nil))
	})
	must(t, err)
	run(t, c)
	if !strings.Contains(log.String(), "of another state of the crawl") {
		t.Errorf("it was taken for this crawl's own:\n%s", log.String())
	}
	if s := onDisk(t, dir); s.Done != pages {
		t.Errorf("%d pages of %d", s.Done, pages)
	}
	report, err := crawler.Verify(t.Context(), dir, crawler.VerifyOptions{})
	if must(t, err); !report.Sound {
		t.Errorf("%+v", report.Damage)
	}
}

// admitted returns the hashes of a crawl's log.
func admitted(t *testing.T, dir string) (all []uint64) {
	t.Helper()
	st, err := store.Open(dir, store.Config{})
	must(t, err)
	must(t, st.Admissions.EachHashes(1, func(_ uint64, hashes []uint64) error {
		all = append(all, hashes...)
		return nil
	}))
	must(t, st.Close())
	return all
}

// TestSeenChangesKind has a crawl that errs go on exactly, and back.
func TestSeenChangesKind(t *testing.T) {
	w := serve(t, tangle(2000))
	cfg := w.exact()
	pages := uint64(100)
	cfg.Exact, cfg.MaxPages = false, &pages
	c, dir := create(t, cfg, "http://a.test/0")
	run(t, c)
	for _, exact := range []bool{true, false, true} {
		pages += 300
		c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.Exact, cfg.MaxPages = exact, new(pages) })
		must(t, err)
		run(t, c)
		_, err = os.Stat(filepath.Join(dir, "exact"))
		if s := onDisk(t, dir); (s.Seen.Kind == "exact") != exact || (err == nil) != exact {
			t.Errorf("exact %t: kind %s, folder: %v", exact, s.Seen.Kind, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// oneRun returns a file of hashes.
func oneRun(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.run"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no run in %s: %v", dir, err)
	}
	return files[0]
}

func zeroed(t *testing.T, dir string) {
	name := oneRun(t, dir)
	info, err := os.Stat(name)
	must(t, err)
	must(t, os.WriteFile(name, make([]byte, info.Size()), 0o644))
}

// TestVerifyExact has the verification find what is wrong behind the filter, and a repair make it again.
func TestVerifyExact(t *testing.T) {
	for _, tt := range []struct {
		name    string
		harm    func(t *testing.T, dir string)
		problem string // empty: it is sound
	}{
		{name: "as it was"},
		{name: "all is gone", harm: func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }},
		{name: "a run is gone", harm: func(t *testing.T, dir string) { must(t, os.Remove(oneRun(t, dir))) }, problem: "damaged"},
		{name: "a run is zeroed", harm: zeroed, problem: "damaged"},
		{name: "a byte is another", harm: flipped, problem: "damaged"},
		{name: "it is of another crawl", harm: func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			other, err := seen.OpenHashes(dir, 77)
			must(t, err)
			must(t, other.Close())
		}, problem: "another seed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := serve(t, tangle(1000))
			c, dir := create(t, w.exact(), "http://a.test/0")
			run(t, c)
			if tt.harm != nil {
				tt.harm(t, filepath.Join(dir, "exact"))
			}
			report, err := crawler.Verify(t.Context(), dir, crawler.VerifyOptions{})
			must(t, err)
			if report.Sound != (tt.problem == "") || !report.Sound && !strings.Contains(report.Damage[0].Problem, tt.problem) {
				t.Errorf("%+v", report.Damage)
			}
			report, err = crawler.Verify(t.Context(), dir, crawler.VerifyOptions{Repair: true})
			if must(t, err); !report.Sound {
				t.Errorf("after the repair: %+v", report.Damage)
			}
		})
	}
}

// flipped changes a byte in the middle of a run.
func flipped(t *testing.T, dir string) {
	name := oneRun(t, dir)
	data, err := os.ReadFile(name)
	must(t, err)
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(name, data, 0o644))
}

// seedOf returns the seed of a crawl's filter.
func seedOf(t *testing.T, dir string) uint64 {
	t.Helper()
	reader, err := store.OpenReader(dir)
	must(t, err)
	defer reader.Close()
	var books struct{ Config crawler.Config }
	must(t, json.Unmarshal(reader.Cut().Books, &books))
	return books.Config.Seen.Seed
}
