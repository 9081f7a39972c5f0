package seen

import (
	"fmt"
	"math"
	"testing"
)

// What a layer says of itself holds when it is nearly empty and when it is far too full, for keys added without asking
// and for those that were asked for first.
func TestPresentFollowsFill(t *testing.T) {
	asks, rounds := 400_000, []bool{false, true}
	if testing.Short() {
		asks, rounds = 200_000, rounds[1:]
	}
	for _, asking := range rounds {
		l := newLayer(shape{capacity: 100_000, lines: 4096, k: 6}, 0)
		offered := 0
		for h := range hashStream(1, 1_000_000) {
			if !asking || !l.has(h) {
				l.add(h)
			}
			offered++
			if offered%50_000 == 0 && offered <= 400_000 || offered == 1_000_000 {
				wantNear(t, fmt.Sprintf("asking %v: present at %d keys", asking, offered), l.present(),
					measure(l.has, 2, asks), asks)
			}
		}
	}
	for _, tt := range []struct{ fill, want float64 }{{0, 0}, {1, 1}} {
		if got := rateOf(tt.fill, 6); got != tt.want {
			t.Errorf("rate of a layer with %v of its bits set = %v, want %v", tt.fill, got, tt.want)
		}
	}
}

func TestPresentIsNeverTooLowAndNeverFalls(t *testing.T) {
	l := newLayer(shape{capacity: 50_000, lines: 1500, k: 9}, 0)
	var last float64
	for _, h := range randomHashes(1, 200_000) {
		l.add(h)
		got := l.present()
		if got < last || got > 1 {
			t.Fatalf("at %d keys the rate went from %g to %g", l.count.Load(), last, got)
		}
		if l.count.Load()%977 == 0 {
			exact := rateOf(float64(l.ones.Load())/float64(l.lines*lineBits), l.k)
			if got < exact || l.count.Load() > 25_000 && got > 1.03*exact {
				t.Fatalf("at %d keys present is %g, the rate %g", l.count.Load(), got, exact)
			}
		}
		last = got
	}
}

// measure asks for hashes that were never added, and returns the share of yes.
func measure(has func(uint64) bool, stream uint64, asks int) float64 {
	yes := 0
	for h := range hashStream(stream, asks) {
		if has(h) {
			yes++
		}
	}
	return float64(yes) / float64(asks)
}

// wantNear allows for 2% and four standard deviations of what was measured.
func wantNear(t *testing.T, what string, got, measured float64, asks int) {
	t.Helper()
	noise := 4 * math.Sqrt(measured*(1-measured)/float64(asks))
	if math.Abs(got-measured) > 0.02*measured+noise {
		t.Errorf("%s = %.6g, measured %.6g", what, got, measured)
	}
}
