package seen

import "testing"

// A filter of 1.2 MB for each layout: keys that are there, and keys that are not, in batches of a page's links.
func BenchmarkBloom(b *testing.B) {
	const keys, links = 1_000_000, 64
	for _, layout := range layouts {
		f := mustBloom(b, Config{FalsePositiveRate: 0.01, ExpectedItems: keys, Seed: 1}, layout)
		added, others := randomHashes(1, keys), randomHashes(2, keys)
		f.Add(added)
		for _, tt := range []struct {
			name   string
			hashes []uint64
		}{{"seen", added}, {"miss", others}} {
			b.Run(string(layout)+" "+tt.name, func(b *testing.B) {
				has, at := make([]bool, links), 0
				for b.Loop() {
					if at+links > keys {
						at = 0
					}
					f.HasBatch(tt.hashes[at:at+links], has)
					at += links
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/links, "ns/key")
				b.ReportMetric(float64(f.Stats().Bits)/keys, "bits/key")
			})
		}
	}
}
