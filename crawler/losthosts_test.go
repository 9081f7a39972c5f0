package crawler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crawl/store"
)

// A state.db that is made again from its twin still knows which hosts the user dropped, and what is used of budgets. What is
// gone is said when the crawl goes on, once.
func TestHostsOutliveStateDB(t *testing.T) {
	web := newListWeb(60)
	dir := listCrawl(t, web, 30)
	c, err := goOn(dir, web, func(cfg *Config) { cfg.MaxPages, cfg.Frontier.MaxHostPages = new(uint64(40)), 50 })
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Change(t.Context(), Change{Drop: []string{"b.test", "other.test"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Change(t.Context(), Change{Revive: []string{"other.test"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "state.db")); err != nil {
		t.Fatal(err)
	}
	repairs(t, dir, true)
	hosts, err := ReadGivenUpHosts(t.Context(), dir)
	if err != nil || len(hosts) != 1 || hosts[0].Host != "b.test" || hosts[0].Why != Dropped {
		t.Errorf("given up are %+v, %v", hosts, err)
	}

	var said logged
	c, err = goOn(dir, web, func(cfg *Config) { cfg.Frontier.MaxHostPages, cfg.Log = 50, said.logger() })
	if err != nil {
		t.Fatal(err)
	}
	if err := finish(t, c); err != nil {
		t.Fatal(err)
	}
	if s := c.Snapshot(); s.State != Partial || s.GivenUp[Dropped] != 1 {
		t.Errorf("it ends as %s, given up %v", s.State, s.GivenUp)
	}
	reader, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for p, err := range reader.Pages(t.Context(), store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.URL, "http://a.test/") {
			records++
		}
	}
	if records != 50 {
		t.Errorf("a.test has %d records, want 50", records)
	}
	if !strings.Contains(said.String(), "state.db was made again") {
		t.Errorf("the log says:\n%s", said.String())
	}
	before := len(said.String())
	if c, err = goOn(dir, web, func(cfg *Config) { cfg.Log = said.logger() }); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if text := said.String()[before:]; strings.Contains(text, "state.db was made again") {
		t.Errorf("it says so again:\n%s", text)
	}
}
