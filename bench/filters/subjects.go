package main

import (
	"math"
	"math/bits"

	"crawl/seen"

	"github.com/bits-and-blooms/bitset"
	"github.com/bits-and-blooms/bloom/v3"
)

// batch is what all subjects are given in a round: keys, good as hashes too, and a URL made of each.
type batch struct {
	keys []uint64
	urls [][]byte
	was  []bool // room for answers
}

// subject is a filter and a way to add a batch to it: it returns how many of the batch were called seen.
type subject struct {
	name       string
	add        func(b *batch) int
	bitsPerKey func() float64
}

// peerURLs is bits-and-blooms/bloom, which hashes by itself.
func peerURLs(items uint64, p float64) subject {
	f := bloom.NewWithEstimates(uint(items), p)
	return subject{
		name:       "bits-and-blooms/bloom",
		bitsPerKey: func() float64 { return float64(f.Cap()) / float64(items) },
		add: func(b *batch) (was int) {
			for _, url := range b.urls {
				if f.TestAndAdd(url) {
					was++
				}
			}
			return was
		},
	}
}

// ownURLs hashes each URL and adds it.
func ownURLs(name string, f seen.Filter) subject {
	return subject{
		name:       name,
		bitsPerKey: func() float64 { return bitsPerKey(f) },
		add: func(b *batch) (was int) {
			for _, url := range b.urls {
				if seen, _ := f.TestAndAdd(f.Hash(url)); seen {
					was++
				}
			}
			return was
		},
	}
}

// ownURLBatches hashes so many URLs and adds them at once, as a crawler does with the links of a page.
func ownURLBatches(name string, f seen.Filter, size int) subject {
	hashes := make([]uint64, 0, size)
	return subject{
		name:       name,
		bitsPerKey: func() float64 { return bitsPerKey(f) },
		add: func(b *batch) int {
			for i := 0; i < len(b.urls); i += size {
				hashes = hashes[:0]
				for _, url := range b.urls[i : i+size] {
					hashes = append(hashes, f.Hash(url))
				}
				f.TestAndAddBatch(hashes, b.was[i:i+size]) // fails only for lengths that differ
			}
			return count(b.was)
		},
	}
}

// ownSingles adds ready hashes one by one.
func ownSingles(name string, f seen.Filter) subject {
	return subject{
		name:       name,
		bitsPerKey: func() float64 { return bitsPerKey(f) },
		add: func(b *batch) (was int) {
			for _, h := range b.keys {
				if seen, _ := f.TestAndAdd(h); seen {
					was++
				}
			}
			return was
		},
	}
}

// ownBatches adds ready hashes, so many at once.
func ownBatches(name string, f seen.Filter, size int) subject {
	return subject{
		name:       name,
		bitsPerKey: func() float64 { return bitsPerKey(f) },
		add: func(b *batch) int {
			for i := 0; i < len(b.keys); i += size {
				f.TestAndAddBatch(b.keys[i:i+size], b.was[i:i+size]) // fails only for lengths that differ
			}
			return count(b.was)
		},
	}
}

func bitsPerKey(f seen.Filter) float64 {
	var capacity uint64
	st := f.Stats()
	for _, l := range st.PerLayer {
		capacity += l.Capacity
	}
	return float64(st.Bits) / float64(capacity)
}

func count(was []bool) (n int) {
	for _, w := range was {
		if w {
			n++
		}
	}
	return n
}

// classic is a Bloom filter as it is usually built: bits anywhere in a bitset, by double hashing.
type classic struct {
	set *bitset.BitSet
	m   uint64
	k   int
}

func newClassic(items uint64, p float64) *classic {
	m := uint64(math.Ceil(-float64(items) * math.Log(p) / (math.Ln2 * math.Ln2)))
	return &classic{bitset.New(uint(m)), m, int(math.Round(float64(m) / float64(items) * math.Ln2))}
}

func (c *classic) testAndAdd(h uint64) bool {
	step := bits.RotateLeft64(h*0x9e3779b97f4a7c15, 32) | 1
	was := true
	for range c.k {
		i, _ := bits.Mul64(h, c.m)
		if !c.set.Test(uint(i)) {
			was = false
			c.set.Set(uint(i))
		}
		h += step
	}
	return was
}

// classicSingles adds ready hashes to a classic filter, which can do no better than one by one.
func classicSingles(items uint64, p float64) subject {
	c := newClassic(items, p)
	return subject{
		name:       "classic over bitset",
		bitsPerKey: func() float64 { return float64(c.m) / float64(items) },
		add: func(b *batch) (was int) {
			for _, h := range b.keys {
				if c.testAndAdd(h) {
					was++
				}
			}
			return was
		},
	}
}
