package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"testing"
	"time"
)

func testPoint() point {
	return point{
		crawlID: "ABC",
		Cut: Cut{
			Number: 7, At: time.UnixMilli(1e12).UTC(), Books: json.RawMessage(`{"pages":"\n<1>"}`),
			Admissions: LogMark{Position{1, 2}, 3}, Done: LogMark{Position{4, 5}, 6}, Pages: PageMark{Position{7, 8}, 9},
		},
	}
}

// Any change to a checkpoint's encoding is noticed.
func TestPointChanges(t *testing.T) {
	whole, err := testPoint().encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 1
		if p, err := decodePoint(data); err == nil {
			t.Errorf("a change of byte %d is not noticed: %+v", i, p)
		}
		if p, err := decodePoint(whole[:i]); err == nil {
			t.Errorf("the first %d bytes are taken for a checkpoint: %+v", i, p)
		}
	}
}

// Whatever a checkpoint is made of, it is refused or is the same after another round.
func FuzzPoint(f *testing.F) {
	whole, err := testPoint().encode()
	if err != nil {
		f.Fatal(err)
	}
	empty, err := point{Cut: Cut{Books: json.RawMessage("null")}}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(empty)
	f.Add([]byte(pointMagic + `{"cut":{"admissions":{"entries":18446744073709551615}}}` + "\nsums"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n := len(data) - sumBytes; n >= 0 {
			binary.LittleEndian.PutUint32(data[n:], crc32.Checksum(data[:n], castagnoli))
		}
		p, err := decodePoint(data)
		if err != nil {
			return
		}
		once, err := p.encode()
		if err != nil {
			return // a time past the year 9999
		}
		again, err := decodePoint(once)
		if err != nil {
			t.Fatalf("%q: %v", once, err)
		}
		twice, err := again.encode()
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q became %q, %v", once, twice, err)
		}
	})
}
