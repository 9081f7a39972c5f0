package sortedrun

import (
	"errors"
	"fmt"
	"io"
)

// flushBytes is how much a Writer gathers before it writes.
const flushBytes = 128 << 10

// Writer writes a run. For one goroutine. After an error it does nothing more and returns that error.
type Writer struct {
	w        io.Writer
	options  Options
	block    blockBuilder
	index    blockBuilder
	top      blockBuilder
	blockSep []byte // separates the open block from the one before
	indexSep []byte // the same of the open index block
	value    []byte // scratch: a handle
	out      []byte // blocks that are not written yet
	offset   int64  // where the next block will lie
	footer   footer
	err      error
}

// errFinished is what a Writer says after Finish.
var errFinished = errors.New("sortedrun: the run is finished")

// NewWriter returns a Writer that writes to w from its present place on, which becomes byte 0 of the run.
func NewWriter(w io.Writer, o Options) *Writer {
	return &Writer{w: w, options: Options{BlockBytes: o.blockBytes(), Compress: o.Compress}}
}

// Add appends an entry without a note.
func (w *Writer) Add(key, value []byte) error { return w.AddNoted(key, nil, value) }

// AddNoted appends an entry. Keys must ascend bytewise, each greater than the one before (ErrOrder); key, note and value
// together have at most MaxEntryBytes (ErrTooLong). None is kept.
func (w *Writer) AddNoted(key, note, value []byte) error {
	if w.err != nil {
		return w.err
	}
	size := len(key) + len(note) + len(value)
	if size > MaxEntryBytes {
		return w.fail(fmt.Errorf("sortedrun: entry %d: %w: %d bytes", w.footer.entries, ErrTooLong, size))
	}
	shared := sharedPrefix(w.block.last, key)
	if w.footer.entries > 0 && (shared == len(key) || shared < len(w.block.last) && key[shared] < w.block.last[shared]) {
		return w.fail(fmt.Errorf("sortedrun: entry %d: %w: %x after %x", w.footer.entries, ErrOrder, key, w.block.last))
	}
	if w.block.count > 0 && w.block.size()+size+entryOverhead > w.options.BlockBytes {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	if w.block.count == 0 && w.footer.entries > 0 {
		w.blockSep = append(w.blockSep[:0], key[:shared+1]...)
	}
	w.block.add(key, note, value, shared)
	w.footer.entries++
	return nil
}

// Finish writes what is left, the index and the footer. It neither closes nor syncs the file.
func (w *Writer) Finish() (Info, error) {
	if w.err != nil {
		return Info{}, w.err
	}
	if w.block.count > 0 {
		if err := w.endBlock(); err != nil {
			return Info{}, err
		}
	}
	if w.index.count > 0 {
		if err := w.endIndexBlock(); err != nil {
			return Info{}, err
		}
	}
	if w.top.size() > maxTop {
		return Info{}, w.fail(fmt.Errorf("sortedrun: the index of %d blocks is too large", w.footer.blocks))
	}
	var err error
	if w.footer.top, err = w.emit(&w.top, false); err != nil {
		return Info{}, err
	}
	w.out = w.footer.append(w.out)
	if err := w.flush(); err != nil {
		return Info{}, err
	}
	w.err = errFinished
	return Info{Entries: w.footer.entries, Bytes: w.offset + footerBytes}, nil
}

func (w *Writer) endBlock() error {
	h, err := w.emit(&w.block, w.options.Compress)
	if err != nil {
		return err
	}
	w.footer.blocks++
	if w.index.count == 0 {
		w.indexSep = append(w.indexSep[:0], w.blockSep...)
	}
	w.name(&w.index, w.blockSep, h)
	if w.index.size() >= indexBlockBytes {
		return w.endIndexBlock()
	}
	return nil
}

func (w *Writer) endIndexBlock() error {
	h, err := w.emit(&w.index, false)
	if err != nil {
		return err
	}
	w.footer.indexBlocks++
	w.name(&w.top, w.indexSep, h)
	return nil
}

// name adds the block at h to an index block.
func (w *Writer) name(index *blockBuilder, separator []byte, h handle) {
	w.value = h.append(w.value[:0])
	index.add(separator, nil, w.value, sharedPrefix(index.last, separator))
}

// emit ends the builder's block, and begins its next.
func (w *Writer) emit(b *blockBuilder, compress bool) (handle, error) {
	start := len(w.out)
	block, heads := b.finish()
	w.out = appendFrame(w.out, w.offset, block[:heads], block[heads:], compress)
	b.reset()
	h := handle{offset: w.offset, length: len(w.out) - start}
	w.offset = h.end()
	if len(w.out) < flushBytes {
		return h, nil
	}
	return h, w.flush()
}

func (w *Writer) flush() error {
	_, err := w.w.Write(w.out)
	w.out = w.out[:0]
	if err != nil {
		return w.fail(fmt.Errorf("sortedrun: write: %w", err))
	}
	return nil
}

func (w *Writer) fail(err error) error {
	w.err = err
	return err
}
