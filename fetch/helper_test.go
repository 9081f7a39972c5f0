package fetch

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"crawl/canon"
)

// peer is a server on loopback that speaks bytes.
type peer struct {
	t        *testing.T
	listener net.Listener
	serve    func(*peerConn)
	accepted atomic.Int32
	requests atomic.Int32

	running sync.WaitGroup
	mu      sync.Mutex // guards conns
	conns   []net.Conn
}

// peerConn is a connection that the peer has accepted, the number counting from 1.
type peerConn struct {
	net.Conn
	peer   *peer
	in     *bufio.Reader
	number int
}

// newPeer serves until the test ends. Each connection is closed when serve returns.
func newPeer(t *testing.T, serve func(*peerConn)) *peer {
	t.Helper()
	return newPeerAt(t, "127.0.0.1:0", serve)
}

func newPeerAt(t *testing.T, address string, serve func(*peerConn)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
	p := &peer{t: t, listener: l, serve: serve}
	p.running.Go(p.accept)
	t.Cleanup(p.stop)
	return p
}

func (p *peer) accept() {
	for {
		nc, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.conns = append(p.conns, nc)
		p.mu.Unlock()
		c := &peerConn{Conn: nc, peer: p, in: bufio.NewReader(nc), number: int(p.accepted.Add(1))}
		p.running.Go(func() {
			defer nc.Close()
			p.serve(c)
		})
	}
}

func (p *peer) stop() {
	p.listener.Close()
	p.mu.Lock()
	for _, nc := range p.conns {
		nc.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *peer) url(target string) canon.URL {
	return mustParse(p.t, "http://"+p.listener.Addr().String()+target)
}

// request reads a request and returns its head; ok is false when the client is gone.
func (c *peerConn) request() (head string, ok bool) {
	var b strings.Builder
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return b.String(), false
		}
		b.WriteString(line)
		if line == "\r\n" {
			c.peer.requests.Add(1)
			return b.String(), true
		}
	}
}

func (c *peerConn) say(s string) { io.WriteString(c, s) }

// untilGone waits for the client to close.
func (c *peerConn) untilGone() { io.Copy(io.Discard, c.in) }

// answering serves the same bytes to every request and keeps the connection open.
func answering(response string) func(*peerConn) {
	return func(c *peerConn) {
		for {
			if _, ok := c.request(); !ok {
				return
			}
			c.say(response)
		}
	}
}

// once serves response to the first request on a connection and closes it.
func once(response string) func(*peerConn) {
	return func(c *peerConn) {
		if _, ok := c.request(); ok {
			c.say(response)
		}
	}
}

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	if cfg.AllowPrivate == nil {
		cfg.AllowPrivate = []string{"127.0.0.1", "::1"}
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func mustParse(t testing.TB, s string) canon.URL {
	t.Helper()
	u, err := canon.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func mustFetch(t *testing.T, c *Client, u canon.URL) *Result {
	t.Helper()
	res, err := c.Fetch(t.Context(), Request{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(res.Release)
	return res
}

// wantError checks that err is an *Error of that phase and code.
func wantError(t *testing.T, err error, phase Phase, code Code) *Error {
	t.Helper()
	e := wantErrorType(t, err)
	if e.Phase != phase || e.Code() != code {
		t.Errorf("error is %s/%s (%v), want %s/%s", e.Phase, e.Code(), e, phase, code)
	}
	return e
}

func wantErrorType(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("error is %T %v, want *Error", err, err)
	}
	return e
}

// conformance returns the path of a file of the shared test data, or skips the test.
func conformance(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("CRAWL_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join(moduleRoot(t), "..", "shared", "conformance")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("conformance data is not there: %v", err)
	}
	return path
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the package")
		}
		dir = parent
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// handedCase is a line of testdata/cases.jsonl: a fault that other crawlers had, with what the standards ask for.
type handedCase struct {
	ID    string
	Kind  string
	Input json.RawMessage
	Want  json.RawMessage
}

func handedCases(t *testing.T, kind string) (cases []handedCase) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var c handedCase
		if err := d.Decode(&c); err == io.EOF {
			return cases
		} else if err != nil {
			t.Fatal(err)
		}
		if c.Kind == kind {
			cases = append(cases, c)
		}
	}
}

func unmarshal(t *testing.T, raw json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}

// latin1 turns a string with one character a byte into those bytes.
func latin1(s string) string {
	b := make([]byte, 0, len(s))
	for _, c := range s {
		b = append(b, byte(c))
	}
	return string(b)
}

func header(pairs ...string) http.Header {
	h := make(http.Header)
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func addrPorts(s ...string) (addrs []netip.AddrPort) {
	for _, a := range s {
		addrs = append(addrs, netip.MustParseAddrPort(a))
	}
	return addrs
}

// trusts says that credentials may go to the peer.
func (p *peer) trusts(u canon.URL) bool { return u.Origin() == p.url("/").Origin() }
