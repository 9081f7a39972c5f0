//go:build unix

package seen

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var tableKeys = flag.Int("table.keys", 200_000, "keys of the table that TestTableScale makes; 200000000 is what it is meant for")

// A table of many keys is made in bounded memory, opens fast, and answers without error.
func TestTableScale(t *testing.T) {
	n := *tableKeys
	path := filepath.Join(t.TempDir(), "deny")
	b, err := NewTableBuilder(path, Config{FalsePositiveRate: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	start, cpu := time.Now(), cpuTime(t)
	for i := range n {
		if err := b.Add(numbered(i), numbered(i/7)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("made of %d hashes: %v, %.2f µs CPU a key; %.2f bytes a key; process %d MB at most", 2*n,
		time.Since(start).Round(time.Millisecond), us(cpuTime(t)-cpu, n), float64(info.Size())/float64(n), peakMemory()>>20)
	start, cpu = time.Now(), cpuTime(t)
	table, err := OpenTable(path)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	t.Logf("opened: %v, %v CPU; %d MB", time.Since(start).Round(time.Millisecond), (cpuTime(t) - cpu).Round(time.Millisecond),
		table.Stats().Bytes>>20)
	if got := table.Len(); got != uint64(n) {
		t.Fatalf("%d keys, want %d", got, n)
	}
	asked := min(n, 1_000_000)
	for _, tt := range []struct {
		name string
		from int
		want bool
	}{{"there", n - asked, true}, {"not there", n, false}} {
		cpu = cpuTime(t)
		hashes, has := make([]uint64, 64), make([]bool, 64)
		for at := 0; at+len(hashes) <= asked; at += len(hashes) {
			for i := range hashes {
				hashes[i] = numbered(tt.from + at + i)
			}
			if err := table.HasBatch(hashes, has); err != nil {
				t.Fatal(err)
			}
			for i, got := range has {
				if got != tt.want {
					t.Fatalf("key %d: %v, want %v", tt.from+at+i, got, tt.want)
				}
			}
		}
		t.Logf("batches of 64 that are %s: %.2f µs CPU a key", tt.name, us(cpuTime(t)-cpu, asked))
	}
}
