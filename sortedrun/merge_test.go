package sortedrun

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// mergeModel is what a merge of the parts shows: for each key the entry of the first part that has it.
func mergeModel(parts [][]entry) (entries []entry, sources []int) {
	type sourced struct {
		entry
		source int
	}
	var all []sourced
	for i, part := range parts {
		for _, e := range part {
			all = append(all, sourced{e, i})
		}
	}
	slices.SortStableFunc(all, func(a, b sourced) int { return bytes.Compare(a.key, b.key) })
	for i, s := range all {
		if i == 0 || !bytes.Equal(all[i-1].key, s.key) {
			entries, sources = append(entries, s.entry), append(sources, s.source)
		}
	}
	return entries, sources
}

func mergeOf(t *testing.T, o Options, parts [][]entry) *Merged {
	cursors := make([]*Cursor, len(parts))
	for i, part := range parts {
		cursors[i] = open(t, build(t, o, part)).Seek(nil)
	}
	return Merge(cursors...)
}

// A merge shows every key once, with the entry of the first run that has it, and says which run that is.
func TestMerge(t *testing.T) {
	for _, o := range []Options{{}, {BlockBytes: 200}, {BlockBytes: 200, Compress: true}} {
		for k := range 18 {
			t.Run(fmt.Sprintf("%+v/%d", o, k), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(9, uint64(k)))
				parts := make([][]entry, k)
				for i := range parts {
					parts[i] = randomEntries(rng, rng.IntN(300)) // short keys: many are in several parts
					if rng.IntN(5) == 0 {
						parts[i] = nil
					}
				}
				want, sources := mergeModel(parts)
				m := mergeOf(t, o, parts)
				for i, e := range want {
					if !m.Next() || !bytes.Equal(m.Key(), e.key) || !bytes.Equal(m.Value(), e.value) || m.Source() != sources[i] {
						t.Fatalf("entry %d: %x of %d, want %x of %d (%v)", i, m.Key(), m.Source(), e.key, sources[i], m.Err())
					}
				}
				checkWalk(t, m, nil, 1)
				for range 100 {
					key := randomKey(rng)
					m.Seek(key)
					checkWalk(t, m, from(want, key), rng.IntN(5))
				}
				m.Seek(nil)
				checkWalk(t, m, want, len(want)+1)
			})
		}
	}
}

// Runs of which all have the same keys cost their entries and show the first's.
func TestMergeSame(t *testing.T) {
	entries := randomEntries(rand.New(rand.NewPCG(1, 2)), 500)
	parts := make([][]entry, 5)
	for i := range parts {
		for _, e := range entries {
			parts[i] = append(parts[i], entry{e.key, []byte{byte(i)}, []byte{byte(i), 'n'}})
		}
	}
	m := mergeOf(t, Options{}, parts)
	checkWalk(t, m, parts[0], len(entries)+1)
}

// A merge ends where one of its runs cannot be read: what would follow might be older entries of keys that this run has.
func TestMergeError(t *testing.T) {
	entries := randomEntries(rand.New(rand.NewPCG(1, 2)), 500)
	for damaged := range 3 {
		var cursors []*Cursor
		for i := range 3 {
			file := build(t, Options{BlockBytes: 100}, entries)
			if i == damaged {
				file[len(file)/3] ^= 1
			}
			cursors = append(cursors, open(t, file).Seek(nil))
		}
		m, n := Merge(cursors...), 0
		for m.Next() {
			n++
		}
		if !errors.Is(m.Err(), ErrDamaged) || n == 0 || n == len(entries) {
			t.Errorf("run %d damaged: %d of %d entries, %v", damaged, n, len(entries), m.Err())
		}
		if m.Next() {
			t.Errorf("run %d damaged: the merge goes on", damaged)
		}
		if m.Seek(nil); !m.Next() || m.Err() != nil {
			t.Errorf("run %d damaged: after Seek: %v", damaged, m.Err())
		}
	}
}

// Ahead is told each key of each run once, before Next shows it, also after a Seek.
func TestMergeAhead(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 77))
	parts := [][]entry{randomEntries(rng, 200), randomEntries(rng, 100), nil}
	m := mergeOf(t, Options{BlockBytes: 200}, parts)
	told := make(map[string]int)
	m.Ahead(func(key []byte) { told[string(key)]++ })
	for round := range 2 {
		clear(told)
		m.Seek(nil)
		for m.Next() {
			if told[string(m.Key())] == 0 {
				t.Fatalf("round %d: %x comes untold", round, m.Key())
			}
		}
		in := make(map[string]int)
		for _, part := range parts {
			for _, e := range part {
				in[string(e.key)]++
			}
		}
		if !maps.Equal(told, in) {
			t.Errorf("round %d: told of %d keys, the runs have %d", round, len(told), len(in))
		}
	}
}
