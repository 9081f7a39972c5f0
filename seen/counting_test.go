package seen

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// The published sizes, which take each line to have exactly the expected share of its counters above zero, are 42.98 bits
// a key at 1% and 74.95 at 0.1%. They give 1.035 and 1.068 times the error; these give the error.
func TestCountingShape(t *testing.T) {
	for _, tt := range []struct {
		p    float64
		k    int
		bits float64 // a key
	}{
		{0.5, 1, 5.77}, {0.05, 4, 26.15}, {0.01, 6, 43.39}, {0.001, 8, 76.05}, {1e-4, 10, 123.78}, {1e-6, 13, 308.54},
	} {
		k, lines := counterShape(1e9, tt.p)
		if bits := lines * lineBits / 1e9; k != tt.k || math.Abs(bits-tt.bits) > 0.01 {
			t.Errorf("at %g: %d counters and %.2f bits a key, want %d and %.2f", tt.p, k, bits, tt.k, tt.bits)
		}
		if got := counterRate(counterLine(k), fillAt(1e9/lines, k), k); math.Abs(got/tt.p-1) > 1e-4 {
			t.Errorf("at %g: Rate at capacity is %g", tt.p, got)
		}
	}
}

// fillAt is the share of counters above zero with so many keys a line in the mean.
func fillAt(load float64, k int) float64 {
	return -math.Expm1(load * math.Expm1(float64(k)*math.Log1p(-1.0/lineCounters)))
}

func TestCountingRateOfEmptyAndFull(t *testing.T) {
	line := counterLine(6)
	if got := counterRate(line, 0, 6); got != 0 {
		t.Errorf("empty: %g", got)
	}
	last := 0.0
	for _, fill := range []float64{1e-9, 0.01, 0.5, 0.9, 0.99, 0.9999, 1 - 1e-12, 1} {
		got := counterRate(line, fill, 6)
		if !(got > last || got == 1) || got > 1 {
			t.Errorf("fill %g: %g, after %g", fill, got, last)
		}
		last = got
	}
	if last != 1 {
		t.Errorf("full: %g", last)
	}
}

// At its capacity it errs as asked, and past it as often as Rate says.
func TestCountingError(t *testing.T) {
	for _, tt := range []struct {
		p          float64
		keys, asks int
	}{{0.05, 50_000, 400_000}, {0.01, 100_000, 1_000_000}, {0.001, 50_000, 2_000_000}} {
		t.Run(fmt.Sprint(tt.p), func(t *testing.T) {
			c := mustCounting(t, Config{FalsePositiveRate: tt.p, ExpectedItems: uint64(tt.keys), Seed: 1})
			for _, times := range []int{1, 2, 8} {
				for h := range hashStream(1, tt.keys*times) {
					c.TestAndAdd(h)
				}
				measured := measure(func(h uint64) bool { has, _ := c.Has(h); return has }, 2, tt.asks)
				st := c.Stats()
				t.Logf("%d times the keys: measured %.3f p, Rate %.3f p, %.2f bits a key, fill %.3f", times, measured/tt.p,
					st.Rate/tt.p, float64(st.Bits)/float64(tt.keys), st.Fill)
				wantNear(t, "Rate", st.Rate, measured, tt.asks)
				noise := 3 / math.Sqrt(tt.p*float64(tt.asks))
				if off := measured/tt.p - 1; times == 1 && (off < -0.1-noise || off > 0.06+noise) {
					t.Errorf("measured %.3f of the error asked for", measured/tt.p)
				}
				if times > 1 != st.Capped {
					t.Errorf("%d keys of %d: Capped %v", st.Items, st.Capacity, st.Capped)
				}
			}
			for h := range hashStream(1, tt.keys*8) {
				if has, _ := c.Has(h); !has {
					t.Fatalf("hash %x was added and is not seen", h)
				}
			}
		})
	}
}

// A counter that was at its largest says nothing about how far it has to go down: it stays, and so do the keys on it.
func TestCountingSaturatedStays(t *testing.T) {
	c := mustCounting(t, Config{ExpectedItems: 1000, Seed: 1})
	const kept, popular = 3 << 40, 5 << 40
	c.TestAndAdd(kept)
	for range 14 {
		c.Add([]uint64{popular})
	}
	for range 14 {
		if removed, _ := c.Remove(popular); !removed {
			t.Fatal("a key added 14 times is not removed 14 times")
		}
	}
	if has, _ := c.Has(popular); has || c.Len() != 1 {
		t.Fatalf("a key added and removed 14 times is seen: %v, of %d", has, c.Len())
	}
	for range 20 {
		c.Add([]uint64{popular})
	}
	for range 20 {
		if removed, _ := c.Remove(popular); !removed {
			t.Fatal("a key added 20 times is not removed 20 times")
		}
	}
	if has, _ := c.Has(popular); !has {
		t.Error("a counter that was at its largest went down to zero")
	}
	if has, _ := c.Has(kept); !has || c.Len() != 1 || c.Stats().Fill == 0 {
		t.Errorf("the other key: %v, %d keys", has, c.Len())
	}
	c.Remove(kept)
	if removed, _ := c.Remove(popular); removed || c.Len() != 0 {
		t.Errorf("Remove from a filter with no key left: %v, Len %d", removed, c.Len())
	}
}

func TestCountingConfig(t *testing.T) {
	for _, tt := range []struct {
		c    Config
		want string // part of the error; empty for none
	}{
		{Config{}, ""},
		{Config{ExpectedItems: 5}, ""},
		{Config{FalsePositiveRate: 2}, "fp: want from"},
		{Config{MaxBytes: -1}, "seen_memory: want from 0"},
		{Config{ExpectedItems: 1_000_000, FalsePositiveRate: 0.01, MaxBytes: 5 << 20}, "seen_memory: want at least 5423"},
		{Config{ExpectedItems: math.MaxUint64}, "seen_memory: want at least"},
	} {
		_, err := NewCounting(tt.c)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NewCounting(%+v): %v, want %q", tt.c, err, tt.want)
		}
	}
}

// A head that no counting filter can have had is damage, before a word is read.
func TestCountingForgedHead(t *testing.T) {
	c := mustCounting(t, Config{ExpectedItems: 1000, Seed: 1})
	good := *c
	for name, forge := range map[string]func(){
		"lines":        func() { c.lines++; c.lines *= 2 },
		"many lines":   func() { c.lines = math.MaxUint64 },
		"no lines":     func() { c.lines, c.cfg.ExpectedItems = 0, 1 },
		"no k":         func() { c.k = 0 },
		"large k":      func() { c.k = 200 },
		"keys":         func() { c.cfg.ExpectedItems = math.MaxUint64 },
		"rate":         func() { c.cfg.FalsePositiveRate = math.NaN() },
		"memory":       func() { c.cfg.MaxBytes = 100 },
		"no seed":      func() { c.cfg.Seed = 0 },
		"keys nowhere": func() { c.count = 7 },
	} {
		*c = good
		forge()
		wantDamaged(t, name, c)
	}
}

func wantDamaged(t *testing.T, name string, f Filter) {
	t.Helper()
	var file strings.Builder
	if _, err := f.WriteTo(&file); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if _, err := Read(strings.NewReader(file.String())); !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: Read: %v, want ErrDamaged", name, err)
	}
}
