package seen

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"slices"
	"unsafe"
)

// KindCounting is the kind of *Counting.
const KindCounting Kind = "counting"

// Remover is a filter from which keys can be removed.
//
// It stays free of false negatives only while nobody removes a key that is not in it. What is certainly not there is
// refused. A key that is there by mistake, with a chance of Rate, is not told from one that is: removing it takes away
// what keys that are there are known by. So remove what TestAndAdd called new, or what Add has added, as often as that
// was done and no more. Whoever does not keep TestAndAdd's answers adds with Add.
type Remover interface {
	Filter
	// Remove takes h away. It returns false, and nothing has changed, where h is certainly not there.
	Remove(h uint64) (removed bool, err error)
	// RemoveBatch does Remove for each hash in order and leaves the answers in removed, which is as long as hashes.
	RemoveBatch(hashes []uint64, removed []bool) error
}

// Counting is a Bloom filter of counters instead of bits (Fan, Cao, Almeida, Broder: Summary Cache, 2000), so that keys
// can be removed. It is blocked: a key has its counters in one line of 64 bytes, which holds 128 of 4 bits. That takes
// 43 bits a key at an error of 1%, and 76 at 0.1%: where an error of 0.012% at 17 bits a key will do, and each key is
// added a few times at most, a Cuckoo is the better choice.
//
// It holds keys in one of two ways. With TestAndAdd it is a set: what is called there is not added again. With Add it
// counts: a key is there until it was removed as often as it was added. A counter that has reached 15 stays there for
// ever, since nobody knows any more by how much it would have to go down. The keys that share it are then called seen a
// little more often, which Rate tells, and a key that was added 15 times is never removed again.
//
// It never grows. More keys than Config.ExpectedItems are taken, with a growing error: Rate says how large it is, and
// Stats says Capped.
//
// It is not safe for concurrent use, but for Hash and HashString.
type Counting struct {
	hasher
	shape           // lines of 128 counters, k counters a key
	cfg   Config    // defaults filled in, seed drawn; not written after NewCounting
	line  []float64 // counterLine(k); not written after NewCounting

	count  uint64              // keys in it
	used   uint64              // counters above zero
	words  []uint64            // 16 counters each
	table  [][lineWords]uint64 // the same, as lines
	memory *memory             // of the words

	rate    float64 // counterRate when ratedAt counters were above zero
	ratedAt uint64
}

var _ Remover = (*Counting)(nil)

const (
	wordCounters = 16
	lineCounters = lineWords * wordCounters
	lowBits      = 0x1111111111111111 // the lowest bit of each counter of a word
)

// NewCounting returns an empty filter for Config.ExpectedItems keys. The error says which settings are wrong, or how
// much memory it needs where Config.MaxBytes is less.
func NewCounting(c Config) (*Counting, error) {
	c = c.inForce()
	c.ExpectedItems = max(c.ExpectedItems, minFirstItems)
	if err := c.problems(countingBytes); err != nil {
		return nil, err
	}
	k, lines := counterShape(float64(c.ExpectedItems), c.FalsePositiveRate)
	s := shape{capacity: c.ExpectedItems, lines: uint64(lines), k: k}
	return countingIn(newMemory(int(s.lines)*lineWords), c, s), nil
}

func countingIn(m *memory, c Config, s shape) *Counting {
	table := unsafe.Slice((*[lineWords]uint64)(unsafe.Pointer(unsafe.SliceData(m.words))), s.lines)
	return &Counting{
		hasher: newHasher(c.Seed), shape: s, cfg: c, line: counterLine(s.k), words: m.words, table: table, memory: m,
	}
}

func countingBytes(c Config) float64 {
	_, lines := counterShape(float64(c.ExpectedItems), c.FalsePositiveRate)
	return lines * lineBytes
}

func (c *Counting) bytes() int64 { return int64(c.lines) * lineBytes }

// at returns the line of h, which its high bits choose.
func (c *Counting) at(h uint64) *[lineWords]uint64 {
	i, _ := bits.Mul64(h, uint64(len(c.table)))
	return &c.table[i]
}

// cells returns the lowest bit of each of the key's counters in its line. Each is the top seven bits of a further
// multiplication of the hash. Where two of them meet they are one counter, which the key counts in once.
func (c *Counting) cells(h uint64) (cells [lineWords]uint64) {
	for range c.k {
		h *= mix
		cells[h>>61] |= 1 << (h >> 57 & 15 * 4)
	}
	return cells
}

// above and stuck return the lowest bit of each counter of a word that is above zero, that has reached 15.
func above(w uint64) uint64 { return (w | w>>1 | w>>2 | w>>3) & lowBits }
func stuck(w uint64) uint64 { return w & (w >> 1) & (w >> 2) & (w >> 3) & lowBits }

// Has reports whether h, made by Hash, is there. The error is always nil.
func (c *Counting) Has(h uint64) (bool, error) { return c.has(h), nil }

func (c *Counting) has(h uint64) bool {
	w := c.at(h)
	set := uint64(16)
	for range min(c.k, early) {
		h *= mix
		set &= w[h>>61]>>(h>>57&15*4)&15 + 15 // 16 and more but for a counter of zero
	}
	if set == 0 {
		runtime.KeepAlive(c)
		return false
	}
	for range c.k - early {
		h *= mix
		set &= w[h>>61]>>(h>>57&15*4)&15 + 15
	}
	runtime.KeepAlive(c)
	return set != 0
}

// HasBatch does Has for each hash and leaves the answers in has, which is as long as hashes. It costs a fraction of as
// many single calls, since the lines of many keys are on their way from memory at the same time.
func (c *Counting) HasBatch(hashes []uint64, has []bool) error {
	return inBatches(hashes, has, c.touch, c.Has)
}

// TestAndAdd reports whether h, made by Hash, is there, and adds it if not. The error is always nil.
func (c *Counting) TestAndAdd(h uint64) (was bool, err error) {
	if c.has(h) {
		return true, nil
	}
	c.add(h)
	return false, nil
}

// TestAndAddBatch does TestAndAdd for each hash in order, at a fraction of the cost. The only error is a was that is not
// as long as hashes.
func (c *Counting) TestAndAddBatch(hashes []uint64, was []bool) error {
	return inBatches(hashes, was, c.touch, c.TestAndAdd)
}

// Add adds hashes whether they are there or not. Each time counts: as many Removes take it back, up to 14.
func (c *Counting) Add(hashes []uint64) {
	for part := range slices.Chunk(hashes, batchKeys) {
		c.touch(part)
		for _, h := range part {
			c.add(h)
		}
	}
}

func (c *Counting) add(h uint64) {
	w, cells := c.at(h), c.cells(h)
	var used int
	for i, cell := range cells {
		used += bits.OnesCount64(cell &^ above(w[i]))
		w[i] += cell &^ stuck(w[i])
	}
	c.used += uint64(used)
	c.count++
	runtime.KeepAlive(c)
}

// Remove takes h away: all of it after TestAndAdd, one of the times after Add. It returns false, and nothing has changed,
// where h is certainly not there; Remover says what must not be removed. The error is always nil.
func (c *Counting) Remove(h uint64) (removed bool, err error) {
	if c.count == 0 || !c.has(h) { // counters that are stuck stay in an empty filter
		return false, nil
	}
	w, cells := c.at(h), c.cells(h)
	var freed int
	for i, cell := range cells {
		w[i] -= cell &^ stuck(w[i])
		freed += bits.OnesCount64(cell &^ above(w[i]))
	}
	c.used -= uint64(freed)
	c.count--
	runtime.KeepAlive(c)
	return true, nil
}

// RemoveBatch does Remove for each hash in order, at a fraction of the cost. The only error is a removed that is not as
// long as hashes.
func (c *Counting) RemoveBatch(hashes []uint64, removed []bool) error {
	return inBatches(hashes, removed, c.touch, c.Remove)
}

// touch has the lines of hashes brought into the cache, all at the same time.
func (c *Counting) touch(hashes []uint64) {
	prefetch(c.table, hashes)
	runtime.KeepAlive(c)
}

// Len returns the number of keys in it: each is counted as often as it was added and not removed.
func (c *Counting) Len() uint64 { return c.count }

// Rate returns the chance, at this moment, that a key that is not there is called seen. It follows from the counters
// above zero, rounded up to a thousandth or two of them.
func (c *Counting) Rate() float64 {
	all := c.lines * lineCounters
	step := uint64(1) << (bits.Len64(max(all/2048, 1)) - 1)
	if at := min(all, (c.used+step-1)&^(step-1)); at != c.ratedAt {
		c.rate, c.ratedAt = counterRate(c.line, float64(at)/float64(all), c.k), at
	}
	return c.rate
}

// Stats takes a moment whatever the size. Fill is the share of the counters above zero.
func (c *Counting) Stats() Stats {
	fill, rate := float64(c.used)/float64(c.lines*lineCounters), c.Rate()
	return Stats{
		Kind: KindCounting, Items: c.count, Capacity: c.capacity, Layers: 1,
		Bits: c.lines * lineBits, Bytes: c.bytes(), Fill: fill,
		TargetRate: c.cfg.FalsePositiveRate, Rate: rate, Capped: c.count > c.capacity,
		PerLayer: []LayerStats{{
			Items: c.count, Capacity: c.capacity, K: c.k, Bytes: c.bytes(), Fill: fill, Rate: rate,
		}},
	}
}

// WriteTo writes the filter in the form that Read reads, and returns the bytes written.
func (c *Counting) WriteTo(w io.Writer) (int64, error) {
	le := binary.LittleEndian
	b := appendConfig(nil, c.cfg)
	b = le.AppendUint64(b, c.lines)
	b = le.AppendUint32(b, uint32(c.k))
	b = le.AppendUint64(b, c.count)
	head, err := sealHead(KindCounting, b)
	if err != nil {
		return 0, err
	}
	n, err := writeSaved(w, head, c.words)
	runtime.KeepAlive(c)
	return n, err
}

func readCounting(s *source) (Filter, error) {
	c := s.fields.config()
	saved := shape{capacity: c.ExpectedItems, lines: s.fields.uint64(), k: int(s.fields.uint32())}
	count := s.fields.uint64()
	if err := s.fields.end(); err != nil {
		return nil, err
	}
	if err := checkConfig(c); err != nil {
		return nil, err
	}
	if saved.k < 1 || saved.k > maxK || saved.lines == 0 || saved.lines > uint64(c.MaxBytes)/lineBytes ||
		!about(saved.lines, counterLines(counterLine(saved.k), float64(c.ExpectedItems), c.FalsePositiveRate)) {
		return nil, fmt.Errorf("%w: head: impossible shape: %d lines, %d counters a key", ErrDamaged, saved.lines, saved.k)
	}
	m, err := s.words(int(saved.lines) * lineWords)
	if err != nil {
		return nil, err
	}
	f := countingIn(m, c, saved)
	f.count = count
	for _, w := range f.words {
		f.used += uint64(bits.OnesCount64(above(w)))
	}
	if count > 0 && f.used == 0 {
		return nil, fmt.Errorf("%w: no counter is above zero for %d keys", ErrDamaged, count)
	}
	return f, nil
}
