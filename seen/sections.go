package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync/atomic"
)

// A section is a number of words that follows from the head, in chunks of ChunkBytes (the last one may be shorter), each
// followed by its CRC-32C. A chunk's checksum covers its place and the head's checksum too, so that a chunk of another
// place or another file is damage as well.

const (
	// ChunkBytes is the size of a chunk; a section's last one may be shorter.
	ChunkBytes = 256 << 10
	chunkWords = ChunkBytes / 8
)

// sink writes a saved filter.
type sink struct {
	w       io.Writer
	head    []byte
	buf     []byte // a chunk and its checksum
	section int    // sections written
	written int64  // bytes written
}

// writeSaved writes a head and its sections, and returns the bytes written. Words are loaded one by one and atomically.
func writeSaved(w io.Writer, head []byte, sections ...[]uint64) (int64, error) {
	s := sink{w: w, head: head, buf: make([]byte, 0, ChunkBytes+sumBytes)}
	if err := s.write(head); err != nil {
		return s.written, err
	}
	for _, words := range sections {
		if err := s.words(words); err != nil {
			return s.written, err
		}
	}
	return s.written, nil
}

// words writes the next section.
func (s *sink) words(words []uint64) error {
	i := 0
	for chunk := range slices.Chunk(words, chunkWords) {
		b := appendWords(s.buf[:0], chunk)
		b = binary.LittleEndian.AppendUint32(b, chunkSum(s.head, s.section, i, b))
		if err := s.write(b); err != nil {
			return err
		}
		i++
	}
	s.section++
	return nil
}

func (s *sink) write(b []byte) error {
	n, err := s.w.Write(b)
	s.written += int64(n)
	if err != nil {
		return fmt.Errorf("seen: write: %w", err)
	}
	return nil
}

// appendWords appends words as they are saved, each loaded atomically: others may be setting bits of them.
func appendWords(dst []byte, words []uint64) []byte {
	dst = slices.Grow(dst, 8*len(words))
	for i := range words {
		dst = binary.LittleEndian.AppendUint64(dst, atomic.LoadUint64(&words[i]))
	}
	return dst
}

func chunkSum(head []byte, section, i int, chunk []byte) uint32 {
	place := make([]byte, 0, sumBytes+4+4)
	place = append(place, head[len(head)-sumBytes:]...)
	place = binary.LittleEndian.AppendUint32(place, uint32(section))
	place = binary.LittleEndian.AppendUint32(place, uint32(i))
	return crc32.Update(crc32.Checksum(place, castagnoli), castagnoli, chunk)
}

// source reads a saved filter: its head is read, and its sections are next.
type source struct {
	r       io.Reader
	head    []byte
	kind    Kind
	fields  fields    // of the kind
	buf     []byte    // a chunk and its checksum
	section int       // sections read
	taken   []*memory // their words
}

// open reads a head.
func open(r io.Reader) (*source, error) {
	b := make([]byte, prefixBytes)
	n, err := io.ReadFull(r, b)
	if err != nil && !isCut(err) {
		return nil, fmt.Errorf("seen: read: %w", err)
	}
	length, err := headLength(b[:n])
	if err != nil {
		return nil, err
	}
	b = append(b, make([]byte, length-prefixBytes)...)
	if err := readFull(r, b[prefixBytes:], "its head"); err != nil {
		return nil, err
	}
	s := &source{r: r, head: b}
	s.kind, s.fields, err = openHead(b)
	return s, err
}

// words reads the next section, of total words. Its memory doubles as chunks arrive, up to exactly total, so that a
// head's claim alone allocates nothing. The source frees it if the filter cannot be read after all.
func (s *source) words(total int) (*memory, error) {
	if s.buf == nil {
		s.buf = make([]byte, ChunkBytes+sumBytes)
	}
	m := newMemory(min(total, chunkWords))
	for i, at := 0, 0; at < total; i++ {
		n := min(chunkWords, total-at)
		chunk, err := s.chunk(i, n)
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
	s.section++
	s.taken = append(s.taken, m)
	return m, nil
}

// chunk reads chunk i of the section, of so many words, and checks it. What it returns is valid until the next call.
func (s *source) chunk(i, words int) ([]byte, error) {
	b := s.buf[:8*words+sumBytes]
	if err := readFull(s.r, b, fmt.Sprintf("section %d chunk %d", s.section, i)); err != nil {
		return nil, err
	}
	chunk, sum := b[:8*words], b[8*words:]
	if binary.LittleEndian.Uint32(sum) != chunkSum(s.head, s.section, i, chunk) {
		return nil, fmt.Errorf("%w: section %d chunk %d: wrong checksum", ErrDamaged, s.section, i)
	}
	return chunk, nil
}

// free gives back the words of all sections.
func (s *source) free() {
	for _, m := range s.taken {
		m.free()
	}
	s.taken = nil
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
