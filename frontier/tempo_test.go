package frontier

import (
	"testing"
	"testing/synctest"
	"time"
)

// paced runs requests to one host whose ends answer gives, and returns the gaps before each but the first.
func paced(t *testing.T, cfg Config, n int, answer func(i int) Outcome) (gaps []time.Duration) {
	t.Helper()
	cfg.IgnoreRobots = true
	f := openFrontier(t, cfg, numbered("https://a.example/", n)...)
	var last time.Time
	for i := range n {
		l := leasePage(t, f)
		if i > 0 {
			gaps = append(gaps, l.LeasedAt.Sub(last).Round(time.Millisecond))
		}
		o := answer(i)
		wait(o.Took)
		last = time.Now()
		must(t, f.Done(l, o))
	}
	return gaps
}

// took is an answer after so many milliseconds.
func took(ms int) Outcome {
	return Outcome{Requested: true, Took: time.Duration(ms) * time.Millisecond}
}

// TestTempo shows how the delay follows what a host makes of being asked.
func TestTempo(t *testing.T) {
	const ms = time.Millisecond
	steps := func(times ...int) func(int) Outcome {
		return func(i int) Outcome { return took(times[i]) }
	}
	then := func(n, first, second int) func(int) Outcome {
		return func(i int) Outcome {
			if i < n {
				return took(first)
			}
			return took(second)
		}
	}
	for _, tt := range []struct {
		name   string
		cfg    Config
		n      int
		answer func(int) Outcome
		from   int             // gaps before it are not looked at
		want   []time.Duration // in milliseconds
	}{
		{"a steady slow host has its time from the first answer", Config{}, 5, then(5, 3000, 0), 0, []time.Duration{3000, 3000, 3000, 3000}},
		{"one answer that hung does not stall it", Config{}, 5, steps(100, 20_000, 100, 100, 100), 0, []time.Duration{1000, 2000, 1050, 1000}},
		{"one that stays slow has its room", Config{}, 8, then(1, 100, 20_000), 0, []time.Duration{1000, 2000, 4000, 8000, 14_000, 17_000, 18_500}},
		{"slower than it is used to be", Config{}, 14, then(9, 100, 800), 8, []time.Duration{1000, 1143, 1306, 1524, 1778}},
		{"and used to it again", Config{}, 13, func(i int) Outcome {
			if i == 9 {
				return took(800)
			}
			return took(100)
		}, 8, []time.Duration{1000, 1143, 1123, 1103}},
		{"quick and slow pages are its way", Config{}, 40, func(i int) Outcome { return took([]int{100, 1500}[i%2]) }, 36, []time.Duration{1000, 1033, 1000}},
		{"a fast host that doubles is no news", Config{}, 13, then(9, 20, 60), 9, []time.Duration{1000, 1000, 1000}},
		{"not without the factor", Config{DelayFactor: None}, 13, then(9, 100, 900), 9, []time.Duration{1000, 1000, 1000}},
		{"never faster than configured", Config{HostDelay: 2 * time.Second}, 4, then(4, 1, 0), 0, []time.Duration{2000, 2000, 2000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gaps := paced(t, tt.cfg, tt.n, tt.answer)
				for i, want := range tt.want {
					if got := gaps[tt.from+i]; got.Round(ms) != want*ms {
						t.Errorf("gaps %v from gap %d on, want %d ms", gaps[tt.from:], tt.from, tt.want)
						break
					}
				}
			})
		})
	}
}

// TestTempoOfFailures: one failure halves the rate, and 32 healthy answers give it back; a series counts once.
func TestTempoOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gaps := paced(t, Config{BackoffBase: None}, 40, func(i int) Outcome {
			return Outcome{Requested: true, Failed: i == 1 || i == 2}
		})
		for i, want := range map[int]int{0: 1000, 1: 2000, 2: 2000, 3: 1939, 4: 1882, 18: 1333, 33: 1016, 34: 1000, 38: 1000} {
			if gaps[i] != time.Duration(want)*time.Millisecond {
				t.Errorf("gaps %v, gap %d is to be %d ms", gaps, i, want)
			}
		}
	})
}

// limited is a host that answers 429 to more than one request every so often, with a burst of three.
type limited struct {
	every time.Duration
	debt  time.Duration
	last  time.Time
}

func (h *limited) answer() Outcome {
	now := time.Now()
	h.debt = max(0, h.debt-now.Sub(h.last))
	h.last = now
	if h.debt > 2*h.every {
		return Outcome{Requested: true, Failed: true}
	}
	h.debt += h.every
	return took(50)
}

// TestTempoFindsALimit crawls a host that allows one request in four seconds and does not say so. The figures are those of
// docs/decisions/adaptive-pace.md.
func TestTempoFindsALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, refused := limited{every: 4 * time.Second, last: time.Now()}, 0
		start := time.Now()
		const n = 1000
		paced(t, Config{GiveUpAfter: None}, n, func(int) Outcome {
			o := host.answer()
			if o.Failed {
				refused++
			}
			return o
		})
		per := time.Since(start) / (n - time.Duration(refused))
		t.Logf("%d of %d requests refused, a page every %v", refused, n, per)
		if refused > n/12 || per > 5*time.Second {
			t.Errorf("%d of %d requests refused, a page every %v", refused, n, per)
		}
	})
}
