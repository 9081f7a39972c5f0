package store

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// LogMark is the end of a log at a cut: so many entries, of which the full blocks end at Position and the rest, the
// open tail, is kept in the checkpoint itself.
type LogMark struct {
	Position
	Entries uint64 `json:"entries"`
}

// tailEntries is the number of entries in the open tail.
func (m LogMark) tailEntries() int { return int(m.Entries % BlockEntries) }

// blockLog is the part that both logs share: full blocks in a series of segment files. A segment is numbered by its
// first block.
type blockLog struct {
	kind     blockKind
	codec    *codec
	series   *series
	segBytes int64
	blocks   []blockAt // where each full block lies: 24 bytes a block of 4,096 entries

	reading *os.File // the segment that was read last, so that reading in order opens each but once
	segment uint64   // its number
	buffer  []byte   // of the block that was read last
}

type blockAt struct {
	segment uint64
	offset  int64
	length  int64
}

func openBlockLog(dir string, kind blockKind, c *codec, segBytes int64, end LogMark) (*blockLog, error) {
	s, err := openSeries(dir, logExt, end.Position)
	if err != nil {
		return nil, err
	}
	l := &blockLog{kind: kind, codec: c, series: s, segBytes: segBytes}
	if err := l.index(end.Entries / BlockEntries); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// index finds the blocks by their heads, which have sums of their own; the columns' sums are verified when they are
// read.
func (l *blockLog) index(want uint64) error {
	segments, err := numbered(l.series.dir, logExt)
	if err != nil {
		return err
	}
	for _, segment := range segments {
		if have := uint64(len(l.blocks)); segment != have {
			return l.gap(fmt.Errorf("it ends before block %d, and the next segment starts with block %d", have, segment))
		}
		if err := l.indexSegment(segment); err != nil {
			return err
		}
	}
	if have := uint64(len(l.blocks)); have != want {
		return l.gap(fmt.Errorf("it ends before block %d, and the last checkpoint names %d blocks", have, want))
	}
	return nil
}

// gap is the damage of the segment that was indexed last: it ends too early.
func (l *blockLog) gap(err error) error {
	if l.reading == nil {
		return &DamageError{File: l.series.name(0), Offset: -1, Err: errMissing}
	}
	end := int64(0)
	if n := len(l.blocks); n > 0 && l.blocks[n-1].segment == l.segment {
		end = l.blocks[n-1].offset + l.blocks[n-1].length
	}
	return &DamageError{File: l.series.name(l.segment), Offset: end, Err: err}
}

func (l *blockLog) indexSegment(segment uint64) error {
	f, err := l.open(segment)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for offset := int64(0); offset < info.Size(); {
		head, err := l.headAt(f, offset)
		if err == nil && head.length() > info.Size()-offset {
			err = errTornBlock
		}
		if err == nil {
			err = head.expect(len(l.blocks))
		}
		if err != nil {
			return &DamageError{File: f.Name(), Offset: offset, Err: err}
		}
		l.blocks = append(l.blocks, blockAt{segment, offset, head.length()})
		offset += head.length()
	}
	return nil
}

func (l *blockLog) headAt(f io.ReaderAt, offset int64) (blockHead, error) {
	data, err := l.bytesAt(f, offset, int64(l.kind.headBytes()))
	if err != nil {
		return blockHead{}, err
	}
	return parseHead(data, l.kind)
}

// bytesAt reads into the buffer that all reads share.
func (l *blockLog) bytesAt(f io.ReaderAt, offset, length int64) ([]byte, error) {
	if int64(cap(l.buffer)) < length {
		l.buffer = make([]byte, length)
	}
	data := l.buffer[:length]
	if _, err := f.ReadAt(data, offset); err != nil {
		if errors.Is(err, io.EOF) {
			err = errTornBlock
		}
		return nil, err
	}
	return data, nil
}

// open returns a segment for reading. It stays open until another one is asked for.
func (l *blockLog) open(segment uint64) (*os.File, error) {
	if l.reading != nil && l.segment == segment {
		return l.reading, nil
	}
	if err := l.closeReading(); err != nil {
		return nil, err
	}
	f, err := os.Open(l.series.name(segment))
	if err != nil {
		return nil, cannotOpen(l.series.name(segment), err)
	}
	l.reading, l.segment = f, segment
	return f, nil
}

// add writes a full block.
func (l *blockLog) add(encoded []byte) error {
	if l.series.offset > 0 && l.series.offset+int64(len(encoded)) > l.segBytes {
		l.series.roll(uint64(len(l.blocks)))
	}
	at := blockAt{l.series.number, l.series.offset, int64(len(encoded))}
	if err := l.series.append(encoded); err != nil {
		return err
	}
	l.blocks = append(l.blocks, at)
	return nil
}

// read returns full block i. It is valid until the next read.
func (l *blockLog) read(i int) (block, error) {
	data, err := l.load(i, l.blocks[i].length)
	if err != nil {
		return block{}, err
	}
	b, err := parseBlock(data, l.kind)
	if err == nil {
		err = b.expect(i)
	}
	if err != nil {
		return block{}, l.damage(i, err)
	}
	return b, nil
}

// readRaw returns the raw column of full block i without reading the others. It is valid until the next read.
func (l *blockLog) readRaw(i int) ([]byte, error) {
	data, err := l.load(i, min(l.blocks[i].length, int64(l.kind.headBytes()+8*BlockEntries+sumBytes)))
	if err != nil {
		return nil, err
	}
	head, err := parseHead(data, l.kind)
	if err == nil {
		err = head.expect(i)
	}
	if err != nil {
		return nil, l.damage(i, err)
	}
	raw, err := head.rawOf(data)
	if err != nil {
		return nil, l.damage(i, err)
	}
	return raw, nil
}

// load reads the first n bytes of full block i.
func (l *blockLog) load(i int, n int64) ([]byte, error) {
	at := l.blocks[i]
	f, err := l.open(at.segment)
	if err != nil {
		return nil, err
	}
	data, err := l.bytesAt(f, at.offset, n)
	if err != nil {
		return nil, l.damage(i, err)
	}
	return data, nil
}

// damage says in which file and where full block i is not what it was.
func (l *blockLog) damage(i int, err error) error {
	at := l.blocks[i]
	return &DamageError{File: l.series.name(at.segment), Offset: at.offset, Err: err}
}

// tail parses the open tail that a checkpoint holds.
func (l *blockLog) tail(data []byte, end LogMark) (block, error) {
	b, err := parseBlock(data, l.kind)
	if err == nil && (b.entries != end.tailEntries() || b.first != end.Entries-uint64(b.entries)) {
		err = fmt.Errorf("want %d entries up to number %d, found %d from number %d on",
			end.tailEntries(), end.Entries, b.entries, b.first+1)
	}
	return b, err
}

func (l *blockLog) mark(tail int) LogMark {
	return LogMark{Position: l.series.position(), Entries: uint64(len(l.blocks))*BlockEntries + uint64(tail)}
}

func (l *blockLog) close() error { return errors.Join(l.closeReading(), l.series.close()) }

func (l *blockLog) closeReading() error {
	if l.reading == nil {
		return nil
	}
	f := l.reading
	l.reading = nil
	return f.Close()
}
