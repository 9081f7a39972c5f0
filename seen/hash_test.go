package seen

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// sipHash is SipHash-c-d step by step, as section 2 of the paper describes it: the oracle of hasher.
func sipHash(c, d int, k0, k1 uint64, key []byte) uint64 {
	v := [4]uint64{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	half := func(a, b, c, d, s, t int) {
		v[a] += v[b]
		v[c] += v[d]
		v[b] = bits.RotateLeft64(v[b], s) ^ v[a]
		v[d] = bits.RotateLeft64(v[d], t) ^ v[c]
		v[a] = bits.RotateLeft64(v[a], 32)
	}
	rounds := func(n int) {
		for range n {
			half(0, 1, 2, 3, 13, 16)
			half(2, 1, 0, 3, 17, 21)
		}
	}
	padded := append(append([]byte(nil), key...), make([]byte, 8-len(key)%8)...)
	padded[len(padded)-1] = byte(len(key))
	for ; len(padded) > 0; padded = padded[8:] {
		m := binary.LittleEndian.Uint64(padded)
		v[3] ^= m
		rounds(c)
		v[0] ^= m
	}
	v[2] ^= 0xff
	rounds(d)
	return v[0] ^ v[1] ^ v[2] ^ v[3]
}

// counting returns n bytes: 0, 1, 2, ...
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// The published vectors are of SipHash-2-4, with 1-3 the oracle differs from it only in its numbers of rounds.
func TestSipHashOracle(t *testing.T) {
	k0, k1 := uint64(0x0706050403020100), uint64(0x0f0e0d0c0b0a0908)
	for _, tt := range []struct {
		length int
		want   uint64
	}{
		{0, 0x726fdb47dd0e0e31},
		{1, 0x74f839c593dc67fd},
		{15, 0xa129ca6149be45e5}, // appendix A of the paper
		{63, 0x958a324ceb064572},
	} {
		if got := sipHash(2, 4, k0, k1, counting(tt.length)); got != tt.want {
			t.Errorf("SipHash-2-4 of %d bytes = %x, want %x", tt.length, got, tt.want)
		}
	}
}

func TestHashIsSipHash13(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(r.Uint32())
		}
		h := hasher{r.Uint64(), r.Uint64()}
		if got, want := h.Hash(key), sipHash(1, 3, h.k0, h.k1, key); got != want {
			t.Errorf("Hash of %d bytes = %x, want %x", n, got, want)
		}
		if h.Hash(key) != h.HashString(string(key)) {
			t.Errorf("Hash and HashString of %d bytes differ", n)
		}
	}
}

// What a saved filter and a crawl's logs hold depends on these: another value is another HashName.
func TestHashStays(t *testing.T) {
	if got, want := newHasher(1), (hasher{0x910a2dec89025cc1, 0xbeeb8da1658eec67}); got != want {
		t.Errorf("key of seed 1 = %x, want %x, the first numbers of SplitMix64", got, want)
	}
	if got, want := newHasher(1).HashString("https://a.example/"), uint64(0x6c47a2ba275f0271); got != want {
		t.Errorf("hash under seed 1 = %#x, want %#x", got, want)
	}
}

func TestSeedsMakeOtherHashes(t *testing.T) {
	const url = "https://a.example/"
	a, b := mustScalable(t, Config{}), mustScalable(t, Config{})
	if a.HashString(url) == b.HashString(url) {
		t.Error("two crawls give a URL the same hash")
	}
	if got := clone(t, a).HashString(url); got != a.HashString(url) {
		t.Errorf("after a restore the hash is %x, was %x", got, a.HashString(url))
	}
}

// Pairs of keys that collide under every second seed of xxHash64, with no knowledge of it: the top bit of a word is
// flipped, which changes its lane by 2^30 times a prime after the rotation, up or down by chance, and the word of the same
// lane one stripe of 32 bytes later takes one of the two back. Under SipHash none of them may collide.
func TestForgedPairsDoNotCollide(t *testing.T) {
	prime1, prime2 := uint64(0x9e3779b185ebca87), uint64(0xc2b2ae3d27d4eb4f)
	inverse := prime2 // modulo 2^64, by Newton's method
	for range 6 {
		inverse *= 2 - prime2*inverse
	}
	change := prime1 << 30
	tries := 1_000_000
	if testing.Short() {
		tries = 100_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	le := binary.LittleEndian
	one, other := make([]byte, 72), make([]byte, 72)
	var seeded, keyed int
	for range tries {
		for i := 0; i < len(one); i += 8 {
			le.PutUint64(one[i:], r.Uint64())
		}
		copy(other, one)
		le.PutUint64(other, le.Uint64(one)^1<<63)
		le.PutUint64(other[32:], le.Uint64(one[32:])-change*inverse)
		seed := r.Uint64()
		if xxHash(seed, one) == xxHash(seed, other) {
			seeded++
		}
		if h := newHasher(seed); h.Hash(one) == h.Hash(other) {
			keyed++
		}
	}
	t.Logf("of %d pairs %d collide under seeded xxHash64, %d under SipHash-1-3", tries, seeded, keyed)
	if seeded < tries*49/100 {
		t.Errorf("%d of %d pairs collide under seeded xxHash64: the test forges none, want half", seeded, tries)
	}
	if keyed > 0 {
		t.Errorf("%d of %d forged pairs collide", keyed, tries)
	}
}

func xxHash(seed uint64, key []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	d.Write(key) // never fails
	return d.Sum64()
}
