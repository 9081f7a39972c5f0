package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The whole-file form: the header, then each layer's chunks in order, each followed by its CRC-32C. A chunk's checksum
// covers its place and the header's checksum too, so that a chunk of another place or another file is damage as well.

// WriteTo writes the filter in the form that Read reads, and returns the bytes written. It refuses a restored filter
// that is not complete.
func (s *Scalable) WriteTo(w io.Writer) (int64, error) {
	if err := s.Complete(); err != nil {
		return 0, err
	}
	header, err := s.Header().MarshalBinary()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(header)
	written := int64(n)
	if err != nil {
		return written, fmt.Errorf("seen: write: %w", err)
	}
	buf := make([]byte, 0, ChunkBytes+sumBytes)
	for layer := range s.layers {
		for i := range s.Chunks(layer) {
			buf = s.AppendChunk(buf[:0], layer, i)
			buf = binary.LittleEndian.AppendUint32(buf, chunkSum(header, layer, i, buf))
			n, err := w.Write(buf)
			written += int64(n)
			if err != nil {
				return written, fmt.Errorf("seen: write: %w", err)
			}
		}
	}
	return written, nil
}

func chunkSum(header []byte, layer, i int, chunk []byte) uint32 {
	place := make([]byte, 0, sumBytes+4+4)
	place = append(place, header[len(header)-sumBytes:]...)
	place = binary.LittleEndian.AppendUint32(place, uint32(layer))
	place = binary.LittleEndian.AppendUint32(place, uint32(i))
	return crc32.Update(crc32.Checksum(place, castagnoli), castagnoli, chunk)
}

// Read reads a filter that WriteTo wrote, and not a byte more. The error is ErrFormat, ErrNewer, ErrDamaged (for what is
// cut off too) or the reader's own. Memory follows what the reader delivers: at most twice of it, and a little. A
// reader that is trusted less than that is to be limited by the caller.
func Read(r io.Reader) (Filter, error) {
	header, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	var h Header
	if err := h.UnmarshalBinary(header); err != nil {
		return nil, err
	}
	layers := make([]*layer, len(h.Layers))
	buf := make([]byte, ChunkBytes+sumBytes)
	for i, lh := range h.Layers {
		m, err := readWords(r, header, i, int(lh.Lines)*lineWords, buf)
		if err != nil {
			for _, l := range layers[:i] {
				l.memory.free()
			}
			return nil, err
		}
		layers[i] = layerIn(m, lh.shape(), lh.Base)
		layers[i].count = lh.Count
		layers[i].ones = uint64(layers[i].bitset(0, len(m.words)).Count())
	}
	return chain(h.Config, layers), nil
}

func readHeader(r io.Reader) ([]byte, error) {
	b := make([]byte, prefixBytes)
	n, err := io.ReadFull(r, b)
	if err != nil && !isCut(err) {
		return nil, fmt.Errorf("seen: read: %w", err)
	}
	length, err := headerLength(b[:n])
	if err != nil {
		return nil, err
	}
	b = append(b, make([]byte, length-prefixBytes)...)
	return b, readFull(r, b[prefixBytes:], "its header")
}

// readWords reads the chunks of a layer of total words. Its memory doubles as chunks arrive, up to exactly total, so
// that a header's claim alone allocates nothing.
func readWords(r io.Reader, header []byte, layer, total int, buf []byte) (*memory, error) {
	m := newMemory(min(total, chunkWords))
	for i, at := 0, 0; at < total; i++ {
		n := min(chunkWords, total-at)
		chunk, err := readChunk(r, header, layer, i, buf[:8*n+sumBytes])
		if err != nil {
			m.free()
			return nil, err
		}
		if len(m.words) < at+n {
			m = m.grown(min(total, 2*len(m.words)))
		}
		for ; len(chunk) > 0; chunk = chunk[8:] {
			m.words[at] = binary.LittleEndian.Uint64(chunk)
			at++
		}
	}
	return m, nil
}

// readChunk fills buf with a chunk and its checksum, and returns the chunk.
func readChunk(r io.Reader, header []byte, layer, i int, buf []byte) ([]byte, error) {
	if err := readFull(r, buf, fmt.Sprintf("layer %d chunk %d", layer, i)); err != nil {
		return nil, err
	}
	chunk, sum := buf[:len(buf)-sumBytes], buf[len(buf)-sumBytes:]
	if binary.LittleEndian.Uint32(sum) != chunkSum(header, layer, i, chunk) {
		return nil, fmt.Errorf("%w: layer %d chunk %d: wrong checksum", ErrDamaged, layer, i)
	}
	return chunk, nil
}

// readFull fills b. What the reader has not is damage at a place.
func readFull(r io.Reader, b []byte, place string) error {
	_, err := io.ReadFull(r, b)
	switch {
	case err == nil:
		return nil
	case isCut(err):
		return fmt.Errorf("%w: cut off in %s", ErrDamaged, place)
	default:
		return fmt.Errorf("seen: read: %s: %w", place, err)
	}
}

func isCut(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
