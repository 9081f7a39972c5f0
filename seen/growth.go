package seen

import "math"

const (
	// horizonItems is the number of keys up to which the layers share the error equally.
	horizonItems = 2e9
	// kept is the share of the error that is left for layers past the horizon.
	kept = 0.04
	// slack sizes each layer up, in bits, for rounding: what a layer says of its error is never too low.
	slack = 1.002
	// maxLayers is far more than memory can hold: the last one would take 2^47 times the first.
	maxLayers = 48
)

// growth says which layers a chain opens.
//
// Almeida et al. (Scalable Bloom Filters, 2007) tighten the error geometrically from layer to layer, so that it adds up
// to the promised one over endlessly many: the last layers, which hold nearly all keys, pay for the first ones. Layers
// that double need no such thing: 11 of them take a chain from 10^6 to 2*10^9 keys. So each of the layers up to that
// horizon gets the same share of 96% of the error, and those past it halve what is left: at 1%, 16 bits a key at any size,
// and never more than the promised error.
type growth struct {
	rate     float64
	first    uint64 // keys in the first layer
	horizon  int    // layers that share equally
	maxBytes int64

	k    int     // of the layers up to the horizon
	bits float64 // a key of theirs, without slack
}

func newGrowth(c Config) growth {
	g := growth{rate: c.FalsePositiveRate, first: max(c.ExpectedItems, minFirstItems), maxBytes: c.MaxBytes}
	for held, next := 0.0, float64(g.first); held < horizonItems; g.horizon++ {
		held, next = held+next, 2*next
	}
	g.k, g.bits = Blocked.best(g.share(0))
	return g
}

// share returns the part of the error that layer i may make.
func (g growth) share(i int) float64 {
	if i < g.horizon {
		return (1 - kept) * g.rate / float64(g.horizon)
	}
	return math.Ldexp(kept*g.rate, g.horizon-i-1)
}

// bitsPerKey returns the k and the bits a key of layer i, slack included.
func (g growth) bitsPerKey(i int) (k int, bits float64) {
	k, bits = g.k, g.bits
	if i >= g.horizon {
		k, bits = Blocked.best(g.share(i))
	}
	return k, bits * slack
}

// firstBytes returns the size of the first layer.
func (g growth) firstBytes() float64 {
	_, bits := g.bitsPerKey(0)
	return linesFor(float64(g.first), bits) * lineBytes
}

// layer returns the shape of layer i, when the layers before it take used bytes and the last of them was made for
// lastCapacity keys. It returns false where the cap on memory allows none.
//
// A layer that the cap cuts short is opened only if it holds half of what the layer before was made for: it takes all
// keys from then on, and a smaller one would soon be fuller than the layer before if that took them.
func (g growth) layer(i int, used int64, lastCapacity uint64) (shape, bool) {
	if i >= maxLayers {
		return shape{}, false
	}
	keys := float64(g.first)
	if i > 0 {
		keys = 2 * float64(lastCapacity)
	}
	k, bits := g.bitsPerKey(i)
	lines := linesFor(keys, bits)
	if left := float64((g.maxBytes - used) / lineBytes); lines > left {
		lines = left
		keys = math.Floor(left * lineBits / bits)
		if i == 0 || keys < float64(lastCapacity)/2 {
			return shape{}, false
		}
	}
	return shape{capacity: uint64(keys), lines: uint64(lines), k: k}, true
}

// allows reports whether layer i may have the shape l, when the layer before was made for lastCapacity keys. There is no
// room for a layer that would make the next one large without being so.
func (g growth) allows(i int, l shape, lastCapacity uint64) bool {
	keys := float64(l.capacity)
	if i == 0 && l.capacity != g.first ||
		i > 0 && (keys > 2*float64(lastCapacity) || keys < math.Floor(float64(lastCapacity)/2)) {
		return false
	}
	_, bits := g.bitsPerKey(i)
	return about(l.lines, linesFor(keys, bits))
}
