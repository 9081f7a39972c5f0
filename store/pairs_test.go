package store

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"crawl/sortedrun"
)

func TestSortPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	for _, n := range []int{0, 1, 2, 1000} {
		for shift := range 65 {
			pairs := make([]pair, n)
			for i := range pairs {
				pairs[i] = pair{rng.Uint64() >> shift, uint64(i)}
			}
			want := slices.SortedStableFunc(slices.Values(pairs), func(a, b pair) int { return cmp.Compare(a.key, b.key) })
			if got := sortPairs(pairs, make([]pair, n)); !slices.Equal(got, want) {
				t.Fatalf("%d pairs of %d bits are out of order", n, 64-shift)
			}
		}
	}
}

// randomPairs returns pairs with ascending keys that lie close together or far apart.
func randomPairs(rng *rand.Rand, n int) []pair {
	keys, values := rng.IntN(56), rng.IntN(64)
	pairs := make([]pair, n)
	at := rng.Uint64() >> 8 >> keys
	for i := range pairs {
		pairs[i] = pair{at, rng.Uint64() >> values}
		at += 1 + rng.Uint64()>>9>>keys
	}
	return pairs
}

func TestPagesComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 2))
	var r pageReader
	pages := [][]pair{
		{{0, 0}}, {{^uint64(0), ^uint64(0)}}, {{0, ^uint64(0)}, {^uint64(0), 0}}, {{5, 7}, {6, 7}},
	}
	for range 2000 {
		pages = append(pages, randomPairs(rng, 1+rng.IntN(pagePairs)))
	}
	for _, pairs := range pages {
		key := binary.BigEndian.AppendUint64(nil, pairs[len(pairs)-1].key)
		got, err := r.read(key, appendPage(nil, pairs))
		if err != nil || !slices.Equal(got, pairs) {
			t.Fatalf("%d pairs %v: %d, %v", len(pairs), pairs[:min(3, len(pairs))], len(got), err)
		}
	}
}

// Whatever a page holds, reading it gives ascending keys or an error.
func FuzzPage(f *testing.F) {
	rng := rand.New(rand.NewPCG(22, 3))
	for _, n := range []int{1, 2, 17, pagePairs} {
		pairs := randomPairs(rng, n)
		f.Add(pairs[n-1].key, appendPage(nil, pairs))
	}
	f.Add(uint64(1), []byte{255, 0, 0})
	f.Add(uint64(9), []byte{1, 0, 0})     // the same key twice
	f.Add(uint64(9), []byte{1, 1, 0, 0})  // so too
	f.Add(uint64(9), []byte{1, 1, 0, 10}) // a key below 0
	f.Add(uint64(1), []byte{1, 0x99, 0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, last uint64, page []byte) {
		var r pageReader
		pairs, err := r.read(binary.BigEndian.AppendUint64(nil, last), page)
		if err != nil {
			return
		}
		ascend := true
		for i := range len(pairs) - 1 {
			ascend = ascend && pairs[i].key < pairs[i+1].key
		}
		if len(pairs) == 0 || !ascend || pairs[len(pairs)-1].key != last {
			t.Errorf("%d pairs, ascending: %v", len(pairs), ascend)
		}
		again, err := r.read(binary.BigEndian.AppendUint64(nil, last), appendPage(nil, slices.Clone(pairs)))
		if err != nil || !slices.Equal(again, pairs) {
			t.Errorf("written again it differs: %v", err)
		}
	})
}

// Of equal keys that of the earlier run counts, within a run that which was added first.
func TestMergeOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 4))
	s := create(t, small)
	want := make(map[uint64]uint64)
	var runs []*run
	for i := range uint64(5) {
		pairs := make([]pair, rng.IntN(3000))
		if i == 3 {
			pairs = nil
		}
		for j := range pairs {
			pairs[j] = pair{rng.Uint64N(4000), i<<32 + uint64(j)}
			if _, earlier := want[pairs[j].key]; !earlier {
				want[pairs[j].key] = pairs[j].value
			}
		}
		runs = append(runs, pairsRun(t, s, pairs))
	}
	merged, err := s.runs.build(RunInfo{Kind: HashRun}, sortedrun.Options{}, func(w *sortedrun.Writer) error {
		return s.mergePairs(t.Context(), w, runs)
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := newPairCursor(merged).take(1 << 20)
	if err != nil || len(all) != len(want) {
		t.Fatalf("%d pairs, %v, want %d", len(all), err, len(want))
	}
	c := newPairCursor(merged)
	for key := range uint64(4001) {
		value, found, err := c.find(key)
		if wanted, ok := want[key]; err != nil || found != ok || value != wanted {
			t.Fatalf("key %d: %d (%v), %v, want %d (%v)", key, value, found, err, wanted, ok)
		}
	}
}

func pairsRun(t testing.TB, s *Store, pairs []pair) *run {
	t.Helper()
	r, err := s.runs.build(RunInfo{Kind: HashRun}, sortedrun.Options{}, func(w *sortedrun.Writer) error {
		return addPairs(w, pairs, make([]pair, len(pairs)))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.runs.discard(r) })
	return r
}
