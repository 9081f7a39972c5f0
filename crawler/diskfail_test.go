package crawler

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"crawl/frontier"
	"crawl/internal/vfs/vfstest"
	"crawl/store"
)

// A disk that is full, broken or not to be written to ends the crawl with an error that names the file and the cause. What
// was on disk is there still: the last checkpoint stands, is sound, and is gone on from.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
		kind vfstest.Kind
		file string // part of its path
		part float64
	}{
		{"log is full", syscall.ENOSPC, vfstest.Write, "/log/", 0.5},
		{"page records are full", syscall.ENOSPC, vfstest.Write, "/pages/", 0.5},
		{"run is full", syscall.ENOSPC, vfstest.Write, "/runs/", 0.5},
		{"no room for the twin", syscall.ENOSPC, vfstest.Write, "/checkpoint.new", 0},
		{"no room for a file", syscall.ENOSPC, vfstest.Create, "/pages/", 0},
		{"log is not synced", syscall.EIO, vfstest.Sync, "/log/", 0},
		{"page records are not synced", syscall.EIO, vfstest.Sync, "/pages/", 0},
		{"run is not synced", syscall.EIO, vfstest.Sync, "/runs/", 0},
		{"folder is not synced", syscall.EIO, vfstest.SyncDir, "/pages", 0},
		{"read-only log", syscall.EROFS, vfstest.Write, "/log/", 0},
		{"read-only folder", syscall.EROFS, vfstest.Rename, "/checkpoint", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			web := newListWeb(4600) // a block of the log
			dir := filepath.Join(memoryFolder(t), "a.crawl")
			failing := false // once the crawl is there
			disk := vfstest.NewFail(unsyncedFS(), vfstest.Failure{N: 1, Err: tt.err, Part: tt.part, Forever: true,
				Only: func(op vfstest.Op) bool { return failing && op.Kind == tt.kind && strings.Contains(op.Name, tt.file) }})
			cfg := listConfig(web)
			cfg.Store.FS = disk
			cfg.CheckpointInterval = 10 * time.Millisecond
			c, err := Create(dir, cfg, seedList(Seed{URL: "http://a.test/"}))
			if err != nil {
				t.Fatal(err)
			}
			failing = true
			err = c.Run(t.Context())
			if failed, ok := errors.AsType[*store.WriteError](err); !ok || !errors.Is(err, tt.err) || !strings.Contains(failed.File, strings.TrimSuffix(tt.file, ".new")) {
				t.Errorf("it ends with %v, want a *store.WriteError of %s with %v", err, tt.file, tt.err)
			}
			if s := c.Snapshot(); s.State != Stopped {
				t.Errorf("it is %s", s.State)
			}
			_ = c.Close() // says what it could not close
			standsAndGoesOn(t, dir, web)
		})
	}
}

// standsAndGoesOn checks that a crawl whose disk failed is sound, and goes on for a while.
func standsAndGoesOn(t *testing.T, dir string, web *listWeb) {
	t.Helper()
	before := sound(t, dir)
	c, err := goOn(dir, web, func(cfg *Config) { cfg.MaxPages = new(before.Records + 50) })
	if err != nil {
		t.Fatal(err)
	}
	if err := finish(t, c); err != nil {
		t.Fatal(err)
	}
	if after := sound(t, dir); after.Records != before.Records+50 {
		t.Errorf("%d page records, and %d after 50 more", before.Records, after.Records)
	}
}

// seen.db is bbolt's, and no file of the store's.
func TestFullDiskUnderTheFilter(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /dev/full")
	}
	t.Parallel()
	web := newListWeb(300)
	dir := filepath.Join(memoryFolder(t), "a.crawl")
	cfg := listConfig(web)
	cfg.Seen.ExpectedItems, cfg.Seen.FalsePositiveRate = 100, 0.4 // a small layer is saved often
	cfg.MaxPages = new(uint64(100))
	c, err := Create(dir, cfg, seedList(Seed{URL: "http://a.test/"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(dir, "seen.db")); err != nil {
		t.Fatal(err)
	}
	err = c.Run(t.Context())
	if failed, ok := errors.AsType[*store.WriteError](err); !ok || filepath.Base(failed.File) != "seen.db" {
		t.Errorf("it ends with %v, want a *store.WriteError of seen.db", err)
	}
	_ = c.Close()
	if err := os.Remove(filepath.Join(dir, "seen.db")); err != nil {
		t.Fatal(err)
	}
	standsAndGoesOn(t, dir, web)
}

// What is pending and in no run is added again in batches, however much it is: here all runs of the queue are lost.
func TestLostQueueIsAddedAgain(t *testing.T) {
	t.Parallel()
	web := newListWeb(6000)
	dir := filepath.Join(memoryFolder(t), "a.crawl")
	cfg := listConfig(web)
	cfg.MaxPages = new(uint64(20))
	c, err := Create(dir, cfg, seedList(Seed{URL: "http://a.test/"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := finish(t, c); err != nil {
		t.Fatal(err)
	}
	left := sound(t, dir).Pending
	if err := os.RemoveAll(filepath.Join(dir, "runs")); err != nil {
		t.Fatal(err)
	}
	if c, err = goOn(dir, web, nil); err != nil {
		t.Fatal(err)
	}
	if n, most := c.committer.store.Queue.Unwritten(), 2*700+tailBatch; n > most {
		t.Errorf("%d entries are in memory, want at most %d", n, most)
	}
	if s := c.Snapshot(); s.Queued != left {
		t.Errorf("%d URLs are queued, %d were pending", s.Queued, left)
	}
	if err := finish(t, c); err != nil {
		t.Fatal(err)
	}
	if report := sound(t, dir); report.Done != 6001 || report.Records != 6001 {
		t.Errorf("%d URLs are done, with %d records", report.Done, report.Records)
	}
}

// A clock that was set back makes no host wait for longer than it may at most, and no checkpoint be taken for a newer one.
func TestClockSetBackBetweenRuns(t *testing.T) {
	t.Parallel()
	web := newListWeb(30)
	dir := listCrawl(t, web, 10)
	ahead := time.Now().AddDate(1, 0, 0)
	row, err := json.Marshal(frontier.HostState{Host: "a.test", Until: ahead, Failures: 1})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dir, store.Config{FS: unsyncedFS()})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := readBooks(st.Last())
	if err != nil {
		t.Fatal(err)
	}
	kept.StartedAt, kept.Previous.At = ahead, ahead
	cp, err := st.Prepare([]store.Row{{Key: hostPrefix + "a.test", Value: row}}, kept)
	if err == nil {
		err = cp.Commit()
	}
	if err := errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	c, err := goOn(dir, web, func(cfg *Config) {
		cfg.Frontier.BackoffMax, cfg.Frontier.MaxRetryAfter = 50*time.Millisecond, 50*time.Millisecond
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := finish(t, c); err != nil {
		t.Fatal(err)
	}
	recordedOnce(t, dir, web)
	if s := sound(t, dir); s.Pending != 0 {
		t.Errorf("%d URLs are pending", s.Pending)
	}
}
