package seen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// restore makes a filter of a header and of what chunk returns for each of its chunks.
func restore(t *testing.T, h Header, chunk func(layer, i int) []byte) *Scalable {
	t.Helper()
	encoded, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var decoded Header
	if err := decoded.UnmarshalBinary(encoded); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(decoded, h) {
		t.Fatalf("header %+v came back as %+v", h, decoded)
	}
	s, err := Restore(decoded, h.Config.MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	for layer := range h.Layers {
		for i := range s.Chunks(layer) {
			if err := s.SetChunk(layer, i, chunk(layer, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Complete(); err != nil {
		t.Fatal(err)
	}
	return s
}

// The crawl goes on between the header and each chunk. What is restored knows all that the header counted, and becomes
// the filter it was saved from once the log is replayed from there.
func TestChunksWithLaterBits(t *testing.T) {
	log := randomHashes(1, 800_000)
	s := mustScalable(t, Config{ExpectedItems: 100_000, Seed: 1})
	s.Add(log[:150_000]) // the second layer is a quarter full
	h := s.Header()
	var saved [][]byte
	at := 150_000
	for layer := range h.Layers {
		for i := range s.Chunks(layer) {
			s.Add(log[at : at+50_000])
			at += 50_000
			saved = append(saved, s.AppendChunk(nil, layer, i))
		}
	}
	if len(saved) < 5 || len(s.layers()) == len(h.Layers) {
		t.Fatalf("%d chunks, %d layers: too few to show anything", len(saved), len(s.layers()))
	}
	step := uint64(100_000)
	if testing.Short() {
		step *= 5
	}
	next := 0
	again := restore(t, h, func(int, int) []byte { next++; return saved[next-1] })
	if h.Len() != 150_000 || again.Len() != h.Len() {
		t.Fatalf("header says %d, filter %d, want 150000", h.Len(), again.Len())
	}
	for end := h.Len(); ; end += step {
		end = min(end, uint64(at))
		again.Add(log[again.Len():end])
		for _, hash := range log[:end] {
			if !again.has(hash) {
				t.Fatalf("after a replay up to %d, hash %x is not seen", end, hash)
			}
		}
		if end == uint64(at) {
			break
		}
	}
	wantSame(t, again, s)
}

// Layers that were not saved are cut off the header, and the log is replayed from where they begin.
func TestHeaderCutToItsFirstLayers(t *testing.T) {
	log := randomHashes(1, 20_000)
	s := mustScalable(t, Config{ExpectedItems: 1000, Seed: 1})
	s.Add(log)
	for cut := 1; cut <= len(s.layers()); cut++ {
		h := s.Header()
		h.Layers = h.Layers[:cut]
		again := restore(t, h, func(layer, i int) []byte { return s.AppendChunk(nil, layer, i) })
		again.Add(log[h.Len():])
		wantSame(t, again, s)
	}
}

// A higher cap lets a filter that was capped grow again.
func TestRestoreUnderAnotherCap(t *testing.T) {
	log := randomHashes(1, 20_000)
	s := mustScalable(t, Config{ExpectedItems: 1000, MaxBytes: 10_000, Seed: 1})
	s.Add(log[:10_000])
	if !s.Stats().Capped {
		t.Fatal("not capped")
	}
	h := s.Header()
	again, err := Restore(h, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for layer := range h.Layers {
		for i := range s.Chunks(layer) {
			again.SetChunk(layer, i, s.AppendChunk(nil, layer, i))
		}
	}
	again.Add(log[10_000:])
	if st := again.Stats(); st.Layers <= s.Stats().Layers || st.Capped {
		t.Errorf("after a restore under a higher cap: %d layers, capped %v", st.Layers, st.Capped)
	}
	for _, hash := range log {
		if !again.has(hash) {
			t.Fatalf("hash %x is not seen", hash)
		}
	}
	wantSame(t, clone(t, again), again) // a chain with an overfull layer in it is saved like any other
	if _, err := Restore(again.Header(), 10_000); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Restore under a lower cap: %v, want ErrTooLarge", err)
	}
}

func TestRestoreFailsClosed(t *testing.T) {
	s := mustScalable(t, Config{ExpectedItems: 100_000, Seed: 1})
	s.Add(randomHashes(1, 100_000))
	whole := s.AppendChunk(nil, 0, 0)
	if len(whole) != ChunkBytes {
		t.Fatalf("first chunk of %d bytes", len(whole))
	}
	again, err := Restore(s.Header(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		layer, i int
		data     []byte
	}{
		{0, 0, nil}, {0, 0, whole[8:]}, {0, 0, append(whole, 0)},
		{0, 1, whole}, {0, 2, whole}, {1, 0, whole}, {0, -1, whole}, {-1, 0, whole},
	} {
		if err := again.SetChunk(tt.layer, tt.i, tt.data); !errors.Is(err, ErrDamaged) {
			t.Errorf("SetChunk(%d, %d, %d bytes) = %v, want ErrDamaged", tt.layer, tt.i, len(tt.data), err)
		}
	}
	if err := again.SetChunk(0, 0, whole); err != nil {
		t.Error(err)
	}
	err = again.Complete()
	if want := "layer 0 lacks chunk 1"; !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
		t.Errorf("Complete = %v, want ErrDamaged with %q", err, want)
	}
	if n, err := again.WriteTo(io.Discard); n != 0 || !errors.Is(err, ErrDamaged) {
		t.Errorf("WriteTo of half a filter = %d, %v, want ErrDamaged", n, err)
	}
	if err := again.SetChunk(0, 1, s.AppendChunk(nil, 0, 1)); err != nil {
		t.Error(err)
	}
	if err := again.Complete(); err != nil {
		t.Errorf("Complete = %v", err)
	}
	wantSame(t, again, s)
}

// sealHeader gives what stands for a header the checksum that belongs to it.
func sealHeader(h []byte) []byte {
	body := h[:len(h)-sumBytes]
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli))
}

func TestReadNoticesChunksOfElsewhere(t *testing.T) {
	write := func(seed uint64) ([]byte, int) {
		s := mustScalable(t, Config{ExpectedItems: 200_000, Seed: seed})
		s.Add(randomHashes(seed, 1000))
		var b bytes.Buffer
		s.WriteTo(&b)
		h, _ := s.Header().MarshalBinary()
		return b.Bytes(), len(h)
	}
	a, header := write(1)
	b, _ := write(2)
	const chunk = ChunkBytes + sumBytes
	first, second := a[header:header+chunk], a[header+chunk:header+2*chunk]
	for name, file := range map[string][]byte{
		"of another place": bytes.Join([][]byte{a[:header], second, first, a[header+2*chunk:]}, nil),
		"of another file":  bytes.Join([][]byte{a[:header], first, b[header+chunk : header+2*chunk], a[header+2*chunk:]}, nil),
		"missing":          bytes.Join([][]byte{a[:header], first, a[header+2*chunk:]}, nil),
	} {
		if _, err := Read(bytes.NewReader(file)); !errors.Is(err, ErrDamaged) {
			t.Errorf("a chunk %s: %v, want ErrDamaged", name, err)
		}
	}
}

// failAfter takes so many bytes and then fails.
type failAfter int

var errFull = errors.New("disk full")

func (f *failAfter) Write(b []byte) (int, error) {
	n := min(len(b), int(*f))
	*f -= failAfter(n)
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func TestReadKnowsWhatIsForeign(t *testing.T) {
	for _, text := range []string{"", "SEEN", "\x93SEEX\r\n\x1a", "SQLite format 3\x00"} {
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v, want ErrFormat", text, err)
		}
	}
}

// A header with a right checksum and impossible or greedy numbers gives an error and costs no memory.
func TestForgedHeader(t *testing.T) {
	s := mustScalable(t, Config{ExpectedItems: 1000, Seed: 1})
	s.Add(randomHashes(1, 5000))
	const huge = 1 << 40
	const fits = 1 << 24 // keys whose lines take 47 MB: far more than the file, and less than math.MaxInt anywhere
	for _, tt := range []struct {
		name string
		edit func(h *Header)
		want error // of Restore under 1 MiB
	}{
		{"lines", func(h *Header) { h.Layers[2].Lines = huge; h.Config.MaxBytes = math.MaxInt }, ErrDamaged},
		{"all lines", func(h *Header) { h.Layers[0].Lines = math.MaxUint64; h.Config.MaxBytes = math.MaxInt }, ErrDamaged},
		{"lines and capacity", func(h *Header) {
			h.Config.ExpectedItems, h.Config.MaxBytes = fits, math.MaxInt
			_, bits := newGrowth(h.Config).bitsPerKey(0)
			h.Layers = []LayerHeader{{Capacity: fits, Lines: uint64(linesFor(fits, bits)), K: 9}}
		}, ErrTooLarge},
		{"capacity", func(h *Header) { h.Layers[2].Capacity = huge }, ErrDamaged},
		{"next capacity", func(h *Header) { h.Config.ExpectedItems = huge }, ErrDamaged},
		{"shrinking", func(h *Header) { h.Layers[2].Capacity, h.Layers[2].Lines = 500, 25 }, ErrDamaged},
		{"no lines", func(h *Header) { h.Layers[1].Lines = 0 }, ErrDamaged},
		{"too few lines", func(h *Header) { h.Layers[1].Lines--; h.Layers[1].Lines-- }, ErrDamaged},
		{"no bits", func(h *Header) { h.Layers[1].K = 0 }, ErrDamaged},
		{"many bits", func(h *Header) { h.Layers[1].K = maxK + 1 }, ErrDamaged},
		{"gap", func(h *Header) { h.Layers[1].Base++ }, ErrDamaged},
		{"overflow", func(h *Header) { h.Layers[2].Count = math.MaxUint64 }, ErrDamaged},
		{"not filled", func(h *Header) { h.Layers[0].Count--; h.Layers[1].Base--; h.Layers[2].Base-- }, ErrDamaged},
		{"over its own cap", func(h *Header) { h.Config.MaxBytes = 64 }, ErrDamaged},
		{"cap below zero", func(h *Header) { h.Config.MaxBytes = -1 }, ErrDamaged},
		{"no layers", func(h *Header) { h.Layers = nil }, ErrDamaged},
		{"many layers", func(h *Header) { h.Layers = make([]LayerHeader, maxLayers+1) }, ErrDamaged},
		{"no seed", func(h *Header) { h.Config.Seed = 0 }, ErrDamaged},
		{"no rate", func(h *Header) { h.Config.FalsePositiveRate = math.NaN() }, ErrDamaged},
		{"another kind", func(h *Header) { h.Kind = "fruit" }, ErrFormat},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := s.Header()
			tt.edit(&h)
			encoded, err := h.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			before := allocated()
			if _, err := Restore(h, 1<<20); !errors.Is(err, tt.want) {
				t.Errorf("Restore = %v, want %v", err, tt.want)
			}
			// Read has no cap of its own, but what the file claims has to arrive.
			want := tt.want
			switch want {
			case ErrTooLarge:
				want = ErrDamaged
			case ErrFormat: // of no kind that there is
				want = ErrNewer
			}
			if _, err := Read(bytes.NewReader(encoded)); !errors.Is(err, want) {
				t.Errorf("Read = %v, want %v", err, want)
			}
			if got := allocated() - before; got > 4<<20 {
				t.Errorf("%d bytes allocated", got)
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// sealFile gives what stands for a saved filter the checksums that belong to it, as far as it goes.
func sealFile(file []byte) []byte {
	n, err := headLength(file)
	if err != nil || n > len(file) {
		return file
	}
	s := sealer{file: append(sealHeader(file[:n]), file[n:]...), head: n}
	Read(&s)
	return s.file
}

// sealer is a reader that corrects the checksum of each chunk it is asked for, in file too. That a chunk is the section's
// last it knows from its length, which is wrong for a section of whole chunks.
type sealer struct {
	file           []byte
	head, at       int
	section, chunk int
}

func (s *sealer) Read(b []byte) (int, error) {
	n := copy(b, s.file[s.at:])
	from := s.file[s.at : s.at+n]
	s.at += n
	switch {
	case n < len(b):
		return n, io.EOF
	case s.at <= s.head:
		return n, nil
	}
	binary.LittleEndian.PutUint32(from[n-sumBytes:], chunkSum(s.file[:s.head], s.section, s.chunk, from[:n-sumBytes]))
	copy(b, from)
	if s.chunk++; n < ChunkBytes+sumBytes {
		s.section, s.chunk = s.section+1, 0
	}
	return n, nil
}

// FuzzRead reads files of all kinds, damaged ones and, with seal, those whose checksums are right whatever they hold. What
// is read is a filter that works, and is written as it was.
func FuzzRead(f *testing.F) {
	for _, m := range family {
		file, head := m.smallFile(f)
		f.Add(file, false)
		f.Add(file, true)
		f.Add(file[:head], true)
		f.Add(file[:len(file)-1], false)
	}
	f.Add([]byte(magic), false)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = sealFile(data) // past the checksums, to what they guard
		}
		r := bytes.NewReader(data)
		filter, err := Read(r)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNewer) && !errors.Is(err, ErrDamaged) {
				t.Fatalf("Read: %v", err)
			}
			return
		}
		if read := data[:len(data)-r.Len()]; !bytes.Equal(saved(t, filter), read) {
			t.Fatalf("read %x, wrote %x", read, saved(t, filter))
		}
		if p := filter.Rate(); !(p >= 0 && p <= 1) {
			t.Fatalf("Rate = %v", p)
		}
		h := filter.HashString("https://a.example/")
		if _, err := filter.TestAndAdd(h); err == nil {
			if was, _ := filter.Has(h); !was {
				t.Fatal("what was added is not seen")
			}
		}
		if _, err := Read(bytes.NewReader(saved(t, filter))); err != nil {
			t.Fatalf("with one more: %v", err)
		}
	})
}
