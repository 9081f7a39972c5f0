package fetch

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
)

// TestHandedResponses serves the handed answers byte for byte.
func TestHandedResponses(t *testing.T) {
	type answer struct {
		Raw  string `json:"raw_response"`
		Then string
	}
	for _, tt := range handedCases(t, "http") {
		var in struct {
			answer
			Cases []answer
		}
		var want struct {
			Outcome string
			Status  int
			Body    *string
		}
		unmarshal(t, tt.Input, &in)
		unmarshal(t, tt.Want, &want)
		if in.Raw != "" {
			in.Cases = []answer{in.answer}
		}
		if want.Status == 0 {
			want.Outcome, want.Status = "ok", 200 // http-07, whose outcome is what links are found
		}
		for i, tc := range in.Cases {
			t.Run(fmt.Sprintf("%s/%d", tt.ID, i), func(t *testing.T) {
				raw := latin1(tc.Raw)
				serve := answering(raw)
				if tc.Then == "close" {
					serve = once(raw)
				}
				p := newPeer(t, serve)
				res := mustFetch(t, newClient(t, Config{}), p.url("/"))
				if res.Status != want.Status {
					t.Errorf("status %d, want %d", res.Status, want.Status)
				}
				if want.Body != nil && string(res.Body) != *want.Body {
					t.Errorf("body %q, want %q", res.Body, *want.Body)
				}
				whole := res.Truncated == Whole && res.DecodeErr == nil
				if whole != (want.Outcome == "ok") {
					t.Errorf("truncated %q, decode error %v, want outcome %s", res.Truncated, res.DecodeErr, want.Outcome)
				}
				if !strings.HasSuffix(raw, string(res.Payload)) && tt.ID != "http-03" { // chunked
					t.Errorf("payload %q is not what was sent", res.Payload)
				}
			})
		}
	}
}

func TestResponses(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, tt := range []struct {
		name, raw string
		status    int
		body      string
		truncated Truncation
	}{
		{"until close", ok + "\r\nall of it", 200, "all of it", Whole},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nold", 200, "old", Whole},
		{"no reason phrase", "HTTP/1.1 404\r\nContent-Length: 4\r\n\r\ngone", 404, "gone", Whole},
		{"bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, "ok", Whole},
		{"204 has no body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", 204, "", Whole},
		{"304 has no body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello", 304, "", Whole},
		{"empty body", ok + "Content-Length: 0\r\n\r\n", 200, "", Whole},
		{"chunks", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", 200, "abcde", Whole},
		{"trailers", ok + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nContent-Length: 9\r\nX: y\r\n\r\n", 200, "a", Whole},
		{"chunks win over a length", ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 200, "abc", Whole},
		{"chunks cut", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nabc", 200, "abc", TruncatedDisconnect},
		{"no last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 200, "abc", TruncatedDisconnect},
		{"bad chunk", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", 200, "abc", TruncatedDisconnect},
		{"length cut", ok + "Content-Length: 9\r\n\r\nabc", 200, "abc", TruncatedDisconnect},
		{"over the cap by length", ok + "Content-Length: 20\r\n\r\n" + strings.Repeat("x", 20), 200, strings.Repeat("x", 16), TruncatedLength},
		{"over the cap until close", ok + "\r\n" + strings.Repeat("x", 17), 200, strings.Repeat("x", 16), TruncatedLength},
		{"over the cap in chunks", ok + "Transfer-Encoding: chunked\r\n\r\n11\r\n" + strings.Repeat("x", 17) + "\r\n0\r\n\r\n", 200,
			strings.Repeat("x", 16), TruncatedLength},
		{"at the cap", ok + "Content-Length: 16\r\n\r\n" + strings.Repeat("x", 16), 200, strings.Repeat("x", 16), Whole},
		{"at the cap until close", ok + "\r\n" + strings.Repeat("x", 16), 200, strings.Repeat("x", 16), Whole},
		{"at the cap in chunks", ok + "Transfer-Encoding: chunked\r\n\r\n10\r\n" + strings.Repeat("x", 16) + "\r\n0\r\n\r\n", 200,
			strings.Repeat("x", 16), Whole},
		{"claims more than there is memory", ok + "Content-Length: 999999999999999\r\n\r\nabc", 200, "abc", TruncatedDisconnect},
		{"hints first", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok",
			200, "ok", Whole},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t, once(tt.raw))
			res := mustFetch(t, newClient(t, Config{MaxBodyBytes: 16}), p.url("/"))
			if res.Status != tt.status || string(res.Body) != tt.body || res.Truncated != tt.truncated {
				t.Errorf("%d %q %q, want %d %q %q", res.Status, res.Body, res.Truncated, tt.status, tt.body, tt.truncated)
			}
			if (res.BodyErr != nil) != (tt.truncated == TruncatedDisconnect) {
				t.Errorf("BodyErr is %v for %q", res.BodyErr, tt.truncated)
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		code      Code
		transient bool
	}{
		{"nothing", "", CodeClosed, true},
		{"half a head", "HTTP/1.1 200 OK\r\nServer: x", CodeClosed, true},
		{"not HTTP", "SSH-2.0-OpenSSH\r\n\r\n", CodeBadHead, false},
		{"HTTP/0.9", "<html>an answer without a head</html>\n", CodeBadHead, false},
		{"escapes", "\x1b[2J\xff\r\n\r\n", CodeBadHead, false},
		{"no HTTP, and no end of a line", "<title>old</title>", CodeBadHead, false},
		{"TLS where none was spoken", "\x15\x03\x01\x00\x02\x02\x46", CodeBadHead, false},
		{"an end within the protocol's name", "\r\n htt", CodeClosed, true},
		{"no status", "HTTP/1.1 OK\r\n\r\n", CodeBadHead, false},
		{"status of two digits", "HTTP/1.1 99 X\r\n\r\n", CodeBadHead, false},
		{"status of four digits", "HTTP/1.1 1000 X\r\n\r\n", CodeBadHead, false},
		{"version without digits", "HTTP/x.y 200 OK\r\n\r\n", CodeBadHead, false},
		{"more lines than allowed", "HTTP/1.1 200 OK\r\n" + strings.Repeat("a:b\n", 101) + "\r\n", CodeHeadTooLong, false},
		{"more lines than allowed, in hints", strings.Repeat("HTTP/1.1 103 X\n"+strings.Repeat("a:b\n", 21)+"\n", 5) + hello, CodeHeadTooLong, false},
		{"lengths in one field", "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nab", CodeBadHead, false},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", CodeBadHead, false},
		{"switching protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", CodeBadHead, false},
		{"no such status", "HTTP/1.1 099 X\r\n\r\n", CodeBadHead, false},
		{"head without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("y", 100)+"\r\n", 40), CodeHeadTooLong, false},
		{"line without end", "HTTP/1.1 200 " + strings.Repeat("H", 5000), CodeHeadTooLong, false},
		{"long bad line", strings.Repeat("y", 1000) + "\r\n\r\n", CodeBadHead, false},
		{"hints without end", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", maxInterim+1), CodeHeadTooLong, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t, once(tt.raw))
			_, err := newClient(t, Config{MaxHeadBytes: 2048, MaxHeadLines: 100}).Fetch(t.Context(), Request{URL: p.url("/x")})
			e := wantError(t, err, PhaseHead, tt.code)
			if e.Transient != tt.transient {
				t.Errorf("transient %v, want %v", e.Transient, tt.transient)
			}
			if prefix := "fetch " + p.url("/x").String() + ": head: "; !strings.HasPrefix(err.Error(), prefix) {
				t.Errorf("error %q, want %q first", err, prefix)
			}
			if text := err.Error(); len(text) > 400 || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("error %q is no line for a log", text)
			}
			if n := p.accepted.Load(); n != 1 {
				t.Errorf("%d connections, want 1: only a kept connection may be stale", n)
			}
		})
	}
}

func TestReset(t *testing.T) {
	p := newPeer(t, func(c *peerConn) {
		c.Read(make([]byte, 1)) // closing with the rest unread resets the connection
	})
	_, err := newClient(t, Config{}).Fetch(t.Context(), Request{URL: p.url("/")})
	e := wantError(t, err, PhaseHead, CodeReset)
	if !e.Transient {
		t.Error("a reset is not transient")
	}
}

func TestLocation(t *testing.T) {
	for _, tt := range []struct {
		status int
		value  string
		want   string
		ok     bool
	}{
		{301, "/a", "/a", true},
		{302, "http://b.test/", "http://b.test/", true},
		{303, "../x y", "../x y", true},
		{307, "?q", "?q", true},
		{308, "/caf\xc3\xa9", "/caf\xc3\xa9", true}, // redirect-05: as received
		{301, "/caf\xe9", "/caf\xe9", true},
		{301, "", "", false},
		{300, "/a", "", false},
		{304, "/a", "", false},
		{201, "/a", "", false},
		{200, "/a", "", false},
	} {
		t.Run(fmt.Sprintf("%d %q", tt.status, tt.value), func(t *testing.T) {
			p := newPeer(t, answering(fmt.Sprintf("HTTP/1.1 %d X\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", tt.status, tt.value)))
			ref, ok := mustFetch(t, newClient(t, Config{}), p.url("/")).Location()
			if ref != tt.want || ok != tt.ok {
				t.Errorf("%q %v, want %q %v", ref, ok, tt.want, tt.ok)
			}
			if n := p.requests.Load(); n != 1 {
				t.Errorf("%d requests, want 1: redirects are not followed", n)
			}
		})
	}
}

// TestRedirect05RawLocation is redirect-05 to its end: the bytes of the field are percent-encoded as they came.
func TestRedirect05RawLocation(t *testing.T) {
	base := mustParse(t, "http://a.test/")
	res := &Result{Status: 302, Header: header("Location", "/caf\xc3\xa9")}
	ref, _ := res.Location()
	if got := mustResolveRef(t, base, ref); got != "http://a.test/caf%C3%A9" {
		t.Errorf("%s", got)
	}
}

func TestResultTimes(t *testing.T) {
	p := newPeer(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	start := time.Now()
	res := mustFetch(t, newClient(t, Config{}), p.url("/"))
	if all := time.Since(start); res.FirstByte <= 0 || res.FirstByte > res.Took || res.Took > all {
		t.Errorf("first byte after %v, took %v, of %v", res.FirstByte, res.Took, all)
	}
	if res.Addr.String() != p.listener.Addr().String() || res.Proto != "HTTP/1.1" || res.URL != p.url("/") {
		t.Errorf("%v %s %s", res.Addr, res.Proto, res.URL)
	}
}

func TestRelease(t *testing.T) {
	p := newPeer(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok"))
	res := mustFetch(t, newClient(t, Config{}), p.url("/"))
	res.Release()
	if res.Payload != nil || res.Body != nil || res.Header.Get("X-A") != "b" {
		t.Errorf("after Release: %q %q %v", res.Payload, res.Body, res.Header)
	}
	res.Release()         // a second one does no harm
	(&Result{}).Release() // nor one of a result made by others
	new(buffers).put(nil) // nor of what was never lent
}

func TestBuffersFill(t *testing.T) {
	var p buffers
	b := newBudget(64<<20, 16<<20)
	for _, n := range []int{0, 1, 4095, 4096, 4097, 256 << 10, 256<<10 + 1, 1 << 20, 1<<20 + 1, 3 << 20} {
		for _, limit := range []int{n - 1, n, n + 1} {
			if limit < 0 {
				continue
			}
			data := bytes.Repeat([]byte("x"), n)
			s := b.open(time.Hour)
			g := growth{share: s, take: func(n int64) error { return s.take(t.Context(), n, forBody) }, limit: int64(limit)}
			body, more, err := p.fill(g, p.first(s, 1), bytes.NewReader(data))
			if err != nil || more != (limit < n) || !bytes.Equal(body.b, data[:min(n, limit)]) {
				t.Errorf("%d bytes under %d: %d, more %v, %v", n, limit, len(body.b), more, err)
			}
			body.trim(s)
			if s.charged != body.cost() {
				t.Errorf("%d bytes under %d: charged for %d, want %d", n, limit, s.charged, body.cost())
			}
			p.put(body)
			s.end()
		}
	}
	if b.used != 0 || b.first != nil {
		t.Errorf("%d bytes are still held", b.used)
	}
}
