package seen

import (
	"math"
	"time"
)

// generation is a chain of layers that takes the keys of a period and is dropped as a whole.
type generation struct {
	growth growth
	layers []*layer // oldest first
	full   bool     // its part of the memory allows no further layer

	opened, added time.Duration // by the window's clock: when it was opened, and when a key came last
}

// newWindowGrowth says which layers a generation opens. A generation is sized by the one before it, and seldom needs a
// second layer: so the first gets nearly all of its error, and the others halve what is left.
func newWindowGrowth(c WindowConfig) growth {
	each := uint64(c.Generations + 1)
	g := growth{
		rate:     c.FalsePositiveRate / float64(each),
		first:    (c.ExpectedItems-1)/uint64(c.Generations) + 1,
		horizon:  1,
		maxBytes: c.MaxBytes / int64(each),
	}
	g.k, g.bits = Blocked.best(g.share(0))
	return g
}

// sized returns g with a first layer for so many keys, if that is more, and as many as its memory allows.
func (g growth) sized(keys uint64) growth {
	_, bits := g.bitsPerKey(0)
	room := math.Floor(float64(g.maxBytes/lineBytes) * lineBits / bits)
	g.first = max(g.first, uint64(min(float64(keys), room)))
	return g
}

func newGeneration(g growth, opened time.Duration) *generation {
	gen := &generation{growth: g, opened: opened, added: opened}
	gen.grow()
	return gen
}

func (g *generation) newest() *layer { return g.layers[len(g.layers)-1] }

// grow opens the next layer, where the memory allows one.
func (g *generation) grow() {
	var base, lastCapacity uint64
	var used int64
	for _, l := range g.layers {
		base, lastCapacity, used = base+l.count.Load(), l.capacity, used+l.bytes()
	}
	next, ok := g.growth.layer(len(g.layers), used, lastCapacity)
	if !ok {
		g.full = true
		return
	}
	g.layers = append(g.layers, newLayer(next, base))
}

func (g *generation) has(h uint64) bool { return hasAny(g.layers, h) }

// add adds h, which is not there.
func (g *generation) add(h uint64, now time.Duration) {
	if l := g.newest(); l.count.Load() >= l.capacity && !g.full {
		g.grow()
	}
	g.newest().add(h)
	g.added = now
}

// renew adds h if it is not there, and lets it be as young as if it were added now.
func (g *generation) renew(h uint64, now time.Duration) {
	if g.has(h) {
		g.added = now
		return
	}
	g.add(h, now)
}

func (g *generation) touch(hashes []uint64) {
	for _, l := range g.layers {
		l.touch(hashes)
	}
}

func (g *generation) len() uint64 {
	l := g.newest()
	return l.base + l.count.Load()
}

// capped reports whether it holds more than it was made for.
func (g *generation) capped() bool {
	l := g.newest()
	return l.count.Load() > l.capacity
}

// free gives its memory back. Nobody asks it any more.
func (g *generation) free() {
	for _, l := range g.layers {
		l.memory.free()
	}
	g.layers = nil
}
