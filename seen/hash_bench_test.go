package seen

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

type candidate struct {
	name string
	hash func(key []byte) uint64
}

// candidates returns the hashes that were weighed (docs/decisions/keyed-hash.md), ours last.
func candidates() []candidate {
	ours, k := newHasher(1), sipState(0x0123456789abcdef, 0xfedcba9876543210)
	return []candidate{
		{"seeded-xxHash64", func(key []byte) uint64 { return xxHash(1, key) }},
		{"SipHash-1-3", func(key []byte) uint64 { return sipHash(k, key) }},
		{"NH-SipHash", func(key []byte) uint64 { return nhSip(&ours, k, key) }},
		{"NH-fold", func(key []byte) uint64 { return nhFold(&ours, key) }},
		{HashName, ours.Hash},
	}
}

// BenchmarkHash has the candidates take turns, a thousand keys each, and reports the median of what each takes a key. Each
// key depends on the hash before, as a link's place in the filter does on its hash.
func BenchmarkHash(b *testing.B) {
	const keys = 1000
	for _, length := range []int{16, 32, 72, 144, 200, 1000} {
		b.Run(fmt.Sprintf("%dB", length), func(b *testing.B) {
			key, of := counting(length), candidates()
			if length > shortBytes { // our own alone has more than the first block
				of = slices.DeleteFunc(of, func(c candidate) bool { return c.name == "NH-SipHash" || c.name == "NH-fold" })
			}
			took := make([][]float64, len(of))
			for b.Loop() {
				for i, c := range of {
					start := time.Now()
					for range keys {
						key[0] = byte(c.hash(key))
					}
					took[i] = append(took[i], float64(time.Since(start).Nanoseconds())/keys)
				}
			}
			for i, c := range of {
				b.ReportMetric(median(took[i]), c.name+"-ns")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkHashedLookup asks a filter of 10 M keys that is not in the cache for URLs of 72 bytes that it has, hashed by each
// candidate in turn, a batch of 4,096 each, and reports the median of what a URL takes.
func BenchmarkHashedLookup(b *testing.B) {
	const keys, batch = 10_000_000, 4096
	cold := make([]uint64, 128<<20/8)
	for i := range cold {
		cold[i] = uint64(i)
	}
	url := func(to []byte, n uint64) []byte {
		return fmt.Appendf(to, "https://www.example-%08x.org/article/%016x/index.html?n=1", uint32(n), n)
	}
	for _, rate := range []float64{0.01, 0.001} {
		for _, kind := range []Kind{KindBloom, KindScalable} {
			b.Run(fmt.Sprintf("%s/%g%%", kind, 100*rate), func(b *testing.B) {
				of := candidates()
				filters := make([]Filter, len(of))
				for i := range of {
					filters[i] = coldFilter(b, kind, Config{FalsePositiveRate: rate, ExpectedItems: keys, Seed: 1})
				}
				var key []byte
				hashes, was := make([]uint64, 1000), make([]bool, 1000)
				for n := uint64(0); n < keys; n += 1000 {
					for i, c := range of {
						for j := range hashes {
							key = url(key[:0], splitMix(n+uint64(j)))
							hashes[j] = c.hash(key)
						}
						if err := filters[i].TestAndAddBatch(hashes, was); err != nil {
							b.Fatal(err)
						}
					}
				}
				r := rand.New(rand.NewPCG(1, 2))
				urls, took := make([][]byte, batch), make([][]float64, len(of))
				for b.Loop() {
					for i := range urls {
						urls[i] = url(urls[i][:0], splitMix(r.Uint64N(keys)))
					}
					for i, c := range of {
						sweep(cold)
						for _, u := range urls {
							cold[0] += uint64(u[0]) + uint64(u[71])
						}
						start := time.Now()
						for _, u := range urls {
							if was, _ := filters[i].TestAndAdd(c.hash(u)); !was {
								b.Fatal("a key was lost")
							}
						}
						took[i] = append(took[i], float64(time.Since(start).Nanoseconds())/batch)
					}
				}
				for i, c := range of {
					b.ReportMetric(median(took[i]), c.name+"-ns")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func coldFilter(b *testing.B, kind Kind, c Config) Filter {
	b.Helper()
	var f Filter
	var err error
	if kind == KindBloom {
		f, err = NewBloom(c, Blocked)
	} else {
		f, err = NewScalable(c)
	}
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// sweep reads memory larger than the caches, which drives all else out of them.
func sweep(memory []uint64) {
	for i := 0; i < len(memory); i += 8 {
		memory[0] += memory[i]
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// sipState is SipHash's state under a key.
func sipState(k0, k1 uint64) [4]uint64 {
	return [4]uint64{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
}

// sipHash is SipHash-1-3 (Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012; one round a word and three at the
// end, as in the tables of Rust, Python and Ruby).
func sipHash(v [4]uint64, key []byte) uint64 {
	v0, v1, v2, v3 := v[0], v[1], v[2], v[3]
	i := 0
	for ; i < len(key)-7; i += 8 {
		m := word(key[i:])
		v3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= m
	}
	last := uint64(len(key)) << 56
	if n := len(key); n >= 8 {
		last |= word(key[n-8:]) >> (64 - n%8*8)
	} else {
		var padded [8]byte
		copy(padded[:], key)
		last |= word(padded[:])
	}
	v3 ^= last
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= last
	return sipEnd(v0, v1, v2, v3)
}

func sipEnd(v0, v1, v2, v3 uint64) uint64 {
	v2 ^= 0xff
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

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

func TestSipHashOfTheBenchmark(t *testing.T) {
	key := counting(16)
	k := sipState(binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:]))
	if got, want := sipHash(k, counting(15)), uint64(0xd320d86d2a519956); got != want { // a vector of Rust
		t.Errorf("SipHash-1-3 of 15 bytes = %#x, want %#x", got, want)
	}
}

// nh is the sum of products of a key of 16 to 144 bytes, as in hasher.Hash.
func nh(s *hasher, key []byte) (hi, lo uint64) {
	lo = uint64(len(key))
	last := len(key) - pairBytes
	for i := 0; i < last && i < blockBytes; i += pairBytes {
		hi, lo = addProduct(hi, lo, word(key[i:])+word(s.nh[i:]), word(key[i+8:])+word(s.nh[i+8:]))
	}
	return addProduct(hi, lo, word(key[last:])+word(s.nh[blockBytes:]), word(key[last+8:])+word(s.nh[blockBytes+8:]))
}

// nhSip has SipHash's rounds after NH: a pseudo-random function of a sum, with no word for the length, which is fixed.
func nhSip(s *hasher, v [4]uint64, key []byte) uint64 {
	hi, lo := nh(s, key[:min(len(key), shortBytes)])
	v0, v1, v2, v3 := sipRound(v[0], v[1], v[2], v[3]^lo)
	v0, v1, v2, v3 = sipRound(v0^lo, v1, v2, v3^hi)
	return sipEnd(v0^hi, v1, v2, v3)
}

// nhFold multiplies the halves of the sum under two words of the key and folds the product, twice.
func nhFold(s *hasher, key []byte) uint64 {
	hi, lo := nh(s, key[:min(len(key), shortBytes)])
	hi, lo = bits.Mul64(lo^s.addLo[0], hi^s.addHi[0])
	hi, lo = bits.Mul64(hi^lo^s.sum[0], s.odd)
	return hi ^ lo
}
