package fetch

import (
	"fmt"
	"strings"
	"testing"
)

// TestLenient serves answers that break the rules. A page that browsers show is read; what could be misread ends its
// connection, so that the next request gets its own answer.
func TestLenient(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	gz := string(gzipped(t, "zipped"))
	for _, tt := range []struct {
		name, raw string
		closes    bool // the server closes after it
		body      string
		truncated Truncation
		reused    bool
		header    string // "Name: value" that must be there
	}{
		{"line without a colon", "HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, "Content-Length: 2"},
		{"second status line", "HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, ""},
		{"field without a name", "HTTP/1.1 200 OK\r\n: x\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, ""},
		{"name with a blank in it", "HTTP/1.1 200 OK\r\nA B: x\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, ""},
		{"blank before a colon", "HTTP/1.1 200 OK\r\nX-A : b\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, "X-A: b"},
		{"blank before the length's colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", false, "ok", Whole, false, "Content-Length: 2"},
		{"folded field", "HTTP/1.1 200 OK\r\nX-A: b\r\n  c\r\n\td \r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, "X-A: b c d"},
		{"folded length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok", false, "ok", Whole, false, "Content-Length: 2"},
		{"fold at the start", "HTTP/1.1 200 OK\r\n folded\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, ""},
		{"NUL in a value", "HTTP/1.1 200 OK\r\nX-A: b\x00c\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, "X-A: b c"},
		{"NUL in a name", "HTTP/1.1 200 OK\r\nX\x00A: b\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, ""},
		{"CR in a value", "HTTP/1.1 200 OK\r\nX-A: b\rEvil: c\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, "X-A: b Evil: c"},
		{"bytes past ASCII", "HTTP/1.1 200 OK\r\nX-A: caf\xe9\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, "X-A: caf\xe9"},
		{"lower case", "http/1.1 200 ok\r\ncontent-length: 2\r\n\r\nok", false, "ok", Whole, true, "Content-Length: 2"},
		{"empty lines first", "\r\n\n" + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, ""},
		{"blanks in the status line", "HTTP/1.1   200   OK\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, true, ""},
		{"ICY", "ICY 200 OK\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, false, ""},
		{"HTTP/2 in words", "HTTP/2 200\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, false, ""},
		{"bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", false, "ok", Whole, true, ""},

		{"the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 02\r\n\r\nok", false, "ok", Whole, true, ""},
		{"the same length in one field", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", false, "ok", Whole, true, ""},
		{"length that is no number", "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok", true, "ok", Whole, false, ""},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", true, "ok", Whole, false, ""},
		{"signed length", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nok", true, "ok", Whole, false, ""},
		{"length past all numbers", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok", true, "ok", TruncatedDisconnect, false, ""},
		{"chunks and a length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false, "ok", Whole, false, ""},
		{"chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nok", false, "ok", Whole, false, ""},
		{"chunked twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false, "ok", Whole, true, ""},
		{"chunked, identity", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n2\r\nok\r\n0\r\n\r\n", false, "ok", Whole, true, ""},
		{"gzip as a transfer coding", fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(gz), gz), false, "zipped", Whole, true, ""},
		{"no transfer coding that is known", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunk\r\n\r\n2\r\nok", true, "2\r\nok", Whole, false, ""},

		{"bare LF between chunks", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nok\n0\n\n", false, "ok", Whole, true, ""},
		{"blanks around a size", chunked + " 2 \t\r\nok\r\n0\r\n\r\n", false, "ok", Whole, true, ""},
		{"extensions with quotes", chunked + "2;a=\"b;c\";d\r\nok\r\n0;e\r\n\r\n", false, "ok", Whole, true, ""},
		{"zeros before a size", chunked + "00000000000000000000000002\r\nok\r\n000\r\n\r\n", false, "ok", Whole, true, ""},
		{"trailers that lie", chunked + "2\r\nok\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\nrubbish\r\n\r\n", false, "ok", Whole, true, ""},
		{"no end behind the last chunk", chunked + "2\r\nok\r\n0\r\n", true, "ok", Whole, false, ""},
		{"trailers without an end", chunked + "2\r\nok\r\n0\r\nX: y", true, "ok", Whole, false, ""},
		{"trailers by the kilobyte", chunked + "2\r\nok\r\n0\r\n" + strings.Repeat("X: y\r\n", 2000), true, "ok", TruncatedDisconnect, false, ""},
		{"signed size", chunked + "2\r\nok\r\n-1\r\n", true, "ok", TruncatedDisconnect, false, ""},
		{"size in words", chunked + "2\r\nok\r\nfive\r\nhello", true, "ok", TruncatedDisconnect, false, ""},
		{"two sizes", chunked + "2 2\r\nok\r\n0\r\n\r\n", true, "", TruncatedDisconnect, false, ""},
		{"0x before a size", chunked + "0x2\r\nok\r\n0\r\n\r\n", true, "", TruncatedDisconnect, false, ""},
		{"empty size", chunked + "\r\n2\r\nok\r\n0\r\n\r\n", true, "", TruncatedDisconnect, false, ""},
		{"size past all numbers", chunked + "2\r\nok\r\nfffffffffffffffff\r\nx", true, "ok", TruncatedDisconnect, false, ""},
		{"size too small", chunked + "1\r\nok\r\n0\r\n\r\n", true, "o", TruncatedDisconnect, false, ""},
		{"size line without an end", chunked + "2;" + strings.Repeat("x", 5000), true, "", TruncatedDisconnect, false, ""},
		{"extensions for nothing", chunked + strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\na\r\n", 40), true, strings.Repeat("a", 16), TruncatedDisconnect, false, ""},
		{"chunks of a byte each", chunked + strings.Repeat("1\r\na\r\n", 40) + "0\r\n\r\n", false, strings.Repeat("a", 40), Whole, true, ""},

		{"204 with a body", "HTTP/1.1 204 No Content\r\n\r\nbody", false, "", Whole, false, ""},
		{"204 that says so", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n", false, "", Whole, false, ""},
		{"204 in chunks", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", false, "", Whole, false, ""},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", false, "", Whole, true, ""},
		{"304 with a body", "HTTP/1.1 304 Not Modified\r\n\r\n0123", false, "", Whole, false, ""},
		{"304 that says so", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", false, "", Whole, false, ""},
		{"rubbish behind the answer", hello + "\r\n\r\nGET / HTTP/1.1\r\n\r\n", false, "hello", Whole, false, ""},
		{"rubbish behind the chunks", chunked + "2\r\nok\r\n0\r\n\r\n\r\n", false, "ok", Whole, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			serve := answering(tt.raw)
			if tt.closes {
				serve = once(tt.raw)
			}
			p := newPeer(t, serve)
			c := newClient(t, Config{Capture: true})
			for range 2 {
				res := mustFetch(t, c, p.url("/"))
				if string(res.Body) != tt.body || res.Truncated != tt.truncated || (res.BodyErr != nil) != (tt.truncated != Whole) {
					t.Errorf("%q %q %v, want %q %q", res.Body, res.Truncated, res.BodyErr, tt.body, tt.truncated)
				}
				if name, value, _ := strings.Cut(tt.header, ": "); tt.header != "" && res.Header.Get(name) != value {
					t.Errorf("%s is %q, want %q", name, res.Header.Get(name), value)
				}
			}
			want := int32(2)
			if tt.reused {
				want = 1
			}
			if n := p.accepted.Load(); n != want {
				t.Errorf("%d connections for two fetches, want %d", n, want)
			}
		})
	}
}

// TestLateBody: the body of a 204 comes when the next request is on its way. It is not taken for that one's answer.
func TestLateBody(t *testing.T) {
	for _, head := range []string{
		"HTTP/1.1 204 No Content\r\nContent-Length: 38\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		p := newPeer(t, func(c *peerConn) {
			c.request()
			if c.number > 1 {
				c.say(hello)
				return
			}
			c.say(head)
			c.request()
			c.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
		})
		c := newClient(t, Config{})
		mustFetch(t, c, p.url("/1"))
		wantHello(t, c, p.url("/2"))
	}
}
