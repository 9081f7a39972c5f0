package seen

import (
	"math"
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"

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
//
// One goroutine sets bits, any number asks meanwhile: words go by loadWord and storeWord, or by ask's vectors. Bits only
// ever go from 0 to 1, so whoever asks late finds all that was there before. What gives a layer its words (a restore, a
// file that is read) does so before others know the layer, and needs no such care.
type layer struct {
	shape
	base  uint64  // keys in the layers before it
	count counter // keys in it
	ones  counter // bits set in words

	words  []uint64            // gone once memory is, so whoever holds on to them keeps the layer alive
	table  [][lineWords]uint64 // the same, as lines
	memory *memory             // of the words

	rated atomic.Uint64 // what present answered last
}

// counter is a number that others load while its owner stores it, as the words are.
type counter struct {
	_ [0]atomic.Uint64 // aligns n where words of the machine are shorter
	n uint64
}

func (c *counter) Load() uint64   { return atomic.LoadUint64(&c.n) }
func (c *counter) Store(n uint64) { storeWord(&c.n, n) }

// Add is for a number with several owners.
func (c *counter) Add(n uint64) { atomic.AddUint64(&c.n, n) }

func newLayer(s shape, base uint64) *layer {
	return layerIn(newMemory(int(s.lines*lineWords)), s, base)
}

func layerIn(m *memory, s shape, base uint64) *layer {
	table := unsafe.Slice((*[lineWords]uint64)(unsafe.Pointer(unsafe.SliceData(m.words))), s.lines)
	return &layer{shape: s, base: base, words: m.words[:s.lines*lineWords], table: table, memory: m}
}

// end returns the number of keys in this layer and those before it.
func (l *layer) end() uint64 { return l.base + l.count.Load() }

func (l *layer) bytes() int64 { return int64(l.lines) * lineBytes }

// bitset returns the bits of words[from:to], without a copy. It keeps the layer alive no more than the words do.
func (l *layer) bitset(from, to int) *bitset.BitSet { return bitset.From(l.words[from:to]) }

// line returns the line of h: its high bits choose it, so that no division is needed and any number of lines will do. An
// index made so is below that number, which the compiler cannot know: it would check.
func (l *layer) line(h uint64) *[lineWords]uint64 {
	return (*[lineWords]uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(l.table)), l.index(h)*lineBytes))
}

func (l *layer) index(h uint64) uint64 {
	i, _ := bits.Mul64(h, uint64(len(l.table)))
	return i
}

// early is how many bits has takes together before it decides: nearly all keys that are not there fail one of the first,
// and one branch that is nearly always right costs less than one after every bit.
const early = 4

// multiplier is mix as a variable: a constant would be loaded anew for each multiplication.
var multiplier uint64 = mix

// has reports whether all bits of h are set.
//
// It is written for few results. A line that is not in the cache takes hundreds of cycles, and the processor asks for those
// of the next keys meanwhile, as far as it gets: until it has no register left for a result. With some 180 of them a key,
// all that the caller computes included, three lines are on their way at once here, with a few more only two
// (docs/decisions/keyed-hash.md).
func (l *layer) has(h uint64) bool {
	w, m, k := l.line(h), multiplier, l.k
	for ; k >= early; k -= early {
		h1 := h * m
		h2 := h1 * m
		h3 := h2 * m
		h = h3 * m
		set := loadWord(w, h1>>61) >> (h1 >> 55 & 63) & (loadWord(w, h2>>61) >> (h2 >> 55 & 63)) &
			(loadWord(w, h3>>61) >> (h3 >> 55 & 63)) & (loadWord(w, h>>61) >> (h >> 55 & 63))
		if set&1 == 0 {
			runtime.KeepAlive(l)
			return false
		}
	}
	set := uint64(1)
	for ; k > 0; k-- {
		h *= m
		set &= loadWord(w, h>>61) >> (h >> 55 & 63)
	}
	runtime.KeepAlive(l)
	return set&1 != 0
}

// add sets the bits of h and counts one key more.
func (l *layer) add(h uint64) {
	l.took(1, l.set(h))
}

// set sets the bits of h and returns how many of them were not set. The writer is alone: between its load and its store
// nobody else writes.
func (l *layer) set(h uint64) (ones uint64) {
	w := l.line(h)
	for range l.k {
		h *= mix
		i, bit := h>>61, h>>55&63
		old := w[i]
		ones += ^(old >> bit) & 1
		storeWord(&w[i], old|1<<bit)
	}
	runtime.KeepAlive(l)
	return ones
}

// took counts keys that were added, and the bits that they set.
func (l *layer) took(keys, ones uint64) {
	l.ones.Store(l.ones.Load() + ones)
	l.count.Store(l.count.Load() + keys)
}

// addNew adds those of hashes, at most batchKeys, whose bit in was is 0, in order, and sets the bit of those whose bits all
// stood by then: they were added a moment before.
func (l *layer) addNew(hashes []uint64, was uint64) uint64 {
	var keys, ones uint64
	for i, h := range hashes {
		if was>>i&1 != 0 {
			continue
		}
		set := l.set(h)
		if set == 0 {
			was |= 1 << i
			continue
		}
		keys, ones = keys+1, ones+set
	}
	l.took(keys, ones)
	return was
}

// touch has the lines of hashes brought into the cache, all at the same time.
func (l *layer) touch(hashes []uint64) {
	prefetch(l.table, hashes)
	runtime.KeepAlive(l)
}

// present returns the layer's error as it is now. It follows from the bits that are set, not from the count: keys that
// an overfull layer called seen by mistake are in no count, and those that it did count set more bits than most. The
// bits are rounded up to a thousandth or two of the layer, so that the sum over the lines is rarely taken and the answer
// is never too low.
func (l *layer) present() float64 {
	// A fill, in steps, is below 2^13. It stands in the last bits of the error that goes with it, which is rounded up to
	// make room: one word, so that those who ask at once never pair one fill with the error of another.
	const steps = 1<<13 - 1
	all := l.lines * lineBits
	step := uint64(1) << (bits.Len64(max(all/2048, 1)) - 1)
	at := (l.ones.Load() + step - 1) / step
	if rated := l.rated.Load(); rated&steps == at {
		return math.Float64frombits(rated &^ steps)
	}
	fill := min(1, float64(at*step)/float64(all))
	rate := (math.Float64bits(rateOf(fill, l.k)) + steps) &^ steps
	l.rated.Store(rate | at)
	return math.Float64frombits(rate)
}

func (l *layer) array() []uint64 { return l.words }

func (l *layer) figures() figures {
	return figures{capacity: l.capacity, keys: l.count.Load(), bits: l.lines * lineBits, ones: l.ones.Load(), k: l.k}
}

func (l *layer) became(keys, ones uint64) {
	l.ones.Store(ones)
	l.count.Store(keys)
}

// estimate is that of the classic layout, with the share of its line that a key sets.
func (l *layer) estimate(ones uint64) float64 {
	return float64(l.lines) * loadOf(float64(ones)/float64(l.lines*lineBits), l.k)
}
