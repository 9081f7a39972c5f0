package frontier

import "sync/atomic"

// numberSet is a set of sequence numbers, one bit each. One goroutine writes at a time; any may read meanwhile.
type numberSet struct {
	chunks atomic.Pointer[[]*bitChunk] // the slice is never written after it is stored
}

// bitChunk holds a million numbers: 128 KiB.
type bitChunk [1 << 14]uint64

const chunkBits = uint64(64 * len(bitChunk{}))

func (b *numberSet) has(seq uint64) bool {
	chunks := b.chunks.Load()
	i := seq / chunkBits
	if chunks == nil || i >= uint64(len(*chunks)) {
		return false
	}
	return atomic.LoadUint64(&(*chunks)[i][seq%chunkBits/64])>>(seq%64)&1 != 0
}

func (b *numberSet) set(seq uint64) { atomic.OrUint64(b.word(seq), 1<<(seq%64)) }

func (b *numberSet) clear(seq uint64) { atomic.AndUint64(b.word(seq), ^(1 << (seq % 64))) }

// setWord sets the bits of w, of which the least is first's.
func (b *numberSet) setWord(first, w uint64) {
	shift := first % 64
	atomic.OrUint64(b.word(first), w<<shift)
	if high := w >> (64 - shift); shift > 0 && high != 0 {
		atomic.OrUint64(b.word(first+63), high)
	}
}

// word returns the word of seq, after seeing to it that there is one.
func (b *numberSet) word(seq uint64) *uint64 {
	need := int(seq/chunkBits) + 1
	var chunks []*bitChunk
	if p := b.chunks.Load(); p != nil {
		chunks = *p
	}
	if len(chunks) < need {
		grown := append(make([]*bitChunk, 0, need), chunks...)
		for len(grown) < need {
			grown = append(grown, new(bitChunk))
		}
		b.chunks.Store(&grown)
		chunks = grown
	}
	return &chunks[seq/chunkBits][seq%chunkBits/64]
}
