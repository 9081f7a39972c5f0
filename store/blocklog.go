package store

import (
	"errors"
	"fmt"
	"sync/atomic"

	"crawl/internal/vfs"
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
	blockReader

	series   *series
	segBytes int64
	full     atomic.Pointer[[]blockAt] // the blocks as others see them: only what is written to its end
	added    func()                    // called when a block was added; nil: nobody wants to know
}

type blockAt struct {
	segment uint64
	offset  int64
	length  int64
}

func openBlockLog(fsys vfs.FS, dir string, kind blockKind, c *codec, segBytes int64, end LogMark) (*blockLog, error) {
	s, err := openSeries(fsys, dir, logExt, end.Position)
	if err != nil {
		return nil, err
	}
	l := &blockLog{
		blockReader: blockReader{fs: fsys, dir: dir, kind: kind, codec: c}, series: s, segBytes: segBytes,
	}
	if err := l.find(end); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// readBlockLog returns a log that is only read, beside the crawl that appends to it.
func readBlockLog(d directory, dir string, kind blockKind, c *codec) *blockLog {
	return &blockLog{blockReader: blockReader{fs: d.fs, dir: dir, kind: kind, codec: c}}
}

// find finds the full blocks of the log up to a checkpoint's mark.
func (l *blockLog) find(end LogMark) error {
	if err := l.index(end.Entries / BlockEntries); err != nil {
		return err
	}
	l.show()
	return nil
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
	l.show()
	if l.added != nil {
		l.added()
	}
	return nil
}

// show lets others see the blocks of now. The slice is only appended to: what they see of it never changes.
func (l *blockLog) show() {
	blocks := l.blocks
	l.full.Store(&blocks)
}

// fullEntries is the number of entries in the full blocks of now, for those who are not the committer.
func (l *blockLog) fullEntries() uint64 { return uint64(len(*l.full.Load())) * BlockEntries }

// scan returns a reader of the full blocks of now that needs nothing of the log itself: it may read beside whoever
// appends. The caller closes it.
func (l *blockLog) scan() *blockReader {
	return &blockReader{fs: l.fs, dir: l.dir, kind: l.kind, codec: l.codec, blocks: *l.full.Load()}
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
