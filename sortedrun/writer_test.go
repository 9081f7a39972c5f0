package sortedrun

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
)

// The format is what the package comment says it is.
func TestFormat(t *testing.T) {
	file := build(t, Options{BlockBytes: 64}, []entry{
		{[]byte("ab1"), []byte("x"), nil}, {[]byte("ab2"), []byte("xy"), []byte("n")}, {[]byte("ab37"), []byte("value of an entry"), nil},
	})
	one := "00000000" + "00000000" + "01000000" // a restart, of one
	want := strings.Join([]string{
		"0003000001" + "616231", "0201010101" + "32" + "6e", "78", "79", one + "0f000000" + "00", // block at 0
		"f7dfc10c", "0004000011" + "61623337" + hex.EncodeToString([]byte("value of an entry")), one + "09000000" + "00", // at 38
		"74d0010c", "0000000002", "0003000002" + "616233", "0026" + "262f", one + "0d000000" + "00", // index block at 85
		"6b84fe4f", "0000000002" + "5526", one + "05000000" + "00", // top at 123
		"c3236cb4", "0300000000000000" + "0200000000000000" + "0100000000000000",
		"7b00000000000000" + "1c00000000000000" + "02000000",
		"14d65765", hex.EncodeToString([]byte("sortrun\n")),
	}, "")
	if got := hex.EncodeToString(file); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAddRefuses(t *testing.T) {
	for _, tt := range []struct {
		name       string
		key, value []byte
		want       error
	}{
		{"the same key", []byte("key"), nil, ErrOrder},
		{"a prefix of the key", []byte("ke"), nil, ErrOrder},
		{"the empty key", nil, nil, ErrOrder},
		{"a smaller key", []byte("kex-and-more"), nil, ErrOrder},
		{"a long entry", []byte("kez"), make([]byte, MaxEntryBytes-2), ErrTooLong},
	} {
		for _, blockBytes := range []int{0, 1} {
			w := NewWriter(io.Discard, Options{BlockBytes: blockBytes})
			if err := w.Add([]byte("key"), []byte("value")); err != nil {
				t.Fatal(err)
			}
			if err := w.Add(tt.key, tt.value); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
			if err := w.Add([]byte("z"), nil); !errors.Is(err, tt.want) {
				t.Errorf("%s: the next Add: %v, want %v", tt.name, err, tt.want)
			}
			if _, err := w.Finish(); !errors.Is(err, tt.want) {
				t.Errorf("%s: Finish: %v, want %v", tt.name, err, tt.want)
			}
		}
	}
}

var errFull = errors.New("no space left")

// fullWriter takes so many bytes.
type fullWriter struct{ room int }

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return max(0, len(p)+w.room), errFull
	}
	return len(p), nil
}

// A write that fails is the error of the Add that needed it, and of all that follow; no run is announced.
func TestWriteError(t *testing.T) {
	for _, room := range []int{0, flushBytes, 3 * flushBytes} {
		w := NewWriter(&fullWriter{room}, Options{})
		var key [4]byte
		var err error
		for i := 0; i < 1000 && err == nil; i++ {
			key[0], key[1] = byte(i>>8), byte(i)
			err = w.Add(key[:], bytes.Repeat([]byte{byte(i)}, 1000))
		}
		if !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: Add: %v", room, err)
		}
		if info, err := w.Finish(); !errors.Is(err, errFull) || info != (Info{}) {
			t.Errorf("room for %d bytes: Finish: %v, %v", room, info, err)
		}
	}
	w := NewWriter(&fullWriter{10}, Options{})
	if info, err := w.Finish(); !errors.Is(err, errFull) || info != (Info{}) {
		t.Errorf("Finish: %v, %v", info, err)
	}
}

// A finished run takes no more.
func TestFinishOnce(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, Options{})
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	size := file.Len()
	if err := w.Add([]byte("k"), nil); err == nil {
		t.Error("Add after Finish: no error")
	}
	if _, err := w.Finish(); err == nil || file.Len() != size {
		t.Errorf("Finish after Finish: %v, %d bytes more", err, file.Len()-size)
	}
}

// What makes no sense to pack stays plain; what does is much smaller.
func TestCompress(t *testing.T) {
	noise := make([]byte, 20_000)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	for _, tt := range []struct {
		name  string
		value []byte
		kind  byte
		most  int
	}{
		{"noise", noise, kindPlain, 21_000},
		{"text", bytes.Repeat([]byte("https://host.example/"), 1000), kindZstd, 1000},
	} {
		file := build(t, Options{Compress: true}, []entry{{key: []byte("k"), value: tt.value}})
		c := open(t, file).Seek(nil)
		if kind := file[c.blockAt.end()-frameTail]; kind != tt.kind || len(file) > tt.most {
			t.Errorf("%s: kind %d in %d bytes, want kind %d in at most %d", tt.name, kind, len(file), tt.kind, tt.most)
		}
	}
}
