package store

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"testing"
)

// readFilter reads all of a filter file.
func readFilter(f *FilterFile) (header []byte, chunks map[[2]int][]byte, found bool, err error) {
	chunks = map[[2]int][]byte{}
	found, err = f.Read(
		func(h []byte) error { header = bytes.Clone(h); return nil },
		func(c FilterChunk) error { chunks[[2]int{c.Layer, c.Index}] = bytes.Clone(c.Data); return nil })
	return header, chunks, found, err
}

func randomChunks(rng *rand.Rand, n int) []FilterChunk {
	chunks := make([]FilterChunk, n)
	for i := range chunks {
		data := make([]byte, 1+rng.IntN(20<<10))
		for j := range data {
			data[j] = byte(rng.Uint32())
		}
		chunks[i] = FilterChunk{Layer: rng.IntN(3), Index: rng.IntN(1000), Data: data}
	}
	return chunks
}

// What was written last is read back, and counts once there is a header.
func TestFilterFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 29))
	f := create(t, small).Filter()
	want := map[[2]int][]byte{}
	if _, _, found, err := readFilter(f); found || err != nil {
		t.Errorf("a filter is found before one was written: %v", err)
	}
	for i := range 6 {
		chunks := randomChunks(rng, 8)
		for _, c := range chunks {
			want[[2]int{c.Layer, c.Index}] = c.Data
		}
		var header []byte
		if i >= 2 {
			header = []byte{byte(i)}
		}
		if err := f.Write(chunks, header); err != nil {
			t.Fatal(err)
		}
		got, chunksGot, found, err := readFilter(f)
		if err != nil || found != (i >= 2) {
			t.Fatalf("after write %d: found %t, %v", i, found, err)
		}
		if !found {
			continue
		}
		if !bytes.Equal(got, header) || len(chunksGot) != len(want) {
			t.Errorf("after write %d: header %v and %d chunks, want %v and %d", i, got, len(chunksGot), header, len(want))
		}
		for at, data := range want {
			if !bytes.Equal(chunksGot[at], data) {
				t.Errorf("after write %d chunk %v is another", i, at)
			}
		}
	}
	for range 2 {
		if err := f.Remove(); err != nil {
			t.Fatal(err)
		}
		if _, _, found, err := readFilter(f); found || err != nil {
			t.Errorf("a filter is found after its removal: %v", err)
		}
	}
}

// A filter that its reader refuses has to be remade, as one that is damaged.
func TestFilterThatIsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 30))
	f := create(t, small).Filter()
	if err := f.Write(randomChunks(rng, 3), []byte("header")); err != nil {
		t.Fatal(err)
	}
	refusal := errors.New("of another kind")
	ok := func([]byte) error { return nil }
	for _, err := range []error{
		second(f.Read(func([]byte) error { return refusal }, nil)),
		second(f.Read(ok, func(FilterChunk) error { return refusal })),
	} {
		wantDamage(t, err, f.path, -1)
		if !errors.Is(err, refusal) {
			t.Errorf("got %v, want the refusal in it", err)
		}
	}
}

// A damaged filter is refused. One that has lost its newest page of meta data is the filter of the write before, which
// the log completes.
func TestDamagedFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 31))
	f := create(t, small).Filter()
	var before, last map[[2]int][]byte
	for range 4 {
		if err := f.Write(randomChunks(rng, 6), []byte("header")); err != nil {
			t.Fatal(err)
		}
		before = last
		var err error
		if _, last, _, err = readFilter(f); err != nil {
			t.Fatal(err)
		}
	}
	refused := 0
	damaged(t, rng, f.path, 40, func(t *testing.T) {
		_, chunks, found, err := readFilter(f)
		if err != nil {
			refused++
			wantDamage(t, err, f.path, -1)
		} else if !found || !(maps.EqualFunc(chunks, last, bytes.Equal) || maps.EqualFunc(chunks, before, bytes.Equal)) {
			t.Errorf("found %t, and %d other chunks, want %d", found, len(chunks), len(last))
		}
	})
	if refused < 100 {
		t.Errorf("%d refusals", refused)
	}
}
