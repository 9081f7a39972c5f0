package seen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// What is wrong with a saved filter.
var (
	// ErrFormat: these bytes were never a saved filter.
	ErrFormat = errors.New("seen: not a saved filter")
	// ErrNewer: a later version of this program wrote it.
	ErrNewer = errors.New("seen: saved by a newer version")
	// ErrDamaged: bytes were changed or cut off since it was saved, or a chunk is missing.
	ErrDamaged = errors.New("seen: saved filter is damaged")
	// ErrTooLarge: it needs more memory than the cap allows.
	ErrTooLarge = errors.New("seen: saved filter is larger than allowed")
)

// Header is all of a saved filter but its bits. It holds the seed of the hash, which is secret.
type Header struct {
	Kind   Kind
	Config Config        // as it was in force: nothing is zero
	Layers []LayerHeader // oldest first
}

// LayerHeader is the place and the size of a layer.
type LayerHeader struct {
	Base     uint64 // hashes in the layers before it
	Count    uint64 // hashes in it
	Capacity uint64 // hashes it was made for
	Lines    uint64 // lines of 512 bits
	K        int    // bits a hash
}

// Header returns the filter's header at this moment.
func (s *Scalable) Header() Header {
	h := Header{Kind: KindScalable, Config: s.cfg, Layers: make([]LayerHeader, 0, len(s.layers))}
	for _, l := range s.layers {
		h.Layers = append(h.Layers, LayerHeader{
			Base: l.base, Count: l.count, Capacity: l.capacity, Lines: l.lines, K: l.k,
		})
	}
	return h
}

// Len returns the number of hashes that a filter restored from h holds for sure: where a replay has to begin.
func (h Header) Len() uint64 {
	if len(h.Layers) == 0 {
		return 0
	}
	l := h.Layers[len(h.Layers)-1]
	return l.Base + l.Count
}

// A header is magic, version, its own length, the fields, and a CRC-32C of all before. Numbers are little endian. What
// every version keeps is the first 16 bytes and the checksum at the end, so that a newer version is told from damage.
const (
	magic          = "\x93SEEN\r\n\x1a" // the line ends catch a transfer as text
	version        = 1
	prefixBytes    = len(magic) + 4 + 4
	sumBytes       = 4
	maxHeaderBytes = 1 << 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // not written

// MarshalBinary encodes the header with its version and checksum.
func (h Header) MarshalBinary() ([]byte, error) {
	if len(h.Kind) > math.MaxUint8 {
		return nil, fmt.Errorf("seen: header: kind of %d bytes", len(h.Kind))
	}
	le := binary.LittleEndian
	b := append([]byte(nil), magic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, 0) // the length, once it is known
	b = append(b, byte(len(h.Kind)))
	b = append(b, h.Kind...)
	b = le.AppendUint64(b, math.Float64bits(h.Config.FalsePositiveRate))
	b = le.AppendUint64(b, h.Config.ExpectedItems)
	b = le.AppendUint64(b, uint64(h.Config.MaxBytes))
	b = le.AppendUint64(b, h.Config.Seed)
	b = le.AppendUint32(b, uint32(len(h.Layers)))
	for _, l := range h.Layers {
		b = le.AppendUint64(b, l.Base)
		b = le.AppendUint64(b, l.Count)
		b = le.AppendUint64(b, l.Capacity)
		b = le.AppendUint64(b, l.Lines)
		b = le.AppendUint32(b, uint32(l.K))
	}
	le.PutUint32(b[len(magic)+4:], uint32(len(b)+sumBytes))
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// UnmarshalBinary decodes and checks a header. The error is ErrFormat, ErrNewer or ErrDamaged. It allocates nothing but
// the header, whatever sizes the header claims.
func (h *Header) UnmarshalBinary(b []byte) error {
	length, err := headerLength(b)
	if err != nil {
		return err
	}
	if length != len(b) {
		return fmt.Errorf("%w: header of %d bytes says it has %d", ErrDamaged, len(b), length)
	}
	le := binary.LittleEndian
	body, sum := b[:len(b)-sumBytes], le.Uint32(b[len(b)-sumBytes:])
	if crc32.Checksum(body, castagnoli) != sum {
		return fmt.Errorf("%w: header: wrong checksum", ErrDamaged)
	}
	switch v := le.Uint32(b[len(magic):]); {
	case v > version:
		return fmt.Errorf("%w: format %d, this one reads up to %d", ErrNewer, v, version)
	case v == 0:
		return fmt.Errorf("%w: header: format 0", ErrDamaged)
	}
	got, err := decodeFields(body[prefixBytes:])
	if err != nil {
		return err
	}
	if err := got.check(); err != nil {
		return err
	}
	*h = got
	return nil
}

// headerLength returns the length that a header gives in its first bytes, once they are known to be those of one.
func headerLength(b []byte) (int, error) {
	if n := min(len(b), len(magic)); n == 0 || !bytes.Equal(b[:n], []byte(magic)[:n]) {
		return 0, ErrFormat
	}
	if len(b) < prefixBytes {
		return 0, fmt.Errorf("%w: cut off in its header", ErrDamaged)
	}
	length := binary.LittleEndian.Uint32(b[len(magic)+4:])
	if length < uint32(prefixBytes+sumBytes) || length > maxHeaderBytes {
		return 0, fmt.Errorf("%w: header says it has %d bytes", ErrDamaged, length)
	}
	return int(length), nil
}

// fields takes numbers off the front of a byte slice. Once it is too short, all that follow are zero.
type fields struct {
	b     []byte
	short bool
}

func (f *fields) take(n int) []byte {
	if len(f.b) < n {
		f.b, f.short = nil, true
		return make([]byte, n)
	}
	var head []byte
	head, f.b = f.b[:n], f.b[n:]
	return head
}

func (f *fields) uint8() int     { return int(f.take(1)[0]) }
func (f *fields) uint32() uint32 { return binary.LittleEndian.Uint32(f.take(4)) }
func (f *fields) uint64() uint64 { return binary.LittleEndian.Uint64(f.take(8)) }

func decodeFields(b []byte) (Header, error) {
	f := fields{b: b}
	var h Header
	h.Kind = Kind(f.take(f.uint8()))
	h.Config.FalsePositiveRate = math.Float64frombits(f.uint64())
	h.Config.ExpectedItems = f.uint64()
	h.Config.MaxBytes = int64(f.uint64())
	h.Config.Seed = f.uint64()
	n := f.uint32()
	if n > maxLayers {
		return Header{}, fmt.Errorf("%w: header: %d layers", ErrDamaged, n)
	}
	for range n {
		h.Layers = append(h.Layers, LayerHeader{
			Base: f.uint64(), Count: f.uint64(), Capacity: f.uint64(), Lines: f.uint64(), K: int(f.uint32()),
		})
	}
	if f.short || len(f.b) > 0 {
		return Header{}, fmt.Errorf("%w: header: fields do not fill it", ErrDamaged)
	}
	return h, nil
}

// check reports whether a filter can have this header: its layers follow one another and from the settings.
func (h Header) check() error {
	if h.Kind != KindScalable {
		return fmt.Errorf("%w: kind %q", ErrNewer, h.Kind)
	}
	c := h.Config
	if !validRate(c.FalsePositiveRate) || c.ExpectedItems == 0 || c.Seed == 0 || c.MaxBytes <= 0 || c.MaxBytes > math.MaxInt {
		return fmt.Errorf("%w: header: impossible settings", ErrDamaged)
	}
	if len(h.Layers) == 0 || len(h.Layers) > maxLayers {
		return fmt.Errorf("%w: header: %d layers", ErrDamaged, len(h.Layers))
	}
	p := newPlan(c)
	left := uint64(c.MaxBytes) / lineBytes
	var base, lastCapacity uint64
	for i, l := range h.Layers {
		end := base + l.Count
		filled := l.Count >= l.Capacity || i == len(h.Layers)-1
		if l.Base != base || end < base || !filled || l.K < 1 || l.K > maxK ||
			l.Capacity == 0 || l.Lines == 0 || l.Lines > left || !p.allows(i, l.shape(), lastCapacity) {
			return fmt.Errorf("%w: header: impossible layer %d", ErrDamaged, i)
		}
		base, lastCapacity = end, l.Capacity
		left -= l.Lines
	}
	return nil
}

func (h Header) bytes() uint64 {
	var lines uint64
	for _, l := range h.Layers {
		lines += l.Lines
	}
	return lines * lineBytes
}

func (l LayerHeader) shape() shape { return shape{capacity: l.Capacity, lines: l.Lines, k: l.K} }
