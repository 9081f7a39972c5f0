package testweb

import "math"

// dice is a stream of random numbers that one slot and one purpose own, so that what is drawn for one page never
// shifts what is drawn for another. It is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
// generators, OOPSLA 2014), written here so that the web stays the same under every release of Go.
type dice struct {
	state uint64
	bits  uint64 // drawn and not yet used
	left  uint
}

// Purposes: each has streams of its own.
const (
	forShape uint64 = iota
	forTraits
	forPlan
	forText
	forSpelling
	forFailure
	forTarget
	forFiller
)

func (s *Site) dice(p place, purpose uint64) dice {
	d := dice{state: s.cfg.Seed ^ purpose<<56}
	d.state = d.next() ^ uint64(p.host)<<32 ^ uint64(p.n)
	d.state = d.next()
	return d
}

func (d *dice) next() uint64 {
	d.state += 0x9E3779B97F4A7C15
	z := d.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// roll returns a number of so many bits, 32 at most.
func (d *dice) roll(bits uint) uint64 {
	if d.left < bits {
		d.bits, d.left = d.next(), 64
	}
	r := d.bits & (1<<bits - 1)
	d.bits >>= bits
	d.left -= bits
	return r
}

// oneIn is true once in 2^bits throws.
func (d *dice) oneIn(bits uint) bool { return d.roll(bits) == 0 }

// below returns a number in [0, n); n is at most 2^32.
func (d *dice) below(n int) int { return int(d.roll(32) * uint64(n) >> 32) }

// unit returns a number in (0, 1).
func (d *dice) unit() float64 { return (float64(d.next()>>11) + 0.5) / (1 << 53) }

// normal returns a draw from the standard normal distribution (Box and Muller).
func (d *dice) normal() float64 {
	return math.Sqrt(-2*math.Log(d.unit())) * math.Cos(2*math.Pi*d.unit())
}
