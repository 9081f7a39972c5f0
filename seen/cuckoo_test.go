package seen

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Each place is the other's partner, also in a table of an odd number of buckets, and of three.
func TestCuckooPartner(t *testing.T) {
	for _, buckets := range []uint64{1, 2, 3, 264, 1_000_003} {
		c := &Cuckoo{buckets: buckets}
		for h := range hashStream(1, 10_000) {
			p := c.places(h)
			if p.fingerprint < 1 || p.fingerprint > fingerprints || p.first >= buckets || p.second >= buckets ||
				c.partner(p.fingerprint, p.second) != p.first {
				t.Fatalf("%d buckets: %x is at %+v, and the second's partner is %d", buckets, h, p, c.partner(p.fingerprint, p.second))
			}
		}
	}
}

func TestCuckooSlot(t *testing.T) {
	for _, tt := range []struct {
		bucket, fingerprint uint64
		want                int
	}{
		{0, 0, 0}, {0, 1, 64}, {1, 0, 16}, {1, 1, 0}, {1<<16 | 2, 1, 16}, {0xffff_0001_0000_0001, 0, 16},
		{0xffff_ffff_ffff_ffff, 0, 64}, {0xffff_8000_0001_8001, 0xffff, 48}, {0x0001_0001_0001_0001, 0, 64},
		{0x8000_8000_8000_8000, 0, 64}, {0x0000_0001_0001_0001, 0, 48}, {0x8001_0002_0003_0004, 0x8001, 48},
	} {
		if got := slot(tt.bucket, tt.fingerprint); got != tt.want {
			t.Errorf("slot(%x, %x) = %d, want %d", tt.bucket, tt.fingerprint, got, tt.want)
		}
	}
}

// The keys it is made for always find a place, and at that load it errs as it says.
func TestCuckooHoldsWhatItIsMadeFor(t *testing.T) {
	for _, tt := range []struct{ keys, tables int }{{1000, 200}, {10_000, 20}, {1_000_000, 1}} {
		t.Run(fmt.Sprint(tt.keys), func(t *testing.T) {
			var past float64
			for seed := range tt.tables {
				c := mustCuckoo(t, Config{ExpectedItems: uint64(tt.keys), Seed: 1})
				hashes := randomHashes(uint64(seed), tt.keys)
				if n, err := c.Add(hashes); err != nil {
					t.Fatalf("table %d: %d keys of %d: %v", seed, n, tt.keys, err)
				}
				st := c.Stats()
				if st.Capped || st.Items != uint64(tt.keys) || st.Fill > cuckooLoad {
					t.Fatalf("table %d: %+v", seed, st)
				}
				if tt.tables == 1 {
					const asks = 4_000_000
					measured := measure(func(h uint64) bool { has, _ := c.Has(h); return has }, 1000, asks)
					t.Logf("measured %g, Rate %g, %.2f bits a key", measured, st.Rate, float64(st.Bits)/float64(tt.keys))
					wantNear(t, "Rate", st.Rate, measured, asks)
				}
				fillUp(t, c, uint64(seed)+5000)
				past += c.Stats().Fill / float64(tt.tables)
				for _, h := range hashes {
					if has, _ := c.Has(h); !has {
						t.Fatalf("hash %x was added and is not seen", h)
					}
				}
			}
			t.Logf("full at a load of %.4f", past)
			if past < 0.965 {
				t.Errorf("full at a load of %.4f", past)
			}
		})
	}
}

// fillUp adds keys until there is no place for one, and checks that the table is as it was before that one.
func fillUp(t *testing.T, c *Cuckoo, stream uint64) {
	t.Helper()
	var before []uint64
	for h := range hashStream(stream, int(c.slots())) {
		near := c.fill() > 0.96
		if near && c.buckets < 10_000 {
			before = append(before[:0], c.words...)
		}
		items := c.count
		was, err := c.TestAndAdd(h)
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrFull) || was || c.count != items || c.Stats().Capped != (items > c.cfg.ExpectedItems) {
			t.Errorf("TestAndAdd: %v, %v, %d keys, before it %d", was, err, c.count, items)
		}
		if before != nil && !slices.Equal(before, c.words) {
			t.Error("a key without a place has changed the table")
		}
		if has, _ := c.Has(h); has {
			t.Error("a key without a place is seen")
		}
		return
	}
	t.Error("never full")
}

// The keys that a full table holds are still there, whatever is tried, and a removal makes room.
func TestCuckooFull(t *testing.T) {
	c := mustCuckoo(t, Config{ExpectedItems: 1000, Seed: 1})
	in := make(map[uint64]bool)
	full := 0
	var last uint64
	for h := range hashStream(1, 10_000) {
		before := slices.Clone(c.words)
		switch was, err := c.TestAndAdd(h); {
		case errors.Is(err, ErrFull):
			if full++; !slices.Equal(before, c.words) {
				t.Fatal("a key without a place has changed the table")
			}
		case err != nil:
			t.Fatal(err)
		case !was:
			in[h], last = true, h
		}
	}
	for h := range in {
		if has, _ := c.Has(h); !has {
			t.Fatalf("hash %x was added and is not seen", h)
		}
	}
	t.Logf("%d keys in %d slots, %d had no place", len(in), c.slots(), full)
	if full == 0 || c.Len() != uint64(len(in)) || !c.Stats().Capped {
		t.Errorf("%d keys had no place; %d in it, want %d", full, c.Len(), len(in))
	}
	if removed, _ := c.Remove(last); !removed {
		t.Error("the last key is not removed")
	}
	if _, err := c.TestAndAdd(last); err != nil {
		t.Errorf("the place of the last key: %v", err)
	}
	batch := randomHashes(2, 500)
	if err := c.TestAndAddBatch(batch, make([]bool, len(batch))); !errors.Is(err, ErrFull) {
		t.Errorf("a batch for a full table: %v", err)
	}
	if n, err := c.Add(batch); !errors.Is(err, ErrFull) || n == len(batch) {
		t.Errorf("Add to a full table: %d, %v", n, err)
	}
}

// Two buckets hold a key eight times. The ninth has no place in an otherwise empty table, and each removal takes one.
func TestCuckooDuplicates(t *testing.T) {
	for h := range hashStream(1, 100) {
		c := mustCuckoo(t, Config{ExpectedItems: 1000, Seed: 1})
		if p := c.places(h); p.first == p.second {
			continue
		}
		n, err := c.Add(slices.Repeat([]uint64{h}, 9))
		if n != 8 || !errors.Is(err, ErrFull) {
			t.Fatalf("Add of one key 9 times: %d, %v", n, err)
		}
		for i := range 9 {
			if removed, _ := c.Remove(h); removed != (i < 8) {
				t.Fatalf("Remove number %d: %v", i+1, removed)
			}
		}
		if c.Len() != 0 || slices.Max(c.words) != 0 {
			t.Fatalf("%d keys left", c.Len())
		}
	}
}

func TestCuckooConfig(t *testing.T) {
	for _, tt := range []struct {
		c    Config
		want string // part of the error; empty for none
	}{
		{Config{}, ""},
		{Config{ExpectedItems: 5}, ""},
		{Config{FalsePositiveRate: 0.00012}, ""},
		{Config{FalsePositiveRate: 0.0001}, "fp: want at least 0.000116, which is what a cuckoo filter gives, got 0.0001"},
		{Config{FalsePositiveRate: 2}, "fp: want from"},
		{Config{MaxBytes: -1}, "seen_memory: want from 0"},
		{Config{ExpectedItems: 1_000_000, MaxBytes: 1 << 20}, "seen_memory: want at least 2105264"},
		{Config{ExpectedItems: math.MaxUint64}, "seen_memory: want at least"},
	} {
		_, err := NewCuckoo(tt.c)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NewCuckoo(%+v): %v, want %q", tt.c, err, tt.want)
		}
	}
}

// A head that no cuckoo filter can have had is damage.
func TestCuckooForgedHead(t *testing.T) {
	c := mustCuckoo(t, Config{ExpectedItems: 1000, Seed: 1})
	c.Add(randomHashes(1, 500))
	good := *c
	for name, forge := range map[string]func(){
		"buckets":      func() { c.buckets *= 2 },
		"no buckets":   func() { c.buckets, c.cfg.ExpectedItems = 0, 1 },
		"many buckets": func() { c.buckets = math.MaxUint64 },
		"keys":         func() { c.cfg.ExpectedItems = math.MaxUint64 },
		"memory":       func() { c.cfg.MaxBytes = 100 },
		"no seed":      func() { c.cfg.Seed = 0 },
		"count":        func() { c.count++ },
	} {
		*c = good
		forge()
		wantDamaged(t, name, c)
	}
}
