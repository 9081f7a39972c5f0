package fetch

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"
)

// script is a connection on which the peer says what it was given and then closes.
type script struct {
	net.Conn
	said *bytes.Reader
}

func (s script) Read(p []byte) (int, error)  { return s.said.Read(p) }
func (s script) Write(p []byte) (int, error) { return len(p), nil }
func (s script) Close() error                { return nil }
func (s script) SetDeadline(time.Time) error { return nil }

// FuzzResponse: whatever a server says, a fetch ends with an error that has its phase or with a result within the caps,
// keeps no connection on which anything is left to read, and captures what was said, byte for byte.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte(hello + hello))
	f.Add([]byte("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX: y\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 200\nContent-Length: 99\n\nshort"))
	f.Add([]byte("ICY 200 OK\r\nno colon\r\n folded\r\nTransfer-Encoding : chunked\r\n\r\nx"))
	f.Add([]byte("http/1.1 204\r\nContent-Length: 5\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 3, 3\r\n\r\n0a \r\n0123456789\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"))
	f.Add([]byte(answer(gzipped(f, "a", "b"), "Content-Encoding: gzip")))
	f.Add([]byte(answer(gzipped(f, string(gzipped(f, "twice"))), "Content-Encoding: gzip, x-gzip")))
	f.Add([]byte(answer(encoded(f, "four", "deflate", "br", "zstd", "bare"), "Content-Encoding: deflate, br, zstd, deflate")))
	f.Add([]byte(answer(frame(23, "a large window"), "Content-Encoding: zstd")))
	f.Add([]byte(answer([]byte("plain"), "Content-Encoding: br")))
	f.Add([]byte("HTTP/1.1 301 Moved\r\nLocation: \xff\r\n\r\n"))
	const headCap, bodyCap = 512, 64
	c, err := New(Config{MaxHeadBytes: headCap, MaxBodyBytes: bodyCap, Capture: true})
	if err != nil {
		f.Fatal(err)
	}
	u := mustParse(f, "http://a.example/")
	f.Fuzz(func(t *testing.T, said []byte) {
		peer := script{said: bytes.NewReader(said)}
		c.dialer = func(context.Context, netip.AddrPort) (net.Conn, error) { return peer, nil }
		res, err := c.Fetch(t.Context(), Request{URL: u, Addrs: addrPorts("8.8.8.8:80")})
		kept := c.idle.pop(connKey{u.Origin(), netip.MustParseAddrPort("8.8.8.8:80"), nil})
		if err != nil {
			if e := wantErrorType(t, err); e.Phase != PhaseHead || kept != nil {
				t.Fatalf("phase %s, connection kept %v: %v", e.Phase, kept != nil, err)
			}
			return
		}
		defer res.Release()
		if len(res.Payload) > bodyCap || len(res.Body) > bodyCap || res.Status < 200 {
			t.Fatalf("status %d with %d bytes, decoded %d", res.Status, len(res.Payload), len(res.Body))
		}
		if kept != nil && (kept.in.buf != nil || res.BodyErr != nil || peer.said.Len() > 0 && len(said) <= headCap) {
			t.Fatalf("connection kept with %d bytes to read, after %q", peer.said.Len(), res.Truncated)
		}
		if wire, err := io.ReadAll(res.Wire()); err != nil || !bytes.Contains(said, wire) || int64(len(wire)) != res.WireSize() {
			t.Fatalf("%q is no part of what was said (%v)", wire, err)
		}
		if c.memory.used != 0 || res.share.charged > freeBytes+windowsMost {
			t.Fatalf("%d bytes are charged, %d counted", res.share.charged, c.memory.used)
		}
		if (res.Truncated == TruncatedDisconnect) != (res.BodyErr != nil) {
			t.Fatalf("truncated %q, but %v", res.Truncated, res.BodyErr)
		}
	})
}
