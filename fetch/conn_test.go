package fetch

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"crawl/canon"
)

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

func mustResolveRef(t *testing.T, base canon.URL, ref string) string {
	t.Helper()
	u, err := (*canon.Rules)(nil).Parse(base, ref)
	if err != nil {
		t.Fatal(err)
	}
	return u.String()
}

func wantHello(t *testing.T, c *Client, u canon.URL) {
	t.Helper()
	wantHelloOf(t, c, Request{URL: u})
}

func wantFreshHello(t *testing.T, c *Client, u canon.URL) {
	t.Helper()
	wantHelloOf(t, c, Request{URL: u, Fresh: true})
}

func wantAskAgain(t *testing.T, c *Client, u canon.URL) {
	t.Helper()
	if res, err := c.Fetch(t.Context(), Request{URL: u}); !errors.Is(err, ErrAskAgain) {
		t.Fatalf("%+v, %v; want %v", res, err, ErrAskAgain)
	}
}

func wantHelloOf(t *testing.T, c *Client, r Request) {
	t.Helper()
	res, err := c.Fetch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if string(res.Body) != "hello" || res.Truncated != Whole {
		t.Errorf("body %q, truncated %q", res.Body, res.Truncated)
	}
	res.Release()
}

func TestKeepAlive(t *testing.T) {
	for _, tt := range []struct {
		name, response string
		connections    int32 // for three fetches
	}{
		{"by length", hello, 1},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 1},
		{"HTTP/1.0 that says so", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", 1},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", 3},
		{"told to close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", 3},
		{"more than was asked for", hello + hello, 3},
		{"after an interim response", "HTTP/1.1 103 Early Hints\r\n\r\n" + hello, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t, answering(tt.response))
			c := newClient(t, Config{})
			for range 3 {
				wantHello(t, c, p.url("/"))
			}
			if n := p.accepted.Load(); n != tt.connections {
				t.Errorf("%d connections, want %d", n, tt.connections)
			}
		})
	}
}

func TestCutBodyEndsTheConnection(t *testing.T) {
	p := newPeer(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123456789"))
	c := newClient(t, Config{MaxBodyBytes: 4})
	for range 2 {
		if res := mustFetch(t, c, p.url("/")); string(res.Body) != "1234" || res.Truncated != TruncatedLength {
			t.Errorf("%q %q", res.Body, res.Truncated)
		}
	}
	if n := p.accepted.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// TestStaleConnection: the server reads the second request on its connection and closes without an answer. Whoever asked is
// told so, and nothing is sent behind its back; on a new connection it is answered.
func TestStaleConnection(t *testing.T) {
	p := newPeer(t, func(c *peerConn) {
		c.request()
		c.say(hello)
		c.request()
	})
	c := newClient(t, Config{})
	wantHello(t, c, p.url("/"))
	wantAskAgain(t, c, p.url("/"))
	if requests, conns := p.requests.Load(), p.accepted.Load(); requests != 2 || conns != 1 {
		t.Errorf("%d requests on %d connections, want 2 on 1", requests, conns)
	}
	wantFreshHello(t, c, p.url("/"))
}

// TestClosedWhileIdle: the server closes, or speaks unasked, while nobody uses the connection. No request is lost on it.
func TestClosedWhileIdle(t *testing.T) {
	for name, unasked := range map[string]string{"closes": "", "speaks": "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"} {
		t.Run(name, func(t *testing.T) {
			idle, done := make(chan struct{}), make(chan struct{})
			p := newPeer(t, func(c *peerConn) {
				c.request()
				c.say(hello)
				if c.number == 1 {
					<-idle
					if unasked != "" {
						c.say(unasked)
					} else {
						c.Close()
					}
					close(done)
				}
				c.untilGone()
			})
			c := newClient(t, Config{})
			wantHello(t, c, p.url("/"))
			close(idle)
			<-done
			wantHello(t, c, p.url("/"))
			if requests, conns := p.requests.Load(), p.accepted.Load(); requests != 2 || conns != 2 {
				t.Errorf("%d requests on %d connections, want 2 on 2", requests, conns)
			}
		})
	}
}

// TestAskAgainKeepsToOnce: what was sent on a new connection is not worth asking again, whatever idles, and nothing is where
// a kept connection answered in part.
func TestAskAgainKeepsToOnce(t *testing.T) {
	p := newPeer(t, func(c *peerConn) {
		c.request()
		if c.number == 1 {
			c.say(hello)
			c.request()
		}
	})
	c := newClient(t, Config{})
	wantHello(t, c, p.url("/"))
	_, err := c.Fetch(t.Context(), Request{URL: p.url("/"), Fresh: true})
	if wantError(t, err, PhaseHead, CodeClosed); errors.Is(err, ErrAskAgain) {
		t.Errorf("%v of a new connection", err)
	}
	if n := p.requests.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}

	p = newPeer(t, func(c *peerConn) {
		c.request()
		c.say(hello)
		c.request()
		c.say("HTTP/1.1 200")
	})
	wantHello(t, c, p.url("/"))
	_, err = c.Fetch(t.Context(), Request{URL: p.url("/")})
	if wantError(t, err, PhaseHead, CodeClosed); errors.Is(err, ErrAskAgain) {
		t.Errorf("%v of an answer in part", err)
	}
	if n := p.requests.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

func TestIdleCaps(t *testing.T) {
	closed := make(chan int, 16)
	p := newPeer(t, func(c *peerConn) {
		answering(hello)(c)
		closed <- c.number
	})
	var gate sync.WaitGroup
	c := newClient(t, Config{MaxIdlePerHost: 2, MaxIdleConns: 3})
	fetchAt := func(host string, n int) {
		there := addrPorts(p.listener.Addr().String())
		busy := make([]*conn, n)
		for i := range busy { // n connections at once
			gate.Go(func() {
				cn, err := c.dial(t.Context(), hop{Request: Request{URL: mustParse(t, "http://"+host+"/"), Addrs: there},
					deadline: time.Now().Add(time.Minute)})
				if err != nil {
					t.Error(err)
				}
				busy[i] = cn
			})
		}
		gate.Wait()
		for _, cn := range busy {
			c.idle.put(cn)
		}
	}
	fetchAt("127.0.0.1", 3)
	<-closed // the third
	if n := c.idle.order.n; n != 2 {
		t.Errorf("%d idle connections to a host, want 2", n)
	}
	fetchAt("127.0.0.1:1", 2)
	<-closed // the oldest of the first host
	if n := c.idle.order.n; n != 3 {
		t.Errorf("%d idle connections, want 3", n)
	}
	c.Close()
	for range 3 {
		<-closed
	}
	_, err := c.Fetch(t.Context(), Request{URL: p.url("/")})
	if !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v, want %v", err, net.ErrClosed)
	}
}

// pipeClient returns a client whose connections lead to serve, within one process and under its fake clock.
func pipeClient(t *testing.T, cfg Config, serve func(net.Conn)) *Client {
	t.Helper()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	c := newClient(t, cfg)
	c.dialer = func(context.Context, netip.AddrPort) (net.Conn, error) {
		near, far := net.Pipe()
		serving.Go(func() {
			defer far.Close()
			serve(far)
		})
		return near, nil
	}
	return c
}

func readRequest(nc net.Conn) { _, _ = http.ReadRequest(bufio.NewReader(nc)) }

func TestDeadline(t *testing.T) {
	drip := func(nc net.Conn) { // a byte a second, for ever
		for range time.Tick(time.Second) {
			if _, err := io.WriteString(nc, "x"); err != nil {
				return
			}
		}
	}
	for _, tt := range []struct {
		name  string
		serve func(net.Conn)
		code  Code // of the error; empty for a cut body
		phase Phase
		body  string
	}{
		{"silence", func(nc net.Conn) { readRequest(nc); io.Copy(io.Discard, nc) }, CodeTimeout, PhaseHead, ""},
		{"deafness", func(net.Conn) { <-time.After(6 * time.Second) }, CodeTimeout, PhaseWrite, ""},
		{"http-06 head drips", func(nc net.Conn) { readRequest(nc); io.WriteString(nc, "HTTP/1.1 200 "); drip(nc) }, CodeTimeout, PhaseHead, ""},
		{"http-06 body drips", func(nc net.Conn) {
			readRequest(nc)
			io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")
			drip(nc)
		}, "", "", "abcxxxxx"},
		{"chunks drip", func(nc net.Conn) {
			readRequest(nc)
			io.WriteString(nc, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1000\r\n")
			drip(nc)
		}, "", "", "abcxxxxx"},
		{"hints drip", func(nc net.Conn) {
			readRequest(nc)
			for range time.Tick(time.Second) {
				if _, err := io.WriteString(nc, "HTTP/1.1 103 Early Hints\r\n\r\n"); err != nil {
					return
				}
			}
		}, CodeTimeout, PhaseHead, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeClient(t, Config{Timeout: 5500 * time.Millisecond}, tt.serve)
				start := time.Now()
				res, err := c.Fetch(t.Context(), Request{URL: mustParse(t, "http://127.0.0.1/")})
				if took := time.Since(start); took != 5500*time.Millisecond {
					t.Errorf("took %v, want 5.5s", took)
				}
				if tt.code != "" {
					wantError(t, err, tt.phase, tt.code)
					if want := "fetch http://127.0.0.1/: " + string(tt.phase) + ": no answer in 5.5s"; err.Error() != want {
						t.Errorf("error %q, want %q", err, want)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if res.Truncated != TruncatedTime || string(res.Body) != tt.body || res.BodyErr == nil {
					t.Errorf("%q %q %v, want %q", res.Truncated, res.Body, res.BodyErr, tt.body)
				}
				res.Release()
			})
		})
	}
}

func TestContext(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc"
	for _, tt := range []struct {
		name, says string
		cancel     bool // otherwise a deadline of the caller's
		phase      Phase
		code       Code // empty: a cut body
	}{
		{"canceled waiting", "", true, PhaseHead, CodeCanceled},
		{"canceled in the body", head, true, PhaseBody, CodeCanceled},
		{"deadline waiting", "", false, PhaseHead, CodeTimeout},
		{"deadline in the body", head, false, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeClient(t, Config{}, func(nc net.Conn) {
					readRequest(nc)
					io.WriteString(nc, tt.says)
					io.Copy(io.Discard, nc)
				})
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				if tt.cancel {
					defer time.AfterFunc(time.Second, cancel).Stop()
				}
				start := time.Now()
				res, err := c.Fetch(ctx, Request{URL: mustParse(t, "http://127.0.0.1/")})
				want := 2 * time.Second
				if tt.cancel {
					want = time.Second
				}
				if took := time.Since(start); took != want {
					t.Errorf("took %v, want %v", took, want)
				}
				if tt.code != "" {
					wantError(t, err, tt.phase, tt.code)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if res.Truncated != TruncatedTime || string(res.Body) != "abc" {
					t.Errorf("%q %q", res.Truncated, res.Body)
				}
			})
		})
	}
	t.Run("over before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := newClient(t, Config{}).Fetch(ctx, Request{URL: mustParse(t, "http://127.0.0.1/")})
		wantError(t, err, PhaseDial, CodeCanceled)
	})
}

// TestCancelOnSockets: what the pipes above show holds on sockets.
func TestCancelOnSockets(t *testing.T) {
	asked := make(chan struct{}, 1)
	p := newPeer(t, func(c *peerConn) {
		c.request()
		asked <- struct{}{}
		c.untilGone()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-asked
		cancel()
	}()
	_, err := newClient(t, Config{}).Fetch(ctx, Request{URL: p.url("/")})
	wantError(t, err, PhaseHead, CodeCanceled)
}

func TestSilentHandshake(t *testing.T) {
	p := newPeer(t, (*peerConn).untilGone)
	u := mustParse(t, "https://"+p.listener.Addr().String()+"/")
	_, err := newClient(t, Config{TLSTimeout: 20 * time.Millisecond}).Fetch(t.Context(), Request{URL: u})
	wantError(t, err, PhaseTLS, CodeTimeout)
}

func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := 0
		gone := make(chan time.Time, 8)
		c := pipeClient(t, Config{IdleTimeout: 10 * time.Second}, func(nc net.Conn) {
			connections++
			for r := bufio.NewReader(nc); ; {
				if _, err := http.ReadRequest(r); err != nil {
					gone <- time.Now()
					return
				}
				io.WriteString(nc, hello)
			}
		})
		u := mustParse(t, "http://127.0.0.1/")
		start := time.Now()
		wantHello(t, c, u)
		<-time.After(9 * time.Second)
		wantHello(t, c, u) // still there, and kept anew
		if at := (<-gone).Sub(start); at != 19*time.Second {
			t.Errorf("closed after %v, want 19s", at)
		}
		wantHello(t, c, u)
		if connections != 2 {
			t.Errorf("%d connections, want 2", connections)
		}
		c.Close()
		<-gone
	})
}

func TestDialFallback(t *testing.T) {
	silent, broken, good := "10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"
	for _, tt := range []struct {
		name  string
		addrs []string
		took  time.Duration
		addr  string
		code  Code
	}{
		{"first is good", []string{good, silent}, 0, good, ""},
		{"first refuses", []string{broken, good}, 0, good, ""},
		{"first is silent", []string{silent, good}, attemptDelay, good, ""},
		{"two are silent", []string{silent, silent, good}, 2 * attemptDelay, good, ""},
		{"silent, then refuses", []string{silent, broken, good}, attemptDelay, good, ""},
		{"all refuse", []string{broken, broken}, 0, "", CodeRefused},
		{"only one, refuses", []string{broken}, 0, "", CodeRefused},
		{"all silent", []string{silent, silent}, 3 * time.Second, "", CodeTimeout},
		{"only one, silent", []string{silent}, 3 * time.Second, "", CodeTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClient(t, Config{ConnectTimeout: 3 * time.Second, AllowPrivate: []string{"all"}})
				c.dialer = func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
					switch addr.String() {
					case silent:
						<-ctx.Done()
						return nil, ctx.Err()
					case broken:
						return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
					}
					near, far := net.Pipe()
					go func() { readRequest(far); io.WriteString(far, hello); far.Close() }()
					return near, nil
				}
				start := time.Now()
				res, err := c.Fetch(t.Context(), Request{URL: mustParse(t, "http://a.test/"), Addrs: addrPorts(tt.addrs...)})
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if tt.code != "" {
					wantError(t, err, PhaseDial, tt.code)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if res.Addr.String() != tt.addr {
					t.Errorf("reached %v, want %s", res.Addr, tt.addr)
				}
				res.Release()
			})
		})
	}
}

func TestRefusedAndIPv6(t *testing.T) {
	p := newPeer(t, nil)
	p.listener.Close()
	_, err := newClient(t, Config{}).Fetch(t.Context(), Request{URL: p.url("/")})
	if e := wantError(t, err, PhaseDial, CodeRefused); !strings.Contains(e.Error(), p.listener.Addr().String()) {
		t.Errorf("%q does not name the address", e)
	}
	six := newPeerAt(t, "[::1]:0", answering(hello))
	wantHello(t, newClient(t, Config{}), six.url("/"))
}

func TestTLS(t *testing.T) {
	var names, protocols, conns sync.Map
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		names.Store(r.TLS.ServerName, true)
		protocols.Store(r.TLS.NegotiatedProtocol, true)
		conns.Store(r.RemoteAddr, true)
		io.WriteString(w, "hello")
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	rule := connectTo(t, "example.com:443:"+srv.Listener.Addr().String()) // the name that httptest's certificate holds
	u := mustParse(t, "https://example.com/")

	_, err := newClient(t, Config{ConnectTo: []ConnectTo{rule}}).Fetch(t.Context(), Request{URL: u})
	if e := wantError(t, err, PhaseTLS, CodeCertificate); e.Transient {
		t.Error("a bad certificate is transient")
	}

	insecure := newClient(t, Config{ConnectTo: []ConnectTo{rule}, InsecureTLS: true})
	for range 3 {
		wantHello(t, insecure, u)
	}
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d connections, want 1", n)
	}

	trusting := newClient(t, Config{ConnectTo: []ConnectTo{rule}})
	trusting.tls.RootCAs = x509.NewCertPool()
	trusting.tls.RootCAs.AddCert(srv.Certificate())
	wantHello(t, trusting, u)
	if _, ok := names.Load("example.com"); !ok {
		t.Error("the name was not sent in the handshake")
	}
	protocols.Range(func(p, _ any) bool {
		if p != "http/1.1" {
			t.Errorf("negotiated %q", p)
		}
		return true
	})
	wrong := mustParse(t, "https://example.org/")
	trusting.cfg.ConnectTo = []ConnectTo{{ToHost: rule.ToHost, ToPort: rule.ToPort}}
	_, err = trusting.Fetch(t.Context(), Request{URL: wrong})
	wantError(t, err, PhaseTLS, CodeCertificate)
}

// TestTLSExtraBytes: what hides behind an answer inside TLS is not taken for the next one.
func TestTLSExtraBytes(t *testing.T) {
	requests := 0
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		nc, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		// Longer than the reader's buffer, in one write: the rest waits decoded inside the TLS connection.
		io.WriteString(nc, hello+strings.Repeat(" ", headBytes-len(hello))+"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
	}))
	t.Cleanup(srv.Close)
	c := newClient(t, Config{InsecureTLS: true})
	for range 2 {
		wantHello(t, c, mustParse(t, srv.URL))
	}
	if requests != 2 {
		t.Errorf("%d requests, want 2", requests)
	}
}

func TestNotTLS(t *testing.T) {
	p := newPeer(t, func(c *peerConn) { c.say("HTTP/1.1 400 Bad Request\r\n\r\n"); c.untilGone() })
	u := mustParse(t, "https://"+p.listener.Addr().String()+"/")
	_, err := newClient(t, Config{}).Fetch(t.Context(), Request{URL: u})
	wantError(t, err, PhaseTLS, CodeTLS)
}

func TestZeroURL(t *testing.T) {
	c := newClient(t, Config{})
	_, err := c.Fetch(t.Context(), Request{})
	wantError(t, err, PhaseWrite, CodeBadRequest)
	if _, err := c.Resolve(t.Context(), canon.URL{}); err == nil {
		t.Error("Resolve takes the zero URL")
	}
}

// TestManyFetchers shares a client between goroutines.
func TestManyFetchers(t *testing.T) {
	p := newPeer(t, answering(hello))
	c := newClient(t, Config{MaxIdlePerHost: 4})
	var fetchers sync.WaitGroup
	for range 8 {
		fetchers.Go(func() {
			for range 25 {
				res, err := c.Fetch(t.Context(), Request{URL: p.url("/")})
				if err != nil {
					t.Error(err)
					return
				}
				if string(res.Body) != "hello" {
					t.Errorf("body %q", res.Body)
				}
				res.Release()
			}
		})
	}
	fetchers.Wait()
}
