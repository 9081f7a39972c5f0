package seen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"
)

// writeRun returns a run's bytes.
func writeRun(t testing.TB, hashes []uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := newRunWriter(&b)
	if err := w.addSorted(hashes); err != nil {
		t.Fatal(err)
	}
	if err := w.finish(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sortedHashes(stream uint64, n int) []uint64 {
	hashes := randomHashes(stream, n)
	slices.Sort(hashes)
	return hashes
}

// counted returns n hashes that are far from random: step apart.
func counted(from, step uint64, n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = from + uint64(i)*step
	}
	return hashes
}

var runShapes = map[string][]uint64{
	"empty":          nil,
	"one":            {7},
	"ends":           {0, math.MaxUint64},
	"one page":       sortedHashes(1, fitsAlways),
	"two pages":      sortedHashes(1, 2*fitsAlways),
	"many pages":     sortedHashes(1, 20_000),
	"counted":        counted(0, 1, 20_000),
	"counted at end": counted(math.MaxUint64-19_999, 1, 20_000),
	"two heaps":      slices.Concat(counted(5, 3, 20_000), counted(1<<63, 1<<20, 20_000)),
	"small and one":  slices.Concat(counted(0, 1, 20_000), []uint64{math.MaxUint64}),
}

// A run finds each of its hashes, whatever they are, and none beside them.
func TestRun(t *testing.T) {
	for name, hashes := range runShapes {
		t.Run(name, func(t *testing.T) {
			file := writeRun(t, hashes)
			r, err := openRun(bytes.NewReader(file), "f", 0, int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			if r.keys != uint64(len(hashes)) || r.bytes() != int64(len(file)) {
				t.Errorf("%d keys in %d bytes, want %d in %d", r.keys, r.bytes(), len(hashes), len(file))
			}
			var all []uint64
			if err := r.each(func(h []uint64) error { all = append(all, h...); return nil }); err != nil || !slices.Equal(all, hashes) {
				t.Errorf("%d hashes in order, want %d: %v", len(all), len(hashes), err)
			}
			ask := []uint64{0, 1, math.MaxUint64, 1 << 63, 1<<63 - 1}
			for _, h := range hashes {
				ask = append(ask, h, h+1, h-1, h^1<<44)
			}
			found := make([]bool, len(ask))
			var p pageReader
			if _, err := r.find(&p, ask, appendOrder(nil, ask, found), found); err != nil {
				t.Fatal(err)
			}
			for i, h := range ask {
				if _, want := slices.BinarySearch(hashes, h); found[i] != want {
					t.Fatalf("%#x: found %v, want %v", h, found[i], want)
				}
			}
			// Of hashes with one high half the order is open: those on both sides of a page's end may go back and forth.
			if name == "many pages" && p.reads > 3*uint64(len(r.fence)) {
				t.Errorf("%d reads of %d pages", p.reads, len(r.fence))
			}
		})
	}
}

// What descends is refused; what repeats is one.
func TestRunOrder(t *testing.T) {
	w := newRunWriter(new(bytes.Buffer))
	if err := w.addSorted([]uint64{3, 3, 5}); err != nil || w.keys != 2 {
		t.Errorf("%d keys, %v", w.keys, err)
	}
	if err := w.add(4); err == nil {
		t.Error("4 may follow 5")
	}
}

// Every flipped bit and every missing end is an error that names the file and a byte in it.
func TestRunDamage(t *testing.T) {
	whole := writeRun(t, sortedHashes(3, 1200))
	read := func(file []byte) error {
		r, err := openRun(bytes.NewReader(file), "some.run", 0, int64(len(file)))
		if err != nil {
			return err
		}
		return r.each(func([]uint64) error { return nil })
	}
	want := func(t *testing.T, err error) {
		t.Helper()
		newer := errors.Is(err, ErrNewer)
		if !newer && !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "some.run") ||
			!newer && !strings.Contains(err.Error(), ": byte ") {
			t.Fatalf("error %v", err)
		}
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	pages := 3 * pageBytes
	for at, step := 0, 1; at < len(whole); at += step {
		if step = 1; at < pages-20 && at%pageBytes > 64 {
			step = 11
		}
		file := bytes.Clone(whole)
		file[at] ^= 1 << (at % 8)
		want(t, read(file))
	}
	for n := 0; n < len(whole); n += 1 + n%13 {
		want(t, read(whole[:n]))
	}
	want(t, read(append(bytes.Clone(whole), 0)))
	want(t, read(append([]byte("x"), whole...)))
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   [][]uint64
	}{
		{"none", nil},
		{"one", [][]uint64{sortedHashes(1, 3000)}},
		{"empty ones", [][]uint64{nil, {5}, nil}},
		{"apart", [][]uint64{counted(0, 1, 9000), counted(9000, 1, 9000)}},
		{"the same", [][]uint64{sortedHashes(1, 5000), sortedHashes(1, 5000)}},
		{"many", [][]uint64{sortedHashes(1, 20_000), sortedHashes(2, 1), sortedHashes(3, 7000), sortedHashes(4, 900), counted(0, 1<<50, 1<<14)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var runs []*run
			for _, hashes := range tt.in {
				file := writeRun(t, hashes)
				r, err := openRun(bytes.NewReader(file), "f", 0, int64(len(file)))
				if err != nil {
					t.Fatal(err)
				}
				runs = append(runs, r)
			}
			var out bytes.Buffer
			w := newRunWriter(&out)
			if err := mergeRuns(t.Context(), w, runs); err != nil {
				t.Fatal(err)
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
			want := slices.Concat(tt.in...)
			slices.Sort(want)
			if !bytes.Equal(out.Bytes(), writeRun(t, want)) {
				t.Error("differs from the run of all hashes")
			}
		})
	}
}

func TestRadixSort(t *testing.T) {
	for _, hashes := range [][]uint64{
		nil, {1}, {2, 1}, randomHashes(1, 10_000), counted(1<<40, 1<<9, 1000), slices.Repeat([]uint64{9, 3}, 500),
	} {
		got, want := slices.Clone(hashes), slices.Clone(hashes)
		slices.Sort(want)
		radixSort(got, make([]uint64, len(got)))
		if !slices.Equal(got, want) {
			t.Errorf("%d hashes are not in order", len(got))
		}
	}
}

func TestHashSet(t *testing.T) {
	var s hashSet
	s.reset(0)
	for round := range 3 {
		want := map[uint64]bool{}
		for i, h := range slices.Concat([]uint64{0, 0, 1}, counted(0, 1, 3000), randomHashes(uint64(round), 3000)) {
			if i%100 == 0 {
				s.reserve(100)
			}
			if fresh := s.add(h); fresh == want[h] {
				t.Fatalf("add(%#x): new: %v", h, fresh)
			}
			want[h] = true
		}
		for h := range uint64(4000) {
			if s.has(h) != want[h] {
				t.Fatalf("has(%d) = %v", h, !want[h])
			}
		}
		if all := s.appendTo(nil); len(all) != len(want) || s.n != len(want) || len(s.slots) < 2*s.n {
			t.Fatalf("%d hashes of %d, in %d slots", len(all), len(want), len(s.slots))
		}
		s.reset(10)
		if s.n != 0 || s.has(0) || s.has(1) {
			t.Fatal("not empty after reset")
		}
	}
}

// What is left at rest is geometric: a hash is nearly always in one of the first runs.
func TestDue(t *testing.T) {
	for _, tt := range []struct {
		keys []uint64 // the largest first
		want int      // of them, from the end
	}{
		{nil, 0},
		{[]uint64{5}, 0},
		{[]uint64{5, 5}, 2},
		{[]uint64{15, 5}, 0},
		{[]uint64{14, 5}, 2},
		{[]uint64{100, 14, 5}, 2},
		{[]uint64{50, 14, 5}, 3},
		{[]uint64{1000, 5, 5, 5, 5, 1}, 5},
	} {
		var parts []*part
		for _, n := range tt.keys {
			parts = append(parts, &part{run: &run{keys: n}})
		}
		if got := due(parts); len(got) != tt.want || len(got) > 0 && !slices.Equal(got, parts[len(parts)-len(got):]) {
			t.Errorf("of %v the last %d are due, want %d", tt.keys, len(got), tt.want)
		}
	}
}

// sealRun gives a run the checksums that belong to what it holds, as far as its trailer makes sense.
func sealRun(file []byte) {
	at := len(file) - trailBytes
	if at < 0 {
		return
	}
	le := binary.LittleEndian
	trail := file[at:]
	copy(trail, runMagic)
	pages := int(min(le.Uint64(trail[len(runMagic)+16:]), uint64(at/(pageBytes+fenceBytes))))
	for i := range pages {
		var b pageBuf
		copy(b[:], file[i*pageBytes:(i+1)*pageBytes])
		sealPage(&b, uint64(i))
		copy(file[i*pageBytes:], b[:4])
	}
	le.PutUint32(trail[trailBytes-8:], crc32.Checksum(file[pages*pageBytes:at], castagnoli))
	le.PutUint32(trail[trailBytes-4:], crc32.Checksum(trail[:trailBytes-4], castagnoli))
}

// A run whose checksums are right may still hold anything: it is asked and read without a panic, and what is read
// ascends.
func FuzzRun(f *testing.F) {
	for _, name := range []string{"empty", "one", "ends", "two pages"} {
		file := writeRun(f, runShapes[name])
		f.Add(file, len(file)-40, []byte{}, uint64(5))
		f.Add(file, 6, []byte{0xff}, uint64(1<<40))
		f.Add(file, len(file)-40, []byte{7, 7}, uint64(0))
	}
	f.Fuzz(func(t *testing.T, file []byte, at int, patch []byte, ask uint64) {
		if at >= 0 && at < len(file) {
			copy(file[at:], patch)
		}
		sealRun(file)
		r, err := openRun(bytes.NewReader(file), "f", 0, int64(len(file)))
		if err != nil {
			return
		}
		var p pageReader
		hashes, found := []uint64{ask, r.last, ask >> 1}, make([]bool, 3)
		r.find(&p, hashes, appendOrder(nil, hashes, found), found)
		var all []uint64
		err = r.each(func(h []uint64) error { all = append(all, h...); return nil })
		if !slices.IsSorted(all) || err == nil && uint64(len(all)) != r.keys {
			t.Fatalf("%d hashes of %d: %v", len(all), r.keys, err)
		}
	})
}
