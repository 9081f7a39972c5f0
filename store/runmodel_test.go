package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// smallRuns makes runs and merges of them happen within a test.
var smallRuns = runSizes{blocks: 2, fanIn: 2, bitsEvents: 3 * BlockEntries, verifyPairs: 5000}

// runModel is what the runs of a crawl stand for.
type runModel struct {
	first  map[uint64]uint64 // hash → its first admission
	hashes []uint64
	twice  []uint64             // admitted more than once
	last   map[uint64]DoneEntry // number → its last event
	events int
}

func newRunModel() *runModel {
	return &runModel{first: make(map[uint64]uint64), last: make(map[uint64]DoneEntry)}
}

func (m *runModel) clone() *runModel {
	return &runModel{maps.Clone(m.first), slices.Clip(m.hashes), slices.Clip(m.twice), maps.Clone(m.last), m.events}
}

// admit appends n admissions. A few hashes were admitted before.
func (m *runModel) admit(t testing.TB, rng *rand.Rand, s *Store, n int) {
	t.Helper()
	for range n {
		h := rng.Uint64()
		if rng.IntN(1000) == 0 && len(m.hashes) > 0 {
			h = m.hashes[rng.IntN(len(m.hashes))]
			m.twice = append(m.twice, h)
		}
		seq, err := s.Admissions.Append(Admission{URL: "u", Hash: h})
		if err != nil {
			t.Fatal(err)
		}
		m.hashes = append(m.hashes, h)
		if _, again := m.first[h]; !again {
			m.first[h] = seq
		}
	}
}

// finish appends n events, some of them of numbers that had events before.
func (m *runModel) finish(t testing.TB, rng *rand.Rand, s *Store, n int) {
	t.Helper()
	for range n {
		m.events++
		e := DoneEntry{
			Seq: 1 + rng.Uint64N(s.Admissions.Len()), Event: EventDone, Outcome: OutcomeOK, Status: 200, Visit: 1,
			At: time.UnixMilli(int64(m.events)).UTC(), Record: uint64(m.events),
		}
		if rng.IntN(4) == 0 {
			e.Event, e.Outcome, e.Due = EventAgain, OutcomeFailed, e.At.Add(time.Second)
		}
		if err := s.Done.Append(e); err != nil {
			t.Fatal(err)
		}
		m.last[e.Seq] = e
	}
}

// differs compares what a store finds with the model, for some hashes and numbers and all bits.
func (m *runModel) differs(rng *rand.Rand, s *Store) error {
	if got := s.Admissions.Len(); got != uint64(len(m.hashes)) {
		return fmt.Errorf("%d admissions, want %d", got, len(m.hashes))
	}
	if err := m.findsOthers(rng, s); err != nil {
		return err
	}
	if err := m.lastDiffers(rng, s); err != nil {
		return err
	}
	b, err := s.DoneBits()
	if err != nil {
		return err
	}
	want := &Bits{}
	for seq, e := range m.last {
		want.put(seq, e.Event)
	}
	if !b.equal(want) || b.Count() != want.Count() {
		return fmt.Errorf("the bitmap has %d other bits set, want %d", b.Count(), want.Count())
	}
	return nil
}

func (m *runModel) findsOthers(rng *rand.Rand, s *Store) error {
	wanted := []uint64{rng.Uint64(), 0, ^uint64(0)}
	for range min(300, len(m.hashes)) {
		wanted = append(wanted, m.hashes[rng.IntN(len(m.hashes))])
	}
	wanted = append(wanted, m.twice...)
	found, err := s.Find(wanted)
	if err != nil {
		return err
	}
	for _, h := range wanted {
		if found[h] != m.first[h] {
			return fmt.Errorf("hash %x: number %d, want %d", h, found[h], m.first[h])
		}
	}
	return nil
}

func (m *runModel) lastDiffers(rng *rand.Rand, s *Store) error {
	wanted := []uint64{0, s.Admissions.Len() + 1}
	for range min(300, len(m.hashes)) {
		wanted = append(wanted, 1+rng.Uint64N(s.Admissions.Len()))
	}
	events, err := s.LastDoneOf(wanted)
	if err != nil {
		return err
	}
	for _, seq := range wanted {
		want, ok := m.last[seq]
		if got, found := events[seq]; found != ok || got != want {
			return fmt.Errorf("number %d: %+v (%v), want %+v (%v)", seq, got, found, want, ok)
		}
	}
	seq := wanted[len(wanted)-1]
	want, ok := m.last[seq]
	if got, found, err := s.LastDone(seq); err != nil || found != ok || got != want {
		return fmt.Errorf("number %d alone: %+v (%v), %v, want %+v (%v)", seq, got, found, err, want, ok)
	}
	return nil
}

// checkpoint makes one.
func checkpoint(t testing.TB, s *Store) {
	t.Helper()
	cp, err := s.Prepare(nil, 0)
	if err == nil {
		err = cp.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// workAll does all work that is due, and returns how much that was.
func workAll(t testing.TB, s *Store) (n int) {
	t.Helper()
	for {
		did, err := s.Work(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !did {
			return n
		}
		n++
	}
}

func createRuns(t testing.TB) *Store {
	t.Helper()
	s, err := createOf(filepath.Join(memoryDir(t), "a.crawl"), Config{LogBytes: 1 << 20}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it earlier
	s.runs.sizes = smallRuns
	return s
}

// asKilled copies a crawl's directory as a kill at this moment would leave it.
func asKilled(t testing.TB, s *Store) string {
	t.Helper()
	to := filepath.Join(memoryDir(t), "a.crawl")
	if err := os.CopyFS(to, os.DirFS(s.Dir())); err != nil {
		t.Fatal(err)
	}
	return to
}

func openWithRuns(t testing.TB, dir string) *Store {
	t.Helper()
	s := open(t, dir, Config{LogBytes: 1 << 20})
	s.runs.sizes = smallRuns
	return s
}

// verified fails the test on anything that VerifyRuns finds.
func verified(t testing.TB, s *Store) {
	t.Helper()
	for _, err := range s.VerifyRuns(context.Background()) {
		t.Error(err)
	}
}

// runFiles lists the files of runs in a crawl's directory.
func runFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
