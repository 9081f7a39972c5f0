package store

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Both logs give back what was appended, in order, over segments, full blocks and the open tail, before and after a
// restart.
func TestLogsRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		name    string
		entries int
	}{
		{"empty", 0},
		{"only a tail", 100},
		{"a block to the entry", BlockEntries},
		{"a block and an entry", BlockEntries + 1},
		{"segments, blocks and a tail", 5*BlockEntries + 1234},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(tt.entries)))
			s, m := create(t, small), newModel()
			for len(m.admissions) < tt.entries {
				m.grow(t, rng, s, min(tt.entries-len(m.admissions), 1000))
			}
			m.commit(t, s, nil)
			m.check(t, s)
			checkLookups(t, rng, s, m)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, s.Dir(), small)
			m.check(t, again)
			checkLookups(t, rng, again, m)
			files, err := filepath.Glob(filepath.Join(s.Dir(), "log", "*.log"))
			if want := tt.entries / BlockEntries / 2; err != nil || len(files) < want {
				t.Errorf("%d segments, want at least %d", len(files), want)
			}
		})
	}
}

// checkLookups compares Get, Each, EachHashes and Find with the model.
func checkLookups(t *testing.T, rng *rand.Rand, s *Store, m *model) {
	t.Helper()
	l, n := s.Admissions, uint64(len(m.admissions))
	for range min(n, 50) {
		seq := 1 + rng.Uint64N(n)
		if a, err := l.Get(seq); err != nil || a != m.admissions[seq-1] {
			t.Fatalf("Get(%d) = %+v, %v, want %+v", seq, a, err, m.admissions[seq-1])
		}
	}
	for _, seq := range []uint64{0, n + 1, math.MaxUint64} {
		if a, err := l.Get(seq); err == nil {
			t.Errorf("Get(%d) of %d = %+v, want an error", seq, n, a)
		}
	}
	for _, from := range []uint64{0, 1, 2, n / 2, BlockEntries, BlockEntries + 1, n, n + 1, math.MaxUint64} {
		checkFrom(t, l, m, from)
	}
	checkFind(t, rng, s, m)
}

func checkFrom(t *testing.T, l *AdmissionLog, m *model, from uint64) {
	t.Helper()
	want := m.admissions[min(max(from, 1)-1, uint64(len(m.admissions))):]
	next := max(from, 1)
	var got []Admission
	err := l.Each(from, func(seq uint64, a Admission) error {
		if seq != next {
			t.Fatalf("Each(%d) calls with %d, want %d", from, seq, next)
		}
		next++
		got = append(got, a)
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Each(%d): %d other admissions, %v, want %d", from, len(got), err, len(want))
	}
	var hashes []uint64
	next = max(from, 1)
	err = l.EachHashes(from, func(first uint64, h []uint64) error {
		if first != next || len(h) == 0 {
			t.Fatalf("EachHashes(%d) calls with %d hashes from %d, want %d", from, len(h), first, next)
		}
		next += uint64(len(h))
		hashes = append(hashes, h...)
		return nil
	})
	same := slices.EqualFunc(hashes, want, func(h uint64, a Admission) bool { return h == a.Hash })
	if err != nil || !same {
		t.Errorf("EachHashes(%d): %d other hashes, %v, want %d", from, len(hashes), err, len(want))
	}
}

func checkFind(t *testing.T, rng *rand.Rand, s *Store, m *model) {
	t.Helper()
	var wanted []uint64
	for range 20 {
		wanted = append(wanted, rng.Uint64()) // never admitted, but for a chance of 10^-15
		if len(m.admissions) > 0 {
			wanted = append(wanted, m.admissions[rng.IntN(len(m.admissions))].Hash)
		}
	}
	found, err := s.Find(wanted)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range wanted {
		i := slices.IndexFunc(m.admissions, func(a Admission) bool { return a.Hash == h })
		if got := found[h]; got != uint64(i+1) {
			t.Errorf("Find: %x has number %d, want %d", h, got, i+1)
		}
	}
}

// What was found ends the search: seeds are at the log's start.
func TestFindStopsWhenAllIsFound(t *testing.T) {
	s, m := create(t, small), newModel()
	rng := rand.New(rand.NewPCG(2, 2))
	for len(m.admissions) < 3*BlockEntries {
		m.grow(t, rng, s, 2000)
	}
	at := s.Admissions.blocks.blocks[1]
	flip(t, s.Admissions.blocks.series.name(at.segment), at.offset)
	found, err := s.Find([]uint64{m.admissions[5].Hash})
	if err != nil || found[m.admissions[5].Hash] != 6 {
		t.Errorf("Find = %v, %v, want number 6 without a look at the damaged second block", found, err)
	}
	if found, err = s.Find([]uint64{12345}); err == nil {
		t.Errorf("Find = %v over a damaged block, want an error", found)
	}
}

// Get serves many blocks in turn, more than it keeps.
func TestGetKeepsRecentBlocks(t *testing.T) {
	s, m := create(t, Config{}), newModel()
	rng := rand.New(rand.NewPCG(3, 3))
	for len(m.admissions) < (recentBlocks+4)*BlockEntries {
		m.grow(t, rng, s, 8000)
	}
	for range 300 {
		// The nearer to the end the likelier, as referrers are.
		seq := uint64(len(m.admissions)) - rng.Uint64N(1+rng.Uint64N(uint64(len(m.admissions))))
		if a, err := s.Admissions.Get(seq); err != nil || a != m.admissions[seq-1] {
			t.Fatalf("Get(%d) = %+v, %v, want %+v", seq, a, err, m.admissions[seq-1])
		}
	}
	kept := map[int]bool{}
	for _, b := range s.Admissions.recent.blocks {
		kept[b.number] = true
	}
	if len(kept) != recentBlocks || len(s.Admissions.recent.blocks) != recentBlocks {
		t.Errorf("%d blocks are kept, %d of them once, want %d", len(s.Admissions.recent.blocks), len(kept), recentBlocks)
	}
	oldest := s.Admissions.recent.blocks[recentBlocks-1].number
	for _, number := range []int{oldest, 0, 1, 2, 3, 4} { // what is asked for stays, and the others make room
		if _, err := s.Admissions.Get(uint64(number)*BlockEntries + 1); err != nil {
			t.Fatal(err)
		}
	}
	at := slices.IndexFunc(s.Admissions.recent.blocks, func(b unpacked[Admission]) bool { return b.number == oldest })
	if s.Admissions.recent.blocks[0].number != 4 || at < 0 || at > 5 {
		t.Errorf("block 4 was asked for last, the first one kept is %d; the one before them is at place %d",
			s.Admissions.recent.blocks[0].number, at)
	}
}

// The log takes whatever it can give back, and refuses the rest before it is written.
func TestAdmissionExtremes(t *testing.T) {
	s, m := create(t, small), newModel()
	for _, a := range []Admission{
		{},
		{URL: "with\nline\nfeeds\x00", Hash: math.MaxUint64, Depth: math.MaxUint32, Class: 255, From: 1, Hop: 255,
			Seed: math.MaxUint32},
		{URL: strings.Repeat("x", MaxURLBytes), From: 2},
	} {
		if _, err := s.Admissions.Append(a); err != nil {
			t.Fatal(err)
		}
		m.admissions = append(m.admissions, a)
	}
	for _, a := range []Admission{
		{URL: "its own referrer", From: 4},
		{URL: "a later referrer", From: 5},
		{URL: strings.Repeat("x", MaxURLBytes+1)},
	} {
		if seq, err := s.Admissions.Append(a); err == nil {
			t.Errorf("an admission from %d with a URL of %d bytes became %d", a.From, len(a.URL), seq)
		}
	}
	m.commit(t, s, nil)
	m.check(t, open(t, copyDir(t, s.Dir()), small))
}

func TestDoneRefusals(t *testing.T) {
	s := create(t, small)
	for _, tt := range []struct {
		name string
		e    DoneEntry
		ok   bool
	}{
		{"done", DoneEntry{Seq: 1, Event: EventDone, Outcome: OutcomeOK}, true},
		{"failed attempt", DoneEntry{Seq: 1, Event: EventAgain, Outcome: OutcomeFailed}, true},
		{"asked for again", DoneEntry{Seq: math.MaxUint64, Event: EventAgain}, true},
		{"failed attempt of a named URL", DoneEntry{Seq: 1, Event: EventAgain, Outcome: OutcomeFailed, Attempt: 1, Named: true}, true},
		{"named, and done", DoneEntry{Seq: 1, Event: EventDone, Outcome: OutcomeOK, Named: true}, false},
		{"no number", DoneEntry{Event: EventDone, Outcome: OutcomeOK}, false},
		{"no event", DoneEntry{Seq: 1, Outcome: OutcomeOK}, false},
		{"unknown event", DoneEntry{Seq: 1, Event: 3, Outcome: OutcomeOK}, false},
		{"done without an outcome", DoneEntry{Seq: 1, Event: EventDone}, false},
		{"unknown outcome", DoneEntry{Seq: 1, Event: EventDone, Outcome: OutcomeDenied + 1}, false},
	} {
		before := s.Done.Len()
		err := s.Done.Append(tt.e)
		if (err == nil) != tt.ok || s.Done.Len()-before > 1 || (s.Done.Len() > before) != tt.ok {
			t.Errorf("%s: error %v, %d entries after %d", tt.name, err, s.Done.Len(), before)
		}
	}
	if err := s.Done.Each(0, func(DoneEntry) error { return nil }); err != nil {
		t.Error(err)
	}
}

// An error of the function ends a walk and is returned as it is.
func TestEachReturnsTheCallersError(t *testing.T) {
	s, m := create(t, small), newModel()
	rng := rand.New(rand.NewPCG(4, 4))
	for len(m.admissions) < BlockEntries+10 || len(m.done) < BlockEntries+10 {
		m.grow(t, rng, s, 2000)
	}
	m.commit(t, s, []Row{{Key: "a", Value: []byte("b")}})
	enough := errors.New("enough")
	for name, err := range map[string]error{
		"Each":       s.Admissions.Each(1, func(uint64, Admission) error { return enough }),
		"EachTail":   s.Admissions.Each(BlockEntries+1, func(uint64, Admission) error { return enough }),
		"EachHashes": s.Admissions.EachHashes(1, func(uint64, []uint64) error { return enough }),
		"Done.Each":  s.Done.Each(0, func(DoneEntry) error { return enough }),
		"Rows":       s.Rows("", func(string, []byte) error { return enough }),
	} {
		if err != enough {
			t.Errorf("%s returns %v, want the caller's error", name, err)
		}
	}
}

func flip(t testing.TB, file string, offset int64) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[offset] ^= 0x10
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
