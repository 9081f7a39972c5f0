package store

import (
	"encoding/binary"
	"slices"
)

// Find returns the numbers of those hashes that were admitted: of each its first admission. What is not in the result was
// never admitted, whatever a filter says. It looks into each hash run, a few dozen, by a seek for each hash, and reads
// the hash column of what no run holds yet, 262,144 admissions at most where background work keeps up.
func (s *Store) Find(hashes []uint64) (map[uint64]uint64, error) { return s.views().find(hashes) }

// find looks again when a run was found damaged: that run has left the set, and the log says what it said.
func (v views) find(hashes []uint64) (found map[uint64]uint64, err error) {
	err = v.runs.aroundDamage(func() error { found, err = v.tryFind(hashes); return err })
	return found, err
}

func (v views) tryFind(hashes []uint64) (map[uint64]uint64, error) {
	f := newHashFinder(hashes)
	runs := v.runs.newest(HashRun)
	defer v.runs.release(runs)
	blocks := &v.admissions.blocks.blockReader
	at := uint64(0)
	for _, r := range slices.Backward(runs) { // the first admission counts
		if err := f.inBlocks(blocks, Span{at, r.Admissions.After}); err != nil {
			return nil, err
		}
		if err := f.inRun(r); err != nil {
			return nil, v.runs.leave(r, err)
		}
		at = r.Admissions.Upto
	}
	full := v.admissions.blocks.fullEntries()
	if err := f.inBlocks(blocks, Span{at, full}); err != nil {
		return nil, err
	}
	f.inColumn(v.admissions.tail.hashes, full)
	return f.found, nil
}

// hashFinder looks for hashes in one part of the log after another, in the order of the log.
type hashFinder struct {
	wanted []uint64          // sorted, and not found yet
	found  map[uint64]uint64 // first admissions
	sieve  [1 << 10]uint64   // a bit for the first 16 bits of each hash that was ever wanted: few others pass
}

func newHashFinder(hashes []uint64) *hashFinder {
	f := &hashFinder{wanted: slices.Compact(slices.Sorted(slices.Values(hashes))), found: make(map[uint64]uint64)}
	for _, h := range f.wanted {
		f.sieve[h>>54] |= 1 << (h >> 48 & 63)
	}
	return f
}

func (f *hashFinder) inRun(r *run) error {
	c := newPairCursor(r)
	var left []uint64
	for _, h := range f.wanted {
		seq, found, err := c.find(h)
		if err != nil {
			return err
		}
		if found {
			f.found[h] = seq
		} else {
			left = append(left, h)
		}
	}
	f.wanted = left
	return nil
}

// inBlocks looks through the hash column of full blocks.
func (f *hashFinder) inBlocks(blocks *blockReader, span Span) error {
	for at := span.After; at < span.Upto && len(f.wanted) > 0; at += BlockEntries {
		raw, err := blocks.readRaw(int(at / BlockEntries))
		if err != nil {
			return err
		}
		f.inColumn(raw, at)
	}
	return nil
}

// inColumn looks through hashes, 8 bytes each, of the admissions after the given one.
func (f *hashFinder) inColumn(raw []byte, after uint64) {
	met := false
	for i := 0; i+8 <= len(raw); i += 8 {
		h := binary.LittleEndian.Uint64(raw[i:])
		if f.sieve[h>>54]&(1<<(h>>48&63)) == 0 {
			continue
		}
		if _, wanted := slices.BinarySearch(f.wanted, h); !wanted {
			continue
		}
		if _, again := f.found[h]; !again {
			f.found[h], met = after+uint64(i/8)+1, true
		}
	}
	if met {
		f.wanted = slices.DeleteFunc(f.wanted, func(h uint64) bool { _, found := f.found[h]; return found })
	}
}
