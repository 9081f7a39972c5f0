package seen

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// numbered returns a hash for each number, another for every other: so a set of any size needs no list of its hashes.
func numbered(i int) uint64 { return splitMix(uint64(i)) }

// recorded is a look-up over a map, which notes what it is asked for.
type recorded struct {
	known map[uint64]bool
	finds [][]uint64
	err   error
}

func (r *recorded) Find(hashes []uint64, found []bool) error {
	r.finds = append(r.finds, slices.Clone(hashes))
	for i, h := range hashes {
		found[i] = r.known[h]
	}
	return r.err
}

// overRecorded returns an exact set that may err a lot in front, and its look-up, which both know some hashes.
func overRecorded(t *testing.T, known []uint64) (*Exact, *recorded) {
	t.Helper()
	front := mustScalable(t, Config{FalsePositiveRate: 0.5, ExpectedItems: 1000, Seed: 1})
	behind := &recorded{known: map[uint64]bool{}}
	front.Add(known)
	for _, h := range known {
		behind.known[h] = true
	}
	return NewExact(front, behind), behind
}

// maybesOf returns n hashes that the front takes for seen, and n that it does not.
func maybesOf(e *Exact, n int) (maybes, fresh []uint64) {
	for h := range hashStream(77, 1<<20) {
		switch {
		case e.front.has(h) && len(maybes) < n:
			maybes = append(maybes, h)
		case !e.front.has(h) && len(fresh) < n:
			fresh = append(fresh, h)
		}
	}
	return maybes, fresh
}

// One batch is one look-up of all its maybes, a repeated hash is new once, and the front's mistakes are caught.
func TestExactBatch(t *testing.T) {
	known := randomHashes(1, 900)
	e, behind := overRecorded(t, known)
	maybes, fresh := maybesOf(e, 2)
	batch := []uint64{known[0], fresh[0], maybes[0], known[1], fresh[0], maybes[0], fresh[1], known[0]}
	was := make([]bool, len(batch))
	if err := e.TestAndAddBatch(batch, was); err != nil {
		t.Fatal(err)
	}
	if want := []bool{true, false, false, true, true, true, false, true}; !slices.Equal(was, want) {
		t.Errorf("was %v, want %v", was, want)
	}
	if want := [][]uint64{{known[0], maybes[0], known[1], maybes[0], known[0]}}; !slices.EqualFunc(behind.finds, want, slices.Equal) {
		t.Errorf("looked up %x, want %x", behind.finds, want)
	}
	if got, want := e.LookupStats(), (LookupStats{Asked: 8, Maybes: 5, FalsePositives: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if e.Len() != 903 || e.front.Len() != 903 {
		t.Errorf("%d hashes, %d in front, want 903", e.Len(), e.front.Len())
	}
	// What was added or confirmed is in the cache: it needs no look-up.
	if err := e.HasBatch(batch, was); err != nil || slices.Contains(was, false) || len(behind.finds) != 1 {
		t.Errorf("again: %v, %v, %d look-ups", was, err, len(behind.finds))
	}
	if got := e.LookupStats().Cached; got != 8 {
		t.Errorf("%d from the cache, want 8", got)
	}
}

// An error of the look-up is passed on, and nothing was added, neither here nor there.
func TestExactError(t *testing.T) {
	known := randomHashes(1, 900)
	e, behind := overRecorded(t, known)
	_, fresh := maybesOf(e, 2)
	behind.err = errors.New("no disk")
	was := make([]bool, 3)
	if err := e.TestAndAddBatch([]uint64{fresh[0], known[0], fresh[1]}, was); !errors.Is(err, behind.err) {
		t.Errorf("error %v", err)
	}
	if _, err := e.Has(known[0]); !errors.Is(err, behind.err) {
		t.Errorf("Has: error %v", err)
	}
	if _, err := e.TestAndAdd(known[0]); !errors.Is(err, behind.err) {
		t.Errorf("TestAndAdd: error %v", err)
	}
	if e.Len() != 900 {
		t.Errorf("%d hashes, want 900", e.Len())
	}
	behind.err = nil
	for _, h := range fresh {
		if was, err := e.TestAndAdd(h); was || err != nil {
			t.Errorf("%v, %v after a failed batch that had it", was, err)
		}
	}
	if err := e.TestAndAddBatch(fresh, was); err == nil {
		t.Error("two hashes and three answers: no error")
	}
	if err := errors.Join(e.Sync(), e.Close()); err != nil {
		t.Error(err)
	}
}

// The error says how likely two keys with one hash are, and nothing of the front's.
func TestExactRate(t *testing.T) {
	e, _ := overRecorded(t, randomHashes(1, 1<<12))
	if got := e.Rate(); got != 1.0/(1<<52) {
		t.Errorf("rate %g", got)
	}
	st := e.Stats()
	if st.Kind != KindExact || st.Rate != e.Rate() || st.Items != 1<<12 || st.Capped || st.Bytes <= e.front.Stats().Bytes {
		t.Errorf("%+v", st)
	}
}

// Popular hashes stay in the cache while others pass through it.
func TestHashCache(t *testing.T) {
	c := newHashCache()
	popular := randomHashes(1, 20_000)
	r := rand.New(rand.NewPCG(3, 4))
	met, hits := 0, 0
	for i, h := range randomHashes(2, 2_000_000) {
		if i%2 == 0 {
			h = popular[min(r.IntN(len(popular)), r.IntN(len(popular)))]
			met++
			if c.has(h) {
				hits++
				continue
			}
		}
		c.put(h)
		if !c.has(h) {
			t.Fatal("does not hold what it was just given")
		}
	}
	if share := float64(hits) / float64(met); share < 0.9 {
		t.Errorf("%.2f of the popular hashes are found, want 0.9", share)
	}
	if c.has(0) || c.has(12345) {
		t.Error("holds what it was not given")
	}
}

func TestExactAllocates(t *testing.T) {
	e, err := OpenExact(t.TempDir(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	hashes, was := randomHashes(1, 20_000), make([]bool, 20_000)
	if err := e.TestAndAddBatch(hashes, was); err != nil {
		t.Fatal(err)
	}
	if err := e.Sync(); err != nil { // now they are looked up on the disk
		t.Fatal(err)
	}
	e.cache = newHashCache()
	next := randomHashes(2, 40_000)
	batch := make([]uint64, 64)
	if n := testing.AllocsPerRun(300, func() {
		copy(batch, hashes)
		copy(batch[58:], next)
		hashes, next = hashes[60:], next[6:]
		e.TestAndAddBatch(batch, was[:64])
		e.HasBatch(batch, was[:64])
		e.Has(hashes[0])
		e.TestAndAdd(next[0])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if st := e.LookupStats(); st.PagesRead == 0 {
		t.Errorf("%+v: nothing was looked up", st)
	}
}
