package crawler_test

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"crawl/crawler"
	"crawl/seen"
	"crawl/store"
)

// A saved filter that lacks some of its bits would call new what was met. It is remade from the log.
func TestIncompleteFilterIsRemade(t *testing.T) {
	w := serve(t, line(20))
	c, dir := create(t, w.quick(), "http://a.test/0")
	run(t, c)
	saveHeaderOnly(t, dir)
	var log strings.Builder
	c, err := crawler.Open(dir, func(cfg *crawler.Config) { cfg.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "remade") {
		t.Errorf("nothing is said of it: %s", log.String())
	}
	before := c.Snapshot().Admitted
	again := []crawler.Seed{{URL: "http://a.test/3"}, {URL: "http://a.test/8"}} // lead to pages that were met
	if added, err := c.Add(t.Context(), slices.Values(again), true); err != nil || added.Again != 2 {
		t.Fatalf("%+v, %v", added, err)
	}
	run(t, c)
	if s := onDisk(t, dir); s.Admitted != before || s.Queued != 0 {
		t.Errorf("%d URLs admitted, want %d: some were called new again", s.Admitted, before)
	}
}

// saveHeaderOnly leaves a saved filter that has all of the log's hashes by its header, and none in its bits.
func saveHeaderOnly(t *testing.T, dir string) {
	t.Helper()
	st, err := store.Open(dir, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var books struct{ Config crawler.Config }
	if err := json.Unmarshal(st.Last().Books, &books); err != nil {
		t.Fatal(err)
	}
	filter, err := seen.NewScalable(books.Config.Seen)
	if err != nil {
		t.Fatal(err)
	}
	err = st.Admissions.EachHashes(1, func(_ uint64, hashes []uint64) error {
		filter.Add(hashes)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	header, err := filter.Header().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	last := filter.Chunks(0) - 1 // without the others
	chunk := store.FilterChunk{Layer: 0, Index: last, Data: filter.AppendChunk(nil, 0, last)}
	if err := st.Filter().Write([]store.FilterChunk{chunk}, header); err != nil {
		t.Fatal(err)
	}
}
