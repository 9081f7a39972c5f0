package seen

import (
	"fmt"
	"iter"
)

// Compact returns a filter of one layer made for items keys, with the seed, the error and the cap of s, that holds hashes:
// those of the log that were called new, in their order. A key then probes one line however long the chain was, and takes
// fewer bits. Room for twice what s holds spares the next layer for a while. Hashes past items open further layers.
//
// It reads nothing of s but its settings, so s may be added to meanwhile: the log has those keys too, for Add. Until s is
// dropped both take memory, each up to the cap. The error is ErrTooLarge where the cap is below the one layer, or what
// hashes yields.
func (s *Scalable) Compact(items uint64, hashes iter.Seq2[uint64, error]) (*Scalable, error) {
	c := s.cfg
	c.ExpectedItems = max(items, minFirstItems)
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("%w: compact: %w", ErrTooLarge, err)
	}
	one, err := NewScalable(c)
	if err != nil {
		return nil, err
	}
	batch := make([]uint64, 0, batchKeys)
	for h, err := range hashes {
		if err != nil {
			return nil, fmt.Errorf("seen: compact: %w", err)
		}
		if batch = append(batch, h); len(batch) == cap(batch) {
			one.Add(batch)
			batch = batch[:0]
		}
	}
	one.Add(batch)
	return one, nil
}
