package sortedrun

import (
	"encoding/binary"
	"math/bits"
)

// restartInterval is how many entries there are from one restart to the next.
const restartInterval = 16

// entryOverhead is the most that an entry takes beside its key and value: three uvarints and a restart.
const entryOverhead = 3*binary.MaxVarintLen32 + 4

// blockBuilder makes plain blocks, one at a time.
type blockBuilder struct {
	buf      []byte
	restarts []uint32
	count    int
	last     []byte // key of the last entry, kept over reset
}

// size is the length that the block has by now.
func (b *blockBuilder) size() int { return len(b.buf) + 4*len(b.restarts) + 4 }

// add appends an entry whose key shares its first shared bytes with the last key.
func (b *blockBuilder) add(key, value []byte, shared int) {
	b.last = append(b.last[:shared], key[shared:]...)
	if b.count%restartInterval == 0 {
		b.restarts = append(b.restarts, uint32(len(b.buf)))
		shared = 0
	}
	b.count++
	rest := len(key) - shared
	if shared|rest|len(value) < 0x80 {
		b.buf = append(b.buf, byte(shared), byte(rest), byte(len(value)))
	} else {
		b.buf = binary.AppendUvarint(b.buf, uint64(shared))
		b.buf = binary.AppendUvarint(b.buf, uint64(rest))
		b.buf = binary.AppendUvarint(b.buf, uint64(len(value)))
	}
	b.buf = append(b.buf, key[shared:]...)
	b.buf = append(b.buf, value...)
}

// finish returns the block, valid until the next add.
func (b *blockBuilder) finish() []byte {
	for _, r := range b.restarts {
		b.buf = binary.LittleEndian.AppendUint32(b.buf, r)
	}
	b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(len(b.restarts)))
	return b.buf
}

func (b *blockBuilder) reset() {
	b.buf, b.restarts, b.count = b.buf[:0], b.restarts[:0], 0
}

// sharedPrefix returns the length of the longest common prefix of a and b.
func sharedPrefix(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
