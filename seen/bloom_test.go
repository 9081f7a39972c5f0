package seen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
)

// full asks for the measurements that take minutes.
var full = flag.Bool("full", false, "measure errors down to 1e-6")

var layouts = []Layout{Blocked, Classic}

func mustBloom(t testing.TB, c Config, layout Layout) *Bloom {
	t.Helper()
	b, err := NewBloom(c, layout)
	if err != nil {
		t.Fatalf("NewBloom(%+v, %s): %v", c, layout, err)
	}
	return b
}

// A filter that holds what it was made for errs as asked, in both layouts and at the bits that were planned. asks is for
// some 10,000 errors where there is time for it: a standard deviation of 1%.
func TestBloomErrsAsAsked(t *testing.T) {
	for _, tt := range []struct {
		p          float64
		keys, asks int
		noise      float64 // share of p, besides that of the asking: what one filter of so many keys may be off
	}{
		{0.05, 400_000, 800_000, 0.01},
		{0.01, 400_000, 1_500_000, 0.01},
		{0.001, 400_000, 10_000_000, 0.01},
		{1e-4, 400_000, 20_000_000, 0.02},
		{1e-5, 4_000_000, 1_000_000_000, 0},
		{1e-6, 4_000_000, 1_000_000_000, 0.03},
	} {
		for _, layout := range layouts {
			t.Run(fmt.Sprintf("%s %g", layout, tt.p), func(t *testing.T) {
				if tt.p < 1e-4 && !*full {
					t.Skip("takes a minute: run with -full")
				}
				t.Parallel()
				keys, asks := tt.keys, tt.asks
				if testing.Short() {
					keys, asks = keys/8, asks/8
				}
				if *full && tt.p > 1e-5 {
					keys, asks = 10*keys, int(10_000/tt.p)
				}
				b := mustBloom(t, Config{FalsePositiveRate: tt.p, ExpectedItems: uint64(keys), Seed: 1}, layout)
				b.Add(randomHashes(1, keys))
				measured := measure(b.bits.has, 2, asks)
				st := b.Stats()
				t.Logf("%.2f bits a key, measured %.3f p, Rate %.3f p", float64(st.Bits)/float64(keys), measured/tt.p, st.Rate/tt.p)
				slack := tt.noise + 4/math.Sqrt(tt.p*float64(asks)) - 0.04 // the bars are for 10,000 errors
				if measured < (0.9-slack)*tt.p || measured > (1.06+slack)*tt.p {
					t.Errorf("measured %.3g, want 0.9 to 1.06 of %g", measured, tt.p)
				}
				wantNear(t, "Rate", st.Rate, measured, asks)
			})
		}
	}
}

// In the whole array of a large filter the error is right down to the smallest that can be asked for; in an array of a
// few kilobytes, where two keys often share bits, it is that of independent bits.
func TestClassicErrsAsIndependentBits(t *testing.T) {
	for _, tt := range []struct {
		p          float64
		keys, asks int
		full       bool
	}{
		{p: 0.01, keys: 100, asks: 1_000_000},
		{p: 0.001, keys: 1000, asks: 5_000_000},
		{p: 1e-4, keys: 1000, asks: 20_000_000},
		{p: 1e-6, keys: 1000, asks: 1_000_000_000, full: true},
		{p: 1e-6, keys: 100_000_000, asks: 1_000_000_000, full: true},
	} {
		t.Run(fmt.Sprintf("%d at %g", tt.keys, tt.p), func(t *testing.T) {
			if tt.full && !*full {
				t.Skip("takes minutes: run with -full")
			}
			t.Parallel()
			b := mustBloom(t, Config{FalsePositiveRate: tt.p, ExpectedItems: uint64(tt.keys), Seed: 1}, Classic)
			batch := make([]uint64, 0, batchKeys)
			for h := range hashStream(1, tt.keys) {
				if batch = append(batch, h); len(batch) == cap(batch) {
					b.Add(batch)
					batch = batch[:0]
				}
			}
			b.Add(batch)
			measured := measure(b.bits.has, 2, tt.asks)
			t.Logf("measured %.3f p, Rate %.3f p", measured/tt.p, b.Rate()/tt.p)
			wantNear(t, "Rate", b.Rate(), measured, tt.asks)
			if tt.keys >= 1_000_000 {
				wantNear(t, "FalsePositiveRate", tt.p, measured, tt.asks)
			}
		})
	}
}

// Past what it was made for a filter goes on, and says how wrong it is.
func TestBloomOverfillsHonestly(t *testing.T) {
	const capacity, asks = 50_000, 200_000
	for _, layout := range layouts {
		b := mustBloom(t, Config{FalsePositiveRate: 0.01, ExpectedItems: capacity, Seed: 1}, layout)
		before := b.Stats()
		offered := 0
		for h := range hashStream(1, 8*capacity) {
			b.TestAndAdd(h)
			if offered++; offered%capacity != 0 {
				continue
			}
			st := b.Stats()
			wantNear(t, fmt.Sprintf("%s: Rate at %d keys", layout, offered), st.Rate, measure(b.bits.has, 2, asks), asks)
			if st.Capped != (st.Items > capacity) || st.Bytes != before.Bytes || st.Capacity != capacity {
				t.Errorf("%s: at %d keys %+v", layout, offered, st)
			}
			wantWithin(t, fmt.Sprintf("%s: Estimate", layout), b.Estimate(), float64(offered), 0.01)
		}
		for h := range hashStream(1, 8*capacity) {
			if !b.bits.has(h) {
				t.Fatalf("%s: hash %x was added and is not seen", layout, h)
			}
		}
	}
}

func wantWithin(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*want) {
		t.Errorf("%s = %.1f, want %.1f within %g%%", what, got, want, 100*share)
	}
}

// Union has the bits of a filter to which all keys were added, and the estimates follow the sets.
func TestBloomSets(t *testing.T) {
	const capacity = 100_000
	for _, layout := range layouts {
		for _, tt := range []struct{ a, b, common int }{
			{0, 0, 0}, {30_000, 0, 0}, {30_000, 20_000, 0}, {50_000, 50_000, 25_000}, {90_000, 40_000, 40_000}, {100_000, 100_000, 100_000},
		} {
			t.Run(fmt.Sprintf("%s %d and %d, %d common", layout, tt.a, tt.b, tt.common), func(t *testing.T) {
				c := Config{FalsePositiveRate: 0.01, ExpectedItems: capacity, Seed: 1}
				a, b, all := mustBloom(t, c, layout), mustBloom(t, c, layout), mustBloom(t, c, layout)
				keys := randomHashes(1, tt.a+tt.b-tt.common)
				a.Add(keys[:tt.a])
				b.Add(keys[tt.a-tt.common:])
				all.Add(keys)
				noise := 0.005 * float64(tt.a+tt.b+100)
				both, err := a.Intersection(b)
				if err != nil || math.Abs(both-float64(tt.common)) > noise {
					t.Errorf("Intersection = %.0f, %v, want %d within %.0f", both, err, tt.common, noise)
				}
				joined, err := a.UnionEstimate(b)
				if err != nil || math.Abs(joined-float64(len(keys))) > noise {
					t.Errorf("UnionEstimate = %.0f, %v, want %d within %.0f", joined, err, len(keys), noise)
				}
				theirs := saved(t, b)
				if err := a.Union(b); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(saved(t, b), theirs) {
					t.Error("Union changed the other")
				}
				if got, want := a.bits.figures().ones, all.bits.figures().ones; got != want || got != popCount(a.bits.array()) {
					t.Errorf("the union has %d bits set, want %d", got, want)
				}
				for i, word := range all.bits.array() {
					if a.bits.array()[i] != word {
						t.Fatalf("word %d differs from that of a filter with all keys", i)
					}
				}
				if n := float64(a.Len()); math.Abs(n-float64(len(keys))) > noise || n < float64(max(tt.a, tt.b)) || n > float64(tt.a+tt.b) {
					t.Errorf("Len %v after a union of %d and %d with %d in all", n, tt.a, tt.b, len(keys))
				}
				if a.Rate() != all.Rate() || a.Estimate() != joined {
					t.Errorf("after the union: Rate %g and Estimate %g, want %g and %g", a.Rate(), a.Estimate(), all.Rate(), joined)
				}
			})
		}
	}
}

func TestBloomMismatch(t *testing.T) {
	c := Config{FalsePositiveRate: 0.01, ExpectedItems: 1000, Seed: 1}
	with := func(edit func(*Config)) Config {
		other := c
		edit(&other)
		return other
	}
	for _, tt := range []struct {
		name   string
		c      Config
		layout Layout
		want   string
	}{
		{"same", with(func(c *Config) { c.MaxBytes = 1 << 20 }), Blocked, ""},
		{"layout", c, Classic, "layout"},
		{"size", with(func(c *Config) { c.ExpectedItems = 2000 }), Blocked, "bits"},
		{"hashes", with(func(c *Config) { c.ExpectedItems, c.FalsePositiveRate = 638, 0.001 }), Blocked, "hashes"},
		{"seed", with(func(c *Config) { c.Seed = 2 }), Blocked, "seed"},
	} {
		a, b := mustBloom(t, c, Blocked), mustBloom(t, tt.c, tt.layout)
		a.Add(randomHashes(1, 100))
		b.Add(randomHashes(2, 100))
		before := saved(t, a)
		_, unionErr := a.UnionEstimate(b)
		_, bothErr := a.Intersection(b)
		err := a.Union(b)
		if tt.want == "" {
			if err != nil || unionErr != nil || bothErr != nil {
				t.Errorf("%s: %v, %v, %v", tt.name, err, unionErr, bothErr)
			}
			continue
		}
		for _, err := range []error{err, unionErr, bothErr} {
			if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want ErrMismatch with %q", tt.name, err, tt.want)
			}
		}
		if !bytes.Equal(saved(t, a), before) {
			t.Errorf("%s: a union that is refused changed the filter", tt.name)
		}
	}
}

// With every bit set all is called seen, and the numbers stay finite.
func TestBloomWithEveryBitSet(t *testing.T) {
	for _, layout := range layouts {
		b := mustBloom(t, Config{FalsePositiveRate: 0.1, ExpectedItems: 10, Seed: 1}, layout)
		b.Add(randomHashes(1, 100_000))
		both, err := b.Intersection(b)
		if b.Rate() != 1 || b.Stats().Fill != 1 || err != nil || !(both > 10) || math.IsInf(both, 0) || both != b.Estimate() {
			t.Errorf("%s: Rate %v, Fill %v, Estimate %v, Intersection %v, %v", layout, b.Rate(), b.Stats().Fill, b.Estimate(), both, err)
		}
	}
}

// Those who ask take no lock, and find what was added before they asked.
func TestBloomReadersBesideTheWriter(t *testing.T) {
	const keys, readers = 40_000, 3
	for _, layout := range layouts {
		b := mustBloom(t, Config{ExpectedItems: keys, Seed: 1}, layout)
		other := mustBloom(t, Config{ExpectedItems: keys, Seed: 1}, layout)
		other.Add(randomHashes(2, 100))
		hashes := randomHashes(1, keys)
		done := make(chan int, keys/100) // how many hashes are in
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				for n := range done {
					for _, h := range hashes[n-100 : n] {
						if seen, _ := b.Has(h); !seen {
							t.Errorf("%s: hash %x was added and is not seen", layout, h)
						}
					}
					has := make([]bool, 100)
					b.HasBatch(hashes[n-100:n], has)
					b.Estimate()
					b.Stats()
					if _, err := other.Intersection(b); err != nil {
						t.Error(err)
					}
				}
			})
		}
		was := make([]bool, 50)
		for n := 100; n <= keys; n += 100 {
			b.Add(hashes[n-100 : n-50])
			b.TestAndAddBatch(hashes[n-50:n], was)
			done <- n
			if n == keys/2 {
				b.Union(other)
			}
		}
		close(done)
		wg.Wait()
	}
}

// A head that says another size than the settings lead to is refused, with a right checksum.
func TestForgedBloomHead(t *testing.T) {
	for _, layout := range layouts {
		b := mustBloom(t, Config{FalsePositiveRate: 0.01, ExpectedItems: 1000, Seed: 1}, layout)
		bits, k := b.bits.figures().bits, b.bits.figures().k
		for _, tt := range []struct {
			name     string
			c        func(*Config)
			bits     uint64
			k        int
			wantOkay bool
		}{
			{name: "as it is", bits: bits, k: k, wantOkay: true},
			{name: "one unit more", bits: bits + layout.unit(), k: k, wantOkay: true}, // a machine that rounds otherwise
			{name: "two units more", bits: bits + 2*layout.unit(), k: k},
			{name: "odd bits", bits: bits + 1, k: k},
			{name: "no bits", bits: 0, k: k},
			{name: "huge bits", bits: 1 << 60, k: k},
			{name: "no hashes", bits: bits, k: 0},
			{name: "another k", bits: bits, k: k + 1},
			{name: "over its own cap", bits: bits, k: k, c: func(c *Config) { c.MaxBytes = 64 }},
			{name: "huge", bits: 1 << 60, k: k, c: func(c *Config) { c.MaxBytes, c.ExpectedItems = math.MaxInt, 1<<60/10 }},
		} {
			c := b.cfg
			if tt.c != nil {
				tt.c(&c)
			}
			fields := binary.LittleEndian.AppendUint64(appendConfig(nil, c), tt.bits)
			fields = binary.LittleEndian.AppendUint32(fields, uint32(tt.k))
			head, err := sealHead(b.kind(), binary.LittleEndian.AppendUint64(fields, 0))
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if _, err := writeSaved(&file, head, make([]uint64, min(tt.bits, 1<<20)/64)); err != nil {
				t.Fatal(err)
			}
			before := allocated()
			if _, err = Read(&file); (err == nil) != tt.wantOkay || err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, %s: %v", layout, tt.name, err)
			}
			if got := allocated() - before; got > 4<<20 {
				t.Errorf("%s, %s: %d bytes allocated", layout, tt.name, got)
			}
		}
	}
}

// A file is cut or has lost bytes around the ends of its chunks.
func TestReadNoticesCutsAtChunks(t *testing.T) {
	const chunk = ChunkBytes + sumBytes
	b := mustBloom(t, Config{FalsePositiveRate: 0.01, ExpectedItems: 500_000, Seed: 1}, Blocked)
	b.Add(randomHashes(1, 1000))
	file := saved(t, b)
	head, err := headLength(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(file) < head+2*chunk+100 {
		t.Fatalf("%d bytes are too few to show anything", len(file))
	}
	for _, end := range []int{head, head + ChunkBytes, head + chunk, head + chunk + ChunkBytes, head + 2*chunk, len(file) - sumBytes} {
		for n := end - 1; n <= end+1; n++ {
			if _, err := Read(bytes.NewReader(file[:n])); !errors.Is(err, ErrDamaged) {
				t.Errorf("cut to %d bytes of %d: %v, want ErrDamaged", n, len(file), err)
			}
			lost := append(bytes.Clone(file[:n]), file[n+1:]...)
			if _, err := Read(bytes.NewReader(lost)); !errors.Is(err, ErrDamaged) {
				t.Errorf("without byte %d: %v, want ErrDamaged", n, err)
			}
		}
	}
}
