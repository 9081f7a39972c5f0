package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"crawl/internal/vfs"
)

// The open tail of a log, the entries after its last full block, lies in a file of its own beside the segments, numbered
// by the block that it is to become. A checkpoint appends to it, as a chunk, what was added since the last one: an entry is
// written there once, however many checkpoints pass until its block is full. A chunk has the form of a block whose
// columns go on where those of the chunk before end.
//
// A checkpoint names the number of entries alone. Chunks beyond it belong to no checkpoint, and are cut off when the
// directory is opened. A tail's file goes only once a durable checkpoint names its block in a segment; so whoever reads an
// older checkpoint and finds the file gone finds its entries at the start of that block.
const tailExt = ".tail"

// tailName is the file of the open tail that an end of a log has.
func tailName(dir string, end LogMark) string { return numberedName(dir, end.block(), tailExt) }

// tailFile writes the open tail of a log. It belongs to whoever makes checkpoints durable.
type tailFile struct {
	fs      vfs.FS
	dir     string
	block   uint64   // whose entries it holds
	file    vfs.File // nil: there is none yet
	entries int      // that it holds
	stale   []uint64 // earlier blocks whose files are still there
}

// openTail goes on with the file of an end of a log of which the first so many bytes hold all that the end names. Files of
// a later date are removed.
func openTail(fsys vfs.FS, dir string, end LogMark, length int64) (*tailFile, error) {
	t := &tailFile{fs: fsys, dir: dir, block: end.block(), entries: end.tailEntries()}
	later := t.block
	if t.entries > 0 {
		later++
	}
	if err := removeNumbered(fsys, dir, tailExt, later); err != nil {
		return nil, err
	}
	numbers, err := numbered(fsys, dir, tailExt)
	if err != nil {
		return nil, err
	}
	t.stale = slices.DeleteFunc(numbers, func(n uint64) bool { return n >= t.block })
	if t.entries == 0 {
		return t, nil
	}
	name := tailName(dir, end)
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, cannotOpen(name, err)
	}
	if err := cutBack(f, length); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.file = f
	return t, nil
}

// pendingTail is an open tail as it was at a cut.
type pendingTail struct {
	file    *tailFile
	block   uint64
	entries int
	chunk   func(after int) []byte // encodes what follows the first so many entries
}

// write appends what the file lacks and makes it durable. It returns how many bytes that took. An error is a *WriteError.
func (p pendingTail) write() (bytes int, err error) {
	if err := p.file.turnTo(p.block); err != nil {
		return 0, err
	}
	if p.entries == p.file.entries {
		return 0, nil
	}
	chunk := p.chunk(p.file.entries)
	if err := p.file.append(chunk); err != nil {
		return 0, &WriteError{File: numberedName(p.file.dir, p.block, tailExt), Err: err}
	}
	p.file.entries = p.entries
	return len(chunk), nil
}

// turnTo begins with the tail of another block. The file of the one before stays until the checkpoint is durable.
func (t *tailFile) turnTo(block uint64) error {
	if block == t.block {
		return nil
	}
	if t.file != nil {
		t.stale = append(t.stale, t.block)
		if err := t.close(); err != nil {
			return &WriteError{File: numberedName(t.dir, t.block, tailExt), Err: err}
		}
	}
	t.block, t.entries = block, 0
	return nil
}

func (t *tailFile) append(chunk []byte) error {
	created := t.file == nil
	if created {
		f, err := t.fs.OpenFile(numberedName(t.dir, t.block, tailExt), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o644)
		if err != nil {
			return err
		}
		t.file = f
	}
	if _, err := t.file.Write(chunk); err != nil {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	if created {
		return t.fs.SyncDir(t.dir)
	}
	return nil
}

// clean removes the files of tails that the durable checkpoints, state.db's and its twin, do not name any more.
func (t *tailFile) clean() error {
	for _, block := range t.stale {
		if err := removeIfThere(t.fs, numberedName(t.dir, block, tailExt)); err != nil {
			return err
		}
	}
	t.stale = nil
	return nil
}

func (t *tailFile) close() error {
	if t.file == nil {
		return nil
	}
	f := t.file
	t.file = nil
	return f.Close()
}

// columns are the entries of a block, full or not, unpacked.
type columns struct {
	first   uint64 // position of the first entry, from 0
	entries int
	raw     []byte
	packed  [][]byte
}

// add puts a chunk behind the others.
func (c *columns) add(b block, plain [][]byte) {
	c.entries += b.entries
	c.raw = append(c.raw, b.rawColumn...)
	for i := range plain {
		c.packed[i] = append(c.packed[i], plain[i]...)
	}
}

// tailOf returns the entries of the open tail that an end of a log has. unpack decodes what its file holds, full a block: where
// the file is of no use although the log went on beyond the end, the block that the tail became has them. length is what of
// the file holds just these entries; -1 where no part of it does. With a *DamageError it returns all entries if the block
// had them, or those that come before the damage.
func tailOf[E any](
	r *blockReader, end LogMark, unpack func(columns, []E) ([]E, error), full func(block) ([]E, error),
) (entries []E, length int64, err error) {
	stored, length, err := r.readTail(end)
	damage, damaged := errors.AsType[*DamageError](err)
	if err != nil && !damaged {
		return nil, -1, err
	}
	entries, bad := unpack(stored, nil)
	if bad != nil {
		entries = nil
		damage = cmp.Or(damage, r.tailDamage(columns{first: stored.first}, end, -1, bad))
	}
	want := end.tailEntries()
	switch {
	case damage != nil:
		if grown, found := grownTail(r, end, full); found {
			entries, damage.Err = grown[:want], fmt.Errorf("%w, but %w", damage.Err, ErrElsewhere)
		}
		return entries, -1, damage
	case stored.entries > want:
		return entries[:want], -1, nil
	}
	return entries, length, nil
}

// readTail reads chunks until they hold the entries that an end of a log names, and maybe more. With a *DamageError it
// returns what comes before the damage.
func (r *blockReader) readTail(end LogMark) (c columns, length int64, err error) {
	c = columns{first: end.block() * BlockEntries, packed: make([][]byte, blockColumns)}
	if end.tailEntries() == 0 {
		return c, 0, nil
	}
	f, err := vfs.Open(r.fs, tailName(r.dir, end))
	if errors.Is(err, fs.ErrNotExist) {
		return c, 0, r.tailDamage(c, end, -1, errMissing)
	}
	if err != nil {
		return c, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, 0, err
	}
	for c.entries < end.tailEntries() {
		n, err := r.readChunk(f, length, info.Size(), &c)
		if err != nil {
			return c, 0, r.tailDamage(c, end, length, err)
		}
		length += n
	}
	return c, length, nil
}

// tailDamage says which entries of the tail that an end has were not read.
func (r *blockReader) tailDamage(read columns, end LogMark, offset int64, err error) *DamageError {
	lost := r.kind.entriesNamed(read.first+uint64(read.entries)+1, end.Entries)
	return &DamageError{File: tailName(r.dir, end), Offset: offset, Err: fmt.Errorf("%s: %w", lost, err)}
}

// readChunk adds the chunk at an offset to c, and returns its length.
func (r *blockReader) readChunk(f vfs.File, offset, size int64, c *columns) (length int64, err error) {
	head, err := r.wholeHeadAt(f, offset, size)
	if err != nil {
		return 0, err
	}
	if next := c.first + uint64(c.entries); head.first != next || head.entries == 0 || c.entries+head.entries > BlockEntries {
		return 0, fmt.Errorf("want what follows number %d, found %d entries from number %d on", next, head.entries, head.first+1)
	}
	data, err := r.bytesAt(f, offset, head.length())
	if err != nil {
		return 0, err
	}
	b, err := parseBlock(data, r.kind)
	if err != nil {
		return 0, err
	}
	plain := make([][]byte, len(c.packed))
	for i := range plain {
		if plain[i], err = r.codec.column(b, i, nil); err != nil {
			return 0, err
		}
	}
	c.add(b, plain)
	return head.length(), nil
}

// grownTail returns the entries of the block that an open tail became.
func grownTail[E any](r *blockReader, end LogMark, full func(block) ([]E, error)) (entries []E, found bool) {
	scan := &blockReader{fs: r.fs, dir: r.dir, kind: r.kind, codec: r.codec}
	defer func() { _ = scan.closeReading() }() // nothing was written
	if scan.index(end.block()+1) != nil {
		return nil, false
	}
	b, err := scan.read(int(end.block()))
	if err == nil {
		entries, err = full(b)
	}
	return entries, err == nil
}
