package crawler

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crawl/store"
)

// The filter is made again with other parameters: what was met stays met, and what follows from its hashes is remade too.
func TestRebuildSeen(t *testing.T) {
	web := newListWeb(4600)
	dir := listCrawl(t, web, 4200)
	change := func(cfg *Config) { cfg.Seen.FalsePositiveRate, cfg.Seen.ExpectedItems = 0.02, 20_000 }
	if _, err := goOn(dir, web, change); !errors.Is(err, ErrFixed) || !strings.Contains(err.Error(), "--rebuild-seen") {
		t.Fatalf("without a rebuild: %v", err)
	}
	before, _ := filepath.Glob(filepath.Join(dir, "runs", "*"))
	c, err := goOn(dir, web, func(cfg *Config) { change(cfg); cfg.RebuildSeen = true })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "seen.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old filter is still saved: %v", err)
	}
	if s := c.Snapshot(); s.Seen.TargetRate != 0.02 || s.Seen.Items != s.Admitted {
		t.Errorf("the filter has a target of %g and %d of %d URLs", s.Seen.TargetRate, s.Seen.Items, s.Admitted)
	}
	if err := finish(t, c); err != nil {
		t.Fatal(err)
	}
	recordedOnce(t, dir, web)
	sound(t, dir)
	if kinds := runsOf(t, dir); kinds[store.HashRun] != 1 || kinds[store.DoneRun] != 1 {
		t.Errorf("the runs are %v", kinds)
	}
	for _, file := range before {
		if kind := kindOf(t, dir, file); kind == store.HashRun || kind == store.DoneRun {
			t.Errorf("%s was not made again", file)
		}
	}
	if c, err = goOn(dir, web, nil); err != nil {
		t.Fatalf("under the new parameters: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// runsOf counts the runs of the last checkpoint by kind.
func runsOf(t *testing.T, dir string) map[store.RunKind]int {
	t.Helper()
	r, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[store.RunKind]int)
	for _, info := range r.Cut().Runs.Runs {
		kinds[info.Kind]++
	}
	return kinds
}

// kindOf returns what a file of a run is to the last checkpoint, empty for nothing.
func kindOf(t *testing.T, dir, file string) store.RunKind {
	t.Helper()
	r, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range r.Cut().Runs.Runs {
		if filepath.Base(file) == fmt.Sprintf("%010d.run", info.Number) {
			return info.Kind
		}
	}
	return ""
}

// Rules that name URLs in another way are refused, unless they give all URLs of the log the names that they have.
func TestRebuildSeenUnderOtherRules(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rebuild bool
		foreign bool // the log has a hash that the present rules do not give
		want    string
	}{
		{name: "refused", want: "--rebuild-seen"},
		{name: "the same names", rebuild: true},
		{name: "other names", rebuild: true, foreign: true, want: "that needs a new crawl"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			web := newListWeb(20)
			dir := listCrawl(t, web, 10)
			changeBooks(t, dir, func(st *store.Store, b *books) {
				b.CanonRules = "0"
				if tt.foreign {
					if _, err := st.Admissions.Append(store.Admission{URL: "http://a.test/x", Hash: 7}); err != nil {
						t.Fatal(err)
					}
				}
			})
			c, err := goOn(dir, web, func(cfg *Config) { cfg.RebuildSeen = tt.rebuild })
			if tt.want != "" {
				if !errors.Is(err, ErrFixed) || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("got %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := finish(t, c); err != nil {
				t.Fatal(err)
			}
			recordedOnce(t, dir, web)
			sound(t, dir)
		})
	}
}

// changeBooks makes a checkpoint with other books.
func changeBooks(t *testing.T, dir string, change func(*store.Store, *books)) {
	t.Helper()
	changeRows(t, dir, func(st *store.Store, b *books) []store.Row { change(st, b); return nil })
}
