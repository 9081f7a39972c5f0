package seen

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// One goroutine adds, others ask without a lock: a key whose addition had returned is found, also while the chain grows.
func TestReadersBesideOneWriter(t *testing.T) {
	for _, tt := range []struct {
		name string
		open func(t *testing.T, keys int) Filter
	}{
		{"Scalable", func(t *testing.T, keys int) Filter { return mustScalable(t, Config{ExpectedItems: 1000, Seed: 1}) }},
		{"Bloom", func(t *testing.T, keys int) Filter {
			b, err := NewBloom(Config{ExpectedItems: uint64(keys), Seed: 1}, Blocked)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			keys := 100_000
			if testing.Short() {
				keys = 20_000
			}
			f, hashes := tt.open(t, keys), randomHashes(1, keys)
			var returned atomic.Int64 // additions
			var done sync.WaitGroup
			for reader := range 2 {
				done.Go(func() { askUntil(t, f, hashes, &returned, uint64(reader)) })
			}
			was := make([]bool, batchKeys)
			for i := 0; i < keys; {
				if n := min(batchKeys, keys-i); i%3 == 0 {
					f.TestAndAddBatch(hashes[i:i+n], was[:n])
					i += n
				} else {
					f.TestAndAdd(hashes[i])
					i++
				}
				returned.Store(int64(i))
			}
			done.Wait()
		})
	}
}

// askUntil asks for what was added, until all hashes are.
func askUntil(t *testing.T, f Filter, hashes []uint64, returned *atomic.Int64, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	var items uint64
	for asked := 0; ; asked++ {
		n := int(returned.Load())
		if n == 0 {
			continue
		}
		i := r.IntN(n)
		if asked%2 == 0 {
			i = n - 1 // the latest is the one to lose
		}
		if seen, _ := f.Has(hashes[i]); !seen {
			t.Errorf("hash %d of %d was added and is not seen", i, n)
			return
		}
		if asked%64 == 0 {
			st := f.Stats()
			if st.Items < items || f.Rate() < 0 || f.Len() < st.Items {
				t.Errorf("%d items after %d, then %d", st.Items, items, f.Len())
			}
			items = st.Items
		}
		if n == len(hashes) {
			return
		}
	}
}
