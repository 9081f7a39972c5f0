package seen

import (
	"io"
	"math"
)

// KindExact is the kind of *Exact.
const KindExact Kind = "exact"

// Lookup answers for hashes without error, but for two keys with one hash.
type Lookup interface {
	// Find sets found, which is as long as hashes, to whether each hash is there. Hashes may repeat, and come in any
	// order. On an error found says nothing.
	Find(hashes []uint64, found []bool) error
}

// Exact is a set of hashes without false positives: a filter in front spares the look-up for nearly all that is not
// there, a small cache spares it for popular keys, and what is left, "maybe", is looked up, all of a batch together. Its
// only error is two keys with one 64-bit hash: Len/2^64 for each new key, 0.03 expected among 10^9 keys.
//
// The price is the look-up of what is there. Batches are what makes it cheap: of a page's links, or of a second's.
//
// There are two uses. Over a look-up that exists already (NewExact), Exact keeps nothing but the filter and the cache:
// whoever adds makes the look-up know it. With runs of its own on the disk (OpenExact) it is all that is needed.
//
// It has one owner: only Hash and HashString are safe for concurrent use.
type Exact struct {
	front  *Scalable
	behind Lookup
	own    *hashRuns // behind, when it is to be told what is new; or nil
	cache  hashCache
	counts LookupStats

	// Of a batch; reused.
	maybes []uint64
	places []int // of maybes in the batch
	found  []bool
	added  []uint64
	met    hashSet
	one    [1]uint64
	oneWas [1]bool
}

var _ Filter = (*Exact)(nil)

// LookupStats says what an Exact spared and what it cost, since it was made. Of Asked, those that are neither Cached nor
// Maybes were new for certain, by the front alone.
type LookupStats struct {
	Asked          uint64 // hashes
	Cached         uint64 // found in the cache
	Maybes         uint64 // looked up
	FalsePositives uint64 // looked up and not there: what the front alone would have taken for seen

	// Of OpenExact; zero over a look-up of others.
	PagesRead uint64
	Runs      int
	DiskBytes int64  // of all runs; while some are being merged, up to as much again
	Unsynced  uint64 // hashes that are not durable yet
}

// NewExact puts front before behind. Front holds all that behind knows, or more: what it does not hold is new without a
// look-up. TestAndAdd and TestAndAddBatch add what is new to front and to nothing else: before the next call, the caller
// makes behind know it. So a crawl writes each new hash to its log once, for itself, and behind reads that log.
//
// Front may be saved and restored as ever, and may be asked by others meanwhile as its own doc says. Nobody else adds to
// it.
func NewExact(front *Scalable, behind Lookup) *Exact {
	return &Exact{front: front, behind: behind, cache: newHashCache()}
}

// Hash returns the keyed hash of the front.
func (e *Exact) Hash(key []byte) uint64 { return e.front.Hash(key) }

// HashString is Hash of the string's bytes.
func (e *Exact) HashString(key string) uint64 { return e.front.HashString(key) }

// Has reports whether h is there. The error is the look-up's.
func (e *Exact) Has(h uint64) (bool, error) {
	e.one[0] = h
	err := e.ask(e.one[:], e.oneWas[:])
	return e.oneWas[0], err
}

// HasBatch does Has for each hash, all look-ups at once.
func (e *Exact) HasBatch(hashes []uint64, has []bool) error {
	if err := checkBatch(hashes, has); err != nil {
		return err
	}
	return e.ask(hashes, has)
}

// TestAndAdd reports whether h was there before, and adds it if not. On an error, which is the look-up's or the disk's,
// nothing was added.
func (e *Exact) TestAndAdd(h uint64) (was bool, err error) {
	e.one[0] = h
	err = e.TestAndAddBatch(e.one[:], e.oneWas[:])
	return e.oneWas[0], err
}

// TestAndAddBatch does TestAndAdd for each hash in order, with one look-up for all of them. On an error nothing was added.
func (e *Exact) TestAndAddBatch(hashes []uint64, was []bool) error {
	if err := checkBatch(hashes, was); err != nil {
		return err
	}
	if err := e.ask(hashes, was); err != nil {
		return err
	}
	e.pickNew(hashes, was)
	if len(e.added) == 0 {
		return nil
	}
	if e.own != nil {
		if err := e.own.room(len(e.added)); err != nil {
			return err
		}
		e.own.add(e.added)
	}
	e.front.Add(e.added)
	for _, h := range e.added {
		e.cache.put(h)
	}
	return nil
}

// pickNew gathers in added the hashes that were not there, each once, and sets was for those that the batch repeats.
func (e *Exact) pickNew(hashes []uint64, was []bool) {
	e.added = e.added[:0]
	for i, h := range hashes {
		if !was[i] {
			e.added = append(e.added, h)
		}
	}
	if len(e.added) < 2 {
		return
	}
	e.met.reset(len(e.added))
	e.added = e.added[:0]
	for i, h := range hashes {
		switch {
		case was[i]:
		case e.met.add(h):
			e.added = append(e.added, h)
		default:
			was[i] = true
		}
	}
}

// ask sets has for the hashes that are there.
func (e *Exact) ask(hashes []uint64, has []bool) error {
	e.maybes, e.places = e.maybes[:0], e.places[:0]
	for at := 0; at < len(hashes); at += batchKeys {
		n := min(len(hashes)-at, batchKeys)
		e.sieve(at, hashes[at:at+n], has[at:at+n])
	}
	e.counts.Asked += uint64(len(hashes))
	e.counts.Maybes += uint64(len(e.maybes))
	if len(e.maybes) == 0 {
		return nil
	}
	if cap(e.found) < len(e.maybes) {
		e.found = make([]bool, cap(e.maybes))
	}
	found := e.found[:len(e.maybes)]
	if err := e.behind.Find(e.maybes, found); err != nil {
		return err
	}
	for i, h := range e.maybes {
		if !found[i] {
			e.counts.FalsePositives++
			continue
		}
		has[e.places[i]] = true
		if !e.cache.has(h) { // the batch may repeat it
			e.cache.put(h)
		}
	}
	return nil
}

// sieve answers for the hashes that the cache holds or the front has not, and gathers the others in maybes. The batch
// has at most batchKeys of them, and they begin at place at.
func (e *Exact) sieve(at int, hashes []uint64, has []bool) {
	front := e.front.ask(hashes)
	for i, h := range hashes {
		has[i] = e.cache.has(h)
		if has[i] {
			e.counts.Cached++
		} else if front>>i&1 != 0 {
			e.maybes = append(e.maybes, h)
			e.places = append(e.places, at+i)
		}
	}
}

// Len returns the number of hashes there.
func (e *Exact) Len() uint64 { return e.front.Len() }

// Rate returns the chance that a key never added has the hash of one that was: Len/2^64, as of random hashes. What is proved
// for any keys is three times that.
func (e *Exact) Rate() float64 { return collisionRate(e.Len()) }

func collisionRate(keys uint64) float64 { return math.Ldexp(float64(keys), -64) }

// Stats says what the front holds and what all costs in memory. Its Rate is that of Exact: the front's own decides only
// how often a new key is looked up.
func (e *Exact) Stats() Stats {
	st := e.front.Stats()
	st.Kind = KindExact
	st.Rate = e.Rate()
	st.Capped = false
	st.Bytes += e.cache.bytes()
	if e.own != nil {
		st.Bytes += e.own.memory()
	}
	return st
}

// LookupStats says what was looked up.
func (e *Exact) LookupStats() LookupStats {
	st := e.counts
	if e.own != nil {
		st.PagesRead = e.own.reader.reads
		st.Runs = len(e.own.runs)
		st.DiskBytes = e.own.bytes()
		st.Unsynced = uint64(e.own.fresh.n)
	}
	return st
}

// WriteTo writes the front alone, in the form that Read reads: a filter that errs. Where the exact set is wanted again,
// it is in the look-up.
func (e *Exact) WriteTo(w io.Writer) (int64, error) { return e.front.WriteTo(w) }
