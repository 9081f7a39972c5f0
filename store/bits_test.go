package store

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
)

func TestBitsAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	b, m := &Bits{}, make(map[uint64]bool)
	longest := uint64(0)
	for range 20_000 {
		seq := 1 + rng.Uint64N(1+rng.Uint64N(3*64*pieceWords))
		if rng.IntN(3) > 0 {
			b.Set(seq)
			m[seq] = true
			longest = max(longest, seq)
		} else {
			b.Clear(seq)
			delete(m, seq)
		}
	}
	if b.Len() != longest || b.Count() != uint64(len(m)) {
		t.Errorf("length %d, %d set, want %d, %d", b.Len(), b.Count(), longest, len(m))
	}
	for seq := range longest + 70 {
		if b.Test(seq) != m[seq] {
			t.Fatalf("bit %d is %v", seq, b.Test(seq))
		}
	}
}

// Bitmaps of all lengths around the ends of words and pieces come back from their files.
func TestBitsFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 2))
	s := create(t, small)
	for _, length := range []uint64{0, 1, 63, 64, 65, 64 * pieceWords, 64*pieceWords + 1, 3*64*pieceWords - 1} {
		b := &Bits{}
		if length > 0 {
			b.Set(length)
		}
		for range length / 20 {
			b.Set(1 + rng.Uint64N(length))
		}
		var file bytes.Buffer
		if err := writeBits(&file, b, 77); err != nil {
			t.Fatal(err)
		}
		got, err := readBits(bitsRun(t, s, file.Bytes(), b.Count()))
		if err != nil {
			t.Fatalf("length %d: %v", length, err)
		}
		if got.Len() != length || !got.equal(b) {
			t.Errorf("length %d: read %d bits, %d set, want %d", length, got.Len(), got.Count(), b.Count())
		}
	}
}

// bitsRun is a bitmap's file of 77 events with the given content.
func bitsRun(t testing.TB, s *Store, data []byte, ones uint64) *run {
	t.Helper()
	f, err := s.dir.fs.OpenFile(t.TempDir()+"/bits", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	return &run{
		RunInfo: RunInfo{Kind: BitsRun, Bytes: int64(len(data)), Entries: ones, Done: Span{Upto: 77}}, file: f,
	}
}

// Pieces that changed places have the right sums of their own, and are noticed.
func TestBitsPiecesInOtherPlaces(t *testing.T) {
	s, b := create(t, small), &Bits{}
	for seq := uint64(1); seq < 2*64*pieceWords; seq += 3 {
		b.Set(seq)
	}
	b.Set(2 * 64 * pieceWords)
	var file bytes.Buffer
	if err := writeBits(&file, b, 77); err != nil {
		t.Fatal(err)
	}
	data := file.Bytes()
	first, second := data[bitsHeadBytes:][:pieceBytes+sumBytes], data[bitsHeadBytes+pieceBytes+sumBytes:]
	copy(data[bitsHeadBytes:], append(bytes.Clone(second), first...))
	r := bitsRun(t, s, data, b.Count())
	_, err := readBits(r)
	wantDamage(t, err, r.file.Name(), bitsHeadBytes)
}

// An event of a number that was never given cannot make the bitmap of any size: it is damage of the done log.
func TestBitsOfUnknownNumbers(t *testing.T) {
	s := create(t, small)
	for range BlockEntries {
		if err := s.Done.Append(DoneEntry{Seq: 1 << 60, Event: EventDone, Outcome: OutcomeOK}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.DoneBits()
	wantDamage(t, err, s.Done.blocks.name(0), 0)
	_, _, err = s.saveBits(t.Context())
	wantDamage(t, err, s.Done.blocks.name(0), 0)
}

// A merge of queue runs gets a bitmap that is late enough, or none.
func TestEnsureBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 3))
	s, m := createRuns(t), newRunModel()
	m.admit(t, rng, s, 100)
	m.finish(t, rng, s, 2*BlockEntries+10)
	for _, tt := range []struct{ upto, events uint64 }{
		{2*BlockEntries + 1, 0}, // in the open tail
		{BlockEntries + 1, 2 * BlockEntries},
		{1, 2 * BlockEntries},
		{2 * BlockEntries, 2 * BlockEntries},
	} {
		b, events, err := s.ensureBits(t.Context(), tt.upto)
		if err != nil || events != tt.events || (b == nil) != (events == 0) {
			t.Errorf("up to %d: %v of %d events, %v, want %d", tt.upto, b != nil, events, err, tt.events)
		}
	}
	if infos := s.runs.infos(BitsRun); len(infos) != 1 {
		t.Errorf("it was saved more than once: %+v", infos)
	}
}
