package seen

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// KindWindow is the kind of *Window.
const KindWindow Kind = "window"

const (
	// DefaultGenerations is what a window of 90 days forgets by: 11 days at a time.
	DefaultGenerations = 8
	// maxGenerations bounds what a key costs: each generation is a line to be probed and a share of the error.
	maxGenerations = 64
	// minSpan is far above what a part of a Span is rounded by, and maxSpan far below the 292 years of a time.Duration.
	minSpan = time.Millisecond
	maxSpan = 70 * 365 * 24 * time.Hour
)

// WindowConfig says what a Window promises and what it may cost. Span has to be set.
type WindowConfig struct {
	// Config as for the other kinds. ExpectedItems is the number of keys added within a Span; MaxBytes caps the memory
	// of all generations together, each of which may take the same part of it.
	Config
	// Span is how long a key is seen after it was added.
	Span time.Duration
	// Generations is the number of parts of a Span in which keys are forgotten, from 1 to 64. More of them forget more
	// exactly, and cost a line to be probed and a share of the error each. 0: DefaultGenerations.
	Generations int
	// Now tells the time. nil: time.Now.
	Now func() time.Time
}

// Validate reports every problem at once, each under its key in config.yaml. Zero fields are defaults and no problem, but
// for Span.
func (c WindowConfig) Validate() error {
	c = c.withDefaults()
	var errs []error
	if c.Generations < 1 || c.Generations > maxGenerations {
		errs = append(errs, fmt.Errorf("generations: want from 1 to %d, got %d", maxGenerations, c.Generations))
	}
	if c.Span < minSpan || c.Span > maxSpan {
		errs = append(errs, fmt.Errorf("window: want from %v to %v, got %v", minSpan, maxSpan, c.Span))
	}
	if len(errs) > 0 {
		return errors.Join(append(errs, c.Config.problems(func(Config) float64 { return 0 }))...)
	}
	return c.Config.problems(func(Config) float64 {
		return float64(c.Generations+1) * newWindowGrowth(c).firstBytes()
	})
}

func (c WindowConfig) withDefaults() WindowConfig {
	c.Config = c.Config.withDefaults()
	c.ExpectedItems = max(c.ExpectedItems, minFirstItems)
	if c.Generations == 0 {
		c.Generations = DefaultGenerations
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// period is the time for which a generation takes keys.
func (c WindowConfig) period() time.Duration {
	return (c.Span + time.Duration(c.Generations) - 1) / time.Duration(c.Generations)
}

// Window is a filter that forgets: a key is seen for a WindowConfig.Span after it was added, and then, within a further
// Span/Generations, no longer. A key younger than Span is never forgotten.
//
// It is a row of Bloom filters, its generations. Each takes the keys of a Span/Generations, and is dropped as a whole once
// the youngest of them is older than Span; so an idle time longer than Span empties the window. There are at most
// Generations+1 at a time, and each may make that part of the error. At 0.1% and 8 generations that takes 22 bits a key,
// and an eighth more for the keys that are waiting to be forgotten.
//
// The age counts from when the key was called new. To be seen again does not renew it: a key that comes every day is new
// once a Span, as it is for those who keep what was new for a Span and then delete it. Where the last sight is to count,
// as for a key that is to stay quiet as long as it keeps coming, Add renews it. Where the second sight is to count, as for
// a link that is followed once two pages have it, TestAndAdd tells it from the first: a wrong yes takes a first sight for
// a second one.
//
// A generation is sized for its part of Config.ExpectedItems, or for a quarter more than the one before it holds, if that
// is more. When yet more keys come, it grows by further layers, each twice as large. Once it has taken its part of
// Config.MaxBytes it takes all further keys with a growing error: Rate says how large it is, and Stats says Capped until
// that generation is dropped.
//
// Time is what WindowConfig.Now says, also while the program does not run or the machine sleeps. Where that clock is set
// back by no more than a Span, the window's time stands still until the clock has caught up: keys are kept longer, and
// none is forgotten early. Where it is set back by more, the later time is taken for the mistake, and the window's time
// goes on at the earlier one. A clock that jumps ahead by more than a Span empties the window.
//
// It is not safe for concurrent use, but for Hash and HashString.
type Window struct {
	hasher
	cfg    WindowConfig // defaults filled in, seed drawn; but for Now not written after NewWindow
	growth growth       // of a generation; not written after NewWindow

	// clock is how far the window's time had come at the wall time last, since it was empty.
	clock time.Duration
	last  time.Time

	live []*generation // oldest first
}

var _ Filter = (*Window)(nil)

// NewWindow returns an empty window. The error says which settings are wrong, or how much memory it needs where
// Config.MaxBytes is less.
func NewWindow(c WindowConfig) (*Window, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	c.Config = c.Config.inForce()
	return windowOf(c, c.Now().Round(0)), nil
}

func windowOf(c WindowConfig, last time.Time) *Window {
	return &Window{
		hasher: newHasher(c.Seed), cfg: c, growth: newWindowGrowth(c), last: last,
		live: make([]*generation, 0, c.Generations+1),
	}
}

// SetNow lets a window that was read tell the time by another clock than time.Now. It comes before the first question.
func (w *Window) SetNow(now func() time.Time) { w.cfg.Now = now }

// tick takes the window's time on, and drops what is too old.
func (w *Window) tick() {
	now := w.cfg.Now().Round(0) // without the reading of a clock that stands still while the machine sleeps
	switch d := now.Sub(w.last); {
	case d > 0:
		w.clock += min(d, w.cfg.Span+1) // which empties it
		w.last = now
	case d < -w.cfg.Span:
		w.last = now
	}
	for len(w.live) > 0 && w.clock-w.live[0].added > w.cfg.Span {
		w.live[0].free()
		w.live = slices.Delete(w.live, 0, 1)
	}
	if len(w.live) == 0 {
		w.clock = 0
	}
}

// current returns the generation that takes keys now.
func (w *Window) current() *generation {
	g := w.growth
	if n := len(w.live); n > 0 {
		newest := w.live[n-1]
		if w.clock-newest.opened < w.cfg.period() {
			return newest
		}
		g = w.growth.sized(newest.len() + newest.len()/4)
	}
	w.live = append(w.live, newGeneration(g, w.clock))
	return w.live[len(w.live)-1]
}

// Has reports whether h, made by Hash, was added within the last Span. The error is always nil.
func (w *Window) Has(h uint64) (bool, error) {
	w.tick()
	return w.has(h), nil
}

func (w *Window) has(h uint64) bool {
	for i := len(w.live) - 1; i >= 0; i-- {
		if w.live[i].has(h) {
			return true
		}
	}
	return false
}

// HasBatch does Has for each hash and leaves the answers in has, which is as long as hashes. It asks for the time once,
// and costs a fraction of as many single calls, since the lines of many keys are on their way from memory at the same
// time.
func (w *Window) HasBatch(hashes []uint64, has []bool) error {
	w.tick()
	return inBatches(hashes, has, w.touch, func(h uint64) (bool, error) { return w.has(h), nil })
}

// TestAndAdd reports whether h, made by Hash, was added within the last Span, and adds it if not. The error is always
// nil.
func (w *Window) TestAndAdd(h uint64) (was bool, err error) {
	w.tick()
	return w.testAndAdd(h)
}

func (w *Window) testAndAdd(h uint64) (bool, error) {
	if w.has(h) {
		return true, nil
	}
	w.current().add(h, w.clock)
	return false, nil
}

// TestAndAddBatch does TestAndAdd for each hash in order, at a fraction of the cost and all at one time. The only error
// is a was that is not as long as hashes.
func (w *Window) TestAndAddBatch(hashes []uint64, was []bool) error {
	w.tick()
	return inBatches(hashes, was, w.touch, w.testAndAdd)
}

// Add lets the age of hashes begin now, whether they are there or not.
func (w *Window) Add(hashes []uint64) {
	if len(hashes) == 0 {
		return
	}
	w.tick()
	g := w.current()
	for part := range slices.Chunk(hashes, batchKeys) {
		g.touch(part)
		for _, h := range part {
			g.renew(h, w.clock)
		}
	}
}

// touch has the lines of hashes in all layers brought into the cache.
func (w *Window) touch(hashes []uint64) {
	for _, g := range w.live {
		g.touch(hashes)
	}
}

// Len returns the number of hashes added and not forgotten yet. One that Add renewed is counted once in each generation
// in which it was.
func (w *Window) Len() uint64 {
	w.tick()
	var n uint64
	for _, g := range w.live {
		n += g.len()
	}
	return n
}

// Rate returns the chance, at this moment, that a key that was not added within the last Span, nor the Span/Generations
// before it, is called seen.
func (w *Window) Rate() float64 {
	w.tick()
	miss := 1.0
	for _, g := range w.live {
		for _, l := range g.layers {
			miss *= 1 - l.present()
		}
	}
	return 1 - miss
}

// Stats takes no longer than a walk over the layers. Its layers are those of all generations, oldest first; while the
// window is empty it has none. Capacity counts the generations that are not there yet as well.
func (w *Window) Stats() Stats {
	st := Stats{Kind: KindWindow, TargetRate: w.cfg.FalsePositiveRate, Rate: w.Rate()}
	st.Capacity = uint64(w.cfg.Generations+1-len(w.live)) * w.growth.first
	var ones uint64
	for _, g := range w.live {
		st.Capped = st.Capped || g.capped()
		for _, l := range g.layers {
			st.PerLayer = append(st.PerLayer, LayerStats{
				Base: st.Items, Items: l.count.Load(), Capacity: l.capacity, K: l.k, Bytes: l.bytes(),
				Fill: float64(l.ones.Load()) / float64(l.lines*lineBits), Rate: l.present(),
			})
			st.Items += l.count.Load()
			st.Capacity += l.capacity
			st.Bytes += l.bytes()
			ones += l.ones.Load()
		}
	}
	st.Layers, st.Bits = len(st.PerLayer), uint64(st.Bytes)*8
	if st.Bits > 0 {
		st.Fill = float64(ones) / float64(st.Bits)
	}
	return st
}
