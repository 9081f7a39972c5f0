package sortedrun

import (
	"bytes"
	"io"
	"slices"
	"sync"
)

// Run reads a run. It is safe for concurrent use; its cursors are not.
type Run struct {
	r       io.ReaderAt
	size    int64
	footer  footer
	top     []byte    // plain block
	getters sync.Pool // *Cursor
}

// Open reads the footer and the top of the index of a file of size bytes. An error wraps ErrDamaged, in a *DamageError,
// where the file is not as it was written, and ErrVersion where another version of this package wrote it; else it is that
// of r.
func Open(r io.ReaderAt, size int64) (*Run, error) {
	f, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	frame := make([]byte, f.top.length)
	if err := readFull(r, frame, f.top.offset); err != nil {
		return nil, err
	}
	top, _, err := openFrame(frame, f.top.offset, nil)
	if err != nil {
		return nil, err
	}
	if !new(level).reset(top) {
		return nil, damage(f.top.offset, "the top of the index makes no sense")
	}
	return &Run{r: r, size: size, footer: f, top: top}, nil
}

// Info returns what the footer says. Verify checks it against the entries.
func (r *Run) Info() Info { return Info{Entries: r.footer.entries, Bytes: r.size} }

// Get returns a copy of the value of key. Damage elsewhere in the file does not matter to it.
func (r *Run) Get(key []byte) (value []byte, found bool, err error) {
	c, ok := r.getters.Get().(*Cursor)
	if !ok {
		c = newCursor(r)
	}
	c.Seek(key)
	if c.found && bytes.Equal(c.Key(), key) {
		value, found = slices.Clone(c.Value()), true
	}
	if err := c.Err(); err != nil {
		return nil, false, err
	}
	r.getters.Put(c)
	return value, found, nil
}

// Seek returns a cursor before the first entry whose key is not less than key; nil: before the first entry.
func (r *Run) Seek(key []byte) *Cursor {
	c := newCursor(r)
	c.Seek(key)
	return c
}
