package fetch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"testing"

	"golang.org/x/net/http2"
)

// pieces is a connection whose reads give pieces of what was said.
type pieces struct {
	net.Conn
	said []byte
	most int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.said) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.most)], p.said)
	p.said = p.said[n:]
	return n, nil
}

func readFrames(said []byte, most int) (passed []byte, err error) {
	f := newFrames(&pieces{said: slices.Clone(said), most: most})
	b := make([]byte, 64)
	for {
		n, err := f.Read(b)
		passed = append(passed, b[:n]...)
		if err != nil {
			return passed, err
		}
	}
}

// TestFrames: what means nothing to us is left out, and the rest passes as it came, in whatever pieces.
func TestFrames(t *testing.T) {
	var said, want bytes.Buffer
	all, some := http2.NewFramer(&said, nil), http2.NewFramer(&want, nil)
	for _, fr := range []*http2.Framer{all, some} {
		fr.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14})
		if fr == all {
			fr.WritePriority(3, http2.PriorityParam{})
			fr.WriteWindowUpdate(0, 99)
			fr.WriteRawFrame(0xa, 0, 0, []byte("alternative service"))
		}
		fr.WriteRawFrame(frameHeaders, 4, 1, []byte("head"))
		fr.WriteData(1, false, bytes.Repeat([]byte("x"), 3000))
		if fr == all {
			fr.WriteRawFrame(0x10, 0, 0, nil)
		}
		fr.WriteData(1, true, nil)
		fr.WriteGoAway(7, http2.ErrCodeNo, []byte("bye"))
	}
	for _, most := range []int{1, 2, 8, 9, 10, 63, 64} {
		passed, err := readFrames(said.Bytes(), most)
		if !bytes.Equal(passed, want.Bytes()) || err != io.EOF {
			t.Errorf("in pieces of %d: %d bytes, want %d, %v", most, len(passed), want.Len(), err)
		}
	}
	f := newFrames(&pieces{said: said.Bytes(), most: 5})
	io.Copy(io.Discard, struct{ io.Reader }{f})
	if away, _, _ := f.state(1); away == nil || away.last != 7 || away.debug != "bye" {
		t.Errorf("away: %v", away)
	}
}

// TestFramesSent: the stream of the last request is known, however the frames before it were written.
func TestFramesSent(t *testing.T) {
	var out bytes.Buffer
	out.WriteString(http2.ClientPreface)
	fr := http2.NewFramer(&out, nil)
	fr.WriteSettings()
	fr.WriteRawFrame(frameHeaders, 5, 1, bytes.Repeat([]byte("x"), 5000))
	fr.WriteRawFrame(frameHeaders, 5, 3, []byte("x"))
	fr.WriteRSTStream(1, http2.ErrCodeCancel)
	for _, most := range []int{1, 4, 9, 4096, 1 << 20} {
		f := newFrames(nil)
		for part := range slices.Chunk(out.Bytes(), most) {
			f.outgoing(part)
		}
		if f.lastStream.Load() != 3 || f.requests.Load() != 2 {
			t.Errorf("in pieces of %d: stream %d, %d requests", most, f.lastStream.Load(), f.requests.Load())
		}
	}
}

// FuzzFrames: whatever comes, in whatever pieces, what passes is the same, and no more than came.
func FuzzFrames(f *testing.F) {
	settings := []byte{0, 0, 0, frameSettings, 0, 0, 0, 0, 0}
	f.Add(append(slices.Clone(settings), binary.BigEndian.AppendUint32([]byte{0, 0, 8, frameGoAway, 0, 0, 0, 0, 0}, 1)...), uint8(3))
	f.Add(slices.Concat(settings, settings, []byte{0, 0, 1, 0xfe, 0, 0, 0, 0, 1, 'x'}), uint8(1))
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n"), uint8(9))
	f.Fuzz(func(t *testing.T, said []byte, most uint8) {
		whole, err := readFrames(said, 64)
		if len(whole) > len(said) || err == nil {
			t.Fatalf("%d bytes of %d, %v", len(whole), len(said), err)
		}
		pieces, errPieces := readFrames(said, int(most)+1)
		if !errors.Is(errPieces, err) {
			t.Fatalf("%v, and in pieces %v", err, errPieces)
		}
		if err == io.EOF && !bytes.Equal(whole, pieces) {
			t.Fatalf("%q, and in pieces %q", whole, pieces)
		}
	})
}
