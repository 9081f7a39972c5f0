package seen

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// pagesOf are hashes of many shapes, each of which one page takes.
func pagesOf() map[string][]uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	spread := func(n int, from, width uint64) []uint64 {
		h := make([]uint64, n)
		for i := range h {
			h[i] = from + r.Uint64N(width)
		}
		slices.Sort(h)
		return slices.Compact(h)
	}
	dense := make([]uint64, 10_000)
	for i := range dense {
		dense[i] = math.MaxUint64 - uint64(len(dense)-1-i)
	}
	far := append(slices.Clone(dense[:fitsAlways-1]), math.MaxUint64)
	near := append([]uint64{0}, dense[len(dense)-fitsAlways:]...)
	return map[string][]uint64{
		"one":            {42},
		"zero":           {0},
		"both ends":      {0, math.MaxUint64},
		"last two":       {math.MaxUint64 - 1, math.MaxUint64},
		"even":           spread(fitsAlways, 0, math.MaxUint64),
		"of a large run": spread(800, 1<<63, 1<<47),
		"dense":          dense,
		"dense and far":  far,
		"far and dense":  near,
		"few":            spread(5, 7, 1<<60),
	}
}

// A page gives back the hashes that it was made of, finds each, and none beside it.
func TestPage(t *testing.T) {
	for name, hashes := range pagesOf() {
		t.Run(name, func(t *testing.T) {
			if n := len(hashes) - 1; !pageFits(n, hashes[n]-hashes[0]) {
				t.Fatalf("%d hashes do not fit", n+1)
			}
			var b pageBuf
			encodePage(&b, 3, hashes)
			p, err := openPage(&b, 3)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.appendTo(nil)
			if err != nil || !slices.Equal(got, hashes) {
				t.Fatalf("%d hashes come back as %d, or others: %v", len(hashes), len(got), err)
			}
			for _, h := range hashes {
				for _, ask := range []uint64{h - 1, h, h + 1, h ^ 1<<40, h ^ 1<<63} {
					if _, want := slices.BinarySearch(hashes, ask); p.has(ask) != want {
						t.Fatalf("has(%#x) = %v", ask, !want)
					}
				}
			}
		})
	}
}

// The number that a page takes for certain is right at the least favourable hashes.
func TestPageFitsAlways(t *testing.T) {
	for shift := range 64 {
		if !pageFits(fitsAlways, math.MaxUint64>>shift) {
			t.Errorf("%d differences up to 2^%d do not fit", fitsAlways, 64-shift)
		}
	}
}

// Every flipped bit of a page is found, and so is another page's place.
func TestPageDamage(t *testing.T) {
	var b pageBuf
	encodePage(&b, 7, pagesOf()["even"])
	if _, err := openPage(&b, 8); err == nil {
		t.Error("page 7 is taken for page 8")
	}
	for at := range pageBytes {
		b[at] ^= 1 << (at % 8)
		if _, err := openPage(&b, 7); err == nil {
			t.Fatalf("byte %d: a flipped bit is not found", at)
		}
		b[at] ^= 1 << (at % 8)
	}
}

// A page with a right checksum may still hold anything: it is asked without a panic, and what is decoded ascends.
func FuzzPage(f *testing.F) {
	for _, hashes := range pagesOf() {
		var b pageBuf
		encodePage(&b, 0, hashes)
		f.Add(b[4:pageBytes], hashes[len(hashes)/2])
	}
	f.Fuzz(func(t *testing.T, body []byte, ask uint64) {
		var b pageBuf
		copy(b[4:pageBytes], body)
		sealPage(&b, 0)
		p, err := openPage(&b, 0)
		if err != nil {
			return
		}
		p.has(ask)
		p.has(p.first + ask>>20)
		hashes, err := p.appendTo(nil)
		if err != nil {
			return
		}
		if !slices.IsSorted(hashes) || len(hashes) != p.n+1 {
			t.Fatalf("%d hashes of %d, sorted: %v", len(hashes), p.n+1, slices.IsSorted(hashes))
		}
		for _, h := range hashes {
			if !p.has(h) {
				t.Fatalf("does not find %#x, which it holds", h)
			}
		}
	})
}
