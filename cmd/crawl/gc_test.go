package main

import "testing"

func TestPaceOfTheCollector(t *testing.T) {
	for _, tt := range []struct {
		live uint64
		want int
	}{
		{0, 200}, {32 << 20, 200}, {32<<20 + 1, 100}, {128 << 20, 100}, {128<<20 + 1, 50}, {2 << 30, 50},
	} {
		if got := paceOf(tt.live); got != tt.want {
			t.Errorf("a heap of %d bytes may grow by %d%%, want %d%%", tt.live, got, tt.want)
		}
	}
}
