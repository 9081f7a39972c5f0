package sortedrun

import (
	"io"
	"math/rand/v2"
	"testing"
)

// An entry costs no allocation: neither when it is written, nor in a walk, a merge or a seek. Nor does a block, but for
// packed ones under the race detector, which takes from the decoder's pools.
func TestAllocations(t *testing.T) {
	for _, compress := range []bool{false, true} {
		o := Options{Compress: compress}
		entries := queueEntries()[:benchEntries/4]
		r := open(t, build(t, o, entries))
		blocks := int(r.footer.blocks)
		perBlock := 0
		if compress {
			perBlock = 4
		}
		check := func(what string, limit int, f func()) {
			t.Helper()
			if got := testing.AllocsPerRun(3, f); got > float64(limit) {
				t.Errorf("compress=%v: %s: %.0f allocations, want at most %d", compress, what, got, limit)
			}
		}
		check("write", 100+perBlock*blocks, func() {
			w := NewWriter(io.Discard, o)
			for _, e := range entries {
				if err := w.Add(e.key, e.value); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.Finish(); err != nil {
				t.Fatal(err)
			}
		})
		check("walk", 40+perBlock*blocks, func() {
			for c := r.Seek(nil); c.Next(); {
			}
		})
		check("merge", 200+3*perBlock*blocks, func() {
			for m := Merge(r.Seek(nil), r.Seek(nil), r.Seek(nil)); m.Next(); {
			}
		})
		c, rng := r.Seek(nil), rand.New(rand.NewPCG(1, 1))
		check("seeks", 10+perBlock*blocks, func() {
			for range blocks {
				if c.Seek(entries[rng.IntN(len(entries))].key); !c.Next() {
					t.Fatal(c.Err())
				}
			}
		})
	}
}
