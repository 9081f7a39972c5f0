package seen

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// batched is what the kinds that these benchmarks compare can do.
type batched interface {
	Filter
	HasBatch(hashes []uint64, has []bool) error
}

// BenchmarkKinds asks kinds that hold 10 million keys, or a tenth of that, in random order: far more than any cache.
func BenchmarkKinds(b *testing.B) {
	for _, size := range benchSizes {
		c := Config{FalsePositiveRate: 0.01, ExpectedItems: uint64(size.keys), Seed: 1}
		for _, kind := range []struct {
			name string
			open func() batched
		}{
			{"counting", func() batched { return mustCounting(b, c) }},
			{"cuckoo", func() batched { return mustCuckoo(b, c) }},
			{"window", func() batched { return benchWindow(b, c) }},
		} {
			b.Run(size.name+"/"+kind.name, func(b *testing.B) { benchKind(b, kind.open(), size.keys) })
		}
	}
}

// benchWindow returns a window that spreads keys over its generations: each batch of 64 comes as much later as it is a
// part of the expected keys.
func benchWindow(b *testing.B, c Config) *Window {
	clock := newTestClock()
	step := day * 64 / time.Duration(c.ExpectedItems)
	return mustWindow(b, WindowConfig{Config: c, Span: day, Now: func() time.Time { clock.advance(step); return clock.at }})
}

func benchKind(b *testing.B, f batched, keys int) {
	added, others := randomHashes(1, keys), randomHashes(2, 1<<20)
	was := make([]bool, 64)
	start := time.Now()
	for i := 0; i+64 <= len(added); i += 64 {
		if err := f.TestAndAddBatch(added[i:i+64], was); err != nil {
			b.Fatal(err)
		}
	}
	filled := time.Since(start)
	if w, ok := f.(*Window); ok {
		at := w.last
		w.SetNow(func() time.Time { return at })
	}
	r := rand.New(rand.NewPCG(3, 4))
	r.Shuffle(len(added), func(i, j int) { added[i], added[j] = added[j], added[i] })
	st := f.Stats()
	b.Run("New/Batch64", func(b *testing.B) {
		for b.Loop() { // what was measured above
		}
		b.ReportMetric(float64(filled.Nanoseconds())/float64(keys), "ns/key")
		b.ReportMetric(float64(st.Bits)/float64(keys), "bits/key")
	})
	for _, set := range []struct {
		name   string
		hashes []uint64
	}{{"Seen", added}, {"Miss", others}} {
		b.Run(set.name+"/Has", func(b *testing.B) {
			i := 0
			for b.Loop() {
				f.Has(set.hashes[i])
				if i++; i == len(set.hashes) {
					i = 0
				}
			}
		})
		for _, n := range []int{32, 64} {
			b.Run(fmt.Sprintf("%s/Batch%d", set.name, n), func(b *testing.B) {
				i := 0
				for b.Loop() {
					if i+n > len(set.hashes) {
						i = 0
					}
					f.HasBatch(set.hashes[i:i+n], was[:n])
					i += n
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/key")
			})
		}
	}
	if remover, ok := f.(Remover); ok {
		benchRemove(b, remover, added)
	}
}

// benchRemove removes keys and adds them again.
func benchRemove(b *testing.B, f Remover, added []uint64) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("RemoveAndAdd/Batch%d", n), func(b *testing.B) {
			answers := make([]bool, n)
			i := 0
			for b.Loop() {
				if i+n > len(added) {
					i = 0
				}
				f.RemoveBatch(added[i:i+n], answers)
				f.TestAndAddBatch(added[i:i+n], answers)
				i += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/key")
		})
	}
}
