package seen

import (
	"math/bits"
	"slices"
)

// hashSet is a set of hashes in memory: open addressing, at most half full. The place is a product with mix, so that
// hashes that are no random numbers do not pile up either.
type hashSet struct {
	slots []uint64 // a power of two; 0 is empty
	shift int
	n     int
	zero  bool // holds the hash 0
}

const minSlots = 1 << 10

func slotsFor(n int) int { return max(minSlots, 1<<bits.Len(uint(max(2*n-1, 1)))) }

// reset empties the set and makes room for n hashes.
func (s *hashSet) reset(n int) {
	size := slotsFor(n)
	s.slots = slices.Grow(s.slots[:0], size)[:size]
	clear(s.slots)
	s.shift = 64 - bits.Len(uint(size-1))
	s.n, s.zero = 0, false
}

// reserve makes room for n hashes more.
func (s *hashSet) reserve(n int) {
	if size := slotsFor(s.n + n); size > len(s.slots) {
		old := *s
		*s = hashSet{zero: old.zero}
		s.slots = make([]uint64, size)
		s.shift = 64 - bits.Len(uint(size-1))
		for _, h := range old.slots {
			if h != 0 {
				s.add(h)
			}
		}
		s.n = old.n
	}
}

// slot returns where h is, or where it would be.
func (s *hashSet) slot(h uint64) int {
	for i := int(h * mix >> s.shift); ; i = (i + 1) & (len(s.slots) - 1) {
		if s.slots[i] == h || s.slots[i] == 0 {
			return i
		}
	}
}

func (s *hashSet) has(h uint64) bool {
	if h == 0 {
		return s.zero
	}
	return s.n > 0 && s.slots[s.slot(h)] == h
}

// add adds h, for which room was made, and reports whether it is new.
func (s *hashSet) add(h uint64) bool {
	if h == 0 {
		fresh := !s.zero
		s.zero = true
		if fresh {
			s.n++
		}
		return fresh
	}
	i := s.slot(h)
	if s.slots[i] == h {
		return false
	}
	s.slots[i] = h
	s.n++
	return true
}

// appendTo appends all hashes, in no order.
func (s *hashSet) appendTo(dst []uint64) []uint64 {
	dst = slices.Grow(dst, s.n)
	if s.zero {
		dst = append(dst, 0)
	}
	for _, h := range s.slots {
		if h != 0 {
			dst = append(dst, h)
		}
	}
	return dst
}
