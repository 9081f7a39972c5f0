package seen

import (
	"math/bits"
	"runtime"

	"github.com/bits-and-blooms/bitset"
)

const (
	lineWords = 8 // a line is a cache line: a key costs one miss a layer
	lineBits  = 64 * lineWords
	lineBytes = 8 * lineWords
)

// mix is a multiplier with good spectral figures for a multiplicative generator modulo 2^64, from Steele, Vigna:
// Computationally easy, spectrally good multipliers for congruential pseudorandom number generators, 2022.
const mix = 0xf1357aea2e62a9c5

// layer is a blocked Bloom filter: every key has its k bits in one line of 512.
//
// Each bit is the top nine bits of a further multiplication of the hash. Two halves of the hash and double hashing would
// be cheaper and wrong: in a line of 512 bits the progressions of two keys overlap so often that an error of 0.1% becomes
// 0.22%. All layers take the same bits of a key; their contents differ, and so does the line.
type layer struct {
	shape
	base  uint64 // keys in the layers before it
	count uint64 // keys in it
	ones  uint64 // bits set in words

	words  []uint64 // lineWords a line; gone once memory is, so whoever holds on to them keeps the layer alive
	memory *memory  // of the words

	rate    float64 // rateOf when ratedAt bits were set
	ratedAt uint64
}

func newLayer(s shape, base uint64) *layer {
	return layerIn(newMemory(int(s.lines*lineWords)), s, base)
}

func layerIn(m *memory, s shape, base uint64) *layer {
	return &layer{shape: s, base: base, words: m.words, memory: m}
}

func (l *layer) bytes() int64 { return int64(l.lines) * lineBytes }

// bitset returns the bits of words[from:to], without a copy. It keeps the layer alive no more than the words do.
func (l *layer) bitset(from, to int) *bitset.BitSet { return bitset.From(l.words[from:to]) }

// line returns the line of h: its high bits choose it, so that no division is needed and any number of lines will do.
func (l *layer) line(h uint64) *[lineWords]uint64 {
	i, _ := bits.Mul64(h, l.lines)
	return (*[lineWords]uint64)(l.words[i*lineWords:])
}

// early is how many bits has takes together before it decides: nearly all keys that are not there fail one of them, and
// one branch that is nearly always right costs less than one after every bit.
const early = 4

// has reports whether all bits of h are set.
func (l *layer) has(h uint64) bool {
	w := l.line(h)
	set := uint64(1)
	for range min(l.k, early) {
		h *= mix
		set &= w[h>>61] >> (h >> 55 & 63)
	}
	if set == 0 {
		runtime.KeepAlive(l)
		return false
	}
	for range l.k - early {
		h *= mix
		set &= w[h>>61] >> (h >> 55 & 63)
	}
	runtime.KeepAlive(l)
	return set != 0
}

// add sets the bits of h and counts one key more.
func (l *layer) add(h uint64) {
	w := l.line(h)
	var ones uint64
	for range l.k {
		h *= mix
		i, bit := h>>61, h>>55&63
		ones += ^(w[i] >> bit) & 1
		w[i] |= 1 << bit
	}
	l.ones += ones // after the last access to the words
	l.count++
}

// present returns the layer's error as it is now. It follows from the bits that are set, not from the count: keys that
// an overfull layer called seen by mistake are in no count, and those that it did count set more bits than most. The
// bits are rounded up to a thousandth or two of the layer, so that the sum over the lines is rarely taken and the answer
// is never too low.
func (l *layer) present() float64 {
	all := l.lines * lineBits
	step := uint64(1) << (bits.Len64(max(all/2048, 1)) - 1)
	if at := min(all, (l.ones+step-1)&^(step-1)); at != l.ratedAt {
		l.rate, l.ratedAt = rateOf(float64(at)/float64(all), l.k), at
	}
	return l.rate
}
