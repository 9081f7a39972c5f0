package seen

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
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
	h := Header{Kind: KindScalable, Config: s.cfg, Layers: make([]LayerHeader, 0, len(s.layers()))}
	for _, l := range s.layers() {
		h.Layers = append(h.Layers, LayerHeader{
			Base: l.base, Count: l.count.Load(), Capacity: l.capacity, Lines: l.lines, K: l.k,
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

// MarshalBinary encodes the header with its version and checksum.
func (h Header) MarshalBinary() ([]byte, error) {
	le := binary.LittleEndian
	b := appendConfig(nil, h.Config)
	b = le.AppendUint32(b, uint32(len(h.Layers)))
	for _, l := range h.Layers {
		b = le.AppendUint64(b, l.Base)
		b = le.AppendUint64(b, l.Count)
		b = le.AppendUint64(b, l.Capacity)
		b = le.AppendUint64(b, l.Lines)
		b = le.AppendUint32(b, uint32(l.K))
	}
	return sealHead(h.Kind, b)
}

// UnmarshalBinary decodes and checks a header. The error is ErrFormat, ErrNewer or ErrDamaged. It allocates nothing but
// the header, whatever sizes the header claims.
func (h *Header) UnmarshalBinary(b []byte) error {
	kind, f, err := openHead(b)
	if err != nil {
		return err
	}
	got, err := decodeHeader(kind, f)
	if err != nil {
		return err
	}
	*h = got
	return nil
}

// decodeHeader takes the fields of a chain, and checks them.
func decodeHeader(kind Kind, f fields) (Header, error) {
	if kind != KindScalable {
		return Header{}, fmt.Errorf("%w: want kind %q, got %q", ErrFormat, KindScalable, kind)
	}
	h := Header{Kind: kind, Config: f.config()}
	n := f.uint32()
	if n > maxLayers {
		return Header{}, fmt.Errorf("%w: head: %d layers", ErrDamaged, n)
	}
	for range n {
		h.Layers = append(h.Layers, LayerHeader{
			Base: f.uint64(), Count: f.uint64(), Capacity: f.uint64(), Lines: f.uint64(), K: int(f.uint32()),
		})
	}
	if err := f.end(); err != nil {
		return Header{}, err
	}
	return h, h.check()
}

// check reports whether a filter can have this header: its layers follow one another and from the settings.
func (h Header) check() error {
	if h.Kind != KindScalable {
		return fmt.Errorf("%w: want kind %q, got %q", ErrFormat, KindScalable, h.Kind)
	}
	c := h.Config
	if err := checkConfig(c); err != nil {
		return err
	}
	if len(h.Layers) == 0 || len(h.Layers) > maxLayers {
		return fmt.Errorf("%w: head: %d layers", ErrDamaged, len(h.Layers))
	}
	g := newGrowth(c)
	left := uint64(c.MaxBytes) / lineBytes
	var base, lastCapacity uint64
	for i, l := range h.Layers {
		end := base + l.Count
		filled := l.Count >= l.Capacity || i == len(h.Layers)-1
		if l.Base != base || end < base || !filled || l.K < 1 || l.K > maxK ||
			l.Capacity == 0 || l.Lines == 0 || l.Lines > left || !g.allows(i, l.shape(), lastCapacity) {
			return fmt.Errorf("%w: head: impossible layer %d", ErrDamaged, i)
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

// WriteTo writes the filter in the form that Read reads, and returns the bytes written. It refuses a restored filter
// that is not complete.
func (s *Scalable) WriteTo(w io.Writer) (int64, error) {
	if err := s.Complete(); err != nil {
		return 0, err
	}
	return writeLayers(w, s.Header(), s.layers())
}

func writeLayers(w io.Writer, h Header, layers []*layer) (int64, error) {
	head, err := h.MarshalBinary()
	if err != nil {
		return 0, err
	}
	sections := make([][]uint64, 0, len(layers))
	for _, l := range layers {
		sections = append(sections, l.words)
	}
	n, err := writeSaved(w, head, sections...)
	runtime.KeepAlive(layers) // they own the words
	return n, err
}

func readScalable(s *source) (Filter, error) {
	h, err := decodeHeader(s.kind, s.fields)
	if err != nil {
		return nil, err
	}
	layers := make([]*layer, len(h.Layers))
	for i, lh := range h.Layers {
		if layers[i], err = s.layer(lh); err != nil {
			return nil, err
		}
	}
	return chain(h.Config, layers), nil
}

// layer reads the next section, which holds the words of a layer.
func (s *source) layer(h LayerHeader) (*layer, error) {
	m, err := s.words(int(h.Lines) * lineWords)
	if err != nil {
		return nil, err
	}
	l := layerIn(m, h.shape(), h.Base)
	l.became(h.Count, popCount(m.words))
	return l, nil
}
