package seen

import (
	"runtime"
	"sync"
	"testing"
)

// BenchmarkShared compares what one goroutine pays for sharing: Scalable, and Shared by one and by as many as there are
// processors, each with keys of its own. new: a layer that is half full gets a tenth more; seen: keys that are there.
func BenchmarkShared(b *testing.B) {
	const keys = 1_000_000
	hashes := randomHashes(1, keys*6/10)
	half, fresh := hashes[:keys/2], hashes[keys/2:]
	fill := func() *Scalable {
		s := mustScalable(b, Config{ExpectedItems: keys, Seed: 1})
		s.Add(half)
		return s
	}
	run := func(name string, share bool, goroutines int) {
		measure := func(name string, offered []uint64) {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					var f Filter = fill()
					if share {
						f, _ = f.(*Scalable).Share()
					}
					b.StartTimer()
					offer(f, offered, goroutines)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(offered)), "ns/key")
			})
		}
		measure(name+"/new", fresh)
		measure(name+"/seen", half)
	}
	run("Scalable", false, 1)
	run("Shared/1", true, 1)
	run("Shared/all", true, runtime.GOMAXPROCS(0))
}

// offer has each goroutine add its part of hashes.
func offer(f Filter, hashes []uint64, goroutines int) {
	var done sync.WaitGroup
	for g := range goroutines {
		part := hashes[g*len(hashes)/goroutines : (g+1)*len(hashes)/goroutines]
		done.Go(func() {
			for _, h := range part {
				f.TestAndAdd(h)
			}
		})
	}
	done.Wait()
}
