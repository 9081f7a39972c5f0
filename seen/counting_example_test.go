package seen_test

import (
	"errors"
	"fmt"
	"log"

	"crawl/seen"
)

// Names that are taken, and given up again.
func ExampleCounting() {
	taken, err := seen.NewCounting(seen.Config{ExpectedItems: 10_000})
	if err != nil {
		log.Fatal(err)
	}
	name := taken.HashString("rose")
	was, _ := taken.TestAndAdd(name)
	fmt.Println("taken before:", was)
	removed, _ := taken.Remove(name)
	fmt.Println("given up:", removed)
	removed, _ = taken.Remove(name) // what is not there is refused, and nothing changes
	fmt.Println("given up again:", removed)
	// Output:
	// taken before: false
	// given up: true
	// given up again: false
}

// Several owners of one key each remove what they added. With TestAndAdd the first would take it away from all of them,
// as it would if one of them had added nothing because the filter was wrong.
func ExampleCounting_Add() {
	f, err := seen.NewCounting(seen.Config{ExpectedItems: 10_000})
	if err != nil {
		log.Fatal(err)
	}
	shared := []uint64{f.HashString("https://a.example/logo.svg")}
	f.Add(shared) // the first page that has it
	f.Add(shared) // the second
	for range 2 {
		f.Remove(shared[0])
		has, _ := f.Has(shared[0])
		fmt.Println(has, f.Len())
	}
	// Output:
	// true 1
	// false 0
}

func ExampleCuckoo() {
	f, err := seen.NewCuckoo(seen.Config{ExpectedItems: 1000})
	if err != nil {
		log.Fatal(err)
	}
	st := f.Stats()
	fmt.Printf("%.1f bits a key\n", float64(st.Bits)/float64(st.Capacity))
	for i := range 2000 { // more than it was made for
		if _, err := f.TestAndAdd(f.HashString(fmt.Sprint(i))); errors.Is(err, seen.ErrFull) {
			break // and all that were added are still there
		}
	}
	fmt.Println("holds what it was made for:", f.Len() >= st.Capacity, "and says that it holds more:", f.Stats().Capped)
	// Output:
	// 16.9 bits a key
	// holds what it was made for: true and says that it holds more: true
}
