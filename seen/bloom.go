package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"runtime"
)

// The kinds of *Bloom, by layout.
const (
	KindBloom   Kind = "bloom" // Blocked
	KindClassic Kind = "classic"
)

// ErrMismatch: two filters cannot be joined or compared, since they differ in more than their keys.
var ErrMismatch = errors.New("seen: filters do not match")

// Bloom is a Bloom filter of one size, for a number of keys that is known. It never grows. Past what it was made for it
// takes further keys and errs more: Rate says how much, from the bits that are set, and Stats says Capped. Of the kinds
// that only add it takes the fewest bits a key, and it is the one whose keys can be counted, joined and compared with
// another's.
//
// One goroutine adds, joins and saves. Meanwhile any number of others may call Hash, HashString, Has, HasBatch, Len, Rate,
// Stats, Estimate, UnionEstimate and Intersection. They take no lock, and find each key whose addition had returned before
// they asked.
type Bloom struct {
	hasher
	cfg    Config // defaults filled in, seed drawn; not written after NewBloom
	layout Layout
	bits   placement
}

var _ Filter = (*Bloom)(nil)

// placement is the bits of a filter of one size: *layer or *classic.
type placement interface {
	has(h uint64) bool
	add(h uint64)
	touch(hashes []uint64)
	ask(hashes []uint64, known uint64) (has uint64)    // of at most batchKeys, a bit each; those known may be left out
	addNew(hashes []uint64, was uint64) (found uint64) // those of bit 0 that are new to each other as well
	present() float64
	estimate(ones uint64) float64 // of the keys that set so many bits
	figures() figures
	became(keys, ones uint64) // what it holds, after all words were changed
	array() []uint64          // for whoever keeps the filter alive meanwhile
}

type figures struct {
	capacity, keys uint64
	bits, ones     uint64
	k              int
}

// NewBloom returns an empty filter of one size, for c.ExpectedItems keys at c.FalsePositiveRate. The layout "" is
// Blocked. What it takes is what Plan says, and has to fit c.MaxBytes.
func NewBloom(c Config, layout Layout) (*Bloom, error) {
	if layout == "" {
		layout = Blocked
	}
	if !layout.valid() {
		return nil, fmt.Errorf("seen: layout: want %q or %q, got %q", Blocked, Classic, layout)
	}
	if err := c.problems(func(c Config) float64 { return bloomBytes(c, layout) }); err != nil {
		return nil, err
	}
	c = c.inForce()
	plan, err := bloomPlan(c, layout)
	if err != nil {
		return nil, err
	}
	return bloomIn(newMemory(int(plan.Bits/64)), c, plan), nil
}

func bloomPlan(c Config, layout Layout) (Plan, error) {
	return Plan{Items: c.ExpectedItems, Rate: c.FalsePositiveRate, Layout: layout}.Solve()
}

func bloomBytes(c Config, layout Layout) float64 {
	plan, err := bloomPlan(c, layout)
	if err != nil { // more bits than can be counted
		return math.Inf(1)
	}
	return float64(plan.Bits / 8)
}

// bloomIn returns the filter of a plan over its words.
func bloomIn(m *memory, c Config, p Plan) *Bloom {
	b := &Bloom{hasher: newHasher(c.Seed), cfg: c, layout: p.Layout}
	if p.Layout == Blocked {
		b.bits = layerIn(m, shape{capacity: p.Items, lines: p.Bits / lineBits, k: p.Hashes}, 0)
	} else {
		b.bits = &classic{capacity: p.Items, size: p.Bits, k: p.Hashes, words: m.words, memory: m}
	}
	return b
}

func (b *Bloom) kind() Kind {
	if b.layout == Blocked {
		return KindBloom
	}
	return KindClassic
}

// Has reports whether h, made by Hash, was added. The error is always nil.
func (b *Bloom) Has(h uint64) (bool, error) { return b.bits.has(h), nil }

// TestAndAdd reports whether h, made by Hash, was there before, and adds it if not. The error is always nil.
func (b *Bloom) TestAndAdd(h uint64) (was bool, err error) {
	if b.bits.has(h) {
		return true, nil
	}
	b.bits.add(h)
	return false, nil
}

// HasBatch does Has for each hash, under the terms of TestAndAddBatch.
func (b *Bloom) HasBatch(hashes []uint64, has []bool) error {
	return inWords(hashes, has, b.ask)
}

// TestAndAddBatch does TestAndAdd for each hash in order. It costs a fraction of as many single calls, since the words of
// many keys are on their way from memory at the same time. The only error is a was that is not as long as hashes.
func (b *Bloom) TestAndAddBatch(hashes []uint64, was []bool) error {
	return inWords(hashes, was, func(hashes []uint64) uint64 { return b.bits.addNew(hashes, b.ask(hashes)) })
}

// ask says which of hashes, at most batchKeys, were added: a bit each.
func (b *Bloom) ask(hashes []uint64) (has uint64) {
	b.bits.touch(hashes)
	return b.bits.ask(hashes, 0)
}

// Add adds hashes without asking whether they are there. With the hashes that were called new it makes the same filter.
func (b *Bloom) Add(hashes []uint64) {
	for len(hashes) > 0 {
		n := min(len(hashes), batchKeys)
		b.bits.touch(hashes[:n])
		for _, h := range hashes[:n] {
			b.bits.add(h)
		}
		hashes = hashes[n:]
	}
}

// Len returns the number of hashes added, those that were called new. After a Union it is an estimate.
func (b *Bloom) Len() uint64 { return b.bits.figures().keys }

// Rate returns the chance, at this moment, that a key never added is called seen. It is what the bits say that are set,
// so it holds for a filter that is fuller than planned as well.
func (b *Bloom) Rate() float64 { return b.bits.present() }

// Stats takes no longer than a handful of loads: no bit is counted.
func (b *Bloom) Stats() Stats {
	f := b.bits.figures()
	one := LayerStats{
		Items: f.keys, Capacity: f.capacity, K: f.k, Bytes: int64(f.bits / 8),
		Fill: float64(f.ones) / float64(f.bits), Rate: b.Rate(),
	}
	return Stats{
		Kind: b.kind(), Items: f.keys, Capacity: f.capacity, Layers: 1, Bits: f.bits, Bytes: one.Bytes,
		Fill: one.Fill, TargetRate: b.cfg.FalsePositiveRate, Rate: one.Rate, Capped: f.keys > f.capacity,
		PerLayer: []LayerStats{one},
	}
}

// WriteTo writes the filter in the form that Read reads, and returns the bytes written.
func (b *Bloom) WriteTo(w io.Writer) (int64, error) {
	f := b.bits.figures()
	fields := appendConfig(nil, b.cfg)
	fields = binary.LittleEndian.AppendUint64(fields, f.bits)
	fields = binary.LittleEndian.AppendUint32(fields, uint32(f.k))
	fields = binary.LittleEndian.AppendUint64(fields, f.keys)
	head, err := sealHead(b.kind(), fields)
	if err != nil {
		return 0, err
	}
	n, err := writeSaved(w, head, b.bits.array())
	runtime.KeepAlive(b) // it owns the words
	return n, err
}

func readBloom(s *source, layout Layout) (Filter, error) {
	f := s.fields
	c := f.config()
	given := Plan{Items: c.ExpectedItems, Rate: c.FalsePositiveRate, Bits: f.uint64(), Hashes: int(f.uint32()), Layout: layout}
	keys := f.uint64()
	if err := errors.Join(f.end(), checkConfig(c), checkPlan(given, c)); err != nil {
		return nil, err
	}
	m, err := s.words(int(given.Bits / 64))
	if err != nil {
		return nil, err
	}
	b := bloomIn(m, c, given)
	b.bits.became(keys, popCount(m.words))
	return b, nil
}

// checkPlan reports whether a filter with the settings c can have this plan.
func checkPlan(given Plan, c Config) error {
	want, err := bloomPlan(c, given.Layout)
	unit := given.Layout.unit()
	near := about(given.Bits/unit, float64(want.Bits/unit))
	if err != nil || given.Hashes != want.Hashes || !near || given.Bits < unit || given.Bits%unit != 0 ||
		given.Bits/8 > uint64(c.MaxBytes) {
		return fmt.Errorf("%w: head: impossible size", ErrDamaged)
	}
	return nil
}

func popCount(words []uint64) uint64 {
	var ones int
	for _, w := range words {
		ones += bits.OnesCount64(w)
	}
	return uint64(ones)
}
