package seen

// Stats says what a filter holds, what it costs and how wrong it is.
type Stats struct {
	Kind       Kind
	Items      uint64  // hashes added
	Capacity   uint64  // hashes it was made for, so far
	Layers     int     // filters in the chain
	Bits       uint64  // allocated, in all layers
	Bytes      int64   // the same in bytes
	Fill       float64 // share of the bits that are set
	TargetRate float64 // Config.FalsePositiveRate
	Rate       float64 // chance that a key never added is called seen, now
	// Capped: it holds more than it was made for, and does not grow (any more): of a chain, Config.MaxBytes allowed no
	// further layer. Rate may be above TargetRate.
	Capped   bool
	PerLayer []LayerStats // oldest first
}

// LayerStats is one layer of a chain.
type LayerStats struct {
	Base     uint64 // hashes in the layers before it
	Items    uint64 // hashes in it
	Capacity uint64 // hashes it was made for
	K        int    // bits a hash
	Bytes    int64
	Fill     float64 // share of the bits that are set
	Rate     float64 // its own part of the error, now
}

// Stats takes no longer than a walk over the layers: no bit is counted.
func (s *Scalable) Stats() Stats {
	layers := s.layers()
	newest := layers[len(layers)-1]
	st := Stats{
		Kind:       KindScalable,
		Items:      newest.end(),
		Layers:     len(layers),
		TargetRate: s.cfg.FalsePositiveRate,
		Rate:       rateOfChain(layers),
		Capped:     newest.count.Load() > newest.capacity,
		PerLayer:   make([]LayerStats, 0, len(layers)),
	}
	var ones uint64
	for _, l := range layers {
		st.Capacity += l.capacity
		ones += l.ones.Load()
		st.Bytes += l.bytes()
		st.PerLayer = append(st.PerLayer, LayerStats{
			Base: l.base, Items: l.count.Load(), Capacity: l.capacity, K: l.k,
			Bytes: l.bytes(),
			Fill:  float64(l.ones.Load()) / float64(l.lines*lineBits),
			Rate:  l.present(),
		})
	}
	st.Bits = uint64(st.Bytes) * 8
	st.Fill = float64(ones) / float64(st.Bits)
	return st
}
