package sortedrun

import "bytes"

// Cursor walks entries in order. Key, Note and Value are valid until the next call. For one goroutine.
//
// It holds a block of the index and a block of entries, some tens of KB; up to 256 KiB more while it walks.
type Cursor struct {
	run      *Run
	top      level
	index    level
	indexAt  handle // the index block that is loaded
	indexBuf []byte
	block    blockIter
	blockAt  handle // the block that is loaded
	unpacked []byte // room for it, if it is packed
	window   window
	found    bool // Seek has gone to an entry: it is the next
	err      error
}

func newCursor(r *Run) *Cursor {
	c := &Cursor{run: r, window: window{r: r.r, end: r.footer.top.offset}}
	c.top.reset(r.top)
	return c
}

// Next goes on to the next entry. False: there is none, or Err.
func (c *Cursor) Next() bool {
	if c.found {
		c.found = false
		return true
	}
	return c.block.next() || c.nextBlock()
}

// Key returns the key of the present entry.
func (c *Cursor) Key() []byte { return c.block.key }

// Value returns the value of the present entry.
func (c *Cursor) Value() []byte { return c.block.value }

// Note returns the note of the present entry.
func (c *Cursor) Note() []byte { return c.block.note }

// Err returns why the walk ended before the last entry; nil: it did not. A Seek begins anew.
func (c *Cursor) Err() error { return c.err }

// Seek goes to before the first entry whose key is not less than key, forward or backward; nil: to before the first
// entry. It reads at most one block of the index and one block of entries, none where they are those in use.
func (c *Cursor) Seek(key []byte) {
	c.err, c.found = nil, false
	if first, ok := c.block.first(); ok && bytes.Compare(first, key) <= 0 && c.block.seek(key) {
		c.found = true
		return
	}
	if err := c.locate(key); err != nil {
		c.fail(err)
	}
}

// locate is Seek by way of the index.
func (c *Cursor) locate(key []byte) error {
	value := c.top.seek(key)
	if value == nil {
		c.unload()
		return c.topDamage()
	}
	if err := c.loadIndex(value); err != nil {
		return err
	}
	value = c.index.seek(key)
	h, ok := parseHandle(value, c.indexAt.offset)
	if !ok {
		return damage(c.indexAt.offset, "an index block makes no sense")
	}
	if h != c.blockAt || c.block.bad {
		if err := c.loadBlock(h, h.offset == c.blockAt.end()); err != nil {
			return err
		}
	}
	c.found = c.block.seek(key)
	if c.block.bad {
		return damage(h.offset, "a block makes no sense")
	}
	return nil
}

// nextBlock goes on to the first entry of the next block.
func (c *Cursor) nextBlock() bool {
	if c.err != nil {
		return false
	}
	h, err := c.following()
	switch {
	case err != nil:
		return c.fail(err)
	case h == (handle{}):
		c.unload()
		return false
	}
	if err := c.loadBlock(h, true); err != nil {
		return c.fail(err)
	}
	if !c.block.next() {
		return c.fail(damage(h.offset, "a block makes no sense"))
	}
	return true
}

// following returns the place of the block after the present one; the zero handle: there is none.
func (c *Cursor) following() (handle, error) {
	if c.block.bad {
		return handle{}, damage(c.blockAt.offset, "a block makes no sense")
	}
	from, value := c.blockAt.end(), c.index.next()
	if value == nil {
		if c.index.it.bad {
			return handle{}, damage(c.indexAt.offset, "an index block makes no sense")
		}
		value = c.top.next()
		if value == nil {
			return handle{}, c.topDamage()
		}
		from = c.indexAt.end()
		if err := c.loadIndex(value); err != nil {
			return handle{}, err
		}
		value = c.index.next()
	}
	h, ok := parseHandle(value, c.indexAt.offset)
	if !ok {
		return handle{}, damage(c.indexAt.offset, "an index block makes no sense")
	}
	if h.offset != from {
		return handle{}, damage(c.indexAt.offset, "a block does not begin where the one before ends")
	}
	return h, nil
}

// topDamage says whether the top of the index ended because it makes no sense.
func (c *Cursor) topDamage() error {
	if c.top.it.bad {
		return damage(c.run.footer.top.offset, "the top of the index makes no sense")
	}
	return nil
}

// loadIndex goes to before the first entry of the index block that an entry of the top names. Where it is loaded already
// the place in it is kept.
func (c *Cursor) loadIndex(topValue []byte) error {
	top := c.run.footer.top.offset
	h, ok := parseHandle(topValue, top)
	if !ok {
		return damage(top, "the top of the index makes no sense")
	}
	if h == c.indexAt {
		return nil
	}
	c.indexAt = handle{}
	if cap(c.indexBuf) < h.length {
		c.indexBuf = make([]byte, h.length)
	}
	c.indexBuf = c.indexBuf[:h.length]
	if err := readFull(c.run.r, c.indexBuf, h.offset); err != nil {
		return err
	}
	plain, _, err := openFrame(c.indexBuf, h.offset, nil)
	if err != nil {
		return err
	}
	if !c.index.reset(plain) || !c.index.ahead {
		return damage(h.offset, "an index block makes no sense")
	}
	c.indexAt = h
	return nil
}

// loadBlock goes to before the first entry of the block at h.
func (c *Cursor) loadBlock(h handle, goesOn bool) error {
	c.blockAt = handle{}
	frame, err := c.window.read(h, goesOn)
	if err != nil {
		return err
	}
	var plain []byte
	plain, c.unpacked, err = openFrame(frame, h.offset, c.unpacked)
	if err != nil {
		return err
	}
	if !c.block.reset(plain) {
		return damage(h.offset, "a block makes no sense")
	}
	c.blockAt = h
	return nil
}

func (c *Cursor) fail(err error) bool {
	c.unload()
	c.err = err
	return false
}

// unload leaves the block in use, for none, and gives up what the walk needed.
func (c *Cursor) unload() {
	c.block = blockIter{key: c.block.key[:0], joined: c.block.joined[:0]}
	c.blockAt = handle{}
	if cap(c.window.buf) > keptWindow {
		c.window.drop()
	}
}
