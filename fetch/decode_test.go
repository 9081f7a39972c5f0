package fetch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

func gzipped(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, m := range members {
		w := gzip.NewWriter(&b)
		io.WriteString(w, m)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func answer(payload []byte, fields ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n", len(payload))
	for _, f := range fields {
		b.WriteString(f + "\r\n")
	}
	return b.String() + "\r\n" + string(payload)
}

func TestContentCodings(t *testing.T) {
	text := strings.Repeat("hello ", 1000)
	zipped := gzipped(t, text)
	broken := bytes.Clone(zipped)
	broken[len(broken)-6] ^= 1 // the checksum
	for _, tt := range []struct {
		name      string
		payload   []byte
		encoding  string
		body      string
		truncated Truncation
		fails     bool
	}{
		{"none", []byte(text), "", text, Whole, false},
		{"identity", []byte(text), "identity", text, Whole, false},
		{"gzip", zipped, "gzip", text, Whole, false},
		{"x-gzip, other case", zipped, "X-GZip", text, Whole, false},
		{"several members", gzipped(t, "ab", "", "cd"), "gzip", "abcd", Whole, false},
		{"zeros behind it", append(bytes.Clone(zipped), 0, 0, 0), "gzip", text, Whole, false},
		{"twice", gzipped(t, string(zipped)), "gzip, gzip", text, Whole, false},
		{"labelled twice", zipped, "gzip, identity ,gzip", text, Whole, false},
		{"labelled, but plain", []byte(text), "gzip", text, Whole, false},
		{"labelled, but empty", nil, "gzip", "", Whole, false},
		{"no end", zipped[:len(zipped)-9], "gzip", text, Whole, true},
		{"only its header", zipped[:10], "gzip", "", Whole, true},
		{"half a header", zipped[:5], "gzip", "", Whole, true},
		{"bad checksum", broken, "gzip", text, Whole, true},
		{"bad second member", append(gzipped(t, "ab"), 0x1f, 0x8b, 9, 9, 9, 9, 9, 9, 9, 9), "gzip", "ab", Whole, true},
		{"only its magic", []byte("\x1f\x8b"), "gzip", "", Whole, true},
		{"not known", []byte("\x1f\x9d\x90"), "compress", "\x1f\x9d\x90", Whole, true},
		{"not known under gzip", gzipped(t, "???"), "compress, gzip", string(gzipped(t, "???")), Whole, true},
		{"too many", zipped, "gzip,gzip,gzip,gzip,gzip,gzip", string(zipped), Whole, true},
		{"more than the cap", gzipped(t, strings.Repeat("x", 9000)), "gzip", strings.Repeat("x", 8000), TruncatedLength, false},
		{"at the cap", gzipped(t, strings.Repeat("x", 8000)), "gzip", strings.Repeat("x", 8000), Whole, false},
		{"more than the cap in members", gzipped(t, strings.Repeat("x", 8000), "y"), "gzip", strings.Repeat("x", 8000), TruncatedLength, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t, answering(answer(tt.payload, "Content-Encoding: "+tt.encoding)))
			c := newClient(t, Config{MaxBodyBytes: 8000})
			for range 2 { // the second time with used buffers and readers
				res := mustFetch(t, c, p.url("/"))
				if string(res.Body) != tt.body || res.Truncated != tt.truncated || (res.DecodeErr != nil) != tt.fails {
					t.Errorf("%d bytes, %q, %v; want %d bytes, %q, failure %v", len(res.Body), res.Truncated, res.DecodeErr,
						len(tt.body), tt.truncated, tt.fails)
				}
				if !bytes.Equal(res.Payload, tt.payload) {
					t.Error("payload is not what was sent")
				}
				res.Release()
			}
		})
	}
}

func TestCutPayloadTellsItOnce(t *testing.T) {
	zipped := gzipped(t, strings.Repeat("hello ", 1000))
	full := answer(zipped, "Content-Encoding: gzip")
	p := newPeer(t, once(full[:len(full)-12]))
	res := mustFetch(t, newClient(t, Config{}), p.url("/"))
	if res.Truncated != TruncatedDisconnect || res.DecodeErr != nil || len(res.Body) == 0 {
		t.Errorf("%q, %v, %d bytes", res.Truncated, res.DecodeErr, len(res.Body))
	}
	p = newPeer(t, answering(answer(zipped[:len(zipped)-12], "Content-Encoding: gzip")))
	res = mustFetch(t, newClient(t, Config{}), p.url("/"))
	if res.Truncated != Whole || !errors.Is(res.DecodeErr, errNoEnd) {
		t.Errorf("a whole message without the stream's end: %q, %v", res.Truncated, res.DecodeErr)
	}
}

// TestHTTP05GzipBomb is http-05: about a megabyte that inflates to a gigabyte costs no more memory than the cap.
func TestHTTP05GzipBomb(t *testing.T) {
	bomb := bytes.Repeat(gzipped(t, strings.Repeat(" ", 16<<20)), 64)
	p := newPeer(t, answering(answer(bomb, "Content-Encoding: gzip")))
	c := newClient(t, Config{MaxBodyBytes: 10 << 20})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := mustFetch(t, c, p.url("/"))
	runtime.ReadMemStats(&after)
	if res.Truncated != TruncatedLength || len(res.Body) != 10<<20 || len(res.Payload) != len(bomb) {
		t.Errorf("%q, %d bytes of %d", res.Truncated, len(res.Body), len(res.Payload))
	}
	// Doubling up to the cap allocates twice the cap, the payload as much again.
	if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 {
		t.Errorf("%d MiB allocated", used>>20)
	}
}
