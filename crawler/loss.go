package crawler

import "encoding/binary"

// loss is what the crawl can say about pages that the filter made it skip. Both sums are part of every checkpoint: they
// cannot be counted again.
type loss struct {
	// Expected is the sum over all admissions of p/(1-p), p being the filter's error at that moment: the expected number
	// of new URLs that were taken for seen.
	Expected float64 `json:"expected"`
	Sampled  uint64  `json:"sampled"` // distinct hashes of the shadow sample
	Wrong    uint64  `json:"wrong"`   // of these, how many the filter called seen when they were new
}

// fullRate is the greatest error that counts. A filter that is full calls everything seen, and the sum would be infinite,
// which no checkpoint can hold.
const fullRate = 0.999

func (l *loss) admitted(rate float64) {
	rate = min(rate, fullRate)
	l.Expected += rate / (1 - rate)
}

// measured is the filter's error over the whole crawl, as the shadow sample saw it.
func (l *loss) measured() float64 {
	if l.Sampled == 0 {
		return 0
	}
	return float64(l.Wrong) / float64(l.Sampled)
}

// shadow is an exact set of all hashes offered in 1/1024 of the hash space: the measure of the filter's error.
type shadow struct {
	hashes map[uint64]struct{}
	fresh  []uint64 // since the last checkpoint, which keeps them as a row
}

// inSample picks 1/1024 of the hash space. It remixes the hash, since the filter places a key by its high bits: a sample
// by those alone would look at one corner of each layer.
func inSample(h uint64) bool { return h*0xd6e8feb86659fd93>>(64-10) == 0 }

func newShadow() *shadow { return &shadow{hashes: make(map[uint64]struct{})} }

// restore takes back hashes that a checkpoint keeps.
func (s *shadow) restore(kept []byte) {
	for ; len(kept) >= 8; kept = kept[8:] {
		s.hashes[binary.LittleEndian.Uint64(kept)] = struct{}{}
	}
}

// offer compares the filter's answer with the exact one.
func (s *shadow) offer(h uint64, calledSeen bool, l *loss) {
	if !inSample(h) {
		return
	}
	if _, ok := s.hashes[h]; ok {
		return
	}
	s.hashes[h] = struct{}{}
	s.fresh = append(s.fresh, h)
	l.Sampled++
	if calledSeen {
		l.Wrong++
	}
}
