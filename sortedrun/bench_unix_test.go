//go:build unix

package sortedrun

import (
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// cpuTime is the CPU time of the process so far: what a run costs, however busy the machine is.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// perEntry reports the CPU time of one of n entries that an iteration of the benchmark goes through, since start.
func perEntry(b *testing.B, start time.Duration, n int) {
	b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N)/float64(n), "cpu-ns/entry")
}

func BenchmarkAdd(b *testing.B) {
	for _, s := range benchShapes {
		b.Run(s.name, func(b *testing.B) {
			entries := s.entries()
			var info Info
			start := cpuTime(b)
			for b.Loop() {
				w := NewWriter(io.Discard, s.options)
				for _, e := range entries {
					if err := w.Add(e.key, e.value); err != nil {
						b.Fatal(err)
					}
				}
				var err error
				if info, err = w.Finish(); err != nil {
					b.Fatal(err)
				}
			}
			perEntry(b, start, len(entries))
			b.ReportMetric(float64(info.Bytes)/float64(info.Entries), "bytes/entry")
		})
	}
}

func BenchmarkNext(b *testing.B) {
	for _, s := range benchShapes {
		b.Run(s.name, func(b *testing.B) {
			r := openFile(b, build(b, s.options, s.entries()))
			n := 0
			start := cpuTime(b)
			for b.Loop() {
				c := r.Seek(nil)
				for n = 0; c.Next(); n++ {
				}
				if c.Err() != nil || n != benchEntries {
					b.Fatal(n, c.Err())
				}
			}
			perEntry(b, start, n)
		})
	}
}

// BenchmarkMerge walks 16 runs that lie in one another evenly, each entry in one of them.
func BenchmarkMerge(b *testing.B) {
	for _, s := range benchShapes {
		b.Run(s.name, func(b *testing.B) {
			parts := make([][]entry, 16)
			rng := rand.New(rand.NewPCG(5, 6))
			for _, e := range s.entries() {
				i := rng.IntN(len(parts))
				parts[i] = append(parts[i], e)
			}
			runs := make([]*Run, len(parts))
			for i := range parts {
				runs[i] = openFile(b, build(b, s.options, parts[i]))
			}
			n := 0
			start := cpuTime(b)
			for b.Loop() {
				cursors := make([]*Cursor, len(runs))
				for i, r := range runs {
					cursors[i] = r.Seek(nil)
				}
				m := Merge(cursors...)
				for n = 0; m.Next(); n++ {
				}
				if m.Err() != nil || n != benchEntries {
					b.Fatal(n, m.Err())
				}
			}
			perEntry(b, start, n)
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, s := range benchShapes {
		b.Run(s.name, func(b *testing.B) {
			entries := s.entries()
			r := openFile(b, build(b, s.options, entries))
			rng := rand.New(rand.NewPCG(7, 8))
			start := cpuTime(b)
			for b.Loop() {
				if _, found, err := r.Get(entries[rng.IntN(len(entries))].key); err != nil || !found {
					b.Fatal(found, err)
				}
			}
			perEntry(b, start, 1)
		})
	}
}

// BenchmarkSeek goes forward over a tenth of a block, and to any place.
func BenchmarkSeek(b *testing.B) {
	for _, s := range benchShapes {
		entries := s.entries()
		r := openFile(b, build(b, s.options, entries))
		for _, far := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/far=%v", s.name, far), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(7, 8))
				c, i := r.Seek(nil), 0
				start := cpuTime(b)
				for b.Loop() {
					if i = (i + 8) % len(entries); far {
						i = rng.IntN(len(entries))
					}
					if c.Seek(entries[i].key); !c.Next() {
						b.Fatal(c.Err())
					}
				}
				perEntry(b, start, 1)
			})
		}
	}
}
