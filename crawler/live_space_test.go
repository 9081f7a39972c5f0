package crawler

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"crawl/store"
)

// How much is kept free can change while a crawl runs, and while it is paused for that: it is looked at anew.
func TestChangeMinFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, said, dir := roomCrawl(t, keptFree/2, func(cfg *Config) { cfg.Frontier.HostDelay = time.Minute })
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		keep := func(bytes int64, want string) {
			t.Helper()
			if _, err := c.Change(t.Context(), Change{Settings: func(cfg *Config) { cfg.Store.MinFreeBytes = bytes }}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if s := c.Snapshot(); s.PausedFor != want {
				t.Errorf("with %d to be kept free it is %s for %q", bytes, s.State, s.PausedFor)
			}
		}
		keep(keptFree-1, PausedForSpace)
		keep(keptFree/4, "")
		keep(keptFree, PausedForSpace)
		keep(0, "")
		if err := <-ended; err != nil || c.Snapshot().State != Complete {
			t.Errorf("%v, %s\n%s", err, c.Snapshot().State, said)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		st, err := store.Open(dir, store.Config{FS: c.cfg.Store.FS})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := readBooks(st.Last())
		if err != nil {
			t.Fatal(err)
		}
		if cfg, err := kept.config(); err != nil || cfg.Store.MinFreeBytes != 0 {
			t.Errorf("%v, the checkpoint has %d to be kept free", err, cfg.Store.MinFreeBytes)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}
