package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// splitReader delivers its text in pieces of the given sizes, over and over.
type splitReader struct {
	text  []byte
	sizes []byte
	at    int
}

func (r *splitReader) Read(p []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := len(p)
	if len(r.sizes) > 0 {
		n = min(n, int(r.sizes[r.at%len(r.sizes)])) // now and then nothing
		r.at++
		if n == 0 && !slices.ContainsFunc(r.sizes, func(b byte) bool { return b > 0 }) {
			n = len(p)
		}
	}
	n = copy(p[:n], r.text)
	r.text = r.text[n:]
	return n, nil
}

// wholeLines is what lineBlocks makes of a text.
func wholeLines(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return append(slices.Clone(text), '\n')
	}
	return text
}

// allBlocks reads all blocks in two buffers, as readAhead does. What comes before a block's end may be overwritten.
func allBlocks(t *testing.T, b *lineBlocks) (text []byte, err error) {
	t.Helper()
	buffers := [2][]byte{make([]byte, b.size), make([]byte, b.size)}
	for i := 0; ; i++ {
		block, buffer, err := b.next(buffers[i%2])
		buffers[i%2] = buffer
		if err != nil {
			return text, err
		}
		if len(block) == 0 || block[len(block)-1] != '\n' {
			t.Fatalf("a block ends in the midst of a line: %q", block)
		}
		text = append(text, block...)
		for j := range block { // its lines are moved within it
			block[j] = '#'
		}
	}
}

// However a text is delivered and whatever the size of the buffers, its lines are the same.
func FuzzLineBlocks(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n\x00\nlast"), []byte{1}, uint8(2))
	f.Add([]byte("\n\n\n"), []byte{2, 0, 1}, uint8(2))
	f.Add([]byte(strings.Repeat("long ", 50)+"\nshort\n"), []byte{7, 3}, uint8(8))
	f.Add([]byte(""), []byte{}, uint8(16))
	f.Fuzz(func(t *testing.T, text, sizes []byte, buffer uint8) {
		b := &lineBlocks{in: &splitReader{text: text, sizes: sizes}, size: max(2, int(buffer)), most: 1 << 20}
		got, err := allBlocks(t, b)
		if err != io.EOF {
			t.Fatal(err)
		}
		if want := wholeLines(text); !bytes.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestLineBlocksLongLines(t *testing.T) {
	const most = 100
	for _, tt := range []struct {
		name string
		text string
		err  error
		want string
	}{
		{"as long as may be", strings.Repeat("x", most) + "\nb\n", io.EOF, strings.Repeat("x", most) + "\nb\n"},
		{"the last", "b\n" + strings.Repeat("x", most), io.EOF, "b\n" + strings.Repeat("x", most) + "\n"},
		{"longer", "a\nb\n" + strings.Repeat("x", most+1) + "\nc\n", errLongLine, "a\nb\n"},
		{"longer without end", "a\n" + strings.Repeat("x", 10*most), errLongLine, "a\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{2, 5, 64, 103} {
				for in, r := range map[string]io.Reader{
					"at once":             strings.NewReader(tt.text),
					"bytewise":            iotest.OneByteReader(strings.NewReader(tt.text)),
					"the end with a part": iotest.DataErrReader(strings.NewReader(tt.text)),
				} {
					if size > most+2 && tt.err != io.EOF {
						continue
					}
					got, err := allBlocks(t, &lineBlocks{in: r, size: size, most: most})
					if err != tt.err || string(got) != tt.want {
						t.Errorf("%s, buffers of %d: got %q, %v, want %q, %v", in, size, got, err, tt.want, tt.err)
					}
				}
			}
		})
	}
}

// The memory of a long line is given back.
func TestLineBlocksShrink(t *testing.T) {
	b := &lineBlocks{in: strings.NewReader(strings.Repeat("x", 5000) + "\na\nb\n"), size: 16, most: 1 << 20}
	_, large, err := b.next(make([]byte, 16))
	if err != nil || len(large) < 5000 {
		t.Fatalf("buffer of %d, %v", len(large), err)
	}
	for err == nil {
		_, large, err = b.next(large)
	}
	if len(large) != 16 {
		t.Errorf("a buffer of %d is kept", len(large))
	}
}

// Whole lines before an error are returned, and the error is the reader's.
func TestLineBlocksError(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken))
	got, err := allBlocks(t, &lineBlocks{in: in, size: 4, most: 100})
	if !errors.Is(err, broken) || string(got) != "a\nb\n" {
		t.Errorf("got %q, %v", got, err)
	}
	stuck := readerFunc(func([]byte) (int, error) { return 0, nil })
	if _, err := allBlocks(t, &lineBlocks{in: stuck, size: 4, most: 100}); err != io.ErrNoProgress {
		t.Errorf("a reader that reads nothing: %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A sieve writes the wanted lines, unchanged and in order: against the plain way.
func TestSieve(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	var text bytes.Buffer
	want := map[bool]*strings.Builder{true: {}, false: {}}
	for i := range 20_000 {
		line := fmt.Sprintf("%d%s", dice.IntN(50), strings.Repeat("-", dice.IntN(30)))
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(line)
		want[len(line)%3 == 0].WriteString(line + "\n")
	}
	for _, wanted := range []bool{true, false} {
		var out bytes.Buffer
		s := &sieve{
			hash: func(key []byte) uint64 { return uint64(len(key)) },
			answer: func(hashes []uint64, answers []bool) error {
				for i, h := range hashes {
					answers[i] = h%3 == 0
				}
				return nil
			},
			wanted: wanted, out: &out,
		}
		if err := s.run(t.Context(), bytes.NewReader(text.Bytes())); err != nil {
			t.Fatal(err)
		}
		if out.String() != want[wanted].String() {
			t.Errorf("wanted %v: %d bytes written, want %d", wanted, out.Len(), want[wanted].Len())
		}
		if s.lines != 20_000 || s.kept != uint64(strings.Count(want[wanted].String(), "\n")) {
			t.Errorf("%d lines, %d kept", s.lines, s.kept)
		}
	}
}

// A line that comes by itself is passed on before the next one comes.
func TestSievePassesOn(t *testing.T) {
	in, feed := io.Pipe()
	drain, out := io.Pipe()
	s := &sieve{
		hash:   func(key []byte) uint64 { return 0 },
		answer: func(_ []uint64, answers []bool) error { clear(answers); return nil },
		out:    out,
	}
	ended := make(chan error)
	go func() { ended <- s.run(t.Context(), in) }()
	for i := range 3 {
		line := fmt.Sprintf("line %d\n", i)
		if _, err := io.WriteString(feed, line); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(line))
		if _, err := io.ReadFull(drain, got); err != nil || string(got) != line {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	feed.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// No line is allocated for.
func TestSieveAllocates(t *testing.T) {
	text := bytes.Repeat([]byte("https://www.example.org/a/page\n"), 20_000)
	s := &sieve{
		hash:   func(key []byte) uint64 { return uint64(len(key)) },
		answer: func([]uint64, []bool) error { return nil },
		out:    io.Discard,
	}
	if n := testing.AllocsPerRun(3, func() {
		if err := s.run(t.Context(), bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}); n > 50 {
		t.Errorf("%.0f allocations for 20,000 lines", n)
	}
}
