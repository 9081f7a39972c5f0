package store

import (
	"context"
	"fmt"
	"testing"
)

// TestDoneEntriesFallAway: entries of numbers that are done stay in the runs until many sweeps would pass over them, or
// until they are most of what the disk has.
func TestDoneEntriesFallAway(t *testing.T) {
	for _, tt := range []struct {
		done   int // of 1,000
		sweeps int
		merged bool
	}{
		{done: 500, sweeps: 1},
		{done: 800},
		{done: 800, sweeps: 1, merged: true},
		{done: 900, merged: true},
	} {
		t.Run(fmt.Sprintf("%d done, %d sweeps", tt.done, tt.sweeps), func(t *testing.T) {
			s := create(t, Config{})
			q := s.Queue
			q.cfg.entries, q.cfg.fanIn = 50, 100
			done := uint64(tt.done)
			q.done = func(context.Context, uint64) (doneBits, error) {
				return doneBits{func(seq uint64) bool { return seq <= done }, 1 << 40}, nil
			}
			for seq := uint64(1); seq <= 1000; seq++ {
				q.Add(&Pending{URL: fmt.Sprintf("https://a.example/%d", seq), Host: "a.example", Seq: seq, Visit: 1})
				if seq%50 == 0 {
					q.Committed(seq, 0)
					if err := q.Spill(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			q.Committed(1000, done)
			q.SetPending(1000 - done)
			for range tt.sweeps {
				_, ended, err := q.Sweep(0, func(*Pending) int { return 0 }, func(uint64) bool { return false },
					func(uint64, []Pending, int) bool { return true })
				if err != nil || !ended {
					t.Fatalf("a sweep that nothing stopped: ended %t, %v", ended, err)
				}
			}
			job := q.mergeJob()
			if (job != nil) != tt.merged {
				t.Fatalf("merges: %t, want %t", job != nil, tt.merged)
			}
			if job == nil {
				return
			}
			if err := job(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := entriesOf(q.runs.infos(QueueRun)); n != 1000-done {
				t.Errorf("%d entries are left, want %d", n, 1000-done)
			}
			if q.mergeJob() != nil {
				t.Error("it merges once more")
			}
		})
	}
}
