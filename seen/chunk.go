package seen

import (
	"encoding/binary"
	"fmt"
	"runtime"

	"github.com/bits-and-blooms/bitset"
)

// Chunks returns the number of chunks of a layer, which is counted from 0.
func (s *Scalable) Chunks(layer int) int { return s.layers()[layer].chunks() }

func (l *layer) chunks() int { return (len(l.words) + chunkWords - 1) / chunkWords }

// chunk returns the range of the words of chunk i.
func (l *layer) chunk(i int) (from, to int) {
	return i * chunkWords, min((i+1)*chunkWords, len(l.words))
}

// AppendChunk appends chunk i of a layer to dst: its words, little endian. It panics for a chunk that is none.
func (s *Scalable) AppendChunk(dst []byte, layer, i int) []byte {
	l := s.layers()[layer]
	from, to := l.chunk(i)
	dst = appendWords(dst, l.words[from:to])
	runtime.KeepAlive(l)
	return dst
}

// Restore returns a filter with the layers, counts and hash of h, and no bit set yet: SetChunk sets them. Until Complete
// says that nothing is missing, its answers may be false negatives. It goes on under the cap maxBytes (0:
// DefaultMaxBytes), which need not be the one it was saved under. The error is ErrDamaged for a header that no filter
// can have had, or ErrTooLarge: no more than maxBytes is ever allocated.
func Restore(h Header, maxBytes int64) (*Scalable, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	h.Config.MaxBytes = maxBytes
	h.Config = h.Config.withDefaults()
	if need := h.bytes(); h.Config.MaxBytes < 0 || need > uint64(h.Config.MaxBytes) {
		return nil, fmt.Errorf("%w: %d bytes, seen_memory is %d", ErrTooLarge, need, h.Config.MaxBytes)
	}
	layers := make([]*layer, len(h.Layers))
	missing := make([]*bitset.BitSet, len(h.Layers))
	for i, lh := range h.Layers {
		layers[i] = newLayer(lh.shape(), lh.Base)
		layers[i].count.Store(lh.Count)
		missing[i] = bitset.New(uint(layers[i].chunks())).SetAll()
	}
	s := chain(h.Config, layers)
	s.missing = missing
	return s, nil
}

// SetChunk sets the bits of chunk i of a layer, and leaves those set that are. The error is ErrDamaged for a chunk that
// the filter has not, and for data of another length than the chunk's.
func (s *Scalable) SetChunk(layer, i int, data []byte) error {
	if layer < 0 || layer >= len(s.layers()) || i < 0 || i >= s.layers()[layer].chunks() {
		return fmt.Errorf("%w: layer %d has no chunk %d", ErrDamaged, layer, i)
	}
	l := s.layers()[layer]
	from, to := l.chunk(i)
	if len(data) != 8*(to-from) {
		return fmt.Errorf("%w: layer %d chunk %d: want %d bytes, got %d", ErrDamaged, layer, i, 8*(to-from), len(data))
	}
	bits := l.bitset(from, to)
	before := bits.Count()
	for j := from; j < to; j++ {
		l.words[j] |= binary.LittleEndian.Uint64(data)
		data = data[8:]
	}
	l.ones.Add(uint64(bits.Count() - before))
	if layer < len(s.missing) {
		s.missing[layer].Clear(uint(i))
	}
	return nil
}

// Complete returns ErrDamaged, with the first one's place, while chunks of a restored filter are missing. A filter that
// is not complete must not be asked: what it has forgotten would be fetched again.
func (s *Scalable) Complete() error {
	for layer, chunks := range s.missing {
		if i, ok := chunks.NextSet(0); ok {
			return fmt.Errorf("%w: layer %d lacks chunk %d and %d more", ErrDamaged, layer, i, chunks.Count()-1)
		}
	}
	s.missing = nil
	return nil
}
