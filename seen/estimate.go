package seen

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"sync/atomic"
)

// Estimate returns the number of distinct keys that were offered, from the bits that are set: also of those that were
// called seen by mistake, which Len leaves out. A filter in which every bit is set may hold any number; it gives that of
// one with a bit left.
func (b *Bloom) Estimate() float64 { return b.estimateOf(b.bits.figures().ones) }

// estimateOf keeps one bit clear: the estimate for none is infinite.
func (b *Bloom) estimateOf(ones uint64) float64 {
	return b.bits.estimate(min(ones, b.bits.figures().bits-1))
}

// Union takes in the keys of other, which stays as it is. The result has the bits of a filter to which the keys of both
// were added. How many they are is not known then: Len is the estimate, within what the two counts allow. The error is
// ErrMismatch, and nothing is changed, unless layout, size, number of hashes and seed agree.
func (b *Bloom) Union(other *Bloom) error {
	if err := b.matches(other); err != nil {
		return err
	}
	mine, theirs := b.bits.array(), other.bits.array()
	var ones int
	for i, old := range mine {
		word := old | atomic.LoadUint64(&theirs[i])
		if word != old {
			atomic.StoreUint64(&mine[i], word)
		}
		ones += bits.OnesCount64(word)
	}
	least := max(b.Len(), other.Len())
	most := least + min(b.Len(), other.Len(), math.MaxUint64-least)
	keys := uint64(math.Round(b.estimateOf(uint64(ones))))
	b.bits.became(max(least, min(keys, most)), uint64(ones))
	runtime.KeepAlive(b)
	runtime.KeepAlive(other)
	return nil
}

// UnionEstimate returns the estimated number of distinct keys in the two together. The error is Union's.
func (b *Bloom) UnionEstimate(other *Bloom) (float64, error) {
	if err := b.matches(other); err != nil {
		return 0, err
	}
	mine, theirs := b.bits.array(), other.bits.array()
	var ones int
	for i := range mine {
		ones += bits.OnesCount64(atomic.LoadUint64(&mine[i]) | atomic.LoadUint64(&theirs[i]))
	}
	runtime.KeepAlive(b)
	runtime.KeepAlive(other)
	return b.estimateOf(uint64(ones)), nil
}

// Intersection returns the estimated number of keys that both hold: what the two hold by themselves less what they hold
// together (Papapetrou, Siberski, Nejdl: Cardinality Estimation and Dynamic Length Adaptation for Bloom Filters, 2010).
// It is a difference of estimates and errs as they do, by a share of the larger filter: few common keys of many are lost
// in it. The error is Union's.
func (b *Bloom) Intersection(other *Bloom) (float64, error) {
	both, err := b.UnionEstimate(other)
	if err != nil {
		return 0, err
	}
	mine, theirs := b.Estimate(), other.Estimate()
	return max(0, min(mine+theirs-both, mine, theirs)), nil
}

// matches returns ErrMismatch with what differs.
func (b *Bloom) matches(other *Bloom) error {
	f, g := b.bits.figures(), other.bits.figures()
	switch {
	case b.layout != other.layout:
		return fmt.Errorf("%w: layout %s, the other's %s", ErrMismatch, b.layout, other.layout)
	case f.bits != g.bits:
		return fmt.Errorf("%w: %d bits, the other has %d", ErrMismatch, f.bits, g.bits)
	case f.k != g.k:
		return fmt.Errorf("%w: %d hashes, the other has %d", ErrMismatch, f.k, g.k)
	case b.cfg.Seed != other.cfg.Seed:
		return fmt.Errorf("%w: another seed", ErrMismatch)
	default:
		return nil
	}
}
