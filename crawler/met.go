package crawler

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"crawl/seen"
	"crawl/store"
)

// met answers which URLs the crawl has met, and takes in those that it admits: by the filter alone, whose yes is probable, or
// with all admitted hashes on disk behind it, where a yes is certain too. It belongs to the holder of the committer's
// lock, but for syncTo.
//
// What is on disk behind the filter is made from the admission log, and never ahead of the log that a kill leaves: a hash
// there without its URL in the log would be a page lost.
type met struct {
	filter *seen.Scalable // saved with the checkpoints
	exact  *seen.Exact    // nil: the filter's word is final

	syncing sync.Mutex   // held by syncTo, and while behind changes
	behind  *seen.Hashes // of exact
	dir     string       // of behind
	gather  int          // so many hashes are worth a run there; 0: as many as it thinks fit
}

// exactDir is the folder of a crawl's directory that holds the hashes behind the filter.
const exactDir = "exact"

func newMet(crawlDir string) *met { return &met{dir: filepath.Join(crawlDir, exactDir)} }

// certain reports whether what is called seen was met for sure, but for two URLs with one 64-bit hash.
func (m *met) certain() bool { return m.exact != nil }

// testAndAdd tests hashes, and takes in those that are new: they are admitted in this order.
func (m *met) testAndAdd(hashes []uint64, was []bool) error {
	if m.exact == nil {
		return m.filter.TestAndAddBatch(hashes, was)
	}
	if err := m.exact.TestAndAddBatch(hashes, was); err != nil {
		return err
	}
	for i, h := range hashes {
		if !was[i] {
			m.behind.Add(h)
		}
	}
	return nil
}

// add takes in the hash of a URL that is admitted although the filter takes it for seen: one hash an admission, in their
// order.
func (m *met) add(hash uint64) {
	m.filter.Add([]uint64{hash})
	if m.exact != nil {
		m.behind.Add(hash)
	}
}

// has reports whether a link with that hash would be taken for seen.
func (m *met) has(hash uint64) (bool, error) { return m.asked().Has(hash) }

// hasBatch does has for each hash.
func (m *met) hasBatch(hashes []uint64, has []bool) error {
	if m.exact != nil {
		return m.exact.HasBatch(hashes, has)
	}
	return m.filter.HasBatch(hashes, has)
}

// rate is the chance that a new URL is taken for seen, now.
func (m *met) rate() float64 { return m.asked().Rate() }

func (m *met) asked() seen.Filter {
	if m.exact != nil {
		return m.exact
	}
	return m.filter
}

// view is what a snapshot says of it, apart from what was lost.
func (m *met) view() FilterView {
	s := m.filter.Stats()
	v := FilterView{
		Kind: string(s.Kind), Items: s.Items, Layers: s.Layers, Bits: s.Bits, Bytes: s.Bytes,
		Fill: s.Fill, TargetRate: s.TargetRate, Rate: m.rate(), Capped: s.Capped,
	}
	if m.exact != nil {
		looked := m.exact.LookupStats()
		v.Kind, v.Lookups, v.Caught = string(seen.KindExact), looked.Maybes, looked.FalsePositives
	}
	return v
}

// syncTo makes the first n hashes durable behind the filter, as far as that is worth it. The log that is durable holds as
// many. It may be called beside everything else.
func (m *met) syncTo(n uint64) error {
	m.syncing.Lock()
	defer m.syncing.Unlock()
	if m.behind == nil {
		return nil
	}
	err := m.behind.SyncTo(n)
	if err != nil && !errors.Is(err, seen.ErrDamaged) {
		return &store.WriteError{File: m.dir, Err: err}
	}
	return err
}

// open puts the hashes on disk behind the filter, and adds those that the log has beyond them. What is there and cannot be
// used is damaged, or of another state of the crawl (ErrDamaged).
func (m *met) open(log *store.AdmissionLog) error {
	behind, err := seen.OpenHashes(m.dir, m.filter.Header().Config.Seed)
	if err != nil {
		return err
	}
	if m.gather > 0 {
		behind.Gather(m.gather)
	}
	if behind.Len() > log.Len() {
		return errors.Join(fmt.Errorf("%w: it holds %d hashes, the log %d", seen.ErrDamaged, behind.Len(), log.Len()), behind.Close())
	}
	if err := follow(behind, log); err != nil {
		return errors.Join(err, behind.Close())
	}
	m.syncing.Lock()
	defer m.syncing.Unlock()
	m.behind = behind
	m.exact = seen.NewExact(m.filter, behind)
	return nil
}

// follow adds the hashes that the log has beyond those in the set. A folder that was put back from another state of the crawl
// is told by the sum of its hashes: one that has a hash that the log has not would lose a page, and one that lacks a hash
// would have a page fetched twice. Reading all hashes of the log costs 8 bytes of the disk for each.
func follow(set *seen.Hashes, log *store.AdmissionLog) error {
	have := set.Len()
	var sum uint64
	err := log.EachHashes(1, func(first uint64, hashes []uint64) error {
		known := min(uint64(len(hashes)), have-min(have, first-1))
		for _, h := range hashes[:known] {
			sum += h
		}
		set.Add(hashes[known:]...)
		return nil
	})
	if err == nil && sum != set.Sum() {
		err = fmt.Errorf("%w: its %d hashes are not those of the first URLs: it is of another state of the crawl", seen.ErrDamaged, have)
	}
	return err
}

// remake makes what is behind the filter again from the log.
func (m *met) remake(log *store.AdmissionLog) error {
	if err := errors.Join(m.close(), os.RemoveAll(m.dir)); err != nil {
		return err
	}
	return m.open(log)
}

// close drops what is not synced: the log has it.
func (m *met) close() error {
	m.syncing.Lock()
	defer m.syncing.Unlock()
	if m.behind == nil {
		return nil
	}
	err := m.behind.Close()
	m.behind, m.exact = nil, nil
	return err
}
