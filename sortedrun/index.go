package sortedrun

import (
	"bytes"
	"encoding/binary"
)

// handle is the place of a block in the file.
type handle struct {
	offset int64
	length int // with kind and sum; 0: no block
}

func (h handle) end() int64 { return h.offset + int64(h.length) }

func (h handle) append(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(h.offset)), uint64(h.length))
}

// parseHandle reads a value of an index block. The block that it names lies before end and is not too long.
func parseHandle(b []byte, end int64) (handle, bool) {
	offset, n := binary.Uvarint(b)
	if n <= 0 || offset > uint64(end) {
		return handle{}, false
	}
	length, m := binary.Uvarint(b[n:])
	if m <= 0 || n+m != len(b) || length < frameTail || length > maxPlain+frameTail || length > uint64(end)-offset {
		return handle{}, false
	}
	return handle{offset: int64(offset), length: int(length)}, true
}

// level is a place in an index block or in the top: the entry of the block in use is behind it, the entry after that,
// if there is one, is the iterator's present one. So stepping needs no look back, and a seek no second look.
type level struct {
	it    blockIter
	ahead bool   // the iterator stands at an entry
	value []byte // that was returned: the iterator's own may be gone when it goes on
}

// reset goes to before the first entry of another index block.
func (l *level) reset(block []byte) bool {
	ok := l.it.reset(block)
	l.ahead = ok && l.it.next()
	return ok && !l.it.bad
}

// seek returns the value of the last entry whose key is not greater than key, else of the first; nil: there is none.
func (l *level) seek(key []byte) []byte {
	l.ahead = false
	if !l.it.restart(key) {
		return nil
	}
	found := false
	for ; l.it.next(); found = true {
		if found && bytes.Compare(l.it.key, key) > 0 {
			l.ahead = true
			return l.value
		}
		l.keep()
	}
	if !found {
		return nil
	}
	return l.value
}

// next returns the value of the next entry; nil: there is none.
func (l *level) next() []byte {
	if !l.ahead {
		return nil
	}
	l.keep()
	l.ahead = l.it.next()
	return l.value
}

// keep takes the value of the iterator's present entry.
func (l *level) keep() { l.value = append(l.value[:0], l.it.value...) }
