package seen

import "math"

// maxK bounds the bits a key sets in its line. At the smallest error asked for, the best k is below 20.
const maxK = 32

// shape is the size of a layer: what it holds at the error it was made for.
type shape struct {
	capacity uint64 // keys
	lines    uint64 // of 512 bits
	k        int    // bits a key
}

// fewestBits returns the k, up to most, that takes the fewest bits a key, and how many.
func fewestBits(most int, bitsFor func(k int) float64) (k int, bitsPerKey float64) {
	bitsPerKey = math.Inf(1)
	for try := 1; try <= most; try++ {
		b := bitsFor(try)
		if b >= bitsPerKey {
			break // there is one minimum
		}
		k, bitsPerKey = try, b
	}
	return k, bitsPerKey
}

// linesFor returns the lines that so many keys take. It is a float64 because a config may ask for any number of keys.
func linesFor(keys, bitsPerKey float64) float64 {
	return math.Ceil(keys * bitsPerKey / lineBits)
}

// about reports whether a saved size is the one that follows from the settings. It leaves room for a machine that rounds
// otherwise.
func about(saved uint64, want float64) bool { return math.Abs(float64(saved)-want) <= 1+want*1e-5 }

// rateOf returns the chance that a key never added is called seen by a layer in which a share fill of the bits is set.
// The lines' numbers of keys are Poisson distributed around loadOf, however full the layer is.
func rateOf(fill float64, k int) float64 {
	if fill >= 1 {
		return 1
	}
	return min(1, overLines(loadOf(fill, k), k))
}

// loadOf returns the mean number of keys that were offered to a line, in a layer in which a share fill of the bits is
// set. Keys that were there by mistake changed no bit, so they may as well have been added.
//
// It is the estimate of Swamidass and Baldi for lines: a bit stays clear with a chance of (1-s)^x in a line of x keys,
// of e^(-sx) in the mean over lines of x keys on average, where s is the share of a line that one key sets.
func loadOf(fill float64, k int) float64 {
	perKey := -math.Expm1(float64(k) * math.Log1p(-1.0/lineBits))
	return -math.Log1p(-fill) / perKey
}

// overLines averages the error of a line over the lines, whose numbers of keys are Poisson distributed around load.
func overLines(load float64, k int) float64 {
	if load == 0 {
		return 0
	}
	if load*float64(k) > 40*lineBits {
		return 1 // all but e^-40 of the bits are set
	}
	// Below this the Poisson terms vanish, and the errors they weigh are the smaller ones.
	j := math.Floor(max(0, load-12*math.Sqrt(load)))
	lg, _ := math.Lgamma(j + 1)
	weight := math.Exp(j*math.Log(load) - load - lg)
	var sum, last float64
	for l := loadedLine(j, k); ; l = l.next() {
		term := weight * l.err(k)
		sum += term
		if j > load && term < last && term < sum*1e-12 {
			return sum
		}
		last = term
		j++
		weight *= load / j
	}
}

// line is a line of m = 512 bits in which t bits were set at random, with repetition: k for each key.
type line struct {
	empty, emptyPair float64 // (1-1/m)^t, (1-2/m)^t: the chances that one bit, that two given bits, are clear
	stepOne, stepTwo float64 // the same for one key
}

func loadedLine(keys float64, k int) line {
	one, two := 1-1.0/lineBits, 1-2.0/lineBits
	t := keys * float64(k)
	return line{
		empty: math.Pow(one, t), emptyPair: math.Pow(two, t),
		stepOne: math.Pow(one, float64(k)), stepTwo: math.Pow(two, float64(k)),
	}
}

// next is the line with one key more.
func (l line) next() line {
	l.empty *= l.stepOne
	l.emptyPair *= l.stepTwo
	return l
}

// err returns the chance that all k bits of a key that is not there are set: E[X^k] for the share X of the line's bits,
// by the first two terms of its series around the expectation of X. The second, how much X varies, is left out of the
// published figures; it makes 0.4% of the error at 5%, and 7% at 1e-6.
func (l line) err(k int) float64 {
	const m = lineBits
	mean := 1 - l.empty
	if mean == 0 {
		return 0
	}
	variance := ((m-1)*l.emptyPair + l.empty - m*l.empty*l.empty) / m
	return math.Pow(mean, float64(k)) * (1 + float64(k*(k-1))/2*variance/(mean*mean))
}
