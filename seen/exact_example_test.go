package seen_test

import (
	"fmt"
	"log"
	"os"
	"slices"

	"crawl/seen"
)

// A list to be worked off, where no line may be missed: the set remembers it from one run to the next.
func ExampleOpenExact() {
	dir, err := os.MkdirTemp("", "exact")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 2 {
		e, err := seen.OpenExact(dir, seen.Config{FalsePositiveRate: 0.01})
		if err != nil {
			log.Fatal(err)
		}
		for _, url := range []string{"https://a.example/", "https://b.example/", "https://a.example/"} {
			was, err := e.TestAndAdd(e.HashString(url))
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(url, was)
		}
		if err := e.Close(); err != nil { // or Sync now and then: what it returned for is never lost
			log.Fatal(err)
		}
	}
	// Output:
	// https://a.example/ false
	// https://b.example/ false
	// https://a.example/ true
	// https://a.example/ true
	// https://b.example/ true
	// https://a.example/ true
}

// A log of admitted hashes, which answers for itself.
type admissions []uint64

func (a admissions) Find(hashes []uint64, found []bool) error {
	for i, h := range hashes {
		found[i] = slices.Contains(a, h)
	}
	return nil
}

// Over a log that exists already, nothing is stored twice: what is new goes to the log, by the caller's hand.
func ExampleNewExact() {
	front, err := seen.NewScalable(seen.Config{})
	if err != nil {
		log.Fatal(err)
	}
	var admitted admissions
	e := seen.NewExact(front, &admitted)
	hashes := []uint64{e.HashString("https://a.example/"), e.HashString("https://b.example/"), e.HashString("https://a.example/")}
	was := make([]bool, len(hashes))
	for range 2 {
		if err := e.TestAndAddBatch(hashes, was); err != nil {
			log.Fatal(err)
		}
		for i, h := range hashes {
			if !was[i] {
				admitted = append(admitted, h)
			}
		}
		fmt.Println(was, len(admitted))
	}
	// Output:
	// [false false true] 2
	// [true true true] 2
}
