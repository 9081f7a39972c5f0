package store

// uncovered returns the stretches of a log, from its start to end, that none of the runs was made from. The runs are in
// the order of the log.
func uncovered(runs []RunInfo, end uint64) []Span {
	var gaps []Span
	at := uint64(0)
	for _, r := range runs {
		if next := min(r.place().After, end); next > at {
			gaps = append(gaps, Span{at, next})
		}
		at = max(at, r.place().Upto)
	}
	if at < end {
		gaps = append(gaps, Span{at, end})
	}
	return gaps
}

// runSizes says when a run is made and when runs are merged. The defaults are those of a crawl; tests use small ones.
type runSizes struct {
	blocks     int    // full blocks of a log that a run is made from
	fanIn      int    // runs that are merged into one
	bitsEvents uint64 // events that the bitmap's file may be behind the done log

	verifyPairs int // pairs of a run that are compared with its log at once: 32 bytes each
}

func defaultRunSizes() runSizes {
	return runSizes{blocks: 64, fanIn: 8, bitsEvents: 1 << 20, verifyPairs: 1 << 21}
}

// of returns the sizes for runs that are made from so many blocks.
func (z runSizes) of(blocks int) runSizes {
	z.bitsEvents = z.bitsEvents / uint64(z.blocks) * uint64(blocks)
	z.blocks = blocks
	return z
}

// unit is the number of a log's entries that a run is made from.
func (z runSizes) unit() uint64 { return uint64(z.blocks) * BlockEntries }

// nextBuild returns the stretch of a log that the next run is made from. The log's end is left until it is a whole run;
// a gap between runs, where one was damaged, is filled at once.
func (z runSizes) nextBuild(runs []RunInfo, end uint64) (Span, bool) {
	for _, gap := range uncovered(runs, end) {
		if gap.Upto < end || gap.Len() >= z.unit() {
			return Span{gap.After, min(gap.Upto, gap.After+z.unit())}, true
		}
	}
	return Span{}, false
}

// nextMerge returns where in the runs, the oldest first, fanIn stand that are merged next: of one tier, and one going on
// where the other ends. Low tiers come first: they are the cheap ones.
func (z runSizes) nextMerge(runs []RunInfo) (first int, found bool) {
	best, first, same := 0, 0, 0
	for i, r := range runs {
		tier := z.tier(r)
		if i > 0 && tier == z.tier(runs[i-1]) && r.place().After == runs[i-1].place().Upto {
			same++
		} else {
			same = 1
		}
		if same >= z.fanIn && (!found || tier < best) {
			best, first, found = tier, i+1-z.fanIn, true
			same = 0
		}
	}
	return first, found
}

// tier is the logarithm of a run's size: one that is merged from fanIn others stands one tier higher.
func (z runSizes) tier(r RunInfo) int {
	tier, size := 0, r.place().Len()/z.unit()
	for size >= uint64(z.fanIn) {
		size /= uint64(z.fanIn)
		tier++
	}
	return tier
}
