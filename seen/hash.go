package seen

import (
	"encoding/binary"
	"math/bits"
)

// HashName names the hash of all filters, the expansion of the seed to its key included. It is in the head of a saved
// filter: under another hash every key is new.
const HashName = "siphash-1-3"

// hasher is SipHash-1-3 under a secret key (Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012; one round a word
// and three at the end, as in the tables of Rust, Python and Ruby).
//
// The hash is keyed because those who write the web's links would otherwise choose the answers: for an unkeyed hash a few
// milliseconds of one core find a URL of one site with the hash of a page of another, and whoever is crawled first makes
// the other's page "seen". A seed is not enough either: for seeded xxHash64 pairs of keys are known that collide under
// every second seed. Of a pseudo-random function nothing can be foretold without its key. The key is saved with the
// filter, since another one makes every key new.
type hasher struct{ k0, k1 uint64 }

// newHasher expands the seed to a key of 128 bits: the first two numbers that SplitMix64 draws from it (Steele, Lea, Flood:
// Fast splittable pseudorandom number generators, 2014). The key is as secret as the seed: 64 bits.
func newHasher(seed uint64) hasher {
	const step uint64 = 0x9e3779b97f4a7c15
	first := seed + step
	return hasher{k0: splitMix(first), k1: splitMix(first + step)}
}

func splitMix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Hash returns the keyed 64-bit hash of a key. It is safe for concurrent use and does not allocate.
func (s hasher) Hash(key []byte) uint64 {
	v0, v1, v2, v3 := s.k0^0x736f6d6570736575, s.k1^0x646f72616e646f6d, s.k0^0x6c7967656e657261, s.k1^0x7465646279746573
	i := 0
	for ; i < len(key)-7; i += 8 { // in this form no bounds are checked
		m := binary.LittleEndian.Uint64(key[i:])
		v3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= m
	}
	last := uint64(len(key))<<56 | tail(key)
	v3 ^= last
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= last
	v2 ^= 0xff
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

// tail returns the last len(key)%8 bytes, little endian.
func tail(key []byte) (t uint64) {
	if n := len(key); n >= 8 { // they are the upper ones of the last eight: no branch depends on their number
		return binary.LittleEndian.Uint64(key[n-8:]) >> (64 - n%8*8)
	}
	for i, b := range key {
		t |= uint64(b) << (8 * i)
	}
	return t
}

// HashString is Hash of the string's bytes. They are not copied: the compiler sees that Hash does not write them.
func (s hasher) HashString(key string) uint64 { return s.Hash([]byte(key)) }

// sipRound is small enough to be inlined.
func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v2 += v3
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v1
	v0 += v3
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	return v0, v1, bits.RotateLeft64(v2, 32), v3
}
