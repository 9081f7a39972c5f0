package store

import (
	"errors"
	"sync/atomic"

	"crawl/internal/vfs"
)

// LogMark is the end of a log at a cut: so many entries, of which the full blocks end at Position. The rest is the open tail.
type LogMark struct {
	Position
	Entries uint64 `json:"entries"`
}

// tailEntries is the number of entries in the open tail.
func (m LogMark) tailEntries() int { return int(m.Entries % BlockEntries) }

// block is the number of full blocks, and of the block that the open tail is to become.
func (m LogMark) block() uint64 { return m.Entries / BlockEntries }

// blockLog is the part that both logs share: full blocks in a series of segment files, and the file of the open tail. A
// segment is numbered by its first block.
type blockLog struct {
	blockReader

	series   *series
	tail     *tailFile
	segBytes int64
	full     atomic.Pointer[[]blockAt] // the blocks as others see them: only what is written to its end
	added    func()                    // called when a block was added; nil: nobody wants to know
}

type blockAt struct {
	segment uint64
	offset  int64
	length  int64
}

// newBlockLog returns a log that is only read, beside the crawl that appends to it, unless it is opened.
func newBlockLog(fsys vfs.FS, dir string, kind blockKind, c *codec) *blockLog {
	return &blockLog{blockReader: blockReader{fs: fsys, dir: dir, kind: kind, codec: c}}
}

// tailOwner is the log of one kind of entries, which keeps those of the open tail in memory.
type tailOwner interface {
	// restoreTail takes back what is left of the tail that an end of the log has. It returns how much of the tail's file holds
	// it, -1 where no part of the file does.
	restoreTail(end LogMark) (length int64, err error)
	tailLen() int
	// wholeTail encodes the tail, whose first entry has a position from 0.
	wholeTail(first uint64) []byte
}

// open makes ready to append at a checkpoint's end, and cuts the files back to it. healed is the damage of a tail's file that
// was made again from the block that lies beyond the end.
func (l *blockLog) open(segBytes int64, end LogMark, owner tailOwner) (healed, err error) {
	length, healed := owner.restoreTail(end) // before anything is cut
	if owner.tailLen() < end.tailEntries() {
		return nil, healed
	}
	if length < 0 {
		whole := owner.wholeTail(end.block() * BlockEntries)
		if err := writeWhole(l.fs, tailName(l.dir, end), whole, 0o644); err != nil {
			return nil, err
		}
		length = int64(len(whole))
	}
	l.segBytes = segBytes
	if l.series, err = openSeries(l.fs, l.dir, logExt, end.Position); err != nil {
		return nil, err
	}
	if err = l.find(end); err == nil {
		l.tail, err = openTail(l.fs, l.dir, end, length)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return healed, nil
}

// at reads the log up to a checkpoint's end beside the crawl that appends to it. What the crawl has put elsewhere since then is
// no damage.
func (l *blockLog) at(end LogMark, owner tailOwner) error {
	if err := l.find(end); err != nil {
		return err
	}
	if _, err := owner.restoreTail(end); owner.tailLen() < end.tailEntries() {
		return err
	}
	return nil
}

// find finds the full blocks of the log up to a checkpoint's mark.
func (l *blockLog) find(end LogMark) error {
	if err := l.index(end.block()); err != nil {
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

func (l *blockLog) mark(tail int) LogMark {
	return LogMark{Position: l.series.position(), Entries: uint64(len(l.blocks))*BlockEntries + uint64(tail)}
}

func (l *blockLog) close() error {
	errs := []error{l.closeReading(), l.series.close()}
	if l.tail != nil {
		errs = append(errs, l.tail.close())
	}
	return errors.Join(errs...)
}
