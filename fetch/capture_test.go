package fetch

import (
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// sha1Digest is a digest as WARC records hold it.
func sha1Digest(b []byte) string {
	sum := sha1.Sum(b)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

func wireOf(t *testing.T, res *Result) string {
	t.Helper()
	b, err := io.ReadAll(res.Wire())
	if err != nil {
		t.Fatal(err)
	}
	if res.WireSize() != int64(len(b)) {
		t.Errorf("%d bytes on the wire, but WireSize is %d", len(b), res.WireSize())
	}
	if err := iotest.TestReader(res.Wire(), b); err != nil {
		t.Error(err)
	}
	return string(b)
}

// TestHandedWARC: what Wire and Payload give has the digests that the handed cases ask for.
func TestHandedWARC(t *testing.T) {
	for _, tt := range handedCases(t, "warc") {
		t.Run(tt.ID, func(t *testing.T) {
			var in struct {
				Raw string `json:"raw_response"`
			}
			var want struct {
				Payload  string `json:"payload_digest"`
				Verbatim string `json:"payload_digest_if_stored_verbatim"`
				Block    string `json:"block_digest_if_stored_verbatim"`
			}
			unmarshal(t, tt.Input, &in)
			unmarshal(t, tt.Want, &want)
			raw := latin1(in.Raw)
			p := newPeer(t, answering(raw))
			res := mustFetch(t, newClient(t, Config{Capture: true}), p.url("/"))
			wire := wireOf(t, res)
			if wire != raw {
				t.Errorf("wire %q, want %q", wire, raw)
			}
			if got := sha1Digest([]byte(wire)); got != want.Block {
				t.Errorf("block digest %s, want %s", got, want.Block)
			}
			if got := sha1Digest(res.Payload); got != want.Payload && got != want.Verbatim {
				t.Errorf("payload digest %s, want %s%s", got, want.Payload, want.Verbatim)
			}
			if string(res.Body) != "<p>hello</p>" {
				t.Errorf("body %q", res.Body)
			}
		})
	}
}

func TestWire(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	long := strings.Repeat("0123456789abcdef", 10<<10)
	hints := "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"
	many := new(strings.Builder)
	for i := range 3000 {
		fmt.Fprintf(many, "%x;n=%d\r\n%s\r\n", i%7+1, i, long[:i%7+1])
	}
	for _, tt := range []struct {
		name, raw, want, interim string
	}{
		{"by length", hello, hello, ""},
		{"odd spelling", "http/1.1 200\nserver:x\n A\nnonsense\ncontent-LENGTH:2\n\nok", "http/1.1 200\nserver:x\n A\nnonsense\ncontent-LENGTH:2\n\nok", ""},
		{"until close", "HTTP/1.1 200 OK\r\n\r\nall", "HTTP/1.1 200 OK\r\n\r\nall", ""},
		{"hints apart", hints + hello, hello, hints},
		{"lines before apart", "\r\n" + hello, hello, ""},
		{"chunks", chunked + "3;x=y\r\nabc\r\n02\r\nde\r\n0\r\nA: b\r\n\r\n", chunked + "3;x=y\r\nabc\r\n02\r\nde\r\n0\r\nA: b\r\n\r\n", ""},
		{"many chunks", chunked + many.String() + "0\r\n\r\n", chunked + many.String() + "0\r\n\r\n", ""},
		{"large chunks", chunked + "28000\r\n" + long + "\r\n0\r\n\r\n", chunked + "28000\r\n" + long + "\r\n0\r\n\r\n", ""},
		{"chunks cut in the data", chunked + "5\r\nabc", chunked + "5\r\nabc", ""},
		{"chunks cut in a size", chunked + "3\r\nabc\r\n1", chunked + "3\r\nabc\r\n1", ""},
		{"no chunk", chunked, chunked, ""},
		{"length cut", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", ""},
		{"rubbish behind is no part", hello + "rubbish", hello, ""},
		{"rubbish behind chunks is no part", chunked + "1\r\na\r\n0\r\n\r\nrubbish", chunked + "1\r\na\r\n0\r\n\r\n", ""},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t, once(tt.raw))
			c := newClient(t, Config{Capture: true})
			res := mustFetch(t, c, p.url("/a?b"))
			if wire := wireOf(t, res); wire != tt.want {
				t.Errorf("wire %.300q, want %.300q", wire, tt.want)
			}
			if res.WireInterim() != tt.interim {
				t.Errorf("interim %q, want %q", res.WireInterim(), tt.interim)
			}
			req := string(res.WireRequest())
			if !strings.HasPrefix(req, "GET /a?b HTTP/1.1\r\nHost: ") || !strings.HasSuffix(req, "\r\n\r\n") {
				t.Errorf("request %q", req)
			}
			res.Release()
			if res.Wire() != nil || res.WireSize() != 0 || res.WireRequest() != nil || c.memory.used != 0 {
				t.Error("captured bytes outlive Release")
			}
		})
	}
}

// TestWireCut: what the cap cut off is not on the wire either, and no framing behind it.
func TestWireCut(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	p := newPeer(t, once(chunked+"3\r\nabc\r\n3\r\ndef\r\n3\r\nghi\r\n0\r\n\r\n"))
	res := mustFetch(t, newClient(t, Config{Capture: true, MaxBodyBytes: 5}), p.url("/"))
	if wire := wireOf(t, res); wire != chunked+"3\r\nabc\r\n3\r\nde" || res.Truncated != TruncatedLength {
		t.Errorf("wire %q, %s", wire, res.Truncated)
	}
}

func TestNoCapture(t *testing.T) {
	p := newPeer(t, answering(hello))
	res := mustFetch(t, newClient(t, Config{}), p.url("/"))
	if res.Wire() != nil || res.WireRequest() != nil || res.WireInterim() != "" {
		t.Error("bytes were captured unasked")
	}
}

// TestWireCounts: framing that is long beside its payload counts against the memory of bodies, and is cut in the end.
func TestWireCounts(t *testing.T) {
	raw := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\na\r\n", 300<<10) + "0\r\n\r\n"
	p := newPeer(t, once(raw))
	c := newClient(t, Config{Capture: true})
	res := mustFetch(t, c, p.url("/"))
	if res.Truncated != TruncatedDisconnect || res.BodyErr != errFraming {
		t.Errorf("%s, %v, want %v", res.Truncated, res.BodyErr, errFraming)
	}
	if held := res.share.charged; held < 1<<20 || c.memory.used == 0 {
		t.Errorf("%d bytes are charged, %d counted", held, c.memory.used)
	}
	if got := wireOf(t, res); !strings.HasPrefix(raw, got) || len(got) < 1<<19 {
		t.Errorf("%d bytes on the wire are no start of the answer", len(got))
	}
}

// TestImpliedHead: the head that stands for one of HTTP/2 reads as HTTP/1.1.
func TestImpliedHead(t *testing.T) {
	h := http.Header{"B": {"1", "2"}, "A": {"x"}}
	if got, want := impliedHead(404, h, 3), "HTTP/1.1 404 Not Found\r\nA: x\r\nB: 1\r\nB: 2\r\nContent-Length: 3\r\n\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
