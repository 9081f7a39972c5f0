package sortedrun

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// countingReader counts what is read.
type countingReader struct {
	io.ReaderAt
	reads, bytes int
}

func (r *countingReader) ReadAt(p []byte, offset int64) (int, error) {
	r.reads++
	r.bytes += len(p)
	return r.ReaderAt.ReadAt(p, offset)
}

// countedRun returns a run of n entries of about 100 bytes, and what counts its reads.
func countedRun(t *testing.T, o Options, n int) (*Run, *countingReader) {
	t.Helper()
	var entries []entry
	for i := range n {
		entries = append(entries, entry{key: fmt.Appendf(nil, "key %07d", i), value: fmt.Appendf(nil, "%016x%073d", uint64(i)*0x9e3779b97f4a7c15, i)})
	}
	file := build(t, o, entries)
	counting := &countingReader{ReaderAt: bytes.NewReader(file)}
	r, err := Open(counting, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	counting.reads, counting.bytes = 0, 0
	return r, counting
}

// A look-up reads one block of the index and one of entries, no more than they have; the next near it reads nothing.
func TestSeekReads(t *testing.T) {
	r, counting := countedRun(t, Options{}, 50_000)
	for i := 1; i < 49_000; i += 9973 {
		counting.reads, counting.bytes = 0, 0
		c := r.Seek(fmt.Appendf(nil, "key %07d", i))
		if !c.Next() {
			t.Fatal(c.Err())
		}
		if limit := defaultBlockBytes + indexBlockBytes + 1000; counting.reads != 2 || counting.bytes > limit {
			t.Errorf("Seek: %d reads of %d bytes, want 2 of at most %d", counting.reads, counting.bytes, limit)
		}
		for near, c := 1, r.Seek(fmt.Appendf(nil, "key %07d", i)); near < 400; near++ { // through two blocks or three
			before, block := counting.reads, c.blockAt
			c.Seek(fmt.Appendf(nil, "key %07d", i+near))
			want := 0
			if c.blockAt != block {
				want = 1
			}
			if got := counting.reads - before; got > want {
				t.Fatalf("Seek %d entries on: %d reads, want %d", near, got, want)
			}
		}
	}
}

// A walk reads each byte about once, in large pieces; not before it has gone through two blocks. Afterwards, and once it has
// gone elsewhere, the cursor is small again.
func TestReadAhead(t *testing.T) {
	for _, compress := range []bool{false, true} {
		r, counting := countedRun(t, Options{Compress: compress}, 100_000)
		c := r.Seek(nil)
		first := c.blockAt
		for c.Next() && c.blockAt == first {
		}
		if want := int(c.blockAt.end()); counting.reads != 3 || counting.bytes > want+indexBlockBytes+1000 {
			t.Errorf("two blocks: %d reads of %d bytes, want 3 of %d and an index block", counting.reads, counting.bytes, want)
		}
		for c.Next() && c.window.ahead < lastAhead {
		}
		if c.Seek([]byte("key 0")); c.held() > 110<<10 {
			t.Errorf("after Seek the cursor holds %d bytes", c.held())
		}
		counting.reads, counting.bytes = 0, 0
		c.Seek(nil)
		for c.Next() {
		}
		if limit := int(r.size) + int(r.size)/20 + 10_000; counting.bytes > limit {
			t.Errorf("a walk reads %d bytes, want at most %d", counting.bytes, limit)
		}
		if limit := int(r.size)/(lastAhead*3/4) + 12; counting.reads > limit {
			t.Errorf("a walk of %d bytes: %d reads, want at most %d", r.size, counting.reads, limit)
		}
		if c.held() > 110<<10 {
			t.Errorf("after a walk the cursor holds %d bytes", c.held())
		}
	}
}

// held is the memory of the cursor's buffers.
func (c *Cursor) held() int {
	return cap(c.window.buf) + cap(c.unpacked) + cap(c.indexBuf) + cap(c.block.key) + cap(c.index.it.key) + cap(c.top.it.key)
}
