package fetch

import (
	"io"
	"math/bits"
	"sync"
)

// Small buffers are lent on the heap, in powers of two, so that a small page does not hold the memory of a large one. A
// body that outgrows the largest class goes into a region of its own: room in the address space for all that it may
// become, of which memory is used as bytes arrive. So it grows without being copied, and what it used is the system's
// again as soon as it is put back.
const (
	minBufferBits = 12 // 4 KiB
	maxBufferBits = 18 // 256 KiB

	minBufferBytes = 1 << minBufferBits
	maxLentBytes   = 1 << maxBufferBits

	firstBytes = 64 << 10 // most of a buffer that is there before the body is
	stepBytes  = 1 << 20  // most that a region grows by

	// bufferSlack is what a body can need beside its own size: the buffers that it outgrows, and the byte that shows that
	// there is more.
	bufferSlack = 2 << 20
)

// buffers lends memory for bodies.
type buffers struct {
	classes [maxBufferBits - minBufferBits + 1]sync.Pool
}

// buffer is a slice on loan. Its capacity is what a share was charged for.
type buffer struct {
	b      []byte
	region []byte // what b is the start of; nil for one on the heap
}

// cost is what a share is charged for b.
func (b *buffer) cost() int64 {
	if b.region != nil {
		return int64(cap(b.b))
	}
	return heapFactor * int64(cap(b.b))
}

func bufferClass(n int64) int { return max(bits.Len64(uint64(max(n, 1)-1))-minBufferBits, 0) }

// classBytes is the size of the buffer that is lent for n bytes.
func classBytes(n int64) int64 { return 1 << (bufferClass(n) + minBufferBits) }

// get returns an empty buffer with room for n bytes, maxLentBytes at most. Nobody is charged for it.
func (p *buffers) get(n int64) *buffer {
	class := bufferClass(n)
	if b, ok := p.classes[class].Get().(*buffer); ok {
		return b
	}
	return &buffer{b: make([]byte, 0, classBytes(n))}
}

// put takes b back. Nobody may use it any more.
func (p *buffers) put(b *buffer) {
	if b == nil {
		return
	}
	if b.region != nil {
		unmapRegion(b.region)
		b.b, b.region = nil, nil
		return
	}
	b.b = b.b[:0]
	p.classes[bufferClass(int64(cap(b.b)))].Put(b)
}

// first returns the buffer that a body of about n bytes begins in. Where there is no memory for that it is a small one,
// which all may have.
func (p *buffers) first(s *share, n int64) *buffer {
	n = min(n, maxLentBytes)
	if s.takeNow(heapFactor*classBytes(n)) != nil {
		n = min(n, firstBytes)
		s.charged += heapFactor * classBytes(n)
	}
	return p.get(n)
}

// growth is how a body comes to more memory.
type growth struct {
	*share
	take   func(n int64) error
	limit  int64 // of the body
	expect int64 // what it is likely to become; 0: not known
}

// grow returns b with room for one more byte at least, and for least in all where that is little. What b has may lie
// elsewhere then. On an error b is as it was.
func (p *buffers) grow(g growth, b *buffer, least int64) (*buffer, error) {
	size := int64(cap(b.b))
	if b.region != nil {
		n := min(stepBytes, int64(len(b.region))-size)
		if err := g.take(n); err != nil {
			return b, err
		}
		b.b = b.region[: len(b.b) : size+n]
		return b, nil
	}
	larger, err := p.larger(g, max(2*size, min(least, firstBytes)))
	if err != nil {
		return b, err
	}
	larger.b = append(larger.b, b.b...)
	cost := b.cost()
	p.put(b)
	g.giveBack(cost)
	return larger, nil
}

// larger returns an empty buffer of n bytes: on the heap, or at the start of a region with room for all of the body and
// for what shows that there is more.
func (p *buffers) larger(g growth, n int64) (*buffer, error) {
	if n <= maxLentBytes {
		if err := g.take(heapFactor * n); err != nil {
			return nil, err
		}
		return p.get(n), nil
	}
	if err := g.take(n); err != nil {
		return nil, err
	}
	region, err := mapRegion(max(g.limit+1, n))
	if err != nil {
		g.giveBack(n)
		return nil, &memoryError{waited: g.waited, cause: err}
	}
	return &buffer{b: region[:0:n], region: region}, nil
}

// fill appends what r holds to b until r ends (err is nil), fails, or b has as many bytes as it may and r still more. b
// is replaced when it grows.
func (p *buffers) fill(g growth, b *buffer, r io.Reader) (filled *buffer, more bool, err error) {
	eager := false // the last read gave all there was room for
	for {
		if len(b.b) == cap(b.b) {
			least := int64(0)
			if eager {
				least = g.expect // the rest is likely there already
			}
			if b, err = p.grow(g, b, least); err != nil {
				return b, false, err
			}
		}
		room := b.b[len(b.b):cap(b.b)]
		// One byte past the limit is how more shows.
		room = room[:min(int64(len(room)), g.limit+1-int64(len(b.b)))]
		n, err := r.Read(room)
		eager = n == len(room)
		b.b = b.b[:len(b.b)+n]
		switch {
		case int64(len(b.b)) > g.limit:
			b.b = b.b[:g.limit]
			return b, true, nil
		case err == io.EOF:
			return b, false, nil
		case err != nil:
			return b, false, err
		}
	}
}

// trim gives back what a region was charged for and does not use.
func (b *buffer) trim(s *share) {
	if b == nil || b.region == nil {
		return
	}
	before := b.cost()
	b.b = b.b[:len(b.b):wholePages(int64(len(b.b)), int64(cap(b.b)))]
	s.giveBack(before - b.cost())
}
