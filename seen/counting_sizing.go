package seen

import "math"

// counterLine returns, for lines of 128 counters and k counters a key, the chance that a line with j keys calls a
// further one seen, from j = 0 up to where it does so for all but one in a million.
//
// It is exact: the number of counters above zero is followed key by key as a Markov chain. Lines of 128 are small
// enough for that, and too small for the approximations that do for 512 bits.
func counterLine(k int) []float64 {
	const m = lineCounters
	hit := make([]float64, m+1) // chance that a key finds its k counters above zero, where so many are
	for used := range hit {
		hit[used] = math.Pow(float64(used)/m, float64(k))
	}
	at := make([]float64, m+1) // chance that so many counters are above zero
	at[0] = 1
	var line []float64
	for {
		var wrong float64
		for used, chance := range at {
			wrong += chance * hit[used]
		}
		line = append(line, wrong)
		if wrong > 1-1e-6 {
			return line
		}
		for range k {
			for used := m; used > 0; used-- {
				at[used] = at[used]*float64(used)/m + at[used-1]*float64(m-used+1)/m
			}
			at[0] = 0
		}
	}
}

// overCounterLines averages the error of a line over lines whose numbers of keys are Poisson distributed around load.
func overCounterLines(line []float64, load float64) float64 {
	if load == 0 {
		return 0
	}
	if load > 2*float64(len(line)) {
		return 1
	}
	var wrong, all float64
	for j, share := range line {
		lg, _ := math.Lgamma(float64(j) + 1)
		weight := math.Exp(float64(j)*math.Log(load) - load - lg)
		wrong += weight * share
		all += weight
	}
	return min(1, wrong+max(0, 1-all)) // lines with more keys than line tells call everything seen
}

// counterShape returns the shape of a counting filter for so many keys at the error p. Its lines are a float64 because a
// config may ask for any number of keys.
func counterShape(keys, p float64) (k int, lines float64) {
	lines = math.Inf(1)
	for try := 1; try <= maxK; try++ {
		need := counterLines(counterLine(try), keys, p)
		if need >= lines {
			break // there is one minimum
		}
		k, lines = try, need
	}
	return k, lines
}

// counterLines returns the lines that so many keys take at the error p.
func counterLines(line []float64, keys, p float64) float64 {
	return math.Ceil(keys / counterLoad(line, p))
}

// counterLoad returns the mean number of keys a line, to a millionth, at which lines err with the chance p.
func counterLoad(line []float64, p float64) float64 {
	lo, hi := 0.0, float64(len(line))
	for hi-lo > 1e-6*hi {
		if mid := (lo + hi) / 2; overCounterLines(line, mid) > p {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// counterRate returns the chance that a key never added is called seen where a share fill of the counters is above zero.
func counterRate(line []float64, fill float64, k int) float64 {
	if fill >= 1 {
		return 1
	}
	perKey := -math.Expm1(float64(k) * math.Log1p(-1.0/lineCounters)) // share of a line's counters that one key takes
	return overCounterLines(line, -math.Log1p(-fill)/perKey)
}
