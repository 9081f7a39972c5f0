package seen

import "slices"

// Hashes is a set of hashes on disk that follows a log: what NewExact looks behind its filter for, where a log says in
// which order keys were added and is durable by itself.
//
// What is on the disk is always the first so many of the hashes that were added, and SyncTo says how many may be. So a log
// that is cut back, after a kill, to what it held when SyncTo was last called for it has no fewer hashes than the disk.
// Opened again, the set holds those, and the log adds the others again, from Len on.
//
// The price is memory for what is not on the disk yet: 40 bytes a hash at worst, for 2^18 hashes and for what is added
// from one SyncTo to the next.
//
// Find, Add and Len are one owner's. SyncTo is for one goroutine at a time, and may be called beside them: they do not
// wait for the disk on its account.
type Hashes struct {
	own     *hashRuns
	added   []uint64 // in no run yet, in the order of Add; guarded by own.mu
	durable uint64   // hashes in runs; guarded by own.mu
	gather  uint64   // SyncTo writes nothing for fewer
}

// gatheredKeys is how many hashes are worth a run.
const gatheredKeys = 1 << 18

// OpenHashes opens the set in the folder dir, or makes an empty one there. seed is the hash's: hashes of another one have
// nothing to do with these (ErrMismatch). A folder that is damaged (ErrDamaged, ErrFormat) is to be removed, and all to be
// added again. One set at a time has it open (ErrLocked).
func OpenHashes(dir string, seed uint64) (*Hashes, error) { return openHashes(dir, seed, nil) }

func openHashes(dir string, seed uint64, before func(step, file string) error) (*Hashes, error) {
	own, err := openHashRuns(dir, Config{Seed: seed}, before)
	if err != nil {
		return nil, err
	}
	return &Hashes{own: own, durable: keysOf(own.runs), gather: gatheredKeys}, nil
}

// Gather has SyncTo write once n hashes have gathered, rather than 2^18: fewer take less memory and more merging.
func (s *Hashes) Gather(n int) { s.gather = uint64(max(n, 1)) }

// Find sets found, which is as long as hashes, to whether each hash was added. The error is the disk's, or ErrDamaged with
// file and byte.
func (s *Hashes) Find(hashes []uint64, found []bool) error { return s.own.Find(hashes, found) }

// Add adds hashes that are not there, in their order.
func (s *Hashes) Add(hashes ...uint64) {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	s.own.fresh.reserve(len(hashes))
	s.own.add(hashes)
	s.added = append(s.added, hashes...)
}

// Len returns the number of hashes that were added.
func (s *Hashes) Len() uint64 {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	return s.durable + uint64(len(s.added))
}

// Durable returns how many of them are on the disk for good: the first ones.
func (s *Hashes) Durable() uint64 {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	return s.durable
}

// Sum returns the sum, modulo 2^64, of the hashes that are on the disk for good. Where it is that of the log's first
// Durable hashes, they are the same ones: those of another state of the log, as many, have another sum, but for one case
// in 2^64.
func (s *Hashes) Sum() uint64 {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	var sum uint64
	for _, p := range s.own.runs {
		sum += p.total
	}
	return sum
}

// SyncTo makes hashes durable, up to the n-th and none beyond, if enough have gathered to be worth it; and has runs
// merged. After an error, which may be that of a merge that began earlier, nothing is lost.
func (s *Hashes) SyncTo(n uint64) error {
	head := s.upTo(n)
	changed, err := s.own.takeIn(slices.Clone(head))
	if !changed {
		return err
	}
	s.wrote(len(head))
	s.own.merge()
	return nil
}

// upTo returns the hashes that are to be written. They stay where they are: only SyncTo takes them away.
func (s *Hashes) upTo(n uint64) []uint64 {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	if n < s.durable+s.gather {
		return nil
	}
	return s.added[:min(n-s.durable, uint64(len(s.added)))]
}

// wrote notes that the first n hashes that were in memory are in runs now.
func (s *Hashes) wrote(n int) {
	r := s.own
	r.mu.Lock()
	defer r.mu.Unlock()
	s.durable += uint64(n)
	s.added = slices.Clone(s.added[n:])
	r.fresh.reset(len(s.added))
	r.add(s.added)
}

// Close lets go of the folder. Unlike Exact.Close, which has nothing but its folder to go on from, it makes nothing durable:
// that is the log's to allow, by SyncTo. A hash on the disk whose key a kill cuts off the log would be a key lost; one that
// is dropped here comes again from the log.
func (s *Hashes) Close() error { return s.own.letGo() }
