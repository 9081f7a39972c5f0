package seen

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// counting returns n bytes: 0, 1, 2, ...
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// random returns n bytes.
func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

var (
	twoTo128 = new(big.Int).Lsh(big.NewInt(1), 128)
	mersenne = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))
)

func bigOf(hi, lo uint64) *big.Int {
	n := new(big.Int).SetUint64(hi)
	return n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(lo))
}

// slowHash is the hash as docs/decisions/keyed-hash.md writes it down, step by step.
func slowHash(s *hasher, key []byte) uint64 {
	le := binary.LittleEndian
	product := func(sum *big.Int, part, with []byte) { // sum += (a + key) * (b + key')
		a := new(big.Int).SetUint64(le.Uint64(part) + le.Uint64(with))
		sum.Add(sum, a.Mul(a, new(big.Int).SetUint64(le.Uint64(part[8:])+le.Uint64(with[8:]))))
		sum.Mod(sum, twoTo128)
	}
	sum := new(big.Int)
	rest := key
	if len(rest) > 144 {
		y, point := big.NewInt(1), bigOf(s.point1, s.point0)
		for ; len(rest) > 144; rest = rest[128:] {
			digest := new(big.Int)
			for i := 0; i < 128; i += 16 {
				product(digest, rest[i:], s.nh[i:])
			}
			upper := new(big.Int).Rsh(digest, 64)
			lower := new(big.Int).SetUint64(digest.Uint64())
			for _, c := range []*big.Int{upper, lower} {
				y.Mul(y, point).Add(y, c).Mod(y, mersenne)
			}
		}
		sum.Set(y)
	}
	sum.Add(sum, big.NewInt(int64(len(key))))
	last := make([]byte, 16)
	switch {
	case len(rest) >= 16:
		for i := 0; i+16 < len(rest); i += 16 {
			product(sum, rest[i:], s.nh[i:])
		}
		copy(last, rest[len(rest)-16:])
	case len(rest) >= 8:
		copy(last, rest[:8])
		copy(last[8:], rest[len(rest)-8:])
	default:
		copy(last, rest)
	}
	product(sum, last, s.nh[128:])

	x := new(big.Int).Rsh(sum, 64)
	x.Add(x, bigOf(s.addHi[1], s.addHi[0]))
	y := new(big.Int).SetUint64(sum.Uint64())
	y.Add(y, bigOf(s.addLo[1], s.addLo[0]))
	x.Mul(x, y).Add(x, bigOf(s.sum[1], s.sum[0])).Mod(x, twoTo128)
	h := x.Rsh(x, 64).Uint64()
	h = (h ^ h>>32) * s.odd
	return h ^ h>>32
}

func TestHashIsAsWrittenDown(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lengths := []int{399, 400, 401, 527, 528, 529, 1000, 4095, 4096, 4097}
	for n := range 301 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		for _, key := range [][]byte{random(r, n), make([]byte, n)} {
			h := newHasher(r.Uint64())
			if got, want := h.Hash(key), slowHash(&h, key); got != want {
				t.Errorf("Hash of %d bytes = %x, want %x", n, got, want)
			}
			if h.Hash(key) != h.HashString(string(key)) {
				t.Errorf("Hash and HashString of %d bytes differ", n)
			}
		}
	}
}

// A step of the polynomial at the edges, where carries and the two folds meet, and anywhere.
func TestHashPolynomial(t *testing.T) {
	const most = 1<<64 - 1
	r := rand.New(rand.NewPCG(1, 2))
	edges := []uint64{0, 1, 2, 1 << 32, 1<<62 - 1, 1 << 62, 1<<63 - 1, 1 << 63, most - 1, most}
	check := func(y1, y0, point1, point0, c uint64) {
		y1, point1 = y1&(1<<63-1), point1&(1<<62-1)
		if y1 == 1<<63-1 && y0 == most {
			y0-- // next is given what it returns: numbers below 2^127-1
		}
		s := hasher{point0: point0, point1: point1}
		want := bigOf(y1, y0)
		want.Mul(want, bigOf(point1, point0)).Add(want, new(big.Int).SetUint64(c)).Mod(want, mersenne)
		if hi, lo := s.next(y1, y0, c); bigOf(hi, lo).Cmp(want) != 0 {
			t.Errorf("%x:%x times %x:%x plus %x = %x:%x, want %x", y1, y0, point1, point0, c, hi, lo, want)
		}
	}
	for _, y1 := range edges {
		for _, y0 := range edges {
			for _, point1 := range edges {
				for _, point0 := range edges {
					check(y1, y0, point1, point0, edges[r.IntN(len(edges))])
				}
			}
		}
	}
	for range 10_000 {
		check(r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
	}
	check(1<<63-1, most-1, 0, 1, 1) // the modulus itself
}

// What a saved filter and a crawl's logs hold depends on these: another value is another HashName.
func TestHashStays(t *testing.T) {
	for _, tt := range []struct {
		seed   uint64
		length int
		want   uint64
	}{
		{1, 0, 0xcc54da5cbb8f247},
		{1, 1, 0x7b69963a6f3b5220},
		{1, 7, 0x6699ba6abefca0c4},
		{1, 8, 0xca0dfd7aa1bf7aa5},
		{1, 15, 0xe22bea774341cbe2},
		{1, 16, 0x33c126a42ced679f},
		{1, 17, 0x77e767332210dc40},
		{1, 72, 0x74143192d797f931},
		{1, 144, 0xf4452f0cc17fb2bd},
		{1, 145, 0x8b1362056412c1c1},
		{1, 272, 0xc4180f701b4941e9},
		{1, 273, 0x6ea2418178da94e6},
		{1, 1000, 0xe35ebc074cfdf80},
		{0xfedcba9876543210, 0, 0x3f69fed00d78b25a},
		{0xfedcba9876543210, 1, 0x92e380c2bf0c6c59},
		{0xfedcba9876543210, 7, 0x8995bfb42d12c356},
		{0xfedcba9876543210, 8, 0xd184add9ff4cc57c},
		{0xfedcba9876543210, 15, 0x1075d373d3cb1f2},
		{0xfedcba9876543210, 16, 0x7ed62a9dc26ff31d},
		{0xfedcba9876543210, 17, 0x651416cf03569daf},
		{0xfedcba9876543210, 72, 0x9414de4ed48bc64},
		{0xfedcba9876543210, 144, 0xf58bc2a3b1a6c24f},
		{0xfedcba9876543210, 145, 0x7f41c74f0c9d85a},
		{0xfedcba9876543210, 272, 0xc5777657144ced48},
		{0xfedcba9876543210, 273, 0xdb6706401ee3732b},
		{0xfedcba9876543210, 1000, 0xeecb746b1be35967},
	} {
		h := newHasher(tt.seed)
		if got := h.Hash(counting(tt.length)); got != tt.want {
			t.Errorf("hash of %d bytes under seed %d = %#x, want %#x", tt.length, tt.seed, got, tt.want)
		}
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

func TestHashDoesNotAllocate(t *testing.T) {
	h := newHasher(1)
	for _, n := range []int{0, 7, 72, 145, 5000} {
		key := counting(n)
		text := string(key)
		var sum uint64
		if got := testing.AllocsPerRun(100, func() { sum += h.Hash(key) + h.HashString(text) }); got != 0 {
			t.Errorf("a hash of %d bytes allocates %v times", n, got)
		}
	}
}

// A change of any bit of the key changes each bit of the hash with a chance of a half.
func TestHashAvalanche(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const tries = 300
	lengths := []int{3, 8, 15, 16, 40, 72, 144, 145, 300}
	if testing.Short() {
		lengths = []int{3, 16, 40}
	}
	for _, n := range lengths {
		var out [64]int
		for bit := range 8 * n {
			in := 0
			for range tries {
				h, key := newHasher(r.Uint64()), random(r, n)
				one := h.Hash(key)
				key[bit/8] ^= 1 << (bit % 8)
				change := one ^ h.Hash(key)
				in += bits.OnesCount64(change)
				for i := range out {
					out[i] += int(change >> i & 1)
				}
			}
			if share := float64(in) / (64 * tries); share < 0.478 || share > 0.522 { // six standard deviations
				t.Errorf("bit %d of %d bytes changes %.3f of the hash", bit, n, share)
			}
		}
		for i, changed := range out {
			if share := float64(changed) / float64(8*n*tries); share < 0.46 || share > 0.54 {
				t.Errorf("bit %d of the hash changes in %.3f of all changes of a bit of %d bytes", i, share, n)
			}
		}
	}
}

// structured is sets of keys with as little between them as can be: what a made-up site or a counter writes.
var structured = []struct {
	name string
	key  func(i int) []byte
}{
	{"a number in a URL", func(i int) []byte { return fmt.Appendf(nil, "https://www.example.org/article/%08d/index.html", i) }},
	{"hexadecimal at the end", func(i int) []byte {
		return fmt.Appendf(nil, "https://www.example.org/a/longer/path/of/directories/?id=%x", i)
	}},
	{"a word of nine", func(i int) []byte { return binary.LittleEndian.AppendUint64(make([]byte, 64), uint64(i)) }},
	{"high bits of a word", func(i int) []byte { return binary.LittleEndian.AppendUint64(make([]byte, 16), uint64(i)<<44) }},
	{"steps of 2^32 + 1", func(i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(i)*(1<<32+1)) }},
	{"two words that sum to zero", func(i int) []byte {
		b := binary.LittleEndian.AppendUint64(make([]byte, 32), uint64(i))
		return binary.LittleEndian.AppendUint64(b, -uint64(i))
	}},
	{"in a block that is not the last", func(i int) []byte {
		b := make([]byte, 300)
		binary.BigEndian.PutUint32(b[100:], uint32(i))
		return b
	}},
}

// Hashes of structured keys fall into 4,096 classes as random numbers do, by any of their bits: neither crowded, nor more
// evenly than chance has it, as they would if keys in a row had hashes in a row.
func TestHashSpreadsStructuredKeys(t *testing.T) {
	const keys, classes, mean = 1 << 16, 4096, 4096 - 1
	seeds := 20
	if testing.Short() {
		seeds = 1
	}
	deviation := math.Sqrt(2 * mean / float64(seeds)) // of the mean of so many chi squares
	shifts := []int{0, 11, 26, 40, 52}
	for _, set := range structured {
		sums := make([]float64, len(shifts)) // of chi square over the seeds
		for seed := range uint64(seeds) {
			h := newHasher(seed + 1)
			held := make([][classes]int, len(shifts))
			for i := range keys {
				sum := h.Hash(set.key(i))
				for j, shift := range shifts {
					held[j][sum>>shift%classes]++
				}
			}
			for j := range held {
				for _, n := range held[j] {
					d := float64(n) - keys/classes
					sums[j] += d * d / (keys / classes)
				}
			}
		}
		for j, sum := range sums {
			if got := sum / float64(seeds); got < mean-6*deviation || got > mean+6*deviation {
				t.Errorf("%s, bits from %d on: chi square is %.0f, want %d", set.name, shifts[j], got, mean)
			}
		}
	}
}

// No two of many keys that differ in next to nothing have one hash, under any seed.
func TestStructuredKeysDoNotCollide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keys := map[string]bool{}
	add := func(key []byte) { keys[string(key)] = true }
	for n := range 400 { // zeros, ones, and what is a prefix of another
		add(make([]byte, n))
		add(counting(400)[:n])
		add(append([]byte("https://a.example/"), make([]byte, n)...))
	}
	for _, n := range []int{16, 31, 32, 72, 144, 145, 160, 272, 273, 400} {
		base := random(r, n)
		for i := range n {
			for _, change := range []byte{1, 2, 0x80, 0xff} { // one byte, in a word or in the overlap
				key := append([]byte(nil), base...)
				key[i] ^= change
				add(key)
			}
		}
		for i := 0; i+8 <= n; i += 8 { // words change places, also with their partner
			for j := 0; j < i; j += 8 {
				key := append([]byte(nil), base...)
				copy(key[i:], base[j:j+8])
				copy(key[j:], base[i:i+8])
				add(key)
			}
		}
		for i := 1; i < n; i++ { // rotated
			add(append(append([]byte(nil), base[i:]...), base[:i]...))
		}
	}
	seeds := 300
	if testing.Short() {
		seeds = 30
	}
	for range seeds {
		h := newHasher(r.Uint64())
		of := make(map[uint64]string, len(keys))
		for key := range keys {
			sum := h.HashString(key)
			if other, ok := of[sum]; ok {
				t.Fatalf("%x and %x have one hash", key, other)
			}
			of[sum] = key
		}
	}
}

// Pairs with a difference made for this hash, each under many seeds: as rarely as for random numbers do the first bits of
// their hashes agree, which choose the line, and the last.
func TestDifferencesFoldAway(t *testing.T) {
	le := binary.LittleEndian
	words := func(change func(w []uint64)) func([]byte) []byte {
		return func(key []byte) []byte {
			w := make([]uint64, len(key)/8)
			for i := range w {
				w[i] = le.Uint64(key[8*i:])
			}
			change(w)
			var b []byte
			for _, x := range w {
				b = le.AppendUint64(b, x)
			}
			return b
		}
	}
	seeds := 400_000
	if testing.Short() {
		seeds = 40_000
	}
	for _, tt := range []struct {
		name   string
		length int
		change func([]byte) []byte
	}{
		{"top bit of a word", 72, words(func(w []uint64) { w[0] ^= 1 << 63 })},
		{"top bits of a pair", 72, words(func(w []uint64) { w[0] ^= 1 << 63; w[1] ^= 1 << 63 })},
		{"top bits of two pairs", 72, words(func(w []uint64) { w[0] ^= 1 << 63; w[2] ^= 1 << 63 })},
		{"lowest bit of a word", 72, words(func(w []uint64) { w[3] ^= 1 })},
		{"one up, one down", 72, words(func(w []uint64) { w[0]++; w[1]-- })},
		{"a pair turned about", 72, words(func(w []uint64) { w[0], w[1] = w[1], w[0] })},
		{"two pairs exchanged", 72, words(func(w []uint64) { w[0], w[1], w[2], w[3] = w[2], w[3], w[0], w[1] })},
		{"in the overlap", 72, words(func(w []uint64) { w[7] ^= 1 << 63 })},
		{"one word", 8, words(func(w []uint64) { w[0] ^= 1 << 63 })},
		{"two blocks exchanged", 400, func(key []byte) []byte {
			return append(append(append([]byte(nil), key[128:256]...), key[:128]...), key[256:]...)
		}},
		{"first block", 400, words(func(w []uint64) { w[0] ^= 1 << 63 })},
		{"a zero more", 72, func(key []byte) []byte { return append(key[:72:72], 0) }},
		{"a zero more makes a pair more", 80, func(key []byte) []byte { return append(key[:80:80], 0) }},
		{"a zero more makes a block more", 144, func(key []byte) []byte { return append(key[:144:144], 0) }},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		one := make([]byte, tt.length) // zeros, so that all is in the difference
		other := tt.change(one)
		if string(one) == string(other) {
			one = random(r, tt.length)
			other = tt.change(one)
		}
		var first, last int
		for range seeds {
			h := newHasher(r.Uint64())
			a, b := h.Hash(one), h.Hash(other)
			if a == b {
				t.Fatalf("%s: a collision", tt.name)
			}
			if a>>52 == b>>52 {
				first++
			}
			if a<<52 == b<<52 {
				last++
			}
		}
		want, most := seeds/4096, seeds/4096+6*isqrt(seeds/4096)
		if first > most || last > most {
			t.Errorf("%s: under %d seeds the first 12 bits agree %d times, the last %d times, want %d", tt.name, seeds, first, last, want)
		}
	}
}

func isqrt(n int) int { return int(new(big.Int).Sqrt(big.NewInt(int64(n))).Int64()) + 1 }

// A filter of structured keys errs as one of random hashes does, for structured keys that it has not.
func TestStructuredKeysErrAsAsked(t *testing.T) {
	const keys, rate = 100_000, 0.01
	seeds := 5
	if testing.Short() {
		seeds = 1
	}
	for _, set := range structured {
		var wrong int
		for seed := range uint64(seeds) {
			b, err := NewBloom(Config{FalsePositiveRate: rate, ExpectedItems: keys, Seed: seed + 1}, Blocked)
			if err != nil {
				t.Fatal(err)
			}
			for i := range keys {
				b.Add([]uint64{b.Hash(set.key(i))})
			}
			for i := range keys {
				if b.bits.has(b.Hash(set.key(keys + i))) {
					wrong++
				}
			}
		}
		if got := float64(wrong) / float64(seeds*keys); got < 0.85*rate || got > 1.15*rate {
			t.Errorf("%s: errs with %.3f%%, want %.0f%%", set.name, 100*got, 100*rate)
		}
	}
}

const xxPrime1, xxPrime2 uint64 = 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f

// inverse returns the inverse of an odd n modulo 2^64, by Newton's method.
func inverse(n uint64) uint64 {
	i := n
	for range 6 {
		i *= 2 - n*i
	}
	return i
}

// Pairs of keys that collide under every second seed of xxHash64, with no knowledge of it: the top bit of a word is
// flipped, which changes its lane by 2^30 times a prime after the rotation, up or down by chance, and the word of the same
// lane one stripe of 32 bytes later takes one of the two back. Under our hash none of them may collide.
func TestForgedPairsDoNotCollide(t *testing.T) {
	prime1 := xxPrime1
	change, inverse := prime1<<30, inverse(xxPrime2)
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
	t.Logf("of %d pairs %d collide under seeded xxHash64, %d under %s", tries, seeded, keyed, HashName)
	if seeded < tries*49/100 {
		t.Errorf("%d of %d pairs collide under seeded xxHash64: the test forges none, want half", seeded, tries)
	}
	if keyed > 0 {
		t.Errorf("%d of %d forged pairs collide", keyed, tries)
	}
}

// Pairs that collide under xxHash64 without a seed: the second word of the one is solved for, since all it goes through can
// be undone.
func TestSolvedPairsDoNotCollide(t *testing.T) {
	const prime4, prime5 uint64 = 0x85ebca77c2b2ae63, 0x27d4eb2f165667c5
	inverse1, inverse2 := inverse(xxPrime1), inverse(xxPrime2)
	round := func(w uint64) uint64 { return bits.RotateLeft64(w*xxPrime2, 31) * xxPrime1 }
	after := func(w uint64) uint64 { // the state once the first word of sixteen bytes is in it
		return bits.RotateLeft64((prime5+16)^round(w), 27)*xxPrime1 + prime4
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		a, b, c := r.Uint64(), r.Uint64(), r.Uint64()
		d := bits.RotateLeft64((after(a)^after(c)^round(b))*inverse1, -31) * inverse2
		one := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, a), b)
		other := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, c), d)
		if xxhash.Sum64(one) != xxhash.Sum64(other) {
			t.Fatal("the test forges no pair")
		}
		if h := newHasher(r.Uint64()); h.Hash(one) == h.Hash(other) {
			t.Fatalf("%x and %x, made to collide under xxHash64, collide", one, other)
		}
	}
}

func xxHash(seed uint64, key []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	d.Write(key) // never fails
	return d.Sum64()
}
