package sortedrun_test

import (
	"bytes"
	"fmt"

	"crawl/sortedrun"
)

// Two runs are read as one: where both have a key, the first one given counts.
func Example() {
	run := func(entries ...[2]string) *sortedrun.Run {
		var file bytes.Buffer
		w := sortedrun.NewWriter(&file, sortedrun.Options{})
		for _, e := range entries {
			if err := w.Add([]byte(e[0]), []byte(e[1])); err != nil {
				panic(err)
			}
		}
		info, err := w.Finish()
		if err != nil {
			panic(err)
		}
		r, err := sortedrun.Open(bytes.NewReader(file.Bytes()), info.Bytes)
		if err != nil {
			panic(err)
		}
		return r
	}
	older := run([2]string{"a", "1"}, [2]string{"b", "2"}, [2]string{"d", "3"})
	newer := run([2]string{"b", "4"}, [2]string{"c", "5"})

	m := sortedrun.Merge(newer.Seek(nil), older.Seek(nil))
	m.Seek([]byte("b"))
	for m.Next() {
		fmt.Printf("%s %s\n", m.Key(), m.Value())
	}
	fmt.Println(m.Err())
	// Output:
	// b 4
	// c 5
	// d 3
	// <nil>
}
