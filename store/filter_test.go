package store

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"go.etcd.io/bbolt"
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

// Chunks of more than one part come back whole, and in place of what a file of an earlier version holds: one value each.
func TestFilterOfWholeChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 32))
	f := create(t, small).Filter()
	old, fresh := map[[2]int][]byte{}, map[[2]int][]byte{}
	db, err := createBolt(f.path)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		table, err := openTable(tx, filterTable)
		for i, size := range []int{256 << 10, 256 << 10, partBytes + 1, partBytes, 1} {
			data := make([]byte, size)
			for j := range data {
				data[j] = byte(rng.Uint32())
			}
			old[[2]int{1, i}], fresh[[2]int{1, i}] = data, append([]byte{^data[0]}, data[1:]...)
			err = errors.Join(err, table.put(chunkKey(1, i), data))
		}
		return errors.Join(err, table.put(headerKey, []byte("old")), table.save())
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(old)
	for i := -1; i < len(old); i++ {
		if at := [2]int{1, i}; i >= 0 {
			want[at] = fresh[at]
			if err := f.Write([]FilterChunk{{Layer: 1, Index: i, Data: fresh[at]}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		header, got, found, err := readFilter(f)
		if err != nil || !found || string(header) != "old" || !maps.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("after chunk %d: header %q, %d chunks, found %t, %v", i, header, len(got), found, err)
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
		if err := f.Write(randomChunks(rng, transactionChunks), []byte("header")); err != nil {
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

// saveLayer writes a layer as the crawler does: 16 chunks at a time, the header with the last of them.
func saveLayer(t *testing.T, f *FilterFile, layer, size int, data []byte) {
	t.Helper()
	const chunkBytes, pieceChunks = 256 << 10, 16
	var piece []FilterChunk
	for at := 0; at < size; at += chunkBytes {
		piece = append(piece, FilterChunk{Layer: layer, Index: at / chunkBytes, Data: data[:min(chunkBytes, size-at)]})
		var header []byte
		if at+chunkBytes >= size {
			header = bytes.Repeat([]byte{byte(layer)}, 200)
		}
		if len(piece) == pieceChunks || header != nil {
			if err := f.Write(piece, header); err != nil {
				t.Fatal(err)
			}
			piece = nil
		}
	}
}

// The file of a filter that is saved again and again is at most a quarter larger than the filter.
func TestFilterFileStaysSmall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("bbolt sizes its file by what it maps")
	}
	data := make([]byte, 256<<10)
	for _, tt := range []struct {
		name   string
		layers []int // bytes
		rounds int   // that each is saved while it fills, and never again
	}{
		{"one layer of 64 chunks", []int{64 * 256 << 10}, 10},
		{"layers that double and end within a chunk", []int{5_000_000, 10_000_000, 20_000_000}, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := create(t, small).Filter()
			live := 0
			for i, size := range tt.layers {
				live += size
				for range tt.rounds {
					saveLayer(t, f, i, size, data)
				}
			}
			info, err := os.Stat(f.path)
			if err != nil {
				t.Fatal(err)
			}
			ratio := float64(info.Size()) / float64(live)
			t.Logf("%d bytes for a filter of %d: %.3f", info.Size(), live, ratio)
			if ratio > 1.25 {
				t.Errorf("the file is %.3f times the filter, want at most 1.25", ratio)
			}
		})
	}
}
