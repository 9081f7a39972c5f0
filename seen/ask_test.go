package seen

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestAskIsHas: a batch of any length hears of each key what the key by itself hears, with any number of bits a key; but for
// those that are known, which may be left out.
func TestAskIsHas(t *testing.T) {
	for k := 1; k <= maxK; k++ {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(k)))
			l := newLayer(shape{capacity: 1000, lines: 7, k: k}, 0)
			var added []uint64
			for range 40 * 7 / k { // some half of the bits: so that keys fail at every one of theirs
				h := r.Uint64()
				l.add(h)
				added = append(added, h)
			}
			for n := range batchKeys + 1 {
				hashes := make([]uint64, n)
				for i := range hashes {
					hashes[i] = r.Uint64()
					if r.IntN(2) == 0 {
						hashes[i] = added[r.IntN(len(added))]
					}
				}
				known := r.Uint64()
				got := l.ask(hashes, known)
				for i, h := range hashes {
					if want := l.has(h); got>>i&1 != 0 != want && known>>i&1 == 0 {
						t.Fatalf("%d of %d hashes: got %v, want %v", i, n, !want, want)
					}
				}
				if n < batchKeys && got>>n != 0 {
					t.Fatalf("of %d hashes: answers %b", n, got)
				}
			}
		})
	}
}

// TestBatchGrows: chains that open layers in the middle of batches, with keys that come twice, answer and grow as they do
// for one key after another.
func TestBatchGrows(t *testing.T) {
	settings := Config{FalsePositiveRate: 0.01, ExpectedItems: minFirstItems, MaxBytes: 1 << 24, Seed: 1}
	one, batch := mustScalable(t, settings), mustScalable(t, settings)
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		hashes := make([]uint64, r.IntN(200))
		for i := range hashes {
			hashes[i] = r.Uint64N(100_000) * mix
			if i > 0 && r.IntN(4) == 0 {
				hashes[i] = hashes[r.IntN(i)]
			}
		}
		was := make([]bool, len(hashes))
		if err := batch.TestAndAddBatch(hashes, was); err != nil {
			t.Fatal(err)
		}
		for i, h := range hashes {
			if want, _ := one.TestAndAdd(h); was[i] != want {
				t.Fatalf("batch %d, hash %d: got %v, want %v", round, i, was[i], want)
			}
		}
		if one.Len() != batch.Len() || len(one.layers()) != len(batch.layers()) {
			t.Fatalf("batch %d: %d keys in %d layers, want %d in %d", round, batch.Len(), len(batch.layers()), one.Len(), len(one.layers()))
		}
	}
	if len(one.layers()) < 3 {
		t.Errorf("the chain has %d layers: nothing was tested", len(one.layers()))
	}
}
