package seen

import (
	"math"
	"math/bits"
	"runtime"
	"sync/atomic"
)

// classic is a Bloom filter of the classic layout: the bits of a key lie anywhere in the array.
//
// As in a layer, each bit comes from a further multiplication of the hash; here it is the product's high bits that choose
// among all. Numbers of a multiplicative generator are as good as independent ones for this, where double hashing errs
// more than it should in a small array, since two keys with one step share most of their bits.
//
// One goroutine sets bits, any number asks meanwhile, as for a layer.
type classic struct {
	capacity uint64
	size     uint64 // bits
	k        int
	count    atomic.Uint64 // keys added
	ones     atomic.Uint64 // bits set in words

	words  []uint64 // gone once memory is, so whoever holds on to them keeps the filter alive
	memory *memory  // of the words
}

// at returns the word and the bit in it that a product of the hash chooses.
func (c *classic) at(h uint64) (word *uint64, bit uint64) {
	i, _ := bits.Mul64(h, c.size)
	return &c.words[i/64], i % 64
}

// has reports whether all bits of h are set.
func (c *classic) has(h uint64) bool {
	for range c.k {
		h *= mix
		word, bit := c.at(h)
		if atomic.LoadUint64(word)>>bit&1 == 0 {
			return false
		}
	}
	runtime.KeepAlive(c)
	return true
}

// add sets the bits of h and counts one key more. Its caller is the only one who writes.
func (c *classic) add(h uint64) {
	var ones uint64
	for range c.k {
		h *= mix
		word, bit := c.at(h)
		if old := *word; old>>bit&1 == 0 {
			storeWord(word, old|1<<bit)
			ones++
		}
	}
	c.ones.Store(c.ones.Load() + ones) // after the last access to the words
	c.count.Store(c.count.Load() + 1)
}

func (c *classic) ask(hashes []uint64, known uint64) (has uint64) {
	for i, h := range hashes {
		if known>>i&1 == 0 && c.has(h) {
			has |= 1 << i
		}
	}
	return has
}

func (c *classic) addNew(hashes []uint64, was uint64) uint64 {
	for i, h := range hashes {
		switch {
		case was>>i&1 != 0:
		case c.has(h): // it was added a moment ago
			was |= 1 << i
		default:
			c.add(h)
		}
	}
	return was
}

// touch loads the words of each hash. The loads do not wait for each other.
func (c *classic) touch(hashes []uint64) {
	for _, h := range hashes {
		for range c.k {
			h *= mix
			word, _ := c.at(h)
			atomic.LoadUint64(word)
		}
	}
	runtime.KeepAlive(c)
}

// present returns the error as it is now, from the bits that are set.
func (c *classic) present() float64 {
	return math.Pow(float64(c.ones.Load())/float64(c.size), float64(c.k))
}

// estimate returns the number of distinct keys that set so many bits (Swamidass, Baldi: Mathematical Correction for
// Fingerprint Similarity Measures to Improve Chemical Retrieval, 2007).
func (c *classic) estimate(ones uint64) float64 {
	m := float64(c.size)
	return -m / float64(c.k) * math.Log1p(-float64(ones)/m)
}

func (c *classic) array() []uint64 { return c.words }

func (c *classic) figures() figures {
	return figures{capacity: c.capacity, keys: c.count.Load(), bits: c.size, ones: c.ones.Load(), k: c.k}
}

func (c *classic) became(keys, ones uint64) {
	c.ones.Store(ones)
	c.count.Store(keys)
}
