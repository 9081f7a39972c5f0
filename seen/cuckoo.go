package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"unsafe"
)

// KindCuckoo is the kind of *Cuckoo.
const KindCuckoo Kind = "cuckoo"

// ErrFull: a cuckoo table has no place left for a key. Nothing has changed: the key is not in it, and all others are.
var ErrFull = errors.New("seen: cuckoo table is full")

// Cuckoo is a cuckoo filter (Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter: Practically Better Than Bloom, 2014):
// a hash table of fingerprints, from which keys can be removed. A fingerprint has 16 bits and lies in one of the four
// slots of one of two buckets; where both are full, others move to their second bucket. At a load of 95% that takes 16.8
// bits a key at an error of 0.012%, whatever error is asked for: at 0.1% a Bloom filter takes fewer, at 0.01% more.
//
// It holds keys in one of two ways. With TestAndAdd it is a set: what is called there is not added again. With Add it
// counts: a key is there until it was removed as often as it was added. More than eight times it cannot be added, since
// its two buckets hold no more.
//
// It never grows. It has room for Config.ExpectedItems keys and then for about 2% more, for which Stats says Capped. At
// last a key finds no place: that is ErrFull, and no key is lost by it.
//
// It is not safe for concurrent use, but for Hash and HashString.
type Cuckoo struct {
	hasher
	cfg     Config // defaults filled in, seed drawn; not written after NewCuckoo
	buckets uint64 // any number: the partner of i is H(fingerprint) - i modulo buckets, as i is that of its partner

	count  uint64   // slots taken
	words  []uint64 // one a bucket; a free slot is zero
	memory *memory  // of the words

	search [searchBuckets]searched // of the last search for a free slot
}

var _ Remover = (*Cuckoo)(nil)

const (
	bucketSlots  = 4
	slotBits     = 64 / bucketSlots
	fingerprints = 1<<slotBits - 1               // 0 is a free slot
	slotLows     = math.MaxUint64 / fingerprints // the lowest bit of each slot
	slotHighs    = slotLows << (slotBits - 1)

	// cuckooLoad is the share of the slots that Config.ExpectedItems take. The first key without a place comes at 97%,
	// in a table of a thousand keys as in one of sixty million.
	cuckooLoad = 0.95
)

// NewCuckoo returns an empty filter for Config.ExpectedItems keys. The error says which settings are wrong: an error
// smaller than it can give among them, or how much memory it needs where Config.MaxBytes is less.
func NewCuckoo(c Config) (*Cuckoo, error) {
	c = c.inForce()
	c.ExpectedItems = max(c.ExpectedItems, minFirstItems)
	if err := c.problems(cuckooBytes); err != nil {
		return nil, err
	}
	if least := cuckooRate(cuckooLoad); c.FalsePositiveRate < least {
		return nil, fmt.Errorf("fp: want at least %.3g, which is what a cuckoo filter gives, got %g", least, c.FalsePositiveRate)
	}
	return cuckooIn(newMemory(int(cuckooBytes(c)/8)), c), nil
}

func cuckooIn(m *memory, c Config) *Cuckoo {
	return &Cuckoo{hasher: newHasher(c.Seed), cfg: c, buckets: uint64(len(m.words)), words: m.words, memory: m}
}

func cuckooBytes(c Config) float64 {
	return 8 * math.Ceil(float64(c.ExpectedItems)/(bucketSlots*cuckooLoad))
}

// cuckooRate returns the error at a load: a key that is not there is compared with what is in eight slots.
func cuckooRate(load float64) float64 {
	return -math.Expm1(2 * bucketSlots * math.Log1p(-load/fingerprints))
}

// places is where a key may be: its fingerprint, and its two buckets, which may be one.
type places struct{ fingerprint, first, second uint64 }

// places returns those of h. The high bits of the hash choose the first bucket, the low ones the fingerprint.
func (c *Cuckoo) places(h uint64) places {
	first, _ := bits.Mul64(h, c.buckets)
	fingerprint, _ := bits.Mul64(h*mix, fingerprints)
	fingerprint++
	return places{fingerprint, first, c.partner(fingerprint, first)}
}

// partner returns the other bucket of a fingerprint.
func (c *Cuckoo) partner(fingerprint, bucket uint64) uint64 {
	x := fingerprint * mix
	x ^= x >> 32
	sum, _ := bits.Mul64(x*mix, c.buckets)
	if sum < bucket {
		sum += c.buckets
	}
	return sum - bucket
}

// slot returns the place, in bits, of the first slot of a bucket with a fingerprint, or 64. For the fingerprint 0 that is
// the first free one.
func slot(bucket, fingerprint uint64) int {
	x := bucket ^ fingerprint*slotLows
	// The lowest bit left marks a slot that is zero; those above it may be marked by a borrow from it.
	return bits.TrailingZeros64((x-slotLows)&^x&slotHighs) &^ (slotBits - 1)
}

// load finds the places of up to batchKeys hashes, and has their buckets brought into the cache, all at the same time.
func (c *Cuckoo) load(hashes []uint64, all *[batchKeys]places) {
	var at [2 * batchKeys]uint64
	for i, h := range hashes {
		p := c.places(h)
		all[i] = p
		at[2*i], at[2*i+1] = p.first, p.second
	}
	prefetchWords(unsafe.Pointer(unsafe.SliceData(c.words)), at[:2*len(hashes)])
	runtime.KeepAlive(c)
}

// inBatches answers hashes in order by answer, after load has seen so many of them that their buckets are on their way.
func (c *Cuckoo) inBatches(hashes []uint64, answers []bool, answer func(places) (bool, error)) error {
	if err := checkBatch(hashes, answers); err != nil {
		return err
	}
	var all [batchKeys]places
	for part := range slices.Chunk(hashes, batchKeys) {
		c.load(part, &all)
		for i := range part {
			var err error
			if answers[i], err = answer(all[i]); err != nil {
				return err
			}
		}
		answers = answers[len(part):]
	}
	return nil
}

// Has reports whether h, made by Hash, is there. The error is always nil.
func (c *Cuckoo) Has(h uint64) (bool, error) { return c.has(c.places(h)), nil }

func (c *Cuckoo) has(p places) bool {
	a, b := c.words[p.first], c.words[p.second] // two misses at once
	runtime.KeepAlive(c)
	return slot(a, p.fingerprint) < 64 || slot(b, p.fingerprint) < 64
}

// HasBatch does Has for each hash and leaves the answers in has, which is as long as hashes. It costs a fraction of as
// many single calls, since the buckets of many keys are on their way from memory at the same time.
func (c *Cuckoo) HasBatch(hashes []uint64, has []bool) error {
	return c.inBatches(hashes, has, func(p places) (bool, error) { return c.has(p), nil })
}

// TestAndAdd reports whether h, made by Hash, is there, and adds it if not. The error is ErrFull.
func (c *Cuckoo) TestAndAdd(h uint64) (was bool, err error) { return c.testAndAdd(c.places(h)) }

func (c *Cuckoo) testAndAdd(p places) (bool, error) {
	if c.has(p) {
		return true, nil
	}
	return false, c.add(p)
}

// TestAndAddBatch does TestAndAdd for each hash in order, at a fraction of the cost. The error is ErrFull, or a was that
// is not as long as hashes. At ErrFull the hashes before the one without a place are in the filter.
func (c *Cuckoo) TestAndAddBatch(hashes []uint64, was []bool) error {
	return c.inBatches(hashes, was, c.testAndAdd)
}

// Add adds hashes, in order, whether they are there or not. Each time counts: as many Removes take it back. The error is
// ErrFull, and the first n are added then.
func (c *Cuckoo) Add(hashes []uint64) (n int, err error) {
	var all [batchKeys]places
	for part := range slices.Chunk(hashes, batchKeys) {
		c.load(part, &all)
		for i := range part {
			if err := c.add(all[i]); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

func (c *Cuckoo) add(p places) error {
	bucket, at := p.first, slot(c.words[p.first], 0)
	if at == 64 {
		bucket, at = p.second, slot(c.words[p.second], 0)
	}
	if at == 64 {
		var ok bool
		if bucket, at, ok = c.makeRoom(p.first, p.second); !ok {
			return fmt.Errorf("%w: %d keys in %d slots", ErrFull, c.count, c.slots())
		}
	}
	c.words[bucket] |= p.fingerprint << at
	c.count++
	runtime.KeepAlive(c)
	return nil
}

// Remove takes h away: all of it after TestAndAdd, one of the times after Add. It returns false, and nothing has changed,
// where h is certainly not there; Remover says what must not be removed. The error is always nil.
func (c *Cuckoo) Remove(h uint64) (removed bool, err error) { return c.remove(c.places(h)), nil }

func (c *Cuckoo) remove(p places) bool {
	bucket, at := p.first, slot(c.words[p.first], p.fingerprint)
	if at == 64 {
		bucket, at = p.second, slot(c.words[p.second], p.fingerprint)
	}
	if at == 64 {
		return false
	}
	c.words[bucket] &^= fingerprints << at
	c.count--
	runtime.KeepAlive(c)
	return true
}

// RemoveBatch does Remove for each hash in order, at a fraction of the cost. The only error is a removed that is not as
// long as hashes.
func (c *Cuckoo) RemoveBatch(hashes []uint64, removed []bool) error {
	return c.inBatches(hashes, removed, func(p places) (bool, error) { return c.remove(p), nil })
}

// Len returns the number of keys in it: each is counted as often as it was added and not removed.
func (c *Cuckoo) Len() uint64 { return c.count }

func (c *Cuckoo) slots() uint64 { return c.buckets * bucketSlots }

func (c *Cuckoo) fill() float64 { return float64(c.count) / float64(c.slots()) }

// Rate returns the chance, at this moment, that a key that is not there is called seen. It follows from the slots that
// are taken.
func (c *Cuckoo) Rate() float64 { return cuckooRate(c.fill()) }

// Stats takes a moment whatever the size. Fill is the share of the slots that are taken.
func (c *Cuckoo) Stats() Stats {
	bytes := int64(c.buckets) * 8
	return Stats{
		Kind: KindCuckoo, Items: c.count, Capacity: c.cfg.ExpectedItems, Layers: 1,
		Bits: c.buckets * 64, Bytes: bytes, Fill: c.fill(),
		TargetRate: c.cfg.FalsePositiveRate, Rate: c.Rate(), Capped: c.count > c.cfg.ExpectedItems,
		PerLayer: []LayerStats{{
			Items: c.count, Capacity: c.cfg.ExpectedItems, Bytes: bytes, Fill: c.fill(), Rate: c.Rate(),
		}},
	}
}

// WriteTo writes the filter in the form that Read reads, and returns the bytes written.
func (c *Cuckoo) WriteTo(w io.Writer) (int64, error) {
	b := appendConfig(nil, c.cfg)
	b = binary.LittleEndian.AppendUint64(b, c.buckets)
	b = binary.LittleEndian.AppendUint64(b, c.count)
	head, err := sealHead(KindCuckoo, b)
	if err != nil {
		return 0, err
	}
	n, err := writeSaved(w, head, c.words)
	runtime.KeepAlive(c)
	return n, err
}

func readCuckoo(s *source) (Filter, error) {
	c, buckets, count := s.fields.config(), s.fields.uint64(), s.fields.uint64()
	if err := s.fields.end(); err != nil {
		return nil, err
	}
	if err := checkConfig(c); err != nil {
		return nil, err
	}
	if buckets == 0 || buckets > uint64(c.MaxBytes)/8 || !about(buckets, cuckooBytes(c)/8) {
		return nil, fmt.Errorf("%w: head: impossible shape: %d buckets", ErrDamaged, buckets)
	}
	m, err := s.words(int(buckets))
	if err != nil {
		return nil, err
	}
	f := cuckooIn(m, c)
	for _, w := range f.words {
		for ; w != 0; w >>= slotBits {
			if w&fingerprints != 0 {
				f.count++
			}
		}
	}
	if f.count != count {
		return nil, fmt.Errorf("%w: %d keys, want %d", ErrDamaged, f.count, count)
	}
	return f, nil
}
