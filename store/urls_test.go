package store

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// URLs finds what is in full blocks, whatever was asked for before, by several goroutines beside one that appends.
func TestURLs(t *testing.T) {
	s := create(t, small)
	url := func(seq uint64) string { return fmt.Sprintf("https://a.example/%x/%d", seq*seq, seq) }
	add := func(n int) {
		for range n {
			seq := s.Admissions.Len() + 1
			if _, err := s.Admissions.Append(Admission{URL: url(seq), Hash: seq, From: seq / 2, Depth: uint32(seq % 300)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(3*BlockEntries + 7)
	for _, seq := range []uint64{0, 3*BlockEntries + 1, 3*BlockEntries + 7, 1 << 60} {
		if got, found := s.URLs.Of(seq); found {
			t.Errorf("number %d, which is in no full block, is %s", seq, got)
		}
	}
	var readers sync.WaitGroup
	for i := range uint64(4) {
		rng := rand.New(rand.NewPCG(1, i))
		readers.Go(func() {
			for range 300 {
				seq := 1 + rng.Uint64N(3*BlockEntries)
				if got, found := s.URLs.Of(seq); !found || got != url(seq) {
					t.Errorf("number %d is %q, %v", seq, got, found)
				}
			}
		})
	}
	add(5 * BlockEntries)
	readers.Wait()
	for _, seq := range []uint64{1, BlockEntries, BlockEntries + 1, 8 * BlockEntries, 8*BlockEntries - 1, 4*BlockEntries + 9, 1} {
		if got, found := s.URLs.Of(seq); !found || got != url(seq) {
			t.Errorf("number %d is %q, %v", seq, got, found)
		}
	}
	for seq := range uint64(knownURLs + 100) {
		if _, found := s.URLs.Of(seq + 1); !found {
			t.Fatalf("number %d is not found", seq+1)
		}
	}
	if len(s.URLs.known) != knownURLs || len(s.URLs.recent) != knownURLs {
		t.Errorf("%d URLs are kept by %d numbers, want %d", len(s.URLs.known), len(s.URLs.recent), knownURLs)
	}
}

func BenchmarkURLs(b *testing.B) {
	const blocks = 64
	s := create(b, Config{})
	for _, a := range benchAdmissions(blocks * BlockEntries) {
		if _, err := s.Admissions.Append(a); err != nil {
			b.Fatal(err)
		}
	}
	n := uint64(0)
	for b.Loop() {
		n += 1013
		if _, found := s.URLs.Of(1 + n*BlockEntries%(blocks*BlockEntries) + n%BlockEntries); !found {
			b.Fatal("not found")
		}
	}
}
