package store

import (
	"fmt"
	"slices"
	"testing"
)

// A sweep takes a host that was read far from its mark on, whatever was done before, and goes on with the next one.
func TestSweepGoesByMarks(t *testing.T) {
	const entries, done = 60_000, 50_000
	s, q := queueOf(t, func(c *queueConfig) { c.entries = entries })
	addHost(t, q, "large", 1, entries)
	addHost(t, q, "other", entries+1, 3)
	isDone := func(seq uint64) bool { return seq <= done || seq == done+2 }
	read := func() {
		t.Helper()
		if _, _, err := q.Host(nil, HostKey("large"), 10, isDone); err != nil {
			t.Fatal(err)
		}
	}
	read()
	read()
	rows := q.Marks(func(uint64) (uint8, uint32, uint64, bool) { return 0, 0, done + 1, true })
	if len(rows) != 1 || len(rows[0].Value) == 0 {
		t.Fatalf("rows %v", rows)
	}
	for _, tt := range []struct {
		turn, left int
		want       []uint64
	}{
		{4, ManyLeft, []uint64{done + 1, done + 3, done + 4, done + 5}},
		{entries - done - 11, 10, nil},
		{entries, 0, nil},
		{0, 0, nil},
	} {
		q = newQueue(s.runs, s.Queue.cfg, s.Queue.covered, 0) // as after a restart
		if err := q.RestoreMarks(rows); err != nil {
			t.Fatal(err)
		}
		asked := 0
		taken := func(seq uint64) bool { asked++; return isDone(seq) }
		got := make(map[uint64]int)
		turn := func(first *Pending) int {
			if first.Host == "other" {
				return 3
			}
			return tt.turn
		}
		_, ended, err := q.Sweep(0, turn, taken, func(key uint64, entries []Pending, left int) bool {
			got[key] = len(entries)
			numbers := numbersOf(entries)
			if key == HostKey("large") && (left != tt.left || tt.want != nil && !slices.Equal(numbers, tt.want)) {
				t.Errorf("of a turn of %d: %d entries, %v…, %d left, want %v, %d", tt.turn, len(entries), numbers[0], left, tt.want, tt.left)
			}
			return true
		})
		want := map[uint64]int{HostKey("large"): min(tt.turn, entries-done-1), HostKey("other"): 3}
		if tt.turn == 0 {
			delete(want, HostKey("large"))
		}
		if err != nil || !ended || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of a turn of %d: got %v, %t, %v, want %v", tt.turn, got, ended, err, want)
		}
		if most := min(tt.turn, entries-done) + ManyLeft + 10; asked > most {
			t.Errorf("of a turn of %d: it looked at %d entries, want %d at most", tt.turn, asked, most)
		}
		stop := func(*Pending) int { return StopSweep }
		next, ended, err := q.Sweep(HostKey("large"), stop, isDone, nil)
		if err != nil || ended || next != HostKey("large") {
			t.Errorf("a sweep that has no room goes on from %x, %t, %v", next, ended, err)
		}
	}
}
