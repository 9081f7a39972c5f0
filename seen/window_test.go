package seen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

const day = 24 * time.Hour

// testClock is a clock that a test moves.
type testClock struct{ at time.Time }

func newTestClock() *testClock { return &testClock{time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *testClock) now() time.Time          { return c.at }
func (c *testClock) advance(d time.Duration) { c.at = c.at.Add(d) }

// openStandingWindow opens a window whose time stands still, also once it was saved and tells the time by time.Now: its
// clock is ahead of that by less than a Span, until 2090.
func openStandingWindow(c Config) (Filter, error) {
	ahead := time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)
	return NewWindow(WindowConfig{Config: c, Span: maxSpan, Now: func() time.Time { return ahead }})
}

func mustWindow(t testing.TB, c WindowConfig) *Window {
	t.Helper()
	w, err := NewWindow(c)
	if err != nil {
		t.Fatalf("NewWindow(%+v): %v", c, err)
	}
	return w
}

func wantSeen(t *testing.T, w *Window, h uint64, want bool, when string) {
	t.Helper()
	if has, _ := w.Has(h); has != want {
		t.Errorf("%s: Has = %v, want %v", when, has, want)
	}
}

// A key is seen for a Span, and is forgotten within a further part of it, whenever in its generation it came.
func TestWindowForgets(t *testing.T) {
	const span, part = 80 * day, 10 * day
	for _, first := range []time.Duration{0, 1, part / 2, part - 1, part} {
		clock := newTestClock()
		w := mustWindow(t, WindowConfig{Span: span, Now: clock.now, Config: Config{ExpectedItems: 1000, Seed: 1}})
		w.TestAndAdd(1 << 40) // opens a generation
		clock.advance(first)
		w.TestAndAdd(2 << 40)
		added := clock.at
		for i := 0; clock.at.Before(added.Add(span)); i++ { // others keep coming, or the generation ends with the key
			clock.advance(day)
			w.TestAndAdd(uint64(i+100) << 40)
			wantSeen(t, w, 2<<40, true, fmt.Sprintf("added after %v, %v old", first, clock.at.Sub(added)))
		}
		clock.advance(part + 1)
		wantSeen(t, w, 2<<40, false, fmt.Sprintf("added after %v, %v old", first, clock.at.Sub(added)))
		if n := len(w.live); n > DefaultGenerations+1 {
			t.Errorf("%d generations", n)
		}
	}
}

func TestWindowIdleEmpties(t *testing.T) {
	clock := newTestClock()
	w := mustWindow(t, WindowConfig{Span: day, Now: clock.now, Config: Config{ExpectedItems: 10_000, Seed: 1}})
	for h := range hashStream(1, 10_000) {
		clock.advance(day / 10_000)
		w.TestAndAdd(h)
	}
	last := clock.at
	clock.at = last.Add(day)
	if w.Len() == 0 {
		t.Error("empty after just a Span")
	}
	clock.at = last.Add(day + 1)
	if st := w.Stats(); w.Len() != 0 || st.Bytes != 0 || st.Rate != 0 || st.Fill != 0 || st.Layers != 0 {
		t.Errorf("after more than a Span without a key: %d keys, %+v", w.Len(), st)
	}
	clock.at = clock.at.AddDate(500, 0, 0) // farther than a time.Duration reaches
	wantSeen(t, w, 1, false, "after 500 years")
}

// To be seen again renews no age, and Add does.
func TestWindowRenews(t *testing.T) {
	clock := newTestClock()
	w := mustWindow(t, WindowConfig{Span: 8 * day, Now: clock.now, Config: Config{Seed: 1}})
	const asked, renewed = 1 << 40, 2 << 40
	var news []int
	for d := range 40 {
		if was, _ := w.TestAndAdd(asked); !was {
			news = append(news, d)
		}
		if d == 0 {
			w.TestAndAdd(renewed)
		}
		wantSeen(t, w, renewed, true, fmt.Sprint("day ", d))
		w.Add([]uint64{renewed})
		clock.advance(day)
	}
	// The renewed key keeps each generation in which it is to its end.
	if want := []int{0, 9, 18, 27, 36}; !slices.Equal(news, want) {
		t.Errorf("a key that comes every day is new on days %v, want %v", news, want)
	}
	before := w.Len()
	w.Add(slices.Repeat([]uint64{renewed}, 100))
	if w.Len() != before+1 {
		t.Errorf("a key that is renewed a hundred times in a generation is counted %d times", w.Len()-before)
	}
}

// A renewal late in a generation counts from then on, though the key was in that generation before.
func TestWindowRenewsWithinAGeneration(t *testing.T) {
	clock := newTestClock()
	w := mustWindow(t, WindowConfig{Span: 8 * day, Now: clock.now, Config: Config{Seed: 1}})
	w.Add([]uint64{1 << 40})
	clock.advance(20 * time.Hour)
	w.Add([]uint64{1 << 40})
	clock.advance(8 * day)
	wantSeen(t, w, 1<<40, true, "a Span after the renewal")
	clock.advance(1)
	wantSeen(t, w, 1<<40, false, "a Span and a nanosecond after the renewal")
}

func TestWindowClockSetBack(t *testing.T) {
	for _, tt := range []struct {
		name string
		back time.Duration
		then []time.Duration // how the clock goes on
		seen []bool          // and whether the key is seen then
	}{
		{"by an hour", time.Hour, []time.Duration{0, time.Hour, 8 * day, 1}, []bool{true, true, true, false}},
		{"by a Span", 8 * day, []time.Duration{0, 8 * day, 8 * day, 1}, []bool{true, true, true, false}},
		{"and mended", time.Hour, []time.Duration{time.Minute, time.Hour, 8*day - time.Minute, 1}, []bool{true, true, true, false}},
		{"by a year, when the time before it was wrong", 365 * day, []time.Duration{0, 8 * day, 1}, []bool{true, true, false}},
		{"by a year, and mended", 365 * day, []time.Duration{0, 365 * day}, []bool{true, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := newTestClock()
			w := mustWindow(t, WindowConfig{Span: 8 * day, Now: clock.now, Config: Config{Seed: 1}})
			w.TestAndAdd(1 << 40)
			clock.advance(-tt.back)
			for i, d := range tt.then {
				clock.advance(d)
				wantSeen(t, w, 1<<40, tt.seen[i], fmt.Sprintf("step %d, at %v", i, clock.at))
			}
		})
	}
}

// A million operations in the course of two Spans against a map of times: what is younger than a Span is seen, what is
// older than a Span and a part of it is not, but for the error.
func TestWindowAgainstMap(t *testing.T) {
	const span = 90 * day
	ops, asks := 1_000_000, 400_000
	if testing.Short() {
		ops, asks = 100_000, 50_000
	}
	keys, clock := ops/5, newTestClock()
	c := WindowConfig{Span: span, Now: clock.now, Config: Config{FalsePositiveRate: 0.01, ExpectedItems: uint64(keys / 2), Seed: 1}}
	w := mustWindow(t, c)
	r := rand.New(rand.NewPCG(1, 2))
	pool, added := randomHashes(1, keys), make(map[uint64]time.Time, keys)
	asked, wrong := 0, 0
	judge := func(h uint64, was bool) {
		at, ok := added[h]
		age := clock.at.Sub(at)
		switch {
		case ok && age <= span && !was:
			t.Fatalf("hash %x was added %v ago and is not seen", h, age)
		case !ok || age > span+span/DefaultGenerations:
			asked++
			if was {
				wrong++
			}
		}
	}
	batch, was := make([]uint64, 100), make([]bool, 100)
	for done := 0; done < ops; done++ {
		clock.advance(2 * span / time.Duration(ops))
		h := pool[r.IntN(keys)]
		switch r.IntN(100) {
		case 0:
			for i := range batch {
				batch[i] = pool[r.IntN(keys)]
			}
			w.TestAndAddBatch(batch, was)
			for i, h := range batch {
				judge(h, was[i])
				if !was[i] {
					added[h] = clock.at
				}
			}
			done += len(batch)
		case 1:
			w.Add([]uint64{h})
			added[h] = clock.at
		case 2, 3, 4, 5, 6, 7, 8, 9:
			has, _ := w.Has(h)
			judge(h, has)
		default:
			was, _ := w.TestAndAdd(h)
			judge(h, was)
			if !was {
				added[h] = clock.at
			}
		}
		if done%(ops/10) == 0 {
			w = reread(t, w).(*Window)
			w.SetNow(clock.now)
		}
	}
	for h := range added {
		has, _ := w.Has(h)
		judge(h, has)
	}
	rate := w.Rate()
	measured := measure(func(h uint64) bool { has, _ := w.Has(h); return has }, 2, asks)
	st := w.Stats()
	t.Logf("%d of %d wrong; measured %g, Rate %g, %d layers, %.1f bits a key", wrong, asked, measured, rate, st.Layers,
		float64(st.Bits)/float64(st.Items))
	wantNear(t, "Rate", rate, measured, asks)
	if limit := 1.5 * c.FalsePositiveRate * float64(asked); float64(wrong) > limit || rate > c.FalsePositiveRate {
		t.Errorf("%d of %d wrong, Rate %g", wrong, asked, rate)
	}
}

// More keys than expected: the generation grows, the next is sized after it, and the promise is kept.
func TestWindowLearnsItsSize(t *testing.T) {
	asks := 400_000
	if testing.Short() {
		asks = 50_000
	}
	clock := newTestClock()
	w := mustWindow(t, WindowConfig{Span: 8 * day, Now: clock.now, Config: Config{FalsePositiveRate: 0.01, ExpectedItems: 8000, Seed: 1}})
	layers := []int{}
	hashes := randomHashes(1, 10*20_000)
	for part := range slices.Chunk(hashes, 20_000) {
		w.TestAndAddBatch(part, make([]bool, len(part)))
		layers = append(layers, len(w.live[len(w.live)-1].layers))
		clock.advance(day)
	}
	if want := []int{5, 1, 1, 1, 1, 1, 1, 1, 1, 1}; !slices.Equal(layers, want) {
		t.Errorf("layers of each generation: %v, want %v", layers, want)
	}
	st := w.Stats()
	measured := measure(func(h uint64) bool { has, _ := w.Has(h); return has }, 2, asks)
	t.Logf("Rate %g, measured %g, %.1f bits a key", st.Rate, measured, float64(st.Bits)/float64(st.Items))
	wantNear(t, "Rate", st.Rate, measured, asks)
	if st.Rate > 0.01 || st.Capped {
		t.Errorf("%+v", st)
	}
	clock.advance(2 * day)
	w.TestAndAdd(1) // after days without a key
	clock.advance(day)
	w.TestAndAdd(2)
	if got := w.live[len(w.live)-1].newest().capacity; got != 1000 {
		t.Errorf("after quiet days a generation is made for %d keys, want 1000", got)
	}
}

func TestWindowMemoryIsCapped(t *testing.T) {
	const maxBytes = 90_000
	clock := newTestClock()
	w := mustWindow(t, WindowConfig{Span: 8 * day, Now: clock.now, Config: Config{
		FalsePositiveRate: 0.01, ExpectedItems: 8000, MaxBytes: maxBytes, Seed: 1,
	}})
	keys := randomHashes(1, 16*10_000)
	was := make([]bool, 10_000)
	capped := false
	for part := range slices.Chunk(keys, 10_000) {
		w.TestAndAddBatch(part, was)
		st := w.Stats()
		if st.Bytes > maxBytes {
			t.Fatalf("%d bytes, want at most %d", st.Bytes, maxBytes)
		}
		capped = capped || st.Capped
		if st.Rate > 0.01 && !st.Capped {
			t.Errorf("Rate %g and not capped", st.Rate)
		}
		for _, h := range part {
			if has, _ := w.Has(h); !has {
				t.Fatalf("hash %x was added and is not seen", h)
			}
		}
		w = reread(t, w).(*Window)
		w.SetNow(clock.now)
		clock.advance(day)
	}
	st := w.Stats()
	measured := measure(func(h uint64) bool { has, _ := w.Has(h); return has }, 2, 200_000)
	t.Logf("Rate %g, measured %g, %d bytes", st.Rate, measured, st.Bytes)
	wantNear(t, "Rate", st.Rate, measured, 200_000)
	if !capped {
		t.Error("never capped")
	}
	for range 9 { // a few keys a day again: what was overfull is dropped
		clock.advance(day)
		w.TestAndAdd(uint64(clock.at.UnixNano()) << 20)
	}
	if st := w.Stats(); st.Capped || st.Rate > 0.01 {
		t.Errorf("once the full generations are forgotten: %+v", st)
	}
}

func TestWindowBatchEqualsSingle(t *testing.T) {
	clock := newTestClock()
	c := WindowConfig{Span: 8 * day, Now: clock.now, Config: Config{ExpectedItems: 1000, Seed: 1}}
	pool := randomHashes(1, 6000)
	for _, size := range []int{0, 1, 63, 64, 65, 1000} {
		r := rand.New(rand.NewPCG(1, 2))
		one, many := mustWindow(t, c), mustWindow(t, c)
		batch, was, has := make([]uint64, size), make([]bool, size), make([]bool, size)
		for range 30 {
			for i := range batch {
				batch[i] = pool[r.IntN(len(pool))]
			}
			if err := many.HasBatch(batch, has); err != nil {
				t.Fatal(err)
			}
			for i, h := range batch {
				if want, _ := one.Has(h); has[i] != want {
					t.Fatalf("HasBatch of %d: %v for %x, alone %v", size, has[i], h, want)
				}
			}
			if err := many.TestAndAddBatch(batch, was); err != nil {
				t.Fatal(err)
			}
			for i, h := range batch {
				if want, _ := one.TestAndAdd(h); was[i] != want {
					t.Fatalf("TestAndAddBatch of %d: %v for %x, alone %v", size, was[i], h, want)
				}
			}
			clock.advance(day / 2)
		}
		if g, w := fmt.Sprintf("%+v", many.Stats()), fmt.Sprintf("%+v", one.Stats()); g != w {
			t.Errorf("Stats %s, want %s", g, w)
		}
	}
	w := mustWindow(t, c)
	if w.TestAndAddBatch(make([]uint64, 3), make([]bool, 4)) == nil || w.HasBatch(make([]uint64, 3), make([]bool, 4)) == nil {
		t.Error("3 hashes with room for 4 answers: no error")
	}
}

// A window that is read back after a while has grown older by it.
func TestWindowSavedWithItsTimes(t *testing.T) {
	clock := newTestClock()
	w := mustWindow(t, WindowConfig{Span: 8 * day, Now: clock.now, Config: Config{ExpectedItems: 1000}})
	for d := range 8 {
		w.TestAndAdd(uint64(d+1) << 40)
		clock.advance(day)
	}
	again := reread(t, w).(*Window)
	again.SetNow(clock.now)
	if again.HashString("a") != w.HashString("a") || again.Len() != 8 {
		t.Errorf("%d keys, want 8, or another hash", again.Len())
	}
	clock.advance(3*day + time.Hour)
	for d := range 8 {
		wantSeen(t, again, uint64(d+1)<<40, d >= 4, fmt.Sprint("key of day ", d, " on day 11"))
		wantSeen(t, w, uint64(d+1)<<40, d >= 4, fmt.Sprint("key of day ", d, " on day 11, not saved"))
	}
	clock.advance(365 * day)
	if late := reread(t, w).(*Window); late.Len() != 0 {
		t.Error("a window saved in the past is not empty today")
	}
}

func TestWindowConfig(t *testing.T) {
	for _, tt := range []struct {
		c    WindowConfig
		want string // part of the error; empty for none
	}{
		{WindowConfig{Span: day}, ""},
		{WindowConfig{Span: time.Millisecond, Generations: 64, Config: Config{ExpectedItems: 5}}, ""},
		{WindowConfig{}, "window: want from 1ms to 613200h"},
		{WindowConfig{Span: math.MaxInt64}, "window: want from"},
		{WindowConfig{Span: day, Generations: 65}, "generations: want from 1 to 64, got 65"},
		{WindowConfig{Span: day, Generations: -1}, "generations: want"},
		{WindowConfig{Span: -1, Generations: -1, Config: Config{FalsePositiveRate: 2}}, "fp: want"},
		{WindowConfig{Span: day, Config: Config{FalsePositiveRate: 2}}, "fp: want from"},
		{WindowConfig{Span: day, Config: Config{MaxBytes: -1}}, "seen_memory: want from 0"},
		{WindowConfig{Span: day, Config: Config{MaxBytes: 1 << 20}}, "seen_memory: want at least 3076992"},
		{WindowConfig{Span: day, Config: Config{ExpectedItems: math.MaxUint64}}, "seen_memory: want at least"},
	} {
		_, err := NewWindow(tt.c)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("NewWindow(%+v): %v, want %q", tt.c, err, tt.want)
		}
	}
}

// A head that no window can have had is damage, before a word is read.
func TestWindowForgedHead(t *testing.T) {
	clock := newTestClock()
	open := func() *Window {
		w := mustWindow(t, WindowConfig{Span: 8 * day, Now: clock.now, Config: Config{ExpectedItems: 1000, Seed: 1}})
		for h := range hashStream(1, 1000) {
			w.TestAndAdd(h)
			clock.advance(day / 125)
		}
		return w
	}
	reread(t, open())
	for name, forge := range map[string]func(w *Window){
		"span":              func(w *Window) { w.cfg.Span = 0 },
		"long span":         func(w *Window) { w.cfg.Span = math.MaxInt64 },
		"no generations":    func(w *Window) { w.cfg.Generations = 0 },
		"less generations":  func(w *Window) { w.cfg.Generations = 2 },
		"many generations":  func(w *Window) { w.cfg.Generations = 1 << 20 },
		"clock":             func(w *Window) { w.clock = -1 },
		"late clock":        func(w *Window) { w.clock = math.MaxInt64 },
		"clock before keys": func(w *Window) { w.clock = 0 },
		"too old":           func(w *Window) { w.clock += 9 * day },
		"opened":            func(w *Window) { w.live[1].opened = 0 },
		"added":             func(w *Window) { w.live[1].added = w.live[1].opened - 1 },
		"added late":        func(w *Window) { w.live[1].added = w.live[1].opened + 2*day },
		"no layer":          func(w *Window) { w.live[1].layers = nil },
		"layer of no key":   func(w *Window) { w.live[1].newest().count.Store(0) },
		"capacity":          func(w *Window) { w.live[1].newest().capacity = 1 << 50 },
		"lines":             func(w *Window) { w.live[1].newest().lines = 1 << 50 },
		"k":                 func(w *Window) { w.live[1].newest().k = 100 },
		"memory":            func(w *Window) { w.cfg.MaxBytes = 100 },
		"no seed":           func(w *Window) { w.cfg.Seed = 0 },
	} {
		w := open()
		forge(w)
		wantDamaged(t, name, w)
	}
}
