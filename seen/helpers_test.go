package seen

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func mustScalable(t testing.TB, c Config) *Scalable {
	t.Helper()
	s, err := NewScalable(c)
	if err != nil {
		t.Fatalf("NewScalable(%+v): %v", c, err)
	}
	return s
}

// hashStream yields n hashes, the same for the same stream: what Hash makes of n keys is as good as random.
func hashStream(stream uint64, n int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		r := rand.NewPCG(stream, 0)
		for range n {
			if !yield(r.Uint64()) {
				return
			}
		}
	}
}

func randomHashes(stream uint64, n int) []uint64 {
	return slices.AppendSeq(make([]uint64, 0, n), hashStream(stream, n))
}

// clone saves s and reads it back.
func clone(t testing.TB, s *Scalable) *Scalable {
	t.Helper()
	var file bytes.Buffer
	if _, err := s.WriteTo(&file); err != nil {
		t.Fatalf("WriteTo: %v", err)
	}
	f, err := Read(&file)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return f.(*Scalable)
}

// wantSame compares two filters bit for bit, and what each says of itself.
func wantSame(t *testing.T, got, want *Scalable) {
	t.Helper()
	if g, w := got.Header(), want.Header(); !reflect.DeepEqual(g, w) {
		t.Fatalf("header %+v, want %+v", g, w)
	}
	for i, l := range got.layers() {
		w := want.layers()[i]
		g := l.bitset(0, len(l.words))
		if !g.Equal(w.bitset(0, len(w.words))) {
			t.Errorf("layer %d: bits differ", i)
		}
		if l.ones.Load() != uint64(g.Count()) || w.ones.Load() != l.ones.Load() {
			t.Errorf("layer %d: %d bits set, says %d, want %d", i, g.Count(), l.ones.Load(), w.ones.Load())
		}
	}
	if g, w := got.Stats(), want.Stats(); !reflect.DeepEqual(g, w) {
		t.Errorf("Stats %+v, want %+v", g, w)
	}
}
