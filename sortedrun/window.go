package sortedrun

import "io"

const (
	firstAhead = 64 << 10
	lastAhead  = 256 << 10
	// keptWindow is how much of a buffer a reader keeps that no longer goes on from where it was.
	keptWindow = 64 << 10
)

// window is the part of a file that a cursor holds. It is one block, until the third block in a row is asked for: from
// then on it reads ahead, more each time.
type window struct {
	r      io.ReaderAt
	end    int64 // nothing is read from here on
	offset int64 // of buf in the file
	buf    []byte
	row    int // blocks read one after the other
	ahead  int // bytes that were read the last time that it read ahead
}

// read returns the bytes of h, valid until the next read. goesOn: h follows the block read before.
func (w *window) read(h handle, goesOn bool) ([]byte, error) {
	if h.offset < w.offset || h.end() > w.offset+int64(len(w.buf)) {
		if err := w.fill(h.offset, w.size(h, goesOn)); err != nil {
			return nil, err
		}
	}
	start := int(h.offset - w.offset)
	return w.buf[start : start+h.length : start+h.length], nil
}

// size decides how much is read for h.
func (w *window) size(h handle, goesOn bool) int {
	if !goesOn {
		w.row, w.ahead = 1, 0
		return h.length
	}
	if w.row++; w.row < 3 {
		return h.length
	}
	w.ahead = min(max(2*w.ahead, firstAhead), lastAhead)
	return int(min(int64(max(h.length, w.ahead)), w.end-h.offset))
}

// fill makes the window the n bytes from offset on.
func (w *window) fill(offset int64, n int) error {
	old, oldOffset := w.buf, w.offset
	if cap(w.buf) < n || cap(w.buf) > keptWindow && n < keptWindow {
		w.buf = make([]byte, n)
	}
	have := 0
	if offset >= oldOffset && offset < oldOffset+int64(len(old)) {
		have = copy(w.buf[:n], old[offset-oldOffset:])
	}
	w.buf, w.offset = w.buf[:n], offset
	if err := readFull(w.r, w.buf[have:], offset+int64(have)); err != nil {
		w.drop()
		return err
	}
	return nil
}

// drop forgets what was read, and the buffer.
func (w *window) drop() {
	w.buf, w.offset, w.row, w.ahead = nil, 0, 0, 0
}
