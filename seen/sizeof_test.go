package seen

import (
	"bytes"
	"errors"
	"iter"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// What SizeOf says is what a filter takes that is made and filled.
func TestSizeOf(t *testing.T) {
	items, chains := uint64(300_000), []uint64{50_000, 1_000_000, 2_500_000}
	if testing.Short() {
		items, chains = 30_000, []uint64{50_000, 1_100_000}
	}
	for _, rate := range []float64{0.02, 0.001} {
		c := Config{FalsePositiveRate: rate, ExpectedItems: items, Seed: 9}
		for kind, make := range map[Kind]func() (Filter, error){
			KindBloom:    func() (Filter, error) { return NewBloom(c, Blocked) },
			KindClassic:  func() (Filter, error) { return NewBloom(c, Classic) },
			KindCounting: func() (Filter, error) { return NewCounting(c) },
			KindCuckoo:   func() (Filter, error) { return NewCuckoo(c) },
		} {
			f, err := make()
			if err != nil {
				t.Fatal(kind, err)
			}
			checkSize(t, kind, c, f)
		}
	}
	for _, items := range chains {
		c := Config{FalsePositiveRate: 0.01, ExpectedItems: items, Seed: 9}
		f, err := NewScalable(Config{FalsePositiveRate: c.FalsePositiveRate, Seed: c.Seed})
		if err != nil {
			t.Fatal(err)
		}
		checkSize(t, KindScalable, c, f)
	}
}

// checkSize fills f with what c expects.
func checkSize(t *testing.T, kind Kind, c Config, f Filter) {
	t.Helper()
	want, err := SizeOf(kind, c)
	if err != nil {
		t.Fatal(kind, err)
	}
	var key [8]byte
	for f.Len() < c.ExpectedItems {
		key = [8]byte{key[0] + 1, key[1], key[2], key[3]}
		for i := 0; key[i] == 0 && i < 3; i++ {
			key[i+1]++
		}
		if _, err := f.TestAndAdd(f.Hash(key[:])); err != nil {
			t.Fatal(kind, err)
		}
	}
	st := f.Stats()
	if st.Bits != want.Bits {
		t.Errorf("%s of %d at %g: SizeOf says %d bits, it has %d", kind, c.ExpectedItems, c.FalsePositiveRate, want.Bits, st.Bits)
	}
	if k := st.PerLayer[len(st.PerLayer)-1].K; k != want.Hashes {
		t.Errorf("%s: SizeOf says %d hashes, it has %d", kind, want.Hashes, k)
	}
	if math.Abs(st.Rate-want.Rate) > 0.05*want.Rate {
		t.Errorf("%s of %d at %g: SizeOf says an error of %g, it has %g", kind, c.ExpectedItems, c.FalsePositiveRate, want.Rate, st.Rate)
	}
}

func TestSizeOfTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	const items = 300_000
	c := Config{FalsePositiveRate: 0.01, ExpectedItems: items, Seed: 9}
	h := newHasher(c.Seed)
	var hashes iter.Seq[uint64] = func(yield func(uint64) bool) {
		for i := range items {
			if !yield(h.Hash([]byte{byte(i), byte(i >> 8), byte(i >> 16)})) {
				return
			}
		}
	}
	if err := BuildTable(path, hashes, c); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := SizeOf(KindTable, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Size(); math.Abs(float64(got-want.DiskBytes)) > 0.02*float64(got) {
		t.Errorf("SizeOf says %d bytes, the file has %d", want.DiskBytes, got)
	}
}

func TestSizeOfRefuses(t *testing.T) {
	for kind, c := range map[Kind]Config{
		KindWindow:   {},
		KindBloom:    {FalsePositiveRate: 2},
		KindCuckoo:   {ExpectedItems: math.MaxUint64},
		KindScalable: {ExpectedItems: math.MaxUint64},
	} {
		if size, err := SizeOf(kind, c); err == nil {
			t.Errorf("%s of %+v: %+v", kind, c, size)
		}
	}
	if _, err := SizeOf(KindCounting, Config{ExpectedItems: math.MaxUint64}); !errors.Is(err, ErrPlan) {
		t.Errorf("got %v, want ErrPlan", err)
	}
}

// The settings in force are those that were given, and those that were saved.
func TestConfigInForce(t *testing.T) {
	c := Config{FalsePositiveRate: 0.02, ExpectedItems: 5_000, MaxBytes: 1 << 20, Seed: 77}
	scalable, err := NewScalable(c)
	check(t, err)
	shared, err := NewShared(c)
	check(t, err)
	bloom, err := NewBloom(c, Classic)
	check(t, err)
	counting, err := NewCounting(c)
	check(t, err)
	cuckoo, err := NewCuckoo(c)
	check(t, err)
	type configured interface {
		Filter
		Config() Config
	}
	for _, f := range []configured{scalable, shared, bloom, counting, cuckoo, NewExact(scalable, nil)} {
		var saved bytes.Buffer
		if _, err := f.WriteTo(&saved); err != nil {
			t.Fatal(err)
		}
		read, err := Read(&saved)
		check(t, err)
		if got := f.Config(); got != c {
			t.Errorf("%T: %+v, want %+v", f, got, c)
		}
		if got := read.(configured).Config(); got != c {
			t.Errorf("%T was read with %+v, want %+v", f, got, c)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
