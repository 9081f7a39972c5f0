package crawler

import (
	"testing"
	"testing/synctest"
	"time"
)

// A host's row says since when it is given up, whatever else of it changes, until the reason is another. Its URLs are counted
// wherever they wait: in runs of the queue, in what no run holds yet, and after a visit that was asked for again.
func TestGivenUpHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := newListWeb(60)
		c, _, _, dir := roomCrawl(t, 2*keptFree, func(cfg *Config) { cfg.Fetcher, cfg.MaxPages = web, new(uint64(20)) })
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		drop := func(host string) {
			t.Helper()
			if _, err := c.Change(t.Context(), Change{Drop: []string{host}}); err != nil {
				t.Fatal(err)
			}
		}
		drop("a.test")
		dropped := time.Now()
		time.Sleep(time.Hour)
		drop("a.test")
		drop("other.test")
		s := c.Snapshot()
		check := func(when string, hosts []GivenUpHost, err error) {
			t.Helper()
			if err != nil || len(hosts) != 2 {
				t.Fatalf("%s: %+v, %v", when, hosts, err)
			}
			a, other := hosts[0], hosts[1]
			if a.Host != "a.test" || a.Why != Dropped || a.Waiting != s.Queued || s.Queued == 0 || !a.Since.Equal(dropped.Truncate(time.Second)) {
				t.Errorf("%s: %+v; %d are queued", when, a, s.Queued)
			}
			if other.Host != "other.test" || other.Waiting != 0 || other.Since.Sub(a.Since) != time.Hour {
				t.Errorf("%s: %+v", when, other)
			}
		}
		hosts, err := c.GivenUpHosts(t.Context())
		check("open", hosts, err)
		if err := c.committer.store.Queue.Spill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := c.checkpoint(); err != nil {
			t.Fatal(err)
		}
		hosts, err = c.GivenUpHosts(t.Context())
		check("in runs", hosts, err)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		hosts, err = ReadGivenUpHosts(t.Context(), dir)
		check("closed", hosts, err)

		time.Sleep(time.Hour)
		if c, err = goOn(dir, web, nil); err != nil {
			t.Fatal(err)
		}
		drop("a.test")
		hosts, err = c.GivenUpHosts(t.Context())
		check("gone on", hosts, err)
		if _, err := c.Change(t.Context(), Change{Revive: []string{"a.test"}}); err != nil {
			t.Fatal(err)
		}
		drop("a.test")
		if hosts, err = c.GivenUpHosts(t.Context()); err != nil || !hosts[0].Since.Equal(time.Now().Truncate(time.Second)) {
			t.Errorf("after it was asked again: %+v, %v", hosts, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
