package sortedrun

import (
	"bytes"
	"encoding/binary"
)

// blockIter walks a plain block. It takes nothing in the block on trust: where it makes no sense, the walk ends and bad
// is set.
type blockIter struct {
	heads    []byte
	values   []byte
	restarts []byte
	pos      int    // where the next entry's head begins
	valuePos int    // where its value does, or what of it differs from the one before
	key      []byte // of the present entry, in a buffer of our own
	note     []byte // of the present entry, in the block
	value    []byte // of the present entry: in the block, or in joined
	joined   []byte // room for values that share their start with the one before
	bad      bool
}

// reset begins a walk of another block and says whether its end makes sense. The buffers are kept.
func (it *blockIter) reset(block []byte) bool {
	*it = blockIter{key: it.key[:0], joined: it.joined[:0]}
	if len(block) < trailerBytes {
		return false
	}
	table := len(block) - trailerBytes
	count := uint64(binary.LittleEndian.Uint32(block[table:]))
	heads := uint64(binary.LittleEndian.Uint32(block[table+4:]))
	if count*restartBytes > uint64(table) {
		return false
	}
	split := table - int(count)*restartBytes
	if heads > uint64(split) || (count == 0) != (heads == 0) || heads == 0 && split > 0 {
		return false
	}
	it.heads, it.values, it.restarts = block[:heads], block[heads:split], block[split:table]
	return true
}

// rewind goes back to before the first entry.
func (it *blockIter) rewind() {
	it.pos, it.valuePos, it.key, it.value = 0, 0, it.key[:0], nil
}

// next goes on to the next entry; false: there is none, or the block makes no sense.
func (it *blockIter) next() bool {
	b := it.heads[it.pos:]
	if len(b) == 0 {
		if it.valuePos != len(it.values) {
			return it.fail()
		}
		return false
	}
	var e entryHead
	if len(b) >= 5 && b[0]|b[1]|b[2]|b[3]|b[4] < 0x80 {
		e = entryHead{shared: int(b[0]), rest: int(b[1]), note: int(b[2]), kept: int(b[3]), length: int(b[4]), bytes: 5}
	} else if e = parseEntryHead(b); e.bytes == 0 {
		return it.fail()
	}
	keyEnd := e.bytes + e.rest
	end := keyEnd + e.note
	if e.shared > len(it.key) || end > len(b) || e.kept > len(it.value) || e.length > len(it.values)-it.valuePos {
		return it.fail()
	}
	it.key = append(it.key[:e.shared], b[e.bytes:keyEnd]...)
	it.note = b[keyEnd:end:end]
	it.pos += end
	rest := it.values[it.valuePos : it.valuePos+e.length : it.valuePos+e.length]
	it.valuePos += e.length
	if e.kept == 0 {
		it.value = rest
		return true
	}
	it.joined = append(append(it.joined[:0], it.value[:e.kept]...), rest...) // what is kept may be in joined already
	it.value = it.joined[:len(it.joined):len(it.joined)]
	return true
}

func (it *blockIter) fail() bool {
	*it = blockIter{key: it.key, joined: it.joined, bad: true}
	return false
}

// entryHead is the lengths at the start of an entry.
type entryHead struct {
	shared, rest int // of the key
	note         int
	kept, length int // of the value: shared with the one before, and the rest
	bytes        int // of these numbers themselves; 0: they make no sense
}

// parseEntryHead reads the lengths that b starts with.
func parseEntryHead(b []byte) (e entryHead) {
	n := 0
	for _, size := range [...]*int{&e.shared, &e.rest, &e.note, &e.kept, &e.length} {
		v, m := binary.Uvarint(b[n:])
		if m <= 0 || v > maxTop {
			return entryHead{}
		}
		*size = int(v)
		n += m
	}
	e.bytes = n
	return e
}

// restartKey returns the key at restart i, in the block, and where its entry and its value begin.
func (it *blockIter) restartKey(i int) (key []byte, pos, valuePos int, ok bool) {
	at := uint64(binary.LittleEndian.Uint32(it.restarts[restartBytes*i:]))
	value := uint64(binary.LittleEndian.Uint32(it.restarts[restartBytes*i+4:]))
	if at >= uint64(len(it.heads)) || value > uint64(len(it.values)) {
		return nil, 0, 0, false
	}
	b := it.heads[at:]
	e := parseEntryHead(b)
	if e.bytes == 0 || e.shared != 0 || e.kept != 0 || e.bytes+e.rest > len(b) {
		return nil, 0, 0, false
	}
	return b[e.bytes : e.bytes+e.rest], int(at), int(value), true
}

// first returns the key of the block's first entry; false: there is none.
func (it *blockIter) first() ([]byte, bool) {
	if len(it.restarts) == 0 {
		return nil, false
	}
	key, _, _, ok := it.restartKey(0)
	return key, ok
}

// restart goes to before the last restart whose key is not greater than key; to before the first entry where none is.
func (it *blockIter) restart(key []byte) bool {
	it.rewind()
	lo, hi := 0, len(it.restarts)/restartBytes // those before lo are not greater, those from hi on are
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		k, pos, valuePos, ok := it.restartKey(mid)
		if !ok {
			return it.fail()
		}
		if bytes.Compare(k, key) <= 0 {
			lo, it.pos, it.valuePos = mid+1, pos, valuePos
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
