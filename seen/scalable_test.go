package seen

import (
	"fmt"
	"slices"
	"testing"
)

func TestErrorStaysBelowTarget(t *testing.T) {
	const p = 0.01
	for _, tt := range []struct{ expect, keys, shortKeys int }{
		{10_000, 5_120_000, 160_000},
		{1_000_000, 8_000_000, 0},
	} {
		t.Run(fmt.Sprint(tt.expect), func(t *testing.T) {
			keys, asks := tt.keys, 500_000
			if testing.Short() {
				keys, asks = tt.shortKeys, 100_000
			}
			if keys == 0 {
				t.Skip("millions of keys")
			}
			t.Parallel()
			s := mustScalable(t, Config{FalsePositiveRate: p, ExpectedItems: uint64(tt.expect), Seed: 1})
			batch, was, wrong := make([]uint64, 0, batchKeys), make([]bool, batchKeys), 0
			check := tt.expect
			done := 0
			for h := range hashStream(1, keys) {
				if batch = append(batch, h); len(batch) < batchKeys && done+len(batch) < check {
					continue
				}
				s.TestAndAddBatch(batch, was[:len(batch)])
				for _, w := range was[:len(batch)] {
					if w {
						wrong++
					}
				}
				done += len(batch)
				batch = batch[:0]
				if done == check {
					checkError(t, s, p, done, asks)
					check *= 2
				}
			}
			if s.Len()+uint64(wrong) != uint64(done) {
				t.Errorf("Len %d and %d wrong answers do not make %d keys", s.Len(), wrong, done)
			}
			for h := range hashStream(1, min(done, 500_000)) {
				if !s.has(h) {
					t.Fatalf("hash %x was added and is not seen", h)
				}
			}
		})
	}
}

func checkError(t *testing.T, s *Scalable, p float64, keys, asks int) {
	t.Helper()
	measured := measure(s.has, 2, asks)
	st := s.Stats()
	t.Logf("%d keys, %d layers: measured %.3f p, Rate %.3f p, %.1f bits a key", keys, st.Layers, measured/p, st.Rate/p,
		float64(st.Bits)/float64(keys))
	if measured > p || st.Rate > p || st.Capped {
		t.Errorf("at %d keys: measured %g, Rate %g, want at most %g; Capped %v", keys, measured, st.Rate, p, st.Capped)
	}
	wantNear(t, fmt.Sprintf("Rate at %d keys", keys), s.Rate(), measured, asks)
}

// The log of the hashes called new makes the same filter, however it is cut.
func TestReplayEqualsOriginal(t *testing.T) {
	keys := 30_000
	if testing.Short() {
		keys = 10_000
	}
	for _, c := range []Config{
		{ExpectedItems: 1000, Seed: 1},
		{ExpectedItems: 5000, FalsePositiveRate: 0.05, Seed: 1},
		{ExpectedItems: 1000, MaxBytes: 20_000, Seed: 1}, // overfilled
	} {
		s := mustScalable(t, c)
		var log []uint64
		for h := range hashStream(1, keys) {
			if was, _ := s.TestAndAdd(h); !was {
				log = append(log, h)
			}
		}
		if s.Len() != uint64(len(log)) {
			t.Errorf("%+v: Len %d, want %d", c, s.Len(), len(log))
		}
		for _, cut := range []int{1, 63, 1000, 4096, len(log)} {
			again := mustScalable(t, c)
			for part := range slices.Chunk(log, cut) {
				again.Add(part)
				if cut >= 1000 {
					again = clone(t, again) // to go on after a restore is the same as not to have stopped
				}
			}
			wantSame(t, again, s)
		}
	}
}

func TestCapOverfillsHonestly(t *testing.T) {
	const keys, maxBytes = 120_000, 100_000
	asks := 300_000
	if testing.Short() {
		asks = 50_000
	}
	s := mustScalable(t, Config{FalsePositiveRate: 0.01, ExpectedItems: 10_000, MaxBytes: maxBytes, Seed: 1})
	added, wasCapped := 0, false
	for h := range hashStream(1, keys) {
		s.TestAndAdd(h)
		added++
		if l := s.newest(); added%20_000 == 0 || !wasCapped && l.count.Load() == l.capacity+1 {
			st := s.Stats()
			measured := measure(s.has, 2, asks)
			t.Logf("%d keys: measured %.4f, Rate %.4f, %d layers, capped %v", added, measured, st.Rate, st.Layers, st.Capped)
			wantNear(t, fmt.Sprintf("Rate at %d keys", added), st.Rate, measured, asks)
			if st.Bytes > maxBytes {
				t.Errorf("%d bytes, want at most %d", st.Bytes, maxBytes)
			}
			if st.Rate > 0.01 && !st.Capped {
				t.Errorf("Rate %g and not capped", st.Rate)
			}
			wasCapped = wasCapped || st.Capped
		}
	}
	if !wasCapped {
		t.Error("never capped")
	}
	for h := range hashStream(1, keys) {
		if !s.has(h) {
			t.Fatalf("hash %x was added and is not seen", h)
		}
	}
}

func TestStatsAddUp(t *testing.T) {
	s := mustScalable(t, Config{ExpectedItems: 1000, Seed: 1})
	if st := s.Stats(); st.Items != 0 || st.Rate != 0 || st.Fill != 0 || st.Layers != 1 {
		t.Errorf("an empty filter says %+v", st)
	}
	for h := range hashStream(1, 25_000) {
		s.TestAndAdd(h)
	}
	st := s.Stats()
	var items, bits, ones uint64
	for i, l := range st.PerLayer {
		if l.Base != items {
			t.Errorf("layer %d begins at %d, want %d", i, l.Base, items)
		}
		items += l.Items
		bits += uint64(l.Bytes) * 8
		ones += uint64(s.layers()[i].bitset(0, len(s.layers()[i].words)).Count())
		if ones != 0 && l.Fill == 0 {
			t.Errorf("layer %d: fill 0", i)
		}
	}
	if st.Items != items || st.Items != s.Len() || st.Bits != bits || st.Bytes != int64(bits/8) ||
		st.Layers != len(st.PerLayer) {
		t.Errorf("sums of the layers: %d items, %d bits; %+v", items, bits, st)
	}
	if got := float64(ones) / float64(bits); got != st.Fill {
		t.Errorf("Fill %g, counted %g", st.Fill, got)
	}
	if st.Kind != KindScalable || st.TargetRate != DefaultFalsePositiveRate || st.Rate != s.Rate() {
		t.Errorf("%+v", st)
	}
}
