package seen

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"time"
)

// WriteTo writes the window in the form that Read reads, its times included, and returns the bytes written. To a window
// that is read, the time since it was last asked anything has passed. It tells the time by time.Now until SetNow.
func (w *Window) WriteTo(to io.Writer) (int64, error) {
	le := binary.LittleEndian
	b := appendConfig(nil, w.cfg.Config)
	b = le.AppendUint64(b, uint64(w.cfg.Span))
	b = le.AppendUint32(b, uint32(w.cfg.Generations))
	b = le.AppendUint64(b, uint64(w.last.Unix()))
	b = le.AppendUint32(b, uint32(w.last.Nanosecond()))
	b = le.AppendUint64(b, uint64(w.clock))
	b = le.AppendUint32(b, uint32(len(w.live)))
	var sections [][]uint64
	for _, g := range w.live {
		b = le.AppendUint64(b, uint64(g.opened))
		b = le.AppendUint64(b, uint64(g.added))
		b = le.AppendUint32(b, uint32(len(g.layers)))
		for _, l := range g.layers {
			b = le.AppendUint64(b, l.count.Load())
			b = le.AppendUint64(b, l.capacity)
			b = le.AppendUint64(b, l.lines)
			b = le.AppendUint32(b, uint32(l.k))
			sections = append(sections, l.words)
		}
	}
	head, err := sealHead(KindWindow, b)
	if err != nil {
		return 0, err
	}
	n, err := writeSaved(to, head, sections...)
	runtime.KeepAlive(w)
	return n, err
}

// savedGeneration is a generation without its words.
type savedGeneration struct {
	opened, added time.Duration
	layers        []LayerHeader
}

func readWindow(s *source) (Filter, error) {
	w, saved, err := decodeWindow(&s.fields)
	if err != nil {
		return nil, err
	}
	for _, sg := range saved {
		g := &generation{growth: w.growth, opened: sg.opened, added: sg.added}
		g.growth.first = sg.layers[0].Capacity
		for _, lh := range sg.layers {
			l, err := s.layer(lh)
			if err != nil {
				return nil, err
			}
			g.layers = append(g.layers, l)
		}
		w.live = append(w.live, g)
	}
	return w, nil
}

// decodeWindow takes the fields of a window, and checks them: what it returns is empty yet.
func decodeWindow(f *fields) (*Window, []savedGeneration, error) {
	c := WindowConfig{Config: f.config(), Span: time.Duration(f.uint64()), Generations: int(f.uint32()), Now: time.Now}
	seconds, nanoseconds := int64(f.uint64()), f.uint32()
	clock, n := time.Duration(f.uint64()), f.uint32()
	if err := checkConfig(c.Config); err != nil {
		return nil, nil, err
	}
	if c.Generations < 1 || c.Generations > maxGenerations || c.Span < minSpan || c.Span > maxSpan ||
		nanoseconds >= uint32(time.Second) || clock < 0 || clock > 2*maxSpan || n > uint32(c.Generations)+1 {
		return nil, nil, fmt.Errorf("%w: head: impossible window", ErrDamaged)
	}
	var saved []savedGeneration
	for range n {
		g := savedGeneration{opened: time.Duration(f.uint64()), added: time.Duration(f.uint64())}
		layers := f.uint32()
		if layers < 1 || layers > maxLayers {
			return nil, nil, fmt.Errorf("%w: head: generation of %d layers", ErrDamaged, layers)
		}
		var base uint64
		for range layers {
			l := LayerHeader{Base: base, Count: f.uint64(), Capacity: f.uint64(), Lines: f.uint64(), K: int(f.uint32())}
			base += l.Count
			g.layers = append(g.layers, l)
		}
		saved = append(saved, g)
	}
	if err := f.end(); err != nil {
		return nil, nil, err
	}
	w := windowOf(c, time.Unix(seconds, int64(nanoseconds)))
	w.clock = clock
	return w, saved, w.check(saved)
}

// check reports whether the window can have had these generations: they follow one another, none is too old, and their
// layers follow from the settings.
func (w *Window) check(saved []savedGeneration) error {
	period := w.cfg.period()
	for i, g := range saved {
		inOrder := i == 0 && g.opened >= 0 || i > 0 && g.opened-saved[i-1].opened >= period
		if !inOrder || g.added < g.opened || g.added-g.opened >= period || g.added > w.clock ||
			w.clock-g.added > w.cfg.Span || !w.growth.allowsChain(g.layers) {
			return fmt.Errorf("%w: head: impossible generation %d", ErrDamaged, i)
		}
	}
	return nil
}

// allowsChain reports whether a generation can have these layers. Its first one may be for more keys than g says.
func (g growth) allowsChain(layers []LayerHeader) bool {
	if layers[0].Capacity < g.first || layers[0].Count == 0 {
		return false
	}
	g.first = layers[0].Capacity
	left := uint64(g.maxBytes) / lineBytes
	var lastCapacity uint64
	for i, l := range layers {
		filled := l.Count >= l.Capacity || i == len(layers)-1
		if !filled || l.Base+l.Count < l.Base || l.K < 1 || l.K > maxK || l.Capacity == 0 || l.Lines == 0 || l.Lines > left ||
			!g.allows(i, l.shape(), lastCapacity) {
			return false
		}
		left -= l.Lines
		lastCapacity = l.Capacity
	}
	return true
}
