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
