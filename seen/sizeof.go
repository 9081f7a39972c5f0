package seen

import (
	"fmt"
	"math"
	"math/bits"
)

// Size is what a filter takes that holds what it was made for.
type Size struct {
	Kind      Kind
	Items     uint64
	Bits      uint64  // of memory
	Hashes    int     // bits or counters that a key sets, in the newest layer of a chain; 0 of a cuckoo table, which has none
	Rate      float64 // chance that a key never added is called seen
	DiskBytes int64   // of a table's file; 0 of kinds that are in memory only
}

// SizeOf says what a filter of a kind would take for c.ExpectedItems keys at c.FalsePositiveRate, whatever c.MaxBytes is,
// without making one. A chain, KindScalable, begins with DefaultFirstItems and grows to that number. Of KindTable Bits is
// the filter in front, and Rate that of two keys with one hash. A cuckoo table has the one error it has.
//
// The error is that of the settings, or says that a kind has no size.
func SizeOf(kind Kind, c Config) (Size, error) {
	c.MaxBytes = 0 // never a problem
	if err := c.problems(func(Config) float64 { return 0 }); err != nil {
		return Size{}, err
	}
	c = c.withDefaults()
	switch kind {
	case KindBloom:
		return sizeOfBloom(kind, c, Blocked)
	case KindClassic:
		return sizeOfBloom(kind, c, Classic)
	case KindCounting:
		return sizeOfCounting(c)
	case KindCuckoo:
		return sizeOfCuckoo(c)
	case KindScalable:
		return sizeOfChain(c)
	case KindTable:
		return sizeOfTable(c)
	default:
		return Size{}, fmt.Errorf("seen: size of kind %q is not known", kind)
	}
}

func sizeOfBloom(kind Kind, c Config, layout Layout) (Size, error) {
	plan, err := bloomPlan(c, layout)
	if err != nil {
		return Size{}, err
	}
	rate := layout.rate(float64(plan.Items), float64(plan.Bits), plan.Hashes)
	return Size{Kind: kind, Items: plan.Items, Bits: plan.Bits, Hashes: plan.Hashes, Rate: rate}, nil
}

func sizeOfCounting(c Config) (Size, error) {
	keys := float64(max(c.ExpectedItems, minFirstItems))
	k, lines := counterShape(keys, c.FalsePositiveRate)
	return sized(Size{
		Kind: KindCounting, Items: c.ExpectedItems, Hashes: k,
		Rate: overCounterLines(counterLine(k), float64(c.ExpectedItems)/lines),
	}, lines*lineBits)
}

func sizeOfCuckoo(c Config) (Size, error) {
	room := c
	room.ExpectedItems = max(c.ExpectedItems, minFirstItems)
	bytes := cuckooBytes(room)
	load := float64(c.ExpectedItems) / (bytes / 8 * bucketSlots)
	return sized(Size{Kind: KindCuckoo, Items: c.ExpectedItems, Rate: cuckooRate(load)}, bytes*8)
}

// sizeOfChain fills layer after layer.
func sizeOfChain(c Config) (Size, error) {
	first := c
	first.ExpectedItems, first.MaxBytes = DefaultFirstItems, math.MaxInt64
	g := newGrowth(first)
	s := Size{Kind: KindScalable, Items: c.ExpectedItems}
	var lines, last uint64
	right := 1.0 // chance that no layer calls the key seen
	for i, left := 0, c.ExpectedItems; left > 0; i++ {
		l, ok := g.layer(i, int64(lines)*lineBytes, last)
		if !ok {
			return Size{}, fmt.Errorf("%w: %d items at rate %g take more than can be counted", ErrPlan, c.ExpectedItems, c.FalsePositiveRate)
		}
		held := min(left, l.capacity)
		right *= 1 - Blocked.rate(float64(held), float64(l.lines*lineBits), l.k)
		left -= held
		lines, last = lines+l.lines, l.capacity
		s.Hashes = l.k
	}
	s.Bits, s.Rate = lines*lineBits, 1-right
	return s, nil
}

func sizeOfTable(c Config) (Size, error) {
	s, err := sizeOfBloom(KindTable, c, Blocked)
	if err != nil {
		return Size{}, err
	}
	s.Rate = collisionRate(s.Items)
	s.DiskBytes = int64(float64(s.Bits)/8 + tableBits(s.Items)/8)
	return s, nil
}

// tableBits returns the bits that so many hashes take in pages, as pageShape codes them: two differences of a hash are as
// far apart as if the hashes stood at equal distances.
func tableBits(keys uint64) float64 {
	gap := math.Ldexp(1/float64(keys), 64)
	low := min(max(bits.Len64(uint64(min(gap, math.MaxInt64)))-1, 0), maxLow)
	perKey := float64(low) + 1 + math.Ldexp(gap, -low)
	return float64(keys) * min(perKey, 58) * pageBytes / (pageBytes - pageHead)
}

// sized fills in the bits, which a float64 may hold more of than can be counted.
func sized(s Size, bits float64) (Size, error) {
	if bits >= math.MaxInt64 {
		return Size{}, fmt.Errorf("%w: %d items take %.3g bits", ErrPlan, s.Items, bits)
	}
	s.Bits = uint64(bits)
	return s, nil
}
