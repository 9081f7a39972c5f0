package crawler

import (
	"strings"
	"testing"

	"crawl/frontier"
	"crawl/store"
)

// A queue that lacks pending URLs, by whatever fault, ends no crawl without them: they are in the logs.
func TestQueueThatLacksURLs(t *testing.T) {
	web := newListWeb(60)
	dir := listCrawl(t, web, 30)
	changeRows(t, dir, func(st *store.Store, _ *books) []store.Row {
		st.Forget(store.QueueRun)
		return nil
	})
	if said := goesOn(t, dir, web); !strings.Contains(said, "were passed over") {
		t.Errorf("the log says:\n%s", said)
	}
	sound(t, dir)
}

// What is left on hosts that are given up is no such case.
func TestStrandedURLsAreNotLost(t *testing.T) {
	web := newListWeb(60)
	dir := listCrawl(t, web, 30)
	var said logged
	c, err := goOn(dir, web, func(cfg *Config) { cfg.Log = said.logger() })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Change(t.Context(), Change{Drop: []string{"a.test"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := c.Snapshot()
	if s.State != Partial || s.Stranded == 0 || s.GivenUp[Dropped] != 1 || strings.Contains(said.String(), "were passed over") {
		t.Errorf("it is %s, %d stranded, given up %v\n%s", s.State, s.Stranded, s.GivenUp, said.String())
	}
	if why := c.frontier.GivenUp("b.test"); why != frontier.Reason("") {
		t.Errorf("b.test is given up: %s", why)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
