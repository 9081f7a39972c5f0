package crawler

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crawl/internal/vfs"
	"crawl/store"
)

// roomFS is a file system whose disk has as much room left as it is told.
type roomFS struct {
	vfs.FS
	free atomic.Uint64
}

func (f *roomFS) Free(string) (uint64, error) { return f.free.Load(), nil }

const keptFree = 1 << 20

// roomCrawl is a crawl of a small web on a disk with so much room.
func roomCrawl(t *testing.T, free uint64, set func(*Config)) (*Crawler, *roomFS, *logged, string) {
	t.Helper()
	disk, said := &roomFS{FS: unsyncedFS()}, &logged{}
	disk.free.Store(free)
	cfg := listConfig(newListWeb(40))
	cfg.Log = said.logger()
	cfg.CheckpointInterval = 10 * time.Second
	cfg.Store.FS, cfg.Store.MinFreeBytes = disk, keptFree
	if set != nil {
		set(&cfg)
	}
	dir := filepath.Join(memoryFolder(t), "a.crawl")
	c, err := Create(dir, cfg, seedList(Seed{URL: "http://a.test/"}))
	if err != nil {
		t.Fatal(err)
	}
	return c, disk, said, dir
}

// A crawl pauses before its disk is full, says so once, and goes on by itself.
func TestPauseForSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, disk, said, _ := roomCrawl(t, keptFree-1, nil)
		ended := make(chan error, 1)
		go func() { ended <- c.Run(t.Context()) }()
		time.Sleep(time.Hour)
		s := c.Snapshot()
		if s.State != Paused || s.PausedFor != PausedForSpace || s.Requests != 0 || s.Admitted != 0 {
			t.Errorf("after an hour it is %s for %q, with %d requests and %d URLs admitted", s.State, s.PausedFor, s.Requests, s.Admitted)
		}
		disk.free.Store(keptFree) // not enough to go on for long
		time.Sleep(time.Hour)
		if s := c.Snapshot(); s.State != Paused {
			t.Errorf("with as much as it keeps free it is %s", s.State)
		}
		disk.free.Store(enough(keptFree))
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s = c.Snapshot()
		if s.State != Complete || s.PausedFor != "" || s.Done != 41 {
			t.Errorf("it ends as %s for %q with %d pages", s.State, s.PausedFor, s.Done)
		}
		if n := strings.Count(said.String(), "nearly full"); n != 1 {
			t.Errorf("it says so %d times:\n%s", n, said.String())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The room is looked at with each checkpoint: what was in flight ends, and nothing else begins.
func TestSpaceRunsOutMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, disk, _, _ := roomCrawl(t, math.MaxUint64, func(cfg *Config) { cfg.Frontier.HostDelay = 15 * time.Second })
		ended := make(chan error, 1)
		go func() { ended <- c.Run(t.Context()) }()
		time.Sleep(time.Minute)
		disk.free.Store(0)
		time.Sleep(time.Minute)
		before := c.Snapshot()
		time.Sleep(time.Hour)
		if s := c.Snapshot(); s.PausedFor != PausedForSpace || s.Requests != before.Requests || s.Done == 0 {
			t.Errorf("paused for %q after %d requests, %d an hour ago, %d done", s.PausedFor, s.Requests, before.Requests, s.Done)
		}
		disk.free.Store(math.MaxUint64)
		if err := <-ended; err != nil || c.Snapshot().State != Complete {
			t.Errorf("%v, %s", err, c.Snapshot().State)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The user's pause and the one for want of space are two: each lasts until its own end.
func TestTwoPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, disk, _, _ := roomCrawl(t, 0, nil)
		ended := make(chan error, 1)
		go func() { ended <- c.Run(t.Context()) }()
		is := func(when, want string) {
			t.Helper()
			time.Sleep(time.Minute)
			if s := c.Snapshot(); s.PausedFor != want || s.Requests != 0 {
				t.Errorf("%s it is %s for %q after %d requests, want %q", when, s.State, s.PausedFor, s.Requests, want)
			}
		}
		is("without room", PausedForSpace)
		if err := c.Pause(t.Context()); err != nil {
			t.Error(err)
		}
		is("paused as well", PausedForSpace)
		disk.free.Store(math.MaxUint64)
		is("with room again", PausedForUser)
		disk.free.Store(0)
		if err := errors.Join(c.Pause(t.Context()), c.Resume(t.Context())); err != nil {
			t.Error(err)
		}
		is("resumed without room", PausedForSpace)
		disk.free.Store(math.MaxUint64)
		if err := <-ended; err != nil || c.Snapshot().State != Complete {
			t.Errorf("resumed: %v, %s", err, c.Snapshot().State)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Where nobody sees that it waits, it ends, its state saved.
func TestSpaceThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, _, dir := roomCrawl(t, 0, func(cfg *Config) { cfg.MinFreeWait = 10 * time.Minute })
		if _, err := c.Add(t.Context(), slices.Values([]Seed{{URL: "http://b.test/"}}), false); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err := c.Run(t.Context())
		short, ok := errors.AsType[*SpaceError](err)
		if !ok || short.Want != keptFree || short.Dir != dir || time.Since(began) < 10*time.Minute {
			t.Errorf("it ends after %s with %v", time.Since(began), err)
		}
		s := c.Snapshot()
		if s.State != Stopped || s.LimitReached != PausedForSpace || s.PausedFor != "" || s.Queued != 1 {
			t.Errorf("it is %s, limit %q, paused for %q, %d queued", s.State, s.LimitReached, s.PausedFor, s.Queued)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		web := newListWeb(40)
		if c, err = goOn(dir, web, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context()); err != nil || c.Snapshot().State != Complete {
			t.Errorf("on a disk with room: %v, %s", err, c.Snapshot().State)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A stop ends a crawl that waits for space at once.
func TestStopWithoutSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, _, _ := roomCrawl(t, 0, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A disk that does not say how much it has left has room.
func TestUnknownSpace(t *testing.T) {
	st, err := store.Create(filepath.Join(memoryFolder(t), "a.crawl"), store.Config{FS: mute{unsyncedFS()}, MinFreeBytes: 7},
		func() ([]store.Row, any, error) { return nil, nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	if free, keep := st.Space(); free != math.MaxUint64 || keep != 7 {
		t.Errorf("%d free, %d kept", free, keep)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

type mute struct{ vfs.FS }

func (mute) Free(string) (uint64, error) { return 0, errors.ErrUnsupported }
