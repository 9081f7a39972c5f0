package crawler

import (
	"math/rand/v2"
	"testing"
	"time"

	"crawl/seen"
)

// TestMemoryOfSights holds what a first sight takes against what README says, for a million of them and for four.
func TestMemoryOfSights(t *testing.T) {
	s := &sights{}
	cfg := AdmitAfter{Pages: 2}.window(1)
	cfg.Now = func() time.Time { return time.Unix(0, 0).Add(s.now) }
	var err error
	if s.window, err = seen.NewWindow(cfg); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 4_000_000; n++ {
		if _, err := s.second(rng.Uint64(), uint64(n/65)); err != nil {
			t.Fatal(err)
		}
		if s.fresh = s.fresh[:0]; n == 1_000_000 || n == 4_000_000 {
			each := float64(s.window.Stats().Bytes) / float64(n)
			t.Logf("%.1f bytes each of %d", each, n)
			if each > 13 {
				t.Errorf("%.1f bytes each of %d first sights", each, n)
			}
		}
	}
}
