package seen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
)

const (
	// tableSortKeys is how many hashes are sorted in memory: 64 MiB, half of it spare.
	tableSortKeys = 1 << 22
	// tableFan is how many runs are merged at once. Up to 268 million hashes need one merge.
	tableFan = 64
)

// TableBuilder makes a table's file of hashes that come in any order and as often as they like, any number of them: they
// are sorted in memory piece by piece, written to a folder beside the file, and merged. That takes 64 MiB of memory and
// then what the filter takes, and on the disk up to twice the size of the file beside it.
//
// The file appears at Finish, whole and durable. A process that ends before leaves the folder, whose name begins with the
// file's, and the file that was there.
//
// It is for one goroutine, but for Hash and HashString.
type TableBuilder struct {
	hasher
	config   Config // in force
	path     string
	work     disk
	nextFile uint64
	runs     []uint64 // numbers of their files, the oldest first
	hashes   []uint64
	spare    []uint64
	limit    int  // tableSortKeys
	settled  bool // nothing more is added
	done     bool
}

// NewTableBuilder begins a table's file. c is for the filter in front: its FalsePositiveRate, its Seed, and MaxBytes,
// which Finish keeps to. The keys are counted, not expected.
func NewTableBuilder(path string, c Config) (*TableBuilder, error) {
	c.ExpectedItems = 1 // until they are counted
	if err := c.problems(func(c Config) float64 { return bloomBytes(c, Blocked) }); err != nil {
		return nil, err
	}
	c = c.inForce()
	dir, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".tmp")
	if err != nil {
		return nil, fmt.Errorf("seen: %w", err)
	}
	return &TableBuilder{
		hasher: newHasher(c.Seed), config: c, path: path, work: disk{dir: dir}, limit: tableSortKeys,
	}, nil
}

// BuildTable makes a table's file of hashes. They are those of a filter or table with the seed c.Seed, which is not 0.
func BuildTable(path string, hashes iter.Seq[uint64], c Config) (err error) {
	if c.Seed == 0 {
		return errors.New("seen: table: want the seed that the hashes were made with, got 0")
	}
	b, err := NewTableBuilder(path, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for h := range hashes {
		if err := b.Add(h); err != nil {
			return err
		}
	}
	return b.Finish()
}

// Add adds hashes, made by Hash. An error is the disk's, and ends the building.
func (b *TableBuilder) Add(hashes ...uint64) error {
	if b.done || b.settled {
		return errClosed(b.path)
	}
	for len(hashes) > 0 {
		n := min(len(hashes), b.limit-len(b.hashes))
		b.hashes = append(b.hashes, hashes[:n]...)
		hashes = hashes[n:]
		if len(b.hashes) == b.limit {
			if err := b.spill(); err != nil {
				return err
			}
		}
	}
	return nil
}

// spill makes a run of the hashes in memory.
func (b *TableBuilder) spill() error {
	b.spare = slices.Grow(b.spare[:0], len(b.hashes))[:len(b.hashes)]
	radixSort(b.hashes, b.spare)
	number := b.takeNumber()
	if err := b.work.createRun(number, func(w *runWriter) error { return w.addSorted(b.hashes) }); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	b.hashes = b.hashes[:0]
	b.runs = append(b.runs, number)
	return nil
}

func (b *TableBuilder) takeNumber() uint64 {
	b.nextFile++
	return b.nextFile
}

// Distinct ends the adding, and returns how many different hashes there are, and all of them, ascending. They can be gone
// through as often as need be until Close or Finish. An error among them is the disk's or ErrDamaged, and the last of
// them.
func (b *TableBuilder) Distinct() (n uint64, all iter.Seq2[uint64, error], err error) {
	if err := b.settle(); err != nil {
		return 0, nil, err
	}
	p, err := b.work.openRun(b.runs[0])
	if err != nil {
		return 0, nil, err
	}
	if err := p.file.Close(); err != nil {
		return 0, nil, fmt.Errorf("seen: %w", err)
	}
	return p.keys, b.pass, nil
}

// pass goes through the run that is left.
func (b *TableBuilder) pass(yield func(uint64, error) bool) {
	if b.done {
		yield(0, errClosed(b.path))
		return
	}
	p, err := b.work.openRun(b.runs[0])
	if err != nil {
		yield(0, err)
		return
	}
	defer p.file.Close() // it was only read
	err = p.each(func(hashes []uint64) error {
		for _, h := range hashes {
			if !yield(h, nil) {
				return errStop
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		yield(0, err)
	}
}

// errStop ends a pass that the caller has had enough of.
var errStop = errors.New("stop")

// settle leaves one run, of all that was added.
func (b *TableBuilder) settle() error {
	if b.done {
		return errClosed(b.path)
	}
	b.settled = true
	if len(b.hashes) > 0 || len(b.runs) == 0 {
		if err := b.spill(); err != nil {
			return err
		}
	}
	b.hashes, b.spare = nil, nil // the filter has the memory now
	for len(b.runs) > 1 {
		if err := b.mergeFirst(min(len(b.runs), tableFan)); err != nil {
			return err
		}
	}
	return nil
}

// Finish makes the file of all that was added. After an error there is none, or the one that was there before.
func (b *TableBuilder) Finish() error {
	if err := b.settle(); err != nil {
		return err
	}
	if err := b.assemble(); err != nil {
		return err
	}
	if err := os.Rename(b.work.path(tableName), b.path); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	if err := (disk{dir: filepath.Dir(b.path)}).sync(); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	return b.Close()
}

// mergeFirst makes one run of the n oldest.
func (b *TableBuilder) mergeFirst(n int) error {
	var parts []*part
	for _, number := range b.runs[:n] {
		p, err := b.work.openRun(number)
		if err != nil {
			return errors.Join(err, closeParts(parts))
		}
		parts = append(parts, p)
	}
	if err := b.merge(runsOf(parts)); err != nil {
		return errors.Join(err, closeParts(parts))
	}
	b.runs = b.runs[n:]
	return b.work.discard(parts)
}

// merge makes one run more, of runs that may be anybody's.
func (b *TableBuilder) merge(runs []*run) error {
	number := b.takeNumber()
	err := b.work.createRun(number, func(w *runWriter) error { return mergeRuns(context.Background(), w, runs) })
	if err != nil {
		return fmt.Errorf("seen: merge: %w", err)
	}
	b.runs = append(b.runs, number)
	return nil
}

// tableName is the name of the file until it has its own.
const tableName = "table"

// assemble writes the file, of the run that is left and a filter for it.
func (b *TableBuilder) assemble() (err error) {
	all, err := b.work.openRun(b.runs[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.file.Close()) }()
	front, err := b.filterOf(all.run)
	if err != nil {
		return err
	}
	err = b.work.create(tableName, func(w io.Writer) error {
		head := headKeeper{w: w}
		n, err := front.WriteTo(&head)
		if err != nil {
			return err
		}
		joint, err := jointOf(head.head, all.run).append(n)
		if err != nil {
			return err
		}
		if _, err := w.Write(joint); err != nil {
			return err
		}
		_, err = io.Copy(w, all.file)
		return err
	})
	if err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	return nil
}

// filterOf makes the filter in front of hashes.
func (b *TableBuilder) filterOf(hashes *run) (*Bloom, error) {
	c := b.config
	c.ExpectedItems = max(1, hashes.keys)
	front, err := NewBloom(c, Blocked)
	if err != nil {
		return nil, err
	}
	return front, hashes.each(func(hashes []uint64) error {
		front.Add(hashes)
		return nil
	})
}

// headKeeper keeps the head of a filter that is written through it: it is written first, and by itself.
type headKeeper struct {
	w    io.Writer
	head []byte
}

func (k *headKeeper) Write(b []byte) (int, error) {
	if k.head == nil {
		k.head = slices.Clone(b)
	}
	return k.w.Write(b)
}

// Close removes what was written, unless Finish made a table of it.
func (b *TableBuilder) Close() error {
	b.done = true
	b.hashes, b.spare = nil, nil
	if err := os.RemoveAll(b.work.dir); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	return nil
}
