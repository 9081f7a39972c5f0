package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"crawl/sortedrun"
)

// sortPairs sorts by key; equal keys stay in the order in which they are. It moves the pairs between the two slices,
// which are of one length, and returns the one where they end up. It is a radix sort from the last byte on, which takes
// a fifth of the time of sorting by comparison; bytes that all keys share cost nothing.
func sortPairs(pairs, spare []pair) []pair {
	var counts [8][256]uint32
	for _, p := range pairs {
		for digit := range counts {
			counts[digit][byte(p.key>>(8*digit))]++
		}
	}
	for digit := range counts {
		count, shift := &counts[digit], 8*digit
		if len(pairs) == 0 || count[byte(pairs[0].key>>shift)] == uint32(len(pairs)) {
			continue
		}
		at := uint32(0)
		for i, n := range count {
			count[i] = at
			at += n
		}
		for _, p := range pairs {
			d := byte(p.key >> shift)
			spare[count[d]] = p
			count[d]++
		}
		pairs, spare = spare, pairs
	}
	return pairs
}

// pairWriter writes pairs to a run in the order of their keys. Of equal keys the first is kept.
type pairWriter struct {
	run   *sortedrun.Writer
	pairs []pair // of the page that is not written yet
	page  []byte
	last  uint64
	any   bool
}

func newPairWriter(run *sortedrun.Writer) *pairWriter {
	return &pairWriter{run: run, pairs: make([]pair, 0, pagePairs)}
}

func (w *pairWriter) add(p pair) error {
	if w.any && p.key == w.last {
		return nil
	}
	w.last, w.any = p.key, true
	if len(w.pairs) == pagePairs {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.pairs = append(w.pairs, p)
	return nil
}

// flush writes what was added; it ends a run.
func (w *pairWriter) flush() error {
	if len(w.pairs) == 0 {
		return nil
	}
	var key [pageKeyBytes]byte
	binary.BigEndian.PutUint64(key[:], w.pairs[len(w.pairs)-1].key)
	w.page = appendPage(w.page[:0], w.pairs)
	w.pairs = w.pairs[:0]
	return w.run.Add(key[:], w.page)
}

// addPairs sorts pairs, by means of as many spare ones, and writes them. Of equal keys the one that comes first in the slice is
// kept.
func addPairs(run *sortedrun.Writer, pairs, spare []pair) error {
	w := newPairWriter(run)
	for _, p := range sortPairs(pairs, spare) {
		if err := w.add(p); err != nil {
			return err
		}
	}
	return w.flush()
}

// pairCursor reads a run of pairs: in order, or by ascending keys.
type pairCursor struct {
	run    *run
	cursor *sortedrun.Cursor // nil: nothing was read yet
	pages  pageReader
	page   []pair // what is left of the page
}

func newPairCursor(r *run) *pairCursor { return &pairCursor{run: r} }

// seek moves to before the page where a key must be; nil: to the run's start.
func (c *pairCursor) seek(key []byte) {
	if c.cursor == nil {
		c.cursor = c.run.Seek(key)
	} else {
		c.cursor.Seek(key)
	}
}

// fill moves to the next page; false at the run's end. An error is the run's damage.
func (c *pairCursor) fill() (bool, error) {
	if c.cursor == nil {
		c.seek(nil)
	}
	if !c.cursor.Next() {
		c.page = nil
		return false, c.run.damage(c.cursor.Err())
	}
	var err error
	if c.page, err = c.pages.read(c.cursor.Key(), c.cursor.Value()); err != nil {
		return false, c.run.harm(-1, err)
	}
	return true, nil
}

// find returns the value of a key that is greater than the one it was asked for before.
func (c *pairCursor) find(key uint64) (value uint64, found bool, err error) {
	if n := len(c.page); n == 0 || c.page[n-1].key < key {
		var first [pageKeyBytes]byte
		binary.BigEndian.PutUint64(first[:], key)
		c.seek(first[:])
		if more, err := c.fill(); !more || err != nil {
			return 0, false, err
		}
	}
	at, found := slices.BinarySearchFunc(c.page, key, func(p pair, key uint64) int { return cmp.Compare(p.key, key) })
	if !found {
		return 0, false, nil
	}
	return c.page[at].value, true, nil
}

// mergePairs writes the pairs of runs as one run. Of equal keys that of the earlier run in the slice is kept.
func (s *Store) mergePairs(ctx context.Context, out *sortedrun.Writer, runs []*run) error {
	w := newPairWriter(out)
	cursors := make([]*pairCursor, 0, len(runs))
	for _, r := range runs {
		c := newPairCursor(r)
		more, err := c.fill()
		if err != nil {
			return s.runs.leave(r, err)
		}
		if more {
			cursors = append(cursors, c)
		}
	}
	for len(cursors) > 0 {
		at := leastOf(cursors)
		c := cursors[at]
		if err := w.add(c.page[0]); err != nil {
			return err
		}
		if c.page = c.page[1:]; len(c.page) > 0 {
			continue
		}
		more, err := c.fill()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return s.runs.leave(c.run, err)
		}
		if !more {
			cursors = slices.Delete(cursors, at, at+1)
		}
	}
	return w.flush()
}

// leastOf returns which cursor has the least key, the first of those that have it. For so few a look at each is faster
// than a heap.
func leastOf(cursors []*pairCursor) int {
	least, key := 0, cursors[0].page[0].key
	for i := 1; i < len(cursors); i++ {
		if k := cursors[i].page[0].key; k < key {
			least, key = i, k
		}
	}
	return least
}
