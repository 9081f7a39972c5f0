package seen

import (
	"math"
	"testing"
)

func TestGrowthSharesTheErrorEqually(t *testing.T) {
	for _, tt := range []struct {
		expect  uint64
		horizon int
	}{
		{1_000_000, 11}, {10_000, 18}, {100_000_000, 5}, {2_000_000_000, 1}, {20_000_000_000, 1}, {1, 21}, {1_000, 21},
	} {
		g := newGrowth(Config{FalsePositiveRate: 0.01, ExpectedItems: tt.expect, MaxBytes: math.MaxInt64})
		if g.horizon != tt.horizon {
			t.Errorf("expect %d: %d layers share, want %d", tt.expect, g.horizon, tt.horizon)
		}
		var sum float64
		for i := range maxLayers {
			if i < g.horizon && math.Abs(g.share(i)-0.0096/float64(tt.horizon)) > 1e-12 {
				t.Errorf("expect %d: share of layer %d is %g, want %g", tt.expect, i, g.share(i), 0.0096/float64(tt.horizon))
			}
			if i > g.horizon && g.share(i) != g.share(i-1)/2 {
				t.Errorf("expect %d: share of layer %d is %g after %g, want half", tt.expect, i, g.share(i), g.share(i-1))
			}
			sum += g.share(i)
		}
		if sum > 0.01 {
			t.Errorf("expect %d: the shares add up to %g", tt.expect, sum)
		}
	}
}

// 16 bits a key at any size: what a chain of full layers costs at 1%.
func TestGrowthCostsTheSameAtAnySize(t *testing.T) {
	g := newGrowth(Config{FalsePositiveRate: 0.01, ExpectedItems: 1_000_000, MaxBytes: math.MaxInt64})
	var used int64
	var held, last uint64
	for i := range g.horizon {
		s, ok := g.layer(i, used, last)
		if !ok || s.capacity != 1_000_000<<i {
			t.Fatalf("layer %d: %+v, %v", i, s, ok)
		}
		used += int64(s.lines) * lineBytes
		held, last = held+s.capacity, s.capacity
		if perKey := 8 * float64(used) / float64(held); perKey > 16.01 {
			t.Errorf("%d layers take %.2f bits a key", i+1, perKey)
		}
	}
}

func TestGrowthKeepsToTheCap(t *testing.T) {
	const first = 1_000_000
	open := func(maxBytes int64) (shapes []shape, used int64) {
		g := newGrowth(Config{FalsePositiveRate: 0.01, ExpectedItems: first, MaxBytes: maxBytes})
		var last uint64
		for {
			s, ok := g.layer(len(shapes), used, last)
			if !ok {
				return shapes, used
			}
			shapes, last = append(shapes, s), s.capacity
			used += int64(s.lines) * lineBytes
		}
	}
	_, one := open(int64(newGrowth(Config{FalsePositiveRate: 0.01, ExpectedItems: first}).firstBytes()))
	for _, tt := range []struct {
		name  string
		cap   int64
		last  uint64 // capacity of the last layer, to a thousandth
		count int
	}{
		{"not even one", one - 1, 0, 0},
		{"one", one, first, 1},
		{"less than half a layer more", one + one*49/100, first, 1},
		{"half a layer more", one + one*51/100, first * 51 / 100, 2},
		{"all but whole", one + one*199/100, first * 199 / 100, 2},
		{"whole", one * 3, first * 2, 2},
	} {
		shapes, used := open(tt.cap)
		if len(shapes) != tt.count || used > tt.cap {
			t.Errorf("%s: %d layers of %d bytes under a cap of %d, want %d", tt.name, len(shapes), used, tt.cap, tt.count)
			continue
		}
		if tt.count > 0 {
			if got := shapes[tt.count-1].capacity; math.Abs(float64(got)-float64(tt.last)) > float64(tt.last)/1000 {
				t.Errorf("%s: the last layer holds %d, want about %d", tt.name, got, tt.last)
			}
		}
	}
}

// The default cap holds what its comment says.
func TestDefaultCapHolds(t *testing.T) {
	g := newGrowth(Config{}.withDefaults())
	var used int64
	var held, last uint64
	for i := 0; ; i++ {
		s, ok := g.layer(i, used, last)
		if !ok {
			break
		}
		used += int64(s.lines) * lineBytes
		held, last = held+s.capacity, s.capacity
	}
	if held < 375_000_000 || held > 390_000_000 || used > DefaultMaxBytes {
		t.Errorf("the default cap holds %d keys in %d bytes", held, used)
	}
	t.Logf("%d keys in %d bytes", held, used)
}
