package seen_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"crawl/seen"
)

// A denylist is made once, shipped as one file, and asked by everybody.
func ExampleTableBuilder() {
	dir, err := os.MkdirTemp("", "table")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "deny")

	b, err := seen.NewTableBuilder(path, seen.Config{FalsePositiveRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	for _, host := range []string{"spam.example", "trap.example", "spam.example"} {
		if err := b.Add(b.HashString(host)); err != nil {
			log.Fatal(err)
		}
	}
	if err := b.Finish(); err != nil {
		log.Fatal(err)
	}

	deny, err := seen.OpenTable(path)
	if err != nil {
		log.Fatal(err)
	}
	defer deny.Close()
	fmt.Println("hosts:", deny.Len())
	for _, host := range []string{"spam.example", "ham.example"} {
		denied, err := deny.Has(deny.HashString(host))
		fmt.Println(host, denied, err)
	}
	// Output:
	// hosts: 2
	// spam.example true <nil>
	// ham.example false <nil>
}

// The hashes of a filter, kept in a log, become a table under the filter's seed.
func ExampleBuildTable() {
	dir, err := os.MkdirTemp("", "table")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "names")

	c := seen.Config{Seed: 42}
	f, err := seen.NewScalable(c)
	if err != nil {
		log.Fatal(err)
	}
	kept := []uint64{f.HashString("anna"), f.HashString("bert")}
	if err := seen.BuildTable(path, slices.Values(kept), c); err != nil {
		log.Fatal(err)
	}
	taken, err := seen.OpenTable(path)
	if err != nil {
		log.Fatal(err)
	}
	defer taken.Close()
	fmt.Println(taken.Has(taken.HashString("anna")))
	fmt.Println(taken.Has(f.HashString("carl")))
	// Output:
	// true <nil>
	// false <nil>
}
