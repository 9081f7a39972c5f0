package seen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// KindTable is the kind of *Table.
const KindTable Kind = "table"

// Table is a set of hashes in one file, to be shipped and asked, never changed: a denylist, names taken. The file is a
// saved Bloom filter, and behind it the hashes in order. The filter is in memory and answers no. A "maybe" is looked up
// by one read of 4 KiB: nothing is there for the filter's word alone. The only error is two keys with one 64-bit hash,
// Len/2^64 for a key that is not there.
//
// It takes what the filter does in memory (10 bits a key at an error of 1%, 15.5 at 0.1%), and on the disk 40 bits a key
// more. The file must not change while it is open; a new one is renamed into its place, as TableBuilder does.
//
// Read reads a table's file as the filter in front alone.
//
// All methods but Close are safe for any number of goroutines.
type Table struct {
	front   *Bloom
	run     *run
	file    io.Closer
	finders sync.Pool // of *tableFinder

	maybes, wrong atomic.Uint64 // hashes that were looked up, and of these, those that were not there
}

// tableFinder is what one look-up at a time needs.
type tableFinder struct {
	reader pageReader
	order  []uint64
	one    [1]uint64
	oneHas [1]bool
}

// OpenTable opens a table's file. It reads and checks the filter and the first hash of each page. The other hashes are
// checked when they are read: then Has may fail as well. The error is ErrFormat for a file that is no table, a filter
// alone for one, ErrNewer, ErrDamaged for what was changed or cut off, or the disk's. It names the file. Memory follows
// the size of the file, whatever is in it.
func OpenTable(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("seen: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("seen: %w", err), f.Close())
	}
	t, err := openTable(f, path, info.Size())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.file = f
	return t, nil
}

func openTable(file io.ReaderAt, name string, size int64) (*Table, error) {
	r := io.NewSectionReader(file, 0, size)
	s, err := open(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, name)
	}
	t, err := tableBehind(s, r, file, name)
	if err != nil {
		s.free()
		return nil, err
	}
	return t, nil
}

// tableBehind reads the filter of s, whose head is read already, and what follows it.
func tableBehind(s *source, r *io.SectionReader, file io.ReaderAt, name string) (*Table, error) {
	if s.kind != KindBloom {
		return nil, fmt.Errorf("%w: %s: want a table, got kind %q", ErrFormat, name, s.kind)
	}
	filter, err := s.filter()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, name)
	}
	front := filter.(*Bloom) // as the kind says
	joint, err := readJoint(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: behind its filter", err, name)
	}
	base, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("seen: read %s: %w", name, err)
	}
	hashes, err := openRun(file, name, base, r.Size())
	if err != nil {
		return nil, err
	}
	if want := jointOf(s.head, hashes); joint != want || front.Len() != hashes.keys {
		return nil, hashes.damaged(base, errors.New("the filter and the hashes belong to different tables"))
	}
	t := &Table{front: front, run: hashes}
	t.finders.New = func() any { return new(tableFinder) }
	return t, nil
}

// Hash returns the keyed hash under which the table knows a key.
func (t *Table) Hash(key []byte) uint64 { return t.front.Hash(key) }

// HashString is Hash of the string's bytes.
func (t *Table) HashString(key string) uint64 { return t.front.HashString(key) }

// Has reports whether h is there. An error is the disk's, or ErrDamaged.
func (t *Table) Has(h uint64) (bool, error) {
	if maybe, _ := t.front.Has(h); !maybe { // a Bloom filter has no errors
		return false, nil
	}
	f := t.finder()
	defer t.finders.Put(f)
	f.one[0], f.oneHas[0] = h, false
	err := t.find(f, f.one[:], f.oneHas[:])
	return f.oneHas[0], err
}

// HasBatch sets has, which is as long as hashes, to whether each is there. Each page is read once for all that it may
// hold. On an error has says nothing.
func (t *Table) HasBatch(hashes []uint64, has []bool) error {
	if err := t.front.HasBatch(hashes, has); err != nil {
		return err
	}
	if !slices.Contains(has, true) {
		return nil
	}
	f := t.finder()
	defer t.finders.Put(f)
	for len(hashes) > 0 {
		n := min(len(hashes), maxOrder)
		for i, maybe := range has[:n] {
			has[i] = !maybe // what needs no look-up
		}
		if err := t.find(f, hashes[:n], has[:n]); err != nil {
			return err
		}
		hashes, has = hashes[n:], has[n:]
	}
	return nil
}

func (t *Table) finder() *tableFinder { return t.finders.Get().(*tableFinder) }

// find looks up the hashes that are not settled, and sets settled to whether each is there.
func (t *Table) find(f *tableFinder, hashes []uint64, settled []bool) error {
	f.order = appendOrder(f.order[:0], hashes, settled)
	clear(settled)
	_, err := t.run.find(&f.reader, hashes, f.order, settled)
	if err == nil {
		t.maybes.Add(uint64(len(f.order)))
		t.wrong.Add(uint64(len(f.order) - trueOf(settled)))
	}
	return err
}

// trueOf returns how many are true.
func trueOf(all []bool) (n int) {
	for _, one := range all {
		if one {
			n++
		}
	}
	return n
}

// LookupStats says how often the filter in front said maybe since the table was opened, and how often it was wrong. What
// it answered by itself is not counted, which would cost as much as the answer.
func (t *Table) LookupStats() LookupStats {
	return LookupStats{Maybes: t.maybes.Load(), FalsePositives: t.wrong.Load()}
}

// Len returns the number of hashes.
func (t *Table) Len() uint64 { return t.run.keys }

// Rate returns the chance that a key that is not there has the hash of one that is: Len/2^64.
func (t *Table) Rate() float64 { return collisionRate(t.Len()) }

// Stats says what the filter in front holds and what all costs in memory. Its Rate is the table's: the filter's only
// decides how often a key that is not there is looked up.
func (t *Table) Stats() Stats {
	st := t.front.Stats()
	st.Kind = KindTable
	st.Rate = t.Rate()
	st.Capped = false
	st.Bytes += int64(len(t.run.fence)) * fenceBytes
	return st
}

// Verify reads and checks all hashes, and that the filter lets each of them through.
func (t *Table) Verify() error {
	return t.run.each(func(hashes []uint64) error {
		for _, h := range hashes {
			if maybe, _ := t.front.Has(h); !maybe {
				return fmt.Errorf("%w: %s: the filter has not the hash %#x", ErrDamaged, t.run.name, h)
			}
		}
		return nil
	})
}

// Close closes the file. Nobody may ask at the same time or after.
func (t *Table) Close() error {
	if err := t.file.Close(); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	return nil
}
