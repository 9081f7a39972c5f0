package seen_test

import (
	"bytes"
	"fmt"
	"log"

	"crawl/seen"
)

func Example() {
	f, err := seen.NewScalable(seen.Config{FalsePositiveRate: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	for _, url := range []string{"https://a.example/", "https://b.example/", "https://a.example/"} {
		was, err := f.TestAndAdd(f.HashString(url))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(url, was)
	}
	// Output:
	// https://a.example/ false
	// https://b.example/ false
	// https://a.example/ true
}

// A page's links are asked for together: the filter fetches their lines from memory all at once.
func ExampleScalable_TestAndAddBatch() {
	f, err := seen.NewScalable(seen.Config{})
	if err != nil {
		log.Fatal(err)
	}
	var hashes []uint64
	for _, url := range []string{"https://a.example/1", "https://a.example/2", "https://a.example/1"} {
		hashes = append(hashes, f.HashString(url))
	}
	was := make([]bool, len(hashes))
	if err := f.TestAndAddBatch(hashes, was); err != nil {
		log.Fatal(err)
	}
	fmt.Println(was)
	// Output: [false false true]
}

// A store saves the header first, and then chunk by chunk while the crawl goes on. After a restart it replays its log
// from where the header stood.
func ExampleRestore() {
	f, err := seen.NewScalable(seen.Config{})
	if err != nil {
		log.Fatal(err)
	}
	admitted := []uint64{f.HashString("https://a.example/"), f.HashString("https://b.example/")}
	f.Add(admitted[:1])
	header := f.Header()
	f.Add(admitted[1:])

	restored, err := seen.Restore(header, 0)
	if err != nil {
		log.Fatal(err)
	}
	for layer := range header.Layers {
		for i := range f.Chunks(layer) {
			if err := restored.SetChunk(layer, i, f.AppendChunk(nil, layer, i)); err != nil {
				log.Fatal(err)
			}
		}
	}
	if err := restored.Complete(); err != nil {
		log.Fatal(err)
	}
	restored.Add(admitted[restored.Len():])
	fmt.Println(header.Len(), restored.Len())
	// Output: 1 2
}

func ExampleRead() {
	f, err := seen.NewScalable(seen.Config{ExpectedItems: 10_000})
	if err != nil {
		log.Fatal(err)
	}
	f.Add([]uint64{f.HashString("https://a.example/")})
	var file bytes.Buffer
	if _, err := f.WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	again, err := seen.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	was, err := again.Has(again.HashString("https://a.example/")) // the seed is in the file
	fmt.Println(was, err)
	// Output: true <nil>
}

// Two crawls of one seed can be joined and compared, where their size was known.
func ExampleBloom() {
	c := seen.Config{FalsePositiveRate: 0.01, ExpectedItems: 100_000, Seed: 42}
	monday, err := seen.NewBloom(c, seen.Blocked)
	if err != nil {
		log.Fatal(err)
	}
	tuesday, err := seen.NewBloom(c, seen.Blocked)
	if err != nil {
		log.Fatal(err)
	}
	for page := range 20_000 {
		h := monday.HashString(fmt.Sprintf("https://a.example/%d", page))
		if page < 15_000 {
			monday.TestAndAdd(h) // never fails
		}
		if page >= 10_000 {
			tuesday.TestAndAdd(h)
		}
	}
	both, err := monday.Intersection(tuesday)
	if err != nil {
		log.Fatal(err)
	}
	if err := monday.Union(tuesday); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("in both %.1f thousand, in all %.1f thousand\n", both/1000, monday.Estimate()/1000)
	// Output: in both 5.0 thousand, in all 20.0 thousand
}

// What do a hundred million URLs cost at one error in a thousand, and what would a smaller budget make of it?
func ExamplePlan_Solve() {
	for _, plan := range []seen.Plan{
		{Items: 100_000_000, Rate: 0.001},
		{Items: 100_000_000, Rate: 0.001, Layout: seen.Classic},
		{Items: 100_000_000, Bits: 1 << 30},
		{Rate: 0.001, Bits: 1 << 30},
	} {
		p, err := plan.Solve()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %.0f million URLs at %.2g in %d MiB, %d bits set by each\n",
			p.Layout, float64(p.Items)/1e6, p.Rate, p.Bits>>23, p.Hashes)
	}
	_, err := seen.Plan{Items: 100_000_000, Hashes: 7}.Solve()
	fmt.Println(err)
	// Output:
	// blocked: 100 million URLs at 0.001 in 185 MiB, 9 bits set by each
	// classic: 100 million URLs at 0.001 in 171 MiB, 10 bits set by each
	// blocked: 100 million URLs at 0.007 in 128 MiB, 7 bits set by each
	// blocked: 69 million URLs at 0.001 in 128 MiB, 9 bits set by each
	// seen: plan: want two of items, rate and bits, lack rate or bits
}
