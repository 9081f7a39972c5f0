package seen

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The chains have three layers at the size they are named for: a first layer of 3/20 of it, which 1 + 2 + 4 make whole.
var benchSizes = []struct {
	name string
	keys int
}{{"1M", 1_000_000}, {"10M", 10_000_000}}

func benchChain(b *testing.B, keys int) (s *Scalable, added []uint64) {
	b.Helper()
	s = mustScalable(b, Config{ExpectedItems: uint64(keys) * 3 / 20, Seed: 1})
	added = randomHashes(1, keys)
	s.Add(added)
	if len(s.layers()) != 3 {
		b.Fatalf("%d layers, want 3", len(s.layers()))
	}
	r := rand.New(rand.NewPCG(3, 4))
	r.Shuffle(len(added), func(i, j int) { added[i], added[j] = added[j], added[i] })
	return s, added
}

func reportBits(b *testing.B, s *Scalable) {
	var capacity uint64
	for _, l := range s.layers() {
		capacity += l.capacity
	}
	b.ReportMetric(float64(s.Stats().Bits)/float64(capacity), "bits/key")
}

// BenchmarkSeen offers keys that are there: most links of a crawl.
func BenchmarkSeen(b *testing.B) {
	for _, size := range benchSizes {
		s, added := benchChain(b, size.keys)
		benchBatches(b, size.name, s, added)
	}
}

// BenchmarkMiss asks for keys that are not there, and adds none.
func BenchmarkMiss(b *testing.B) {
	for _, size := range benchSizes {
		s, _ := benchChain(b, size.keys)
		others := randomHashes(2, 1<<20)
		b.Run(size.name+"/Has", func(b *testing.B) {
			i := 0
			for b.Loop() {
				s.Has(others[i&(1<<20-1)])
				i++
			}
			reportBits(b, s)
		})
	}
}

func benchBatches(b *testing.B, name string, s *Scalable, hashes []uint64) {
	was := make([]bool, 64)
	b.Run(name+"/TestAndAdd", func(b *testing.B) {
		i := 0
		for b.Loop() {
			if i == len(hashes) {
				i = 0
			}
			s.TestAndAdd(hashes[i])
			i++
		}
		reportBits(b, s)
	})
	for _, n := range []int{32, 64} {
		b.Run(fmt.Sprintf("%s/Batch%d", name, n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				if i+n > len(hashes) {
					i = 0
				}
				s.TestAndAddBatch(hashes[i:i+n], was[:n])
				i += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/key")
			reportBits(b, s)
		})
	}
}

// BenchmarkNew adds to a chain that is nine tenths full the tenth that is left.
func BenchmarkNew(b *testing.B) {
	for _, size := range benchSizes {
		tenth := size.keys / 10
		hashes := randomHashes(1, size.keys)
		full := mustScalable(b, Config{ExpectedItems: uint64(size.keys) * 3 / 20, Seed: 1})
		full.Add(hashes[:size.keys-tenth])
		fresh := hashes[size.keys-tenth:]
		was := make([]bool, 64)
		run := func(name string, add func(s *Scalable)) {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					s := clone(b, full)
					b.StartTimer()
					add(s)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tenth), "ns/key")
				reportBits(b, full)
			})
		}
		run("TestAndAdd", func(s *Scalable) {
			for _, h := range fresh {
				s.TestAndAdd(h)
			}
		})
		for _, n := range []int{32, 64} {
			run(fmt.Sprintf("Batch%d", n), func(s *Scalable) {
				for i := 0; i+n <= len(fresh); i += n {
					s.TestAndAddBatch(fresh[i:i+n], was[:n])
				}
			})
		}
		run("Add", func(s *Scalable) { s.Add(fresh) })
	}
}

// BenchmarkRate asks for the rate at each of so many admissions.
func BenchmarkRate(b *testing.B) {
	for _, first := range []uint64{10_000, 1_000_000} {
		b.Run(fmt.Sprint(first), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := mustScalable(b, Config{ExpectedItems: first, Seed: 1})
				hashes := randomHashes(1, int(first))
				b.StartTimer()
				for _, h := range hashes {
					s.Add([]uint64{h})
					s.Rate()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(uint64(b.N)*first), "ns/key")
		})
	}
}
