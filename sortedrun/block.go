package sortedrun

import (
	"encoding/binary"
	"math/bits"
)

// restartInterval is how many entries there are from one restart to the next.
const restartInterval = 16

// entryOverhead is the most that an entry takes beside its key, note and value: five uvarints and a restart.
const entryOverhead = 5*binary.MaxVarintLen32 + restartBytes

const (
	restartBytes = 8 // two offsets
	trailerBytes = 8 // the number of restarts, and the length of the heads
)

// blockBuilder makes plain blocks, one at a time.
type blockBuilder struct {
	heads     []byte
	values    []byte
	restarts  []byte
	count     int
	last      []byte // key of the last entry, kept over reset
	lastValue []byte
	block     []byte // that finish returned
}

// size is the length that the block has by now.
func (b *blockBuilder) size() int {
	return len(b.heads) + len(b.values) + len(b.restarts) + trailerBytes
}

// add appends an entry whose key shares its first shared bytes with the last key.
func (b *blockBuilder) add(key, note, value []byte, shared int) {
	b.last = append(b.last[:shared], key[shared:]...)
	kept := 0 // of the value before
	if b.count%restartInterval == 0 {
		b.restarts = binary.LittleEndian.AppendUint32(b.restarts, uint32(len(b.heads)))
		b.restarts = binary.LittleEndian.AppendUint32(b.restarts, uint32(len(b.values)))
		shared = 0
	} else {
		kept = sharedPrefix(b.lastValue, value)
	}
	b.lastValue = append(b.lastValue[:kept], value[kept:]...)
	b.count++
	sizes := [...]int{shared, len(key) - shared, len(note), kept, len(value) - kept}
	if sizes[0]|sizes[1]|sizes[2]|sizes[3]|sizes[4] < 0x80 {
		b.heads = append(b.heads, byte(sizes[0]), byte(sizes[1]), byte(sizes[2]), byte(sizes[3]), byte(sizes[4]))
	} else {
		for _, n := range sizes {
			b.heads = binary.AppendUvarint(b.heads, uint64(n))
		}
	}
	b.heads = append(b.heads, key[shared:]...)
	b.heads = append(b.heads, note...)
	b.values = append(b.values, value[kept:]...)
}

// finish returns the block, valid until the next add, and how long its heads are.
func (b *blockBuilder) finish() (block []byte, heads int) {
	b.block = append(b.block[:0], b.heads...)
	b.block = append(b.block, b.values...)
	b.block = append(b.block, b.restarts...)
	b.block = binary.LittleEndian.AppendUint32(b.block, uint32(len(b.restarts)/restartBytes))
	b.block = binary.LittleEndian.AppendUint32(b.block, uint32(len(b.heads)))
	return b.block, len(b.heads)
}

func (b *blockBuilder) reset() {
	b.heads, b.values, b.restarts, b.count = b.heads[:0], b.values[:0], b.restarts[:0], 0
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
