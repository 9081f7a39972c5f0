package fetch

import (
	"io"
	"math/bits"
	"sync"
)

// Buffers are lent in powers of two, so that a small page does not hold the memory of a large one. Those above the
// largest class are left to the garbage collector.
const (
	minBufferBits = 12 // 4 KiB
	maxBufferBits = 20 // 1 MiB
	maxLentBytes  = 1 << maxBufferBits
)

// buffers lends memory for bodies.
type buffers struct {
	classes [maxBufferBits - minBufferBits + 1]sync.Pool
}

// buffer is a slice on loan.
type buffer struct{ b []byte }

func bufferClass(n int64) int { return max(bits.Len64(uint64(max(n, 1)-1))-minBufferBits, 0) }

// get returns an empty buffer with room for n bytes.
func (p *buffers) get(n int64) *buffer {
	class := bufferClass(n)
	if class >= len(p.classes) {
		return &buffer{make([]byte, 0, n)}
	}
	if b, ok := p.classes[class].Get().(*buffer); ok {
		return b
	}
	return &buffer{make([]byte, 0, 1<<(class+minBufferBits))}
}

// put takes b back. Nobody may use it any more.
func (p *buffers) put(b *buffer) {
	if b == nil || cap(b.b) > maxLentBytes {
		return
	}
	b.b = b.b[:0]
	p.classes[bufferClass(int64(cap(b.b)))].Put(b)
}

// enlarge moves b's bytes to a buffer with room for n.
func (p *buffers) enlarge(b *buffer, n int64) *buffer {
	larger := p.get(n)
	larger.b = append(larger.b, b.b...)
	p.put(b)
	return larger
}

// fill appends what r holds to b until r ends (err is nil), fails, or b has limit bytes and r still more. b is replaced
// when it grows; growing by doubling keeps a length that a peer only claims from costing memory.
func (p *buffers) fill(b *buffer, r io.Reader, limit int64) (filled *buffer, more bool, err error) {
	for {
		if len(b.b) == cap(b.b) {
			// One byte past the limit is how more shows.
			b = p.enlarge(b, min(2*int64(cap(b.b)), limit+1))
		}
		room := b.b[len(b.b):cap(b.b)]
		room = room[:min(int64(len(room)), limit+1-int64(len(b.b)))]
		n, err := r.Read(room)
		b.b = b.b[:len(b.b)+n]
		switch {
		case int64(len(b.b)) > limit:
			b.b = b.b[:limit]
			return b, true, nil
		case err == io.EOF:
			return b, false, nil
		case err != nil:
			return b, false, err
		}
	}
}
