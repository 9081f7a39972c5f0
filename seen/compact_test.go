package seen

import (
	"errors"
	"iter"
	"testing"
)

// log yields hashes as a log that is read back does, and then err.
func log(hashes []uint64, err error) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		for _, h := range hashes {
			if !yield(h, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func TestCompactMakesOneLayer(t *testing.T) {
	const p, keys = 0.01, 50_000
	s := mustScalable(t, Config{FalsePositiveRate: p, ExpectedItems: 1000, Seed: 1})
	hashes := randomHashes(1, keys)
	s.Add(hashes)
	one, err := s.Compact(keys, log(hashes, nil))
	if err != nil {
		t.Fatal(err)
	}
	if st := one.Stats(); st.Layers != 1 || st.Items != keys || one.Rate() > p || st.Bits >= s.Stats().Bits {
		t.Errorf("compacted: %d layers, %d items, an error of %g, %d bits of %d before", st.Layers, st.Items, one.Rate(), st.Bits, s.Stats().Bits)
	}
	if one.HashString("a key") != s.HashString("a key") {
		t.Error("compacted: another hash")
	}
	for _, h := range hashes {
		if !one.has(h) {
			t.Fatalf("hash %x was added and is not seen", h)
		}
	}
	again := mustScalable(t, one.Header().Config)
	again.Add(hashes)
	wantSame(t, clone(t, one), again)
}

func TestCompactFails(t *testing.T) {
	s := mustScalable(t, Config{ExpectedItems: 1000, MaxBytes: 100_000, Seed: 1})
	if _, err := s.Compact(1_000_000, log(nil, nil)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one layer above the cap: %v, want %v", err, ErrTooLarge)
	}
	broken := errors.New("broken log")
	if _, err := s.Compact(1000, log(randomHashes(1, 500), broken)); !errors.Is(err, broken) {
		t.Errorf("a log that breaks off: %v, want %v", err, broken)
	}
}
