package seen

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/bits-and-blooms/bitset"
)

// Scalable is a chain of blocked Bloom filters: when the newest layer holds what it was made for, a further one opens,
// twice as large. A key new to the filter probes one line of 64 bytes in each layer; half of the keys ever met are
// found in the newest. All layers use the one hash of the key.
//
// A layer owns a range of the order in which keys were added. So Add with the hashes of a log remakes the filter bit
// for bit.
//
// One goroutine adds, saves and restores. Meanwhile any number of others may call Hash, HashString, Has, HasBatch, Len,
// Rate and Stats. They take no lock, and find each key whose addition had returned before they asked.
type Scalable struct {
	hasher
	cfg    Config // defaults filled in, seed drawn; not written after New
	growth growth // not written after New

	// published is the chain, oldest layer first. Those who ask hold on to the slice that they have loaded, so it is never
	// written: growth replaces it.
	published atomic.Pointer[[]*layer]

	last   *layer // the newest, for who adds
	growAt uint64 // keys in it at which the next one opens

	missing []*bitset.BitSet // chunks of each restored layer that were not set yet; nil when none are awaited
}

var _ Filter = (*Scalable)(nil)

// NewScalable returns an empty filter.
func NewScalable(c Config) (*Scalable, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := chain(c.inForce(), nil)
	s.grow()
	return s, nil
}

// chain joins layers, which may be none, into a filter.
func chain(c Config, layers []*layer) *Scalable {
	s := &Scalable{hasher: newHasher(c.Seed), cfg: c, growth: newGrowth(c)}
	s.published.Store(&layers)
	if len(layers) > 0 {
		s.last = s.newest()
		s.growAt = s.last.capacity
	}
	return s
}

// push makes l the newest layer.
func (s *Scalable) push(l *layer) {
	layers := append(slices.Clip(s.layers()), l)
	s.published.Store(&layers)
	s.last, s.growAt = l, l.capacity
}

func (s *Scalable) layers() []*layer { return *s.published.Load() }

func (s *Scalable) newest() *layer {
	layers := s.layers()
	return layers[len(layers)-1]
}

// grow opens the next layer. Where the cap on memory allows none, the newest takes all that comes.
func (s *Scalable) grow() {
	var base, lastCapacity uint64
	if len(s.layers()) > 0 {
		base, lastCapacity = s.Len(), s.newest().capacity
	}
	next, ok := s.growth.layer(len(s.layers()), s.bytes(), lastCapacity)
	if !ok {
		s.growAt = math.MaxUint64
		return
	}
	s.push(newLayer(next, base))
}

// room returns the newest layer after seeing to it that it takes a further key.
func (s *Scalable) room() *layer {
	if s.last.count.Load() >= s.growAt {
		s.grow()
	}
	return s.last
}

func (s *Scalable) bytes() int64 {
	var n int64
	for _, l := range s.layers() {
		n += l.bytes()
	}
	return n
}

// Has reports whether h, made by Hash, was added. The error is always nil.
func (s *Scalable) Has(h uint64) (bool, error) {
	return s.has(h), nil
}

// TestAndAdd reports whether h, made by Hash, was there before, and adds it if not. The error is always nil.
func (s *Scalable) TestAndAdd(h uint64) (was bool, err error) {
	if s.last.has(h) || hasAny(s.older(), h) {
		return true, nil
	}
	s.room().add(h)
	return false, nil
}

func (s *Scalable) has(h uint64) bool { return hasAny(s.layers(), h) }

// older returns the layers before the newest.
func (s *Scalable) older() []*layer {
	layers := s.layers()
	return layers[:len(layers)-1]
}

// hasAny asks the newest layer first: it holds half of all keys.
func hasAny(layers []*layer, h uint64) bool {
	for i := len(layers) - 1; i >= 0; i-- { // slices.Backward costs 3 ns here
		if layers[i].has(h) {
			return true
		}
	}
	return false
}

// TestAndAddBatch does TestAndAdd for each hash in order. It costs a fraction of as many single calls, since the lines
// of many keys are on their way from memory at the same time. The only error is a was that is not as long as hashes.
func (s *Scalable) TestAndAddBatch(hashes []uint64, was []bool) error {
	return inWords(hashes, was, s.testAndAddSome)
}

func (s *Scalable) testAndAddSome(hashes []uint64) (was uint64) {
	was = s.ask(hashes)
	if s.last.count.Load()+uint64(len(hashes)) <= s.growAt {
		return s.last.addNew(hashes, was)
	}
	for i, h := range hashes { // a layer may open on the way
		if known, _ := s.TestAndAdd(h); known {
			was |= 1 << i
		}
	}
	return was
}

// HasBatch does Has for each hash, under the terms of TestAndAddBatch.
func (s *Scalable) HasBatch(hashes []uint64, has []bool) error {
	return inWords(hashes, has, s.ask)
}

// ask says which of hashes, at most batchKeys, were added: a bit each.
func (s *Scalable) ask(hashes []uint64) (has uint64) { return askAll(s.layers(), hashes) }

// Add adds hashes without asking whether they are there, layer by layer as each fills. With the hashes that were called
// new, in that order, it makes the same filter. Adding again what was added since a Header was taken, from Header.Len
// on, is how a restored filter catches up.
func (s *Scalable) Add(hashes []uint64) {
	for len(hashes) > 0 {
		l := s.room()
		n := int(min(uint64(min(len(hashes), batchKeys)), s.growAt-l.count.Load()))
		l.touch(hashes[:n])
		for _, h := range hashes[:n] {
			l.add(h)
		}
		hashes = hashes[n:]
	}
}

// Len returns the number of hashes added.
func (s *Scalable) Len() uint64 {
	return s.newest().end()
}

// Rate returns the chance, at this moment, that a key never added is called seen by some layer. It is what the bits
// say that are set, so it holds for a filter that is fuller than planned as well.
func (s *Scalable) Rate() float64 { return rateOfChain(s.layers()) }

func rateOfChain(layers []*layer) float64 {
	miss := 1.0
	for _, l := range layers {
		miss *= 1 - l.present()
	}
	return 1 - miss
}
