package seen

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// buildSmall makes a table, and returns its path. The builder sorts limit hashes at a time.
func buildSmall(t testing.TB, limit int, hashes []uint64) string {
	t.Helper()
	path := filepath.Join(memoryFolder(t), "table")
	b, err := NewTableBuilder(path, Config{FalsePositiveRate: 0.3, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	b.limit = limit
	if err := b.Add(hashes...); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustOpenTable(t testing.TB, path string) *Table {
	t.Helper()
	table, err := OpenTable(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return table
}

// A table holds what it was made of, however often it came and in whatever order, and nothing that its filter would let
// through besides.
func TestTable(t *testing.T) {
	random := randomHashes(1, 20_000)
	for _, tt := range []struct {
		name   string
		limit  int
		hashes []uint64
	}{
		{"empty", 10, nil},
		{"one", 10, []uint64{5}},
		{"ends", 10, []uint64{math.MaxUint64, 0}},
		{"one run", 1 << 20, random},
		{"five runs", 4000, random},
		{"more runs than are merged at once", 20_000 / (3 * tableFan), random},
		{"repeated", 3000, slices.Concat(random[:5000], random[:5000], random[2000:6000])},
		{"counted", 4000, counted(1, 1, 10_000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := buildSmall(t, tt.limit, tt.hashes)
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
				t.Errorf("%d files are left, want the table", len(left))
			}
			table := mustOpenTable(t, path)
			if err := table.Verify(); err != nil {
				t.Fatal(err)
			}
			known := map[uint64]bool{}
			for _, h := range tt.hashes {
				known[h] = true
			}
			if table.Len() != uint64(len(known)) {
				t.Errorf("%d hashes, want %d", table.Len(), len(known))
			}
			ask := slices.Concat(tt.hashes, randomHashes(2, 5000), []uint64{0, 1, 2, math.MaxUint64})
			has := make([]bool, len(ask))
			if err := table.HasBatch(ask, has); err != nil {
				t.Fatal(err)
			}
			for i, h := range ask {
				one, err := table.Has(h)
				if has[i] != known[h] || one != known[h] || err != nil {
					t.Fatalf("%#x: %v in a batch, %v alone, want %v (%v)", h, has[i], one, known[h], err)
				}
			}
			if st := table.Stats(); st.Kind != KindTable || st.Items != table.Len() || st.Rate != table.Rate() || st.Rate > 1e-14 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// The filter in front can be had alone, and knows keys by the same hash.
func TestTableReadAsFilter(t *testing.T) {
	hashes := randomHashes(1, 3000)
	path := buildSmall(t, 1000, hashes)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if f.Stats().Kind != KindBloom || f.Len() != 3000 || f.HashString("a") != mustOpenTable(t, path).HashString("a") {
		t.Errorf("%+v", f.Stats())
	}
	for _, h := range hashes {
		if has, _ := f.Has(h); !has {
			t.Fatal("a false negative")
		}
	}
}

// Many goroutines ask one table.
func TestTableConcurrently(t *testing.T) {
	hashes := randomHashes(1, 20_000)
	table := mustOpenTable(t, buildSmall(t, 1<<20, hashes))
	others := randomHashes(2, 20_000)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			has := make([]bool, 100)
			for at := 100 * g; at+100 <= len(hashes); at += 800 {
				batch := slices.Concat(hashes[at:at+50], others[at:at+50])
				if err := table.HasBatch(batch, has); err != nil {
					t.Error(err)
				}
				if !slices.Equal(has, append(slices.Repeat([]bool{true}, 50), slices.Repeat([]bool{false}, 50)...)) {
					t.Errorf("wrong answers at %d", at)
				}
				if one, err := table.Has(hashes[at]); !one || err != nil {
					t.Error(one, err)
				}
			}
		})
	}
	all.Wait()
}

func TestTableAllocates(t *testing.T) {
	hashes := randomHashes(1, 20_000)
	table := mustOpenTable(t, buildSmall(t, 1<<20, hashes))
	has, found := make([]bool, 64), new(tableFinder)
	if n := testing.AllocsPerRun(200, func() {
		// As Has and HasBatch do, which may find their pool empty after a collection.
		table.front.HasBatch(hashes[:64], has)
		clear(has)
		table.find(found, hashes[:64], has)
		hashes = hashes[64:]
	}); n != 0 || slices.Contains(has, false) {
		t.Errorf("%v allocations", n)
	}
}

// A builder that is not finished leaves what was there; one that cannot begin says so.
func TestTableBuilderGivesUp(t *testing.T) {
	path := buildSmall(t, 100, []uint64{1, 2, 3})
	b, err := NewTableBuilder(path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	b.limit = 10
	if err := errors.Join(b.Add(counted(5, 1, 100)...), b.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{b.Add(1), b.Finish()} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 || mustOpenTable(t, path).Len() != 3 {
		t.Errorf("%d files are left, want the old table", len(left))
	}
	if _, err := NewTableBuilder(filepath.Join(path, "none", "x"), Config{}); err == nil {
		t.Error("a folder that is none is taken")
	}
	if _, err := NewTableBuilder(path, Config{FalsePositiveRate: 3}); err == nil {
		t.Error("an impossible error is taken")
	}
	if err := BuildTable(path, slices.Values([]uint64{1}), Config{}); err == nil {
		t.Error("hashes of no seed are taken")
	}
	small, err := NewTableBuilder(path, Config{MaxBytes: 2000})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if err := errors.Join(small.Add(randomHashes(1, 10_000)...)); err != nil {
		t.Fatal(err)
	}
	if err := small.Finish(); err == nil {
		t.Error("the cap on memory is not kept to")
	}
}

// What was added can be gone through in order, each hash once, before or without making the file.
func TestTableDistinct(t *testing.T) {
	hashes := randomHashes(1, 3000)
	b, err := NewTableBuilder(filepath.Join(memoryFolder(t), "table"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.limit = 700
	if err := errors.Join(b.Add(hashes...), b.Add(hashes[:900]...)); err != nil {
		t.Fatal(err)
	}
	n, all, err := b.Distinct()
	if err != nil || n != 3000 {
		t.Fatalf("%d hashes, %v", n, err)
	}
	slices.Sort(hashes)
	for range 2 {
		var got []uint64
		for h, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, h); len(got) == len(hashes) {
				break
			}
		}
		if !slices.Equal(got, hashes) {
			t.Errorf("%d hashes, or others than were added", len(got))
		}
	}
	if err := b.Add(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Add after Distinct: %v", err)
	}
	if err := b.Finish(); err != nil || mustOpenTable(t, b.path).Len() != 3000 {
		t.Errorf("Finish after Distinct: %v", err)
	}
	for _, err := range all {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Finish: %v", err)
		}
	}
}

// Tables of one seed become one, in the place of one of them too.
func TestMergeTables(t *testing.T) {
	hashes := randomHashes(1, 3000)
	path := buildSmall(t, 1<<20, hashes[:2000])
	first, second := mustOpenTable(t, path), mustOpenTable(t, buildSmall(t, 1<<20, hashes[1500:]))
	if err := MergeTables(path, Config{FalsePositiveRate: 0.1}, first, second); err != nil {
		t.Fatal(err)
	}
	merged := mustOpenTable(t, path)
	has := make([]bool, len(hashes))
	if err := errors.Join(merged.Verify(), merged.HasBatch(hashes, has)); err != nil || merged.Len() != 3000 || slices.Contains(has, false) {
		t.Errorf("%d hashes, %v", merged.Len(), err)
	}
	other := filepath.Join(memoryFolder(t), "other")
	if err := BuildTable(other, slices.Values(hashes), Config{Seed: 8}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another seed":   MergeTables(path, Config{}, merged, mustOpenTable(t, other)),
		"a seed of none": MergeTables(path, Config{Seed: 9}, merged),
	} {
		if !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := MergeTables(path, Config{}); err == nil {
		t.Error("no tables are merged")
	}
}

// checkTable reads all of a table's file.
func checkTable(file []byte) error {
	t, err := openTable(bytes.NewReader(file), "some.table", int64(len(file)))
	if err != nil {
		return err
	}
	return t.Verify()
}

// Truncated, flipped, foreign, newer and put together of two: each is an error that names the file.
func TestTableDamage(t *testing.T) {
	read := func(path string) []byte {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	whole := read(buildSmall(t, 400, randomHashes(1, 600)))
	other := read(buildSmall(t, 400, randomHashes(2, 600)))
	if err := checkTable(whole); err != nil {
		t.Fatal(err)
	}
	want := func(name string, err error, wants ...error) {
		t.Helper()
		if !slices.ContainsFunc(wants, func(want error) bool { return errors.Is(err, want) }) || !strings.Contains(err.Error(), "some.table") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	joint := bytes.LastIndex(whole, []byte(magic))
	base := joint + padding(int64(joint))
	for at, step := 0, 1; at < len(whole); at += step {
		if step = 1; at > joint+100 && at < len(whole)-200 && at%pageBytes > 30 {
			step = 97
		}
		file := bytes.Clone(whole)
		file[at] ^= 1 << (at % 8)
		want("flipped", checkTable(file), ErrDamaged, ErrNewer, ErrFormat)
	}
	for n := 0; n < len(whole); n += 1 + n%211 {
		want("cut", checkTable(whole[:n]), ErrDamaged, ErrFormat)
	}
	want("more behind", checkTable(append(bytes.Clone(whole), 1)), ErrDamaged)
	want("hashes of another", checkTable(append(bytes.Clone(whole[:base]), other[base:]...)), ErrDamaged)
	want("filter of another", checkTable(append(bytes.Clone(other[:base]), whole[base:]...)), ErrDamaged)
	want("text", checkTable([]byte("a list of names\n")), ErrFormat)
	want("a run", checkTable(whole[base:]), ErrFormat)
	var chain bytes.Buffer
	if _, err := mustScalable(t, smallExact).WriteTo(&chain); err != nil {
		t.Fatal(err)
	}
	want("another kind", checkTable(chain.Bytes()), ErrFormat)
	want("a filter alone", checkTable(whole[:joint]), ErrFormat)
	newer := bytes.Clone(whole)
	newerHead(newer[joint : joint+prefixBytes+1+len(KindTable)+1+len(HashName)+16+sumBytes])
	want("newer", checkTable(newer), ErrNewer)
	if _, err := OpenTable(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is missing: %v", err)
	}
}

// Whatever the file, opening and asking give answers or errors. What the hashes behind the filter may hold is FuzzRun's.
func FuzzTable(f *testing.F) {
	for _, n := range []int{0, 1, 1100} {
		file, err := os.ReadFile(buildSmall(f, 400, randomHashes(1, n)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file, false)
		f.Add(file[:len(file)/2], true)
		f.Add(append(file, file...), true)
	}
	f.Fuzz(func(t *testing.T, file []byte, seal bool) {
		if seal {
			file = sealFile(file)
		}
		table, err := openTable(bytes.NewReader(file), "some.table", int64(len(file)))
		if err != nil {
			return
		}
		for _, h := range []uint64{0, 1, math.MaxUint64} {
			table.Has(h)
		}
		table.Verify()
	})
}
