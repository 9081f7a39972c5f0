package seen

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkHash has SipHash-1-3 and seeded xxHash64 take turns, a thousand keys each, and reports the median of what each
// takes a key, and of the ratio. Each key depends on the hash before, as a link's place in the filter does on its hash.
func BenchmarkHash(b *testing.B) {
	const keys = 1000
	h := newHasher(1)
	for _, length := range []int{32, 72, 200} {
		b.Run(fmt.Sprintf("%dB", length), func(b *testing.B) {
			key := counting(length)
			turn := func(hash func([]byte) uint64) float64 {
				start := time.Now()
				for range keys {
					key[0] = byte(hash(key))
				}
				return float64(time.Since(start).Nanoseconds()) / keys
			}
			var sip, xx, ratio []float64
			for b.Loop() {
				x := turn(func(key []byte) uint64 { return xxHash(1, key) })
				s := turn(h.Hash)
				xx, sip, ratio = append(xx, x), append(sip, s), append(ratio, s/x)
			}
			median := func(of []float64) float64 { slices.Sort(of); return of[len(of)/2] }
			b.ReportMetric(median(xx), "xxhash-ns")
			b.ReportMetric(median(sip), "siphash-ns")
			b.ReportMetric(median(ratio), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}
