package crawler

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"crawl/seen"
	"crawl/store"
)

var metURLs = flag.Int("met.urls", 600_000, "URLs of the log that BenchmarkMet looks behind the filter for")

// BenchmarkMet is what it takes to find 64 hashes of a page's links that were met before: in the hash runs of the store,
// which say the number of each, and in what exact mode has behind the filter.
func BenchmarkMet(b *testing.B) {
	dir := b.TempDir()
	st, err := store.Create(dir+"/crawl", store.Config{}, func() ([]store.Row, any, error) { return nil, struct{}{}, nil })
	fatal(b, err)
	defer st.Close()
	behind, err := seen.OpenHashes(dir+"/exact", 1)
	fatal(b, err)
	defer behind.Close()
	rnd := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, *metURLs)
	for i := range hashes {
		hashes[i] = rnd.Uint64()
		_, err := st.Admissions.Append(store.Admission{URL: fmt.Sprintf("https://host-%d.example/page/%d", i%1000, i), Hash: hashes[i]})
		fatal(b, err)
		behind.Add(hashes[i])
		if i%300_000 == 0 || i == len(hashes)-1 {
			fatal(b, behind.SyncTo(uint64(i)))
			for did := true; did; {
				did, err = st.Work(b.Context())
				fatal(b, err)
			}
		}
	}
	page := func(of []uint64) []uint64 {
		for i := range of {
			of[i] = hashes[rnd.IntN(len(hashes))]
		}
		return of
	}
	links, found := make([]uint64, 64), make([]bool, 64)
	b.Run("runs of the store", func(b *testing.B) {
		for b.Loop() {
			if known, err := st.Find(page(links)); err != nil || len(known) < 60 {
				b.Fatal(len(known), err)
			}
		}
	})
	b.Run("behind the filter", func(b *testing.B) {
		for b.Loop() {
			if err := behind.Find(page(links), found); err != nil || !found[0] {
				b.Fatal(found, err)
			}
		}
	})
}

func fatal(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
