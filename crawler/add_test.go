package crawler

import (
	"path/filepath"
	"slices"
	"testing"

	"crawl/store"
)

// A seed that is named again is at its next visit after a restart too: its first entry is still in a run of the queue.
func TestSeedAgainAfterRestart(t *testing.T) {
	web, dir := newListWeb(3), filepath.Join(memoryFolder(t), "a.crawl")
	seed := Seed{URL: "http://a.test/"}
	c, err := Create(dir, listConfig(web), seedList(seed))
	if err != nil {
		t.Fatal(err)
	}
	spill := func() {
		t.Helper()
		if err := c.committer.store.Queue.Spill(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.feedSeeds(t.Context()); err != nil {
		t.Fatal(err)
	}
	spill()
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if added, err := c.Add(t.Context(), slices.Values([]Seed{seed}), true); err != nil || added.Again != 1 {
		t.Fatalf("%+v, %v", added, err)
	}
	spill()
	if err := c.checkpoint(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err = goOn(dir, web, nil); err != nil {
		t.Fatal(err)
	}
	if err := finish(t, c); err != nil {
		t.Fatal(err)
	}
	sound(t, dir)
	reader, err := store.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	var visits []int
	for p, err := range reader.Pages(t.Context(), store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if p.URL == seed.URL {
			visits = append(visits, p.Visit)
		}
	}
	if !slices.Equal(visits, []int{1, 2}) {
		t.Errorf("the seed's records are of visits %v, want 1 and 2", visits)
	}
}
