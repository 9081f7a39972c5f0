package seen

import (
	"io"
	"sync"
)

// Shared is a chain of layers like Scalable, for any number of goroutines that add. Of those who add a key at the same
// moment exactly one hears that it is new; all others, and all who ask once it has heard so, hear that it is there. (A key
// that is called seen by mistake is new to nobody, as ever.)
//
// A key that is there is found without a lock. A new one takes one of 256 locks, chosen by its line in the newest layer,
// and is looked for once more under it: two keys of one line never set bits at once, nor does one key twice. Growth
// takes all locks, so whoever holds one has the chain stand still. The price is some 7 ns for a new key that nobody
// contends for. Layers hold up to 1% more than Scalable's, since keys are counted by lock and added up from time to
// time; the size of a layer allows for that.
//
// All methods may be called from any goroutine. Len, Rate and Stats take each lock in turn, which is microseconds.
type Shared struct {
	hasher
	chain   *Scalable // what adds to it belongs to those who hold a stripe, what changes the chain to who holds all
	stripes [stripes]stripe
}

var _ Filter = (*Shared)(nil)

const stripes = 256

// stripe is a lock, and what was added under it to the newest layer and is not in its counts yet. It fills a cache line:
// its neighbours are other goroutines'.
type stripe struct {
	mu         sync.Mutex
	keys, ones uint64
	_          [lineBytes - 24]byte
}

// settle adds up what was counted. The stripe is locked, so newest is the newest layer.
func (st *stripe) settle(newest *layer) {
	newest.ones.Add(st.ones)
	newest.count.Add(st.keys)
	st.keys, st.ones = 0, 0
}

// NewShared returns an empty filter.
func NewShared(c Config) (*Shared, error) {
	s, err := NewScalable(c)
	if err != nil {
		return nil, err
	}
	return s.Share()
}

// Share makes a filter that many may add to of one that only its owner may, and that nobody may use from then on: one that
// Read has read, for instance. The error is ErrDamaged for a restored filter that is not complete.
func (s *Scalable) Share() (*Shared, error) {
	if err := s.Complete(); err != nil {
		return nil, err
	}
	return &Shared{hasher: s.hasher, chain: s}, nil
}

// Has reports whether h, made by Hash, was added. It takes no lock. The error is always nil.
func (s *Shared) Has(h uint64) (bool, error) { return s.chain.has(h), nil }

// TestAndAdd reports whether h, made by Hash, was there before, and adds it if not. The error is always nil.
func (s *Shared) TestAndAdd(h uint64) (was bool, err error) {
	for {
		layers := s.chain.published.Load()
		if hasAny(*layers, h) {
			return true, nil
		}
		if was, done := s.addTo(layers, h); done {
			return was, nil
		}
	}
}

// addTo adds h to the newest of layers, none of which had it a moment ago, unless it has it by now. Done is false, and
// nothing happens, if the chain has grown since.
func (s *Shared) addTo(layers *[]*layer, h uint64) (was, done bool) {
	newest := (*layers)[len(*layers)-1]
	st := &s.stripes[newest.index(h)%stripes]
	st.mu.Lock()
	if s.chain.published.Load() != layers {
		st.mu.Unlock()
		return false, false
	}
	full := false
	if was = newest.has(h); !was { // nobody adds to the others any more
		st.ones += newest.set(h)
		st.keys++
		if st.keys > newest.capacity/(100*stripes) {
			st.settle(newest)
			full = newest.count.Load() >= s.chain.growAt
		}
	}
	st.mu.Unlock()
	if full {
		s.lock()
		s.chain.room()
		s.unlock()
	}
	return was, true
}

// lock takes all locks and adds up all that was counted.
func (s *Shared) lock() {
	for i := range s.stripes {
		s.stripes[i].mu.Lock()
		s.stripes[i].settle(s.chain.newest())
	}
}

func (s *Shared) unlock() {
	for i := range s.stripes {
		s.stripes[i].mu.Unlock()
	}
}

// settle adds up what was counted so far.
func (s *Shared) settle() {
	for i := range s.stripes {
		st := &s.stripes[i]
		st.mu.Lock()
		if st.keys > 0 {
			st.settle(s.chain.newest())
		}
		st.mu.Unlock()
	}
}

// HasBatch does Has for each hash, under the terms of TestAndAddBatch.
func (s *Shared) HasBatch(hashes []uint64, has []bool) error {
	return inWords(hashes, has, s.chain.ask)
}

// TestAndAddBatch does TestAndAdd for each hash in order. It costs a fraction of as many single calls, since the lines of
// many keys are on their way from memory at the same time. The only error is a was that is not as long as hashes.
func (s *Shared) TestAndAddBatch(hashes []uint64, was []bool) error {
	return inBatches(hashes, was, s.touch, s.TestAndAdd)
}

func (s *Shared) touch(hashes []uint64) { touchAll(s.chain.layers(), hashes) }

// Len returns the number of hashes added.
func (s *Shared) Len() uint64 {
	s.settle()
	return s.chain.Len()
}

// Rate returns the chance, at this moment, that a key never added is called seen by some layer.
func (s *Shared) Rate() float64 {
	s.settle()
	return s.chain.Rate()
}

// Stats says what the filter holds. Its kind is KindScalable.
func (s *Shared) Stats() Stats {
	s.settle()
	return s.chain.Stats()
}

// WriteTo writes the filter in the form that Read reads as a *Scalable, which Share makes a Shared again. It has what was
// added before the call, and perhaps some of what is added until it returns.
func (s *Shared) WriteTo(w io.Writer) (int64, error) {
	s.lock()
	header, layers := s.chain.Header(), s.chain.layers()
	s.unlock()
	return writeLayers(w, header, layers)
}
