package seen

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// HashName names the hash of all filters, the expansion of the seed to its key included. It is in the head of a saved
// filter: under another hash every key is new.
const HashName = "nh-multilinear"

const (
	pairBytes  = 16                     // two words of a key, which are multiplied with each other
	blockBytes = 128                    // of a long key, each a coefficient of a polynomial
	shortBytes = blockBytes + pairBytes // keys of so many bytes are one block and a last pair
)

// hasher is a keyed hash in the manner of Carter and Wegman: for any two different keys, whoever chose them without
// knowledge of the seed, the chance over all keys of the hash that theirs agree is below 3/2^64, whatever their lengths.
//
// The hash is keyed because those who write the web's links would otherwise choose the answers: for an unkeyed hash a few
// milliseconds of one core find a URL of one site with the hash of a page of another, and whoever is crawled first makes
// the other's page "seen". A seed alone is not enough: for seeded xxHash64 pairs of keys are known that collide under
// every second seed. The key is saved with the filter, since another one makes every key new.
//
// Four steps follow each other. docs/decisions/keyed-hash.md has the bound, and what was measured.
//
//  1. NH (Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC: Fast and Secure Message Authentication, 1999, section 4) on
//     words of 64 bits: to each word a word of the hash's key is added, two and two are multiplied, the products of 128
//     bits added up. So is the length: zeros at the end count.
//  2. Of a key longer than shortBytes, the blocks before the end go through NH each and then into a polynomial modulo
//     2^127-1, as in VHASH (Dai, Krovetz: VHASH Security, 2007). See fold.
//  3. The sum's two halves go through Multilinear-HM (Lemire, Kaser: Strongly Universal String Hashing is Fast, 2014)
//     modulo 2^128, of which the upper half is kept. Two sums that differ get independent, uniform values of 64 bits.
//  4. Two xor-shifts and an odd multiplier of the hash's key between them permute these values, so that keys in a row do not
//     have hashes in a row. As a permutation, this keeps what the steps before promise.
//
// The filters need it to be as short as it is: see layer.has.
type hasher struct {
	nh             [shortBytes]byte // words, little endian; the last two go with the last pair
	addLo, addHi   [2]uint64        // what Multilinear-HM adds to the halves: low and high word
	sum            [2]uint64        // and to their product
	odd            uint64           // a multiplier
	point0, point1 uint64           // where the polynomial is evaluated, low and high word
}

// newHasher expands the seed to the hash's key by ChaCha8Rand (c2sp.org/chacha8rand), under a seed of 32 bytes: ours, then
// HashName. The key is as secret as the seed: 64 bits.
func newHasher(seed uint64) hasher {
	var expand [32]byte
	binary.LittleEndian.PutUint64(expand[:], seed)
	copy(expand[8:], HashName)
	r := rand.NewChaCha8(expand)
	var s hasher
	for i := 0; i < len(s.nh); i += 8 {
		binary.LittleEndian.PutUint64(s.nh[i:], r.Uint64())
	}
	s.addLo = [2]uint64{r.Uint64(), r.Uint64()}
	s.addHi = [2]uint64{r.Uint64(), r.Uint64()}
	s.sum = [2]uint64{r.Uint64(), r.Uint64()}
	s.odd = r.Uint64() | 1
	s.point0, s.point1 = r.Uint64(), r.Uint64()>>2 // below 2^126
	return s
}

// Hash returns the keyed 64-bit hash of a key. It is safe for concurrent use and does not allocate.
func (s *hasher) Hash(key []byte) uint64 {
	hi, lo := uint64(0), uint64(len(key))
	if len(key) > shortBytes {
		hi, lo, key = s.fold(key)
	}
	var a, b uint64 // the last two words
	if len(key) < pairBytes {
		a, b = short(key)
	} else {
		last := len(key) - pairBytes                             // the last pair overlaps the one before, so that no branch depends on what is left
		for i := 0; i < last && i < blockBytes; i += pairBytes { // it is below both: no bounds are checked
			hi, lo = addProduct(hi, lo, word(key[i:])+word(s.nh[i:]), word(key[i+8:])+word(s.nh[i+8:]))
		}
		a, b = word(key[last:]), word(key[last+8:])
	}
	hi, lo = addProduct(hi, lo, a+word(s.nh[blockBytes:]), b+word(s.nh[blockBytes+8:]))

	x0, carry := bits.Add64(lo, s.addLo[0], 0)
	x1, _ := bits.Add64(s.addLo[1], 0, carry)
	y0, carry := bits.Add64(hi, s.addHi[0], 0)
	y1, _ := bits.Add64(s.addHi[1], 0, carry)
	upper, lower := bits.Mul64(x0, y0)
	upper += x0*y1 + x1*y0
	_, carry = bits.Add64(lower, s.sum[0], 0)
	h, _ := bits.Add64(upper, s.sum[1], carry)

	h = (h ^ h>>32) * s.odd
	return h ^ h>>32
}

// HashString is Hash of the string's bytes. They are not copied: the compiler sees that Hash does not write them.
func (s *hasher) HashString(key string) uint64 { return s.Hash([]byte(key)) }

// short returns the two words of a key of less than a pair. Of one length no two keys have the same.
func short(key []byte) (a, b uint64) {
	if n := len(key); n >= 8 {
		return word(key), word(key[n-8:])
	}
	for i, c := range key {
		a |= uint64(c) << (8 * i)
	}
	return a, 0
}

// fold takes whole blocks off the front of a long key, and leaves at least a pair. It returns what has become of them,
// with the length of the key, for the sum of the rest to be added to.
func (s *hasher) fold(key []byte) (hi, lo uint64, rest []byte) {
	length := uint64(len(key))
	y1, y0 := uint64(0), uint64(1) // the leading coefficient, so that the number of blocks counts
	for len(key) > shortBytes {
		hi, lo = 0, 0
		for i := 0; i < blockBytes; i += pairBytes {
			hi, lo = addProduct(hi, lo, word(key[i:])+word(s.nh[i:]), word(key[i+8:])+word(s.nh[i+8:]))
		}
		y1, y0 = s.next(y1, y0, hi)
		y1, y0 = s.next(y1, y0, lo)
		key = key[blockBytes:]
	}
	lo, carry := bits.Add64(y0, length, 0)
	return y1 + carry, lo, key
}

// next returns y*point + c modulo 2^127-1, for y below that.
func (s *hasher) next(y1, y0, c uint64) (hi, lo uint64) {
	r1, r0 := bits.Mul64(y0, s.point0)
	m1, m0 := bits.Mul64(y0, s.point1)
	n1, n0 := bits.Mul64(y1, s.point0)
	r3, r2 := bits.Mul64(y1, s.point1)
	r1, carry := bits.Add64(r1, m0, 0)
	r2, carry = bits.Add64(r2, m1, carry)
	r3 += carry
	r1, carry = bits.Add64(r1, n0, 0)
	r2, carry = bits.Add64(r2, n1, carry)
	r3 += carry

	// 2^127 is 1. What lies above bit 127 is below 2^126, so nothing here reaches 2^128.
	const low = 1<<63 - 1
	lo, carry = bits.Add64(r0, r2<<1|r1>>63, 0)
	hi, _ = bits.Add64(r1&low, r3<<1|r2>>63, carry)
	lo, carry = bits.Add64(lo, c, 0)
	hi += carry
	lo, carry = bits.Add64(lo, hi>>63, 0)
	hi = hi&low + carry
	if hi == low && lo == 1<<64-1 {
		return 0, 0
	}
	return hi, lo
}

// addProduct returns hi:lo + a*b modulo 2^128.
func addProduct(hi, lo, a, b uint64) (uint64, uint64) {
	p1, p0 := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, p0, 0)
	hi, _ = bits.Add64(hi, p1, carry)
	return hi, lo
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// splitMix is the output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
func splitMix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
