package store

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// The frames of a column are found one after the other, whatever kinds of blocks they have, and each unpacks alone.
func TestFrames(t *testing.T) {
	c, _, _ := testBlocks(t, 0)
	noise := make([]byte, 300_000) // of more than one block of zstd
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(noise)
	parts := [][]byte{
		bytes.Repeat([]byte("https://a.example/"), 20_000), noise, make([]byte, 5000), []byte("x"), noise[:100], bytes.Repeat([]byte{7}, 400_000),
	}
	var column []byte
	for _, part := range parts {
		column = c.enc.EncodeAll(part, column)
	}
	rest := column
	for i, want := range parts {
		f, after, err := nextFrame(rest)
		if err != nil || f.plain != len(want) {
			t.Fatalf("frame %d is said to have %d bytes, %v, want %d", i, f.plain, err, len(want))
		}
		if got, err := c.unpack(f, nil); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("frame %d: %d bytes, %v", i, len(got), err)
		}
		rest = after
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes are left", len(rest))
	}
	one := c.enc.EncodeAll(parts[0], nil)
	for cut := range len(one) {
		if _, _, err := nextFrame(one[:cut]); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a frame", cut, len(one))
		}
	}
}

// Whatever bytes there are, a frame is a part of them, and what comes after it is the rest.
func FuzzNextFrame(f *testing.F) {
	c, err := newCodec()
	if err != nil {
		f.Fatal(err)
	}
	defer c.close()
	f.Add(c.enc.EncodeAll([]byte("https://a.example/https://a.example/1"), nil))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 9, 0xff, 0xff, 0xff})
	f.Add([]byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, column []byte) {
		f, rest, err := nextFrame(column)
		if err == nil && (len(f.packed) == 0 || !bytes.Equal(append(bytes.Clone(f.packed), rest...), column)) {
			t.Errorf("%d bytes are a frame of %d and %d more", len(column), len(f.packed), len(rest))
		}
	})
}
