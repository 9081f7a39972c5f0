package store

import (
	"errors"
	"fmt"
	"io"

	"crawl/internal/vfs"
)

// blockReader reads the full blocks of a log. It is for one goroutine; each has its own.
type blockReader struct {
	fs     vfs.FS
	dir    string
	kind   blockKind
	codec  *codec
	blocks []blockAt // where each full block lies: 24 bytes a block of 4,096 entries

	reading vfs.File // the segment that was read last, so that reading in order opens each but once
	segment uint64   // its number
	buffer  []byte   // of the block that was read last
}

func (r *blockReader) name(segment uint64) string { return numberedName(r.dir, segment, logExt) }

// index finds the blocks, as many as the last checkpoint names, by their heads, which have sums of their own; the
// columns' sums are verified when they are read. Beside a running crawl there may be more.
func (r *blockReader) index(want uint64) error {
	segments, err := numbered(r.fs, r.dir, logExt)
	if err != nil {
		return err
	}
	for _, segment := range segments {
		if uint64(len(r.blocks)) == want {
			return nil
		}
		if have := uint64(len(r.blocks)); segment != have {
			return r.gap(fmt.Errorf("it ends before block %d, and the next segment starts with block %d", have, segment))
		}
		if err := r.indexSegment(segment, want); err != nil {
			return err
		}
	}
	if have := uint64(len(r.blocks)); have != want {
		return r.gap(fmt.Errorf("it ends before block %d, and the last checkpoint names %d blocks", have, want))
	}
	return nil
}

// gap is the damage of the segment that was indexed last: it ends too early.
func (r *blockReader) gap(err error) error {
	if r.reading == nil {
		return &DamageError{File: r.name(0), Offset: -1, Err: errMissing}
	}
	end := int64(0)
	if n := len(r.blocks); n > 0 && r.blocks[n-1].segment == r.segment {
		end = r.blocks[n-1].offset + r.blocks[n-1].length
	}
	return &DamageError{File: r.name(r.segment), Offset: end, Err: err}
}

func (r *blockReader) indexSegment(segment, want uint64) error {
	f, err := r.open(segment)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for offset := int64(0); offset < info.Size() && uint64(len(r.blocks)) < want; {
		head, err := r.headAt(f, offset)
		if err == nil && head.length() > info.Size()-offset {
			err = errTornBlock
		}
		if err == nil {
			err = head.expect(len(r.blocks))
		}
		if err != nil {
			return &DamageError{File: f.Name(), Offset: offset, Err: r.holds(len(r.blocks), err)}
		}
		r.blocks = append(r.blocks, blockAt{segment, offset, head.length()})
		offset += head.length()
	}
	return nil
}

func (r *blockReader) headAt(f io.ReaderAt, offset int64) (blockHead, error) {
	data, err := r.bytesAt(f, offset, int64(headBytes))
	if err != nil {
		return blockHead{}, err
	}
	return parseHead(data, r.kind)
}

// bytesAt reads into the buffer that all reads share.
func (r *blockReader) bytesAt(f io.ReaderAt, offset, length int64) ([]byte, error) {
	if int64(cap(r.buffer)) < length {
		r.buffer = make([]byte, length)
	}
	data := r.buffer[:length]
	if _, err := f.ReadAt(data, offset); err != nil {
		if errors.Is(err, io.EOF) {
			err = errTornBlock
		}
		return nil, err
	}
	return data, nil
}

// open returns a segment for reading. It stays open until another one is asked for.
func (r *blockReader) open(segment uint64) (vfs.File, error) {
	if r.reading != nil && r.segment == segment {
		return r.reading, nil
	}
	if err := r.closeReading(); err != nil {
		return nil, err
	}
	f, err := vfs.Open(r.fs, r.name(segment))
	if err != nil {
		return nil, cannotOpen(r.name(segment), err)
	}
	r.reading, r.segment = f, segment
	return f, nil
}

// read returns full block i. It is valid until the next read.
func (r *blockReader) read(i int) (block, error) {
	data, err := r.load(i, r.blocks[i].length)
	if err != nil {
		return block{}, err
	}
	b, err := parseBlock(data, r.kind)
	if err == nil {
		err = b.expect(i)
	}
	if err != nil {
		return block{}, r.damage(i, err)
	}
	return b, nil
}

// readRaw returns the raw column of full block i without reading the others. It is valid until the next read.
func (r *blockReader) readRaw(i int) ([]byte, error) {
	data, err := r.load(i, min(r.blocks[i].length, int64(headBytes+8*BlockEntries+sumBytes)))
	if err != nil {
		return nil, err
	}
	head, err := parseHead(data, r.kind)
	if err == nil {
		err = head.expect(i)
	}
	if err != nil {
		return nil, r.damage(i, err)
	}
	raw, err := head.rawOf(data)
	if err != nil {
		return nil, r.damage(i, err)
	}
	return raw, nil
}

// load reads the first n bytes of full block i.
func (r *blockReader) load(i int, n int64) ([]byte, error) {
	at := r.blocks[i]
	f, err := r.open(at.segment)
	if err != nil {
		return nil, err
	}
	data, err := r.bytesAt(f, at.offset, n)
	if err != nil {
		return nil, r.damage(i, err)
	}
	return data, nil
}

// damage says in which file and where full block i is not what it was, and what is lost with it.
func (r *blockReader) damage(i int, err error) error {
	at := r.blocks[i]
	return &DamageError{File: r.name(at.segment), Offset: at.offset, Err: r.holds(i, err)}
}

// holds adds to an error what full block i holds.
func (r *blockReader) holds(i int, err error) error {
	first := uint64(i)*BlockEntries + 1
	return fmt.Errorf("%s: %w", r.kind.entriesNamed(first, first+BlockEntries-1), err)
}

func (r *blockReader) closeReading() error {
	if r.reading == nil {
		return nil
	}
	f := r.reading
	r.reading = nil
	return f.Close()
}
