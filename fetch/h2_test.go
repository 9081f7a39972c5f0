package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"crawl/canon"
)

// h2Peer is a server that speaks frames.
type h2Peer struct {
	*peer
	tls *tls.Config
}

// h2Conn is a connection to it, past preface and settings.
type h2Conn struct {
	*http2.Framer
	nc     *tls.Conn
	number int
	packed bytes.Buffer
	packer *hpack.Encoder
}

func newH2Peer(t *testing.T, serve func(*h2Conn)) *h2Peer {
	t.Helper()
	return newH2PeerRaw(t, func(c *h2Conn) {
		if c.WriteSettings() == nil {
			serve(c)
		}
	})
}

// newH2PeerRaw leaves the settings to serve.
func newH2PeerRaw(t *testing.T, serve func(*h2Conn)) *h2Peer {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS()
	cert := srv.TLS.Certificates[0]
	srv.Close()
	p := &h2Peer{tls: &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}}}
	p.peer = newPeer(t, func(pc *peerConn) {
		nc := tls.Server(pc.Conn, p.tls)
		if nc.Handshake() != nil {
			return
		}
		if _, err := io.ReadFull(nc, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		c := &h2Conn{Framer: http2.NewFramer(nc, nc), nc: nc, number: pc.number}
		c.packer = hpack.NewEncoder(&c.packed)
		serve(c)
	})
	return p
}

func (p *h2Peer) url(target string) canon.URL {
	return mustParse(p.t, "https://"+p.listener.Addr().String()+target)
}

// request waits for the next request and returns its stream.
func (c *h2Conn) request(p *h2Peer) (stream uint32, ok bool) {
	for {
		f, err := c.ReadFrame()
		if err != nil {
			return 0, false
		}
		if h, isHead := f.(*http2.HeadersFrame); isHead {
			p.requests.Add(1)
			return h.StreamID, true
		}
	}
}

func (c *h2Conn) head(stream uint32, end bool, fields ...string) error {
	c.packed.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = c.packer.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.packed.Bytes(), EndStream: end, EndHeaders: true})
}

func (c *h2Conn) hello(stream uint32) {
	if c.head(stream, false, ":status", "200", "content-type", "text/html") == nil {
		c.WriteData(stream, true, []byte("hello"))
	}
}

// untilGone reads until the client closes.
func (c *h2Conn) untilGone() {
	for {
		if _, err := c.ReadFrame(); err != nil {
			return
		}
	}
}

func h2Server(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	conns := new(atomic.Int32)
	srv := httptest.NewUnstartedServer(handler)
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv, conns
}

// TestHTTP2: what an answer holds is the same as over HTTP/1.1, and one connection serves fetches one after another and at
// once.
func TestHTTP2(t *testing.T) {
	const parallel = 5
	arrived := make(chan struct{}, parallel)
	all := make(chan struct{})
	srv, conns := h2Server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/together":
			arrived <- struct{}{}
			<-all
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(gzipped(t, "hello"))
			return
		}
		w.Header().Set("X-Asked", r.Method+" "+r.RequestURI+" "+r.UserAgent()+" "+r.Header.Get("X-Own"))
		io.WriteString(w, "hello")
	})
	c := newClient(t, Config{InsecureTLS: true, Capture: true, UserAgent: "me"})
	u := mustParse(t, srv.URL+"/a%2fb?c=d%20e&&")
	res, err := c.Fetch(t.Context(), Request{URL: u, Header: header("X-Own", "1")})
	if err != nil {
		t.Fatal(err)
	}
	if res.Proto != "HTTP/2.0" || res.Status != 200 || string(res.Body) != "hello" || res.Truncated != Whole || res.FirstByte <= 0 {
		t.Errorf("%s %d %q %q, first byte after %v", res.Proto, res.Status, res.Body, res.Truncated, res.FirstByte)
	}
	if got, want := res.Header.Get("X-Asked"), "GET /a%2fb?c=d%20e&& me 1"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	wire := wireOf(t, res)
	if !strings.HasPrefix(wire, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(wire, "\r\n\r\nhello") || !strings.Contains(wire, "\r\nContent-Length: 5\r\n") {
		t.Errorf("wire %q", wire)
	}
	if req := string(res.WireRequest()); !strings.HasPrefix(req, "GET /a%2fb?c=d%20e&& HTTP/1.1\r\nHost: ") || !strings.Contains(req, "\r\nX-Own: 1\r\n") {
		t.Errorf("request %q", req)
	}
	res.Release()
	if res := mustFetch(t, c, mustParse(t, srv.URL+"/gzip")); string(res.Body) != "hello" || len(res.Payload) == 5 {
		t.Errorf("body %q of payload %q", res.Body, res.Payload)
	}
	var fetches sync.WaitGroup
	for range parallel {
		fetches.Go(func() { wantHello(t, c, mustParse(t, srv.URL+"/together")) })
	}
	for range parallel {
		<-arrived
	}
	close(all)
	fetches.Wait()
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	if c.idle.order.n != 1 || len(c.idle.busy) != 0 {
		t.Errorf("%d connections idle, %d in use", c.idle.order.n, len(c.idle.busy))
	}
}

// TestHTTP2Together: fetches that begin at once, before a connection is there, share the first one.
func TestHTTP2Together(t *testing.T) {
	srv, conns := h2Server(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	c := newClient(t, Config{InsecureTLS: true})
	var fetches sync.WaitGroup
	for range 8 {
		fetches.Go(func() { wantHello(t, c, mustParse(t, srv.URL)) })
	}
	fetches.Wait()
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestHTTP2Off(t *testing.T) {
	srv, _ := h2Server(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	res := mustFetch(t, newClient(t, Config{InsecureTLS: true, DisableHTTP2: true}), mustParse(t, srv.URL))
	if res.Proto != "HTTP/1.1" {
		t.Errorf("spoke %s", res.Proto)
	}
}

// TestHTTP2AskAgain: a request that the server says it has not seen is worth one more, on a new connection, and no other is.
func TestHTTP2AskAgain(t *testing.T) {
	goAway := func(c *h2Conn, s uint32) { c.WriteGoAway(s-1, http2.ErrCodeNo, nil); c.untilGone() }
	goAwayBusy := func(c *h2Conn, s uint32) {
		c.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("slow down"))
		c.untilGone()
	}
	refuse := func(c *h2Conn, s uint32) { c.WriteRSTStream(s, http2.ErrCodeRefusedStream); c.untilGone() }
	for _, tt := range []struct {
		name     string
		bad      func(*h2Conn, uint32)
		always   bool
		requests int32
		message  string // of the error; empty: there is none
	}{
		{"goes away", goAway, false, 2, ""},
		{"goes away with an error", goAwayBusy, false, 2, ""},
		{"refuses", refuse, false, 2, ""},
		{"goes away always", goAwayBusy, true, 2, `HTTP/2: the server goes away: ENHANCE_YOUR_CALM "slow down"`},
		{"refuses always", refuse, true, 2, "HTTP/2: the server reset the stream: REFUSED_STREAM"},
		{"resets", func(c *h2Conn, s uint32) { c.WriteRSTStream(s, http2.ErrCodeInternal); c.untilGone() }, true, 1,
			"HTTP/2: the server reset the stream: INTERNAL_ERROR"},
		{"goes away having seen it", func(c *h2Conn, s uint32) {
			c.WriteGoAway(s, http2.ErrCodeInternal, nil)
			c.nc.Close()
		}, true, 1, "HTTP/2: the server goes away: INTERNAL_ERROR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p *h2Peer
			p = newH2Peer(t, func(c *h2Conn) {
				s, ok := c.request(p)
				switch {
				case !ok:
				case c.number == 1 || tt.always:
					tt.bad(c, s)
				default:
					c.hello(s)
					c.untilGone()
				}
			})
			c := newClient(t, Config{InsecureTLS: true})
			res, err := c.Fetch(t.Context(), Request{URL: p.url("/")})
			if errors.Is(err, ErrAskAgain) {
				if n := p.requests.Load(); n != 1 {
					t.Errorf("%d requests before it was asked again", n)
				}
				res, err = c.Fetch(t.Context(), Request{URL: p.url("/"), Fresh: true})
			}
			if tt.message == "" {
				if err != nil {
					t.Fatal(err)
				}
				if string(res.Body) != "hello" {
					t.Errorf("body %q", res.Body)
				}
				res.Release()
			} else if e := wantError(t, err, PhaseHead, CodeReset); e.Err.Error() != tt.message || !e.Transient {
				t.Errorf("%v, want %s", e.Err, tt.message)
			}
			if n := p.requests.Load(); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
		})
	}
}

// TestHTTP2Stale: a kept connection that the server closes at the next request is worth another.
func TestHTTP2Stale(t *testing.T) {
	var p *h2Peer
	p = newH2Peer(t, func(c *h2Conn) {
		if s, ok := c.request(p); ok {
			c.hello(s)
			c.request(p)
		}
	})
	c := newClient(t, Config{InsecureTLS: true})
	wantHello(t, c, p.url("/1"))
	wantAskAgain(t, c, p.url("/2"))
	wantFreshHello(t, c, p.url("/2"))
	if n := p.requests.Load(); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

// TestHTTP2Hostile: each way to hurt ends with its own error, soon, and the connection ends too.
func TestHTTP2Hostile(t *testing.T) {
	for _, tt := range []struct {
		name    string
		raw     bool // the server's settings are left to serve
		serve   func(*h2Conn, uint32)
		code    Code
		message string
	}{
		{"settings without end", false, func(c *h2Conn, s uint32) {
			for c.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14}) == nil {
			}
		}, CodeOther, errH2Flood.Error()},
		{"pings without end", false, func(c *h2Conn, s uint32) {
			for c.WritePing(false, [8]byte{}) == nil {
			}
		}, CodeOther, errH2Flood.Error()},
		{"unknown frames without end", false, func(c *h2Conn, s uint32) {
			for c.WriteRawFrame(0xbe, 0, s, []byte("x")) == nil {
			}
		}, CodeOther, errH2Flood.Error()},
		{"window overflow", false, func(c *h2Conn, s uint32) {
			c.WriteWindowUpdate(s, 1<<31-1)
			c.WriteWindowUpdate(s, 1<<31-1)
			c.hello(s)
			c.untilGone()
		}, "", ""},
		{"hints without end", false, func(c *h2Conn, s uint32) {
			for c.head(s, false, ":status", "103") == nil {
			}
		}, CodeHeadTooLong, errInterimFlood.Error()},
		{"header bomb", false, func(c *h2Conn, s uint32) {
			fields := []string{":status", "200", "x", strings.Repeat("x", 3000)}
			for range 20 {
				fields = append(fields, "x", strings.Repeat("x", 3000))
			}
			c.head(s, true, fields...)
			c.untilGone()
		}, CodeHeadTooLong, "head too long: more than 16384 bytes"},
		{"too many fields", false, func(c *h2Conn, s uint32) {
			fields := []string{":status", "200"}
			for i := range 101 {
				fields = append(fields, fmt.Sprintf("x%d", i), "y")
			}
			c.head(s, true, fields...)
			c.untilGone()
		}, CodeHeadTooLong, "head too long: more than 100 lines"},
		{"no status", false, func(c *h2Conn, s uint32) { c.head(s, true, "x", "y"); c.untilGone() }, CodeBadHead, ""},
		{"no settings", true, func(c *h2Conn, s uint32) { c.WritePing(false, [8]byte{}); c.untilGone() }, CodeBadHead, errH2Preface.Error()},
		{"HTTP/1.1 in its place", true, func(c *h2Conn, s uint32) {
			io.WriteString(c.nc, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
			c.untilGone()
		}, CodeBadHead, errH2Preface.Error()},
		{"push", false, func(c *h2Conn, s uint32) {
			c.WritePushPromise(http2.PushPromiseParam{StreamID: s, PromiseID: 2, BlockFragment: nil, EndHeaders: true})
			c.untilGone()
		}, CodeBadHead, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gone := make(chan struct{})
			var p *h2Peer
			start := newH2Peer
			if tt.raw {
				start = newH2PeerRaw
			}
			p = start(t, func(c *h2Conn) {
				defer close(gone)
				if s, ok := c.request(p); ok {
					tt.serve(c, s)
				}
			})
			c := newClient(t, Config{InsecureTLS: true, MaxHeadBytes: 16 << 10, MaxHeadLines: 100, Timeout: 10 * time.Second})
			res, err := c.Fetch(t.Context(), Request{URL: p.url("/")})
			switch {
			case tt.code == "" && err != nil:
				t.Error(err)
			case tt.code == "":
				res.Release()
			default:
				e := wantErrorType(t, err)
				if e.Phase != PhaseHead || e.Code() != tt.code && tt.code != CodeOther || e.Code() == CodeTimeout || tt.message != "" && e.Err.Error() != tt.message {
					t.Errorf("%s/%s: %v, want %s: %s", e.Phase, e.Code(), e.Err, tt.code, tt.message)
				}
			}
			c.Close()
			<-gone
		})
	}
}

// TestHTTP2Bodies: what ends a body early is said, and what came is kept.
func TestHTTP2Bodies(t *testing.T) {
	for _, tt := range []struct {
		name      string
		serve     func(*h2Conn, uint32)
		body      string
		truncated Truncation
		message   string
	}{
		{"reset", func(c *h2Conn, s uint32) {
			c.WriteData(s, false, []byte("abc"))
			c.WriteRSTStream(s, http2.ErrCodeInternal)
		}, "abc", TruncatedDisconnect,
			"HTTP/2: the server reset the stream: INTERNAL_ERROR"},
		{"closed", func(c *h2Conn, s uint32) { c.WriteData(s, false, []byte("abc")); c.nc.Close() }, "abc", TruncatedDisconnect, "unexpected EOF"},
		{"over the cap", func(c *h2Conn, s uint32) { c.WriteData(s, true, []byte("abcdefghijklmnopqrstuvwxyz")) }, "abcdefghijklmnop", TruncatedLength, ""},
		{"silence", func(c *h2Conn, s uint32) { c.WriteData(s, false, []byte("abc")) }, "abc", TruncatedTime, "not whole in 500ms"},
		{"empty data without end", func(c *h2Conn, s uint32) {
			for c.WriteData(s, false, nil) == nil {
			}
		}, "", TruncatedDisconnect, errH2Flood.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p *h2Peer
			p = newH2Peer(t, func(c *h2Conn) {
				if s, ok := c.request(p); ok && c.head(s, false, ":status", "200") == nil {
					tt.serve(c, s)
					c.untilGone()
				}
			})
			c := newClient(t, Config{InsecureTLS: true, MaxBodyBytes: 16, Timeout: 500 * time.Millisecond})
			if tt.truncated != TruncatedTime {
				c.cfg.Timeout = 20 * time.Second
			}
			res := mustFetch(t, c, p.url("/"))
			if string(res.Body) != tt.body || res.Truncated != tt.truncated {
				t.Errorf("%q %q, want %q %q", res.Body, res.Truncated, tt.body, tt.truncated)
			}
			if got := fmt.Sprint(res.BodyErr); tt.message != "" && got != tt.message {
				t.Errorf("%s, want %s", got, tt.message)
			}
		})
	}
}

// TestHTTP2IdleFlood: a server that floods a connection which nobody uses loses it.
func TestHTTP2IdleFlood(t *testing.T) {
	gone := make(chan struct{})
	var p *h2Peer
	p = newH2Peer(t, func(c *h2Conn) {
		defer close(gone)
		if s, ok := c.request(p); ok {
			c.hello(s)
			for c.WriteSettings() == nil {
			}
		}
	})
	c := newClient(t, Config{InsecureTLS: true})
	wantHello(t, c, p.url("/"))
	<-gone
}

func TestHTTP2Limits(t *testing.T) {
	var p *h2Peer
	p = newH2Peer(t, func(c *h2Conn) { c.request(p); c.untilGone() })
	c := newClient(t, Config{InsecureTLS: true, FirstByteTimeout: 50 * time.Millisecond})
	_, err := c.Fetch(t.Context(), Request{URL: p.url("/")})
	if e := wantError(t, err, PhaseHead, CodeTimeout); e.Err.Error() != "no answer in 50ms" {
		t.Errorf("%v", e.Err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
	c.cfg.FirstByteTimeout = time.Minute
	_, err = c.Fetch(ctx, Request{URL: p.url("/")})
	wantError(t, err, PhaseHead, CodeCanceled)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
