package sortedrun

import (
	"bytes"
	"encoding/binary"
)

// blockIter walks a plain block. It takes nothing in the block on trust: where it makes no sense, the walk ends and bad
// is set.
type blockIter struct {
	entries  []byte
	restarts []byte
	pos      int    // where the next entry begins
	key      []byte // of the present entry, in a buffer of our own
	value    []byte // of the present entry, in the block
	bad      bool
}

// reset begins a walk of another block and says whether its end makes sense. The buffer of the key is kept.
func (it *blockIter) reset(block []byte) bool {
	*it = blockIter{key: it.key[:0]}
	if len(block) < 4 {
		return false
	}
	table := len(block) - 4
	count := uint64(binary.LittleEndian.Uint32(block[table:]))
	if count*4 > uint64(table) {
		return false
	}
	split := table - int(count)*4
	if (count == 0) != (split == 0) {
		return false
	}
	it.entries, it.restarts = block[:split], block[split:table]
	return true
}

// rewind goes back to before the first entry.
func (it *blockIter) rewind() {
	it.pos, it.key = 0, it.key[:0]
}

// next goes on to the next entry; false: there is none, or the block makes no sense.
func (it *blockIter) next() bool {
	b := it.entries[it.pos:]
	if len(b) == 0 {
		return false
	}
	var shared, rest, length, n int
	if len(b) >= 3 && b[0]|b[1]|b[2] < 0x80 {
		shared, rest, length, n = int(b[0]), int(b[1]), int(b[2]), 3
	} else if shared, rest, length, n = entryHead(b); n == 0 {
		return it.fail()
	}
	keyEnd := n + rest
	end := keyEnd + length
	if shared > len(it.key) || end > len(b) {
		return it.fail()
	}
	it.key = append(it.key[:shared], b[n:keyEnd]...)
	it.value = b[keyEnd:end:end]
	it.pos += end
	return true
}

func (it *blockIter) fail() bool {
	it.bad, it.entries, it.restarts, it.pos, it.value = true, nil, nil, 0, nil
	return false
}

// entryHead reads the three lengths at the start of b and how long they are themselves; 0: they make no sense.
func entryHead(b []byte) (shared, rest, length, n int) {
	var sizes [3]int
	for i := range sizes {
		v, m := binary.Uvarint(b[n:])
		if m <= 0 || v > maxTop {
			return 0, 0, 0, 0
		}
		sizes[i] = int(v)
		n += m
	}
	return sizes[0], sizes[1], sizes[2], n
}

// restartKey returns the key at restart i, in the block, and where its entry begins.
func (it *blockIter) restartKey(i int) (key []byte, pos int, ok bool) {
	at := binary.LittleEndian.Uint32(it.restarts[4*i:])
	if uint64(at) >= uint64(len(it.entries)) {
		return nil, 0, false
	}
	b := it.entries[at:]
	shared, rest, _, n := entryHead(b)
	if n == 0 || shared != 0 || n+rest > len(b) {
		return nil, 0, false
	}
	return b[n : n+rest], int(at), true
}

// first returns the key of the block's first entry; false: there is none.
func (it *blockIter) first() ([]byte, bool) {
	if len(it.restarts) == 0 {
		return nil, false
	}
	key, _, ok := it.restartKey(0)
	return key, ok
}

// restart goes to before the last restart whose key is not greater than key; to before the first entry where none is.
func (it *blockIter) restart(key []byte) bool {
	it.rewind()
	lo, hi := 0, len(it.restarts)/4 // those before lo are not greater, those from hi on are
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		k, pos, ok := it.restartKey(mid)
		if !ok {
			return it.fail()
		}
		if bytes.Compare(k, key) <= 0 {
			lo, it.pos = mid+1, pos
		} else {
			hi = mid
		}
	}
	return true
}

// seek goes to the first entry whose key is not less than key; false: there is none, or the block makes no sense.
func (it *blockIter) seek(key []byte) bool {
	if !it.restart(key) {
		return false
	}
	for it.next() {
		if bytes.Compare(it.key, key) >= 0 {
			return true
		}
	}
	return false
}
