package seen

import "math"

// Layout is the way in which a Bloom filter places the bits of a key.
type Layout string

const (
	// Blocked puts all bits of a key into one line of 64 bytes: one miss of the cache a key. It takes 3% more bits than
	// Classic at 1%, 8% at 0.1% and a third more at 1e-6 (Putze, Sanders, Singler: Cache-, Hash- and Space-Efficient
	// Bloom Filters, 2007).
	Blocked Layout = "blocked"
	// Classic spreads the bits of a key over the whole array: the fewest bits, and a miss of the cache for each of them
	// (Bloom: Space/Time Trade-offs in Hash Coding with Allowable Errors, 1970).
	Classic Layout = "classic"
)

func (l Layout) valid() bool { return l == Blocked || l == Classic }

// unit is the number of bits that the size is a multiple of.
func (l Layout) unit() uint64 {
	if l == Blocked {
		return lineBits
	}
	return 64
}

// mostHashes bounds the bits a key sets. For the classic layout that is the best number at an error of 5e-20, where two
// keys with one hash of 64 bits are the more likely mistake.
func (l Layout) mostHashes() int {
	if l == Blocked {
		return maxK
	}
	return 64
}

// rate returns the error of so many bits that hold so many keys, with k bits a key.
func (l Layout) rate(keys, bits float64, k int) float64 {
	if l == Blocked {
		return min(1, overLines(keys/(bits/lineBits), k))
	}
	return math.Pow(-math.Expm1(-keys*float64(k)/bits), float64(k))
}

// bitsPerKey returns the bits a key at which k bits a key err with the chance p. It is +Inf where none would do.
func (l Layout) bitsPerKey(p float64, k int) float64 {
	if l == Classic {
		return -float64(k) / math.Log1p(-math.Pow(p, 1/float64(k)))
	}
	lo, hi := 0.5, 2.0
	for l.rate(1, hi, k) > p {
		lo, hi = hi, hi*2
	}
	for hi-lo > 1e-7*hi {
		if mid := (lo + hi) / 2; l.rate(1, mid, k) > p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// best returns the k at which the error p takes the fewest bits a key, and how many.
//
// Blocked, the best k is lower than the classic log2(1/p): lines are loaded unevenly, and the heavy ones, which make most
// of the errors, are lighter with fewer bits a key.
func (l Layout) best(p float64) (k int, bitsPerKey float64) {
	return fewestBits(l.mostHashes(), func(k int) float64 { return l.bitsPerKey(p, k) })
}

// bestHashes returns the k with the least error for so many keys in so many bits.
func (l Layout) bestHashes(keys, bits float64) int {
	best, least := 1, math.Inf(1)
	for k := 1; k <= l.mostHashes(); k++ {
		if p := l.rate(keys, bits, k); p < least {
			best, least = k, p
		}
	}
	return best
}
