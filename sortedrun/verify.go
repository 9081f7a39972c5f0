package sortedrun

import (
	"bytes"
	"context"
	"fmt"
)

// Verify reads the whole file anew: every checksum, the order of all keys, that the index names each block and a key
// between it and the one before, that nothing lies between the blocks, and the counts against the footer. An error wraps
// ErrDamaged, in a *DamageError, or is that of the reader or of ctx, which is asked once a block.
func (r *Run) Verify(ctx context.Context) error {
	fresh, err := Open(r.r, r.size)
	if err != nil {
		return err
	}
	if fresh.footer != r.footer || !bytes.Equal(fresh.top, r.top) {
		return damage(r.size-footerBytes, "the footer is not that which was opened")
	}
	v := verifier{c: newCursor(fresh)}
	if err := v.blocks(ctx); err != nil {
		return err
	}
	f := r.footer
	if !restartsMatch(&v.c.top.it) {
		return damage(f.top.offset, "the top of the index makes no sense")
	}
	if v.end != f.top.offset {
		return damage(v.end, "the blocks do not end where the top of the index begins")
	}
	if v.counts != (footer{entries: f.entries, blocks: f.blocks, indexBlocks: f.indexBlocks}) {
		return damage(r.size-footerBytes, fmt.Sprintf("%d entries in %d blocks and %d index blocks, the footer says %d in %d and %d",
			v.counts.entries, v.counts.blocks, v.counts.indexBlocks, f.entries, f.blocks, f.indexBlocks))
	}
	return nil
}

// verifier walks all blocks of a run.
type verifier struct {
	c      *Cursor
	counts footer
	end    int64  // of the blocks seen
	last   []byte // key of the last entry seen
}

// blocks checks all index blocks and their blocks.
func (v *verifier) blocks(ctx context.Context) error {
	c := v.c
	for {
		topKey := bytes.Clone(c.top.it.key)
		value := c.top.next()
		if value == nil {
			return c.topDamage()
		}
		if err := c.loadIndex(value); err != nil {
			return err
		}
		v.counts.indexBlocks++
		if !bytes.Equal(topKey, c.index.it.key) {
			return damage(c.indexAt.offset, "the top of the index has another key")
		}
		if err := v.indexBlock(ctx); err != nil {
			return err
		}
		if v.end != c.indexAt.offset {
			return damage(c.indexAt.offset, "an index block does not begin where its last block ends")
		}
		v.end = c.indexAt.end()
		if !restartsMatch(&c.index.it) {
			return damage(c.indexAt.offset, "an index block has wrong restarts")
		}
	}
}

// indexBlock checks the blocks that the index block in use names.
func (v *verifier) indexBlock(ctx context.Context) error {
	c := v.c
	for c.index.ahead {
		if err := ctx.Err(); err != nil {
			return err
		}
		separator := bytes.Clone(c.index.it.key)
		h, ok := parseHandle(c.index.next(), c.indexAt.offset)
		if !ok || h.offset != v.end {
			return damage(c.indexAt.offset, "a block does not begin where the one before ends")
		}
		if err := c.loadBlock(h, true); err != nil {
			return err
		}
		if err := v.block(separator); err != nil {
			return err
		}
		v.counts.blocks++
		v.end = h.end()
	}
	if c.index.it.bad {
		return damage(c.indexAt.offset, "an index block makes no sense")
	}
	return nil
}

// block checks the entries of the block in use.
func (v *verifier) block(separator []byte) error {
	it, at := &v.c.block, v.c.blockAt.offset
	for first := true; it.next(); first = false {
		begun := v.counts.entries > 0
		if first && (bytes.Compare(separator, it.key) > 0 || begun && bytes.Compare(separator, v.last) <= 0) {
			return damage(at, "the index has a wrong key for a block")
		}
		if begun && bytes.Compare(it.key, v.last) <= 0 {
			return damage(at, "keys do not ascend")
		}
		v.last = append(v.last[:0], it.key...)
		v.counts.entries++
	}
	if it.bad || len(it.heads) == 0 || !restartsMatch(it) {
		return damage(at, "a block makes no sense")
	}
	return nil
}

// restartsMatch says whether the restarts of a block are its entries 0, 16, 32 and so on.
func restartsMatch(it *blockIter) bool {
	it.rewind()
	for i, n := 0, 0; ; i++ {
		pos, valuePos := it.pos, it.valuePos
		if !it.next() {
			return !it.bad && n == len(it.restarts)
		}
		if i%restartInterval != 0 {
			continue
		}
		if n == len(it.restarts) {
			return false
		}
		_, at, valueAt, ok := it.restartKey(n / restartBytes)
		if !ok || at != pos || valueAt != valuePos {
			return false
		}
		n += restartBytes
	}
}
