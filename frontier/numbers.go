package frontier

import (
	"sync/atomic"
	"unsafe"
)

// numbers knows of each sequence number whether the visit has ended (done), and whether memory holds the task, leased or
// not (held). The bits of both lie in one cache line: who asks for one nearly always asks for the other. One goroutine
// writes at a time; any may ask what is done meanwhile, and only the writer what is held.
type numbers struct {
	chunks atomic.Pointer[[]*numberChunk] // the slice is never written after it is stored
	held   int                            // how many are
}

// numberChunk holds a million numbers: 256 KiB.
type numberChunk [1 << 14]struct{ done, held uint64 }

const chunkNumbers = uint64(64 * len(numberChunk{}))

func (n *numbers) isDone(seq uint64) bool {
	chunks := n.chunks.Load()
	i := seq / chunkNumbers
	if chunks == nil || i >= uint64(len(*chunks)) {
		return false
	}
	return atomic.LoadUint64(&(*chunks)[i][seq%chunkNumbers/64].done)>>(seq%64)&1 != 0
}

// prefetch asks for what isDone reads.
func (n *numbers) prefetch(seq uint64) {
	chunks := n.chunks.Load()
	if i := seq / chunkNumbers; chunks != nil && i < uint64(len(*chunks)) {
		prefetchLines(unsafe.Pointer(&(*chunks)[i][seq%chunkNumbers/64]), 1)
	}
}

func (n *numbers) setDone(seq uint64) { atomic.OrUint64(n.done(seq), 1<<(seq%64)) }

func (n *numbers) clearDone(seq uint64) { atomic.AndUint64(n.done(seq), ^(1 << (seq % 64))) }

// setDoneWord sets the bits of w, of which the least is first's.
func (n *numbers) setDoneWord(first, w uint64) {
	shift := first % 64
	atomic.OrUint64(n.done(first), w<<shift)
	if high := w >> (64 - shift); shift > 0 && high != 0 {
		atomic.OrUint64(n.done(first+63), high)
	}
}

func (n *numbers) isHeld(seq uint64) bool {
	chunks := n.chunks.Load()
	i := seq / chunkNumbers
	if chunks == nil || i >= uint64(len(*chunks)) {
		return false
	}
	return (*chunks)[i][seq%chunkNumbers/64].held>>(seq%64)&1 != 0
}

func (n *numbers) hold(seq uint64) {
	c, i := n.chunk(seq), seq%chunkNumbers/64
	n.held += int(^c[i].held >> (seq % 64) & 1)
	c[i].held |= 1 << (seq % 64)
}

func (n *numbers) unhold(seq uint64) {
	c, i := n.chunk(seq), seq%chunkNumbers/64
	n.held -= int(c[i].held >> (seq % 64) & 1)
	c[i].held &^= 1 << (seq % 64)
}

func (n *numbers) done(seq uint64) *uint64 { return &n.chunk(seq)[seq%chunkNumbers/64].done }

// chunk returns the chunk of seq, after seeing to it that there is one.
func (n *numbers) chunk(seq uint64) *numberChunk {
	need := int(seq/chunkNumbers) + 1
	var chunks []*numberChunk
	if p := n.chunks.Load(); p != nil {
		chunks = *p
	}
	if len(chunks) < need {
		grown := append(make([]*numberChunk, 0, need), chunks...)
		for len(grown) < need {
			grown = append(grown, new(numberChunk))
		}
		n.chunks.Store(&grown)
		chunks = grown
	}
	return chunks[seq/chunkNumbers]
}
