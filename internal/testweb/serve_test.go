package testweb

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(tb testing.TB, cfg Config) (*Site, *Server) {
	tb.Helper()
	s := newSite(tb, cfg)
	srv, err := s.Start()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := srv.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s, srv
}

// client is one connection that sends requests as given.
type client struct {
	tb   testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func dial(tb testing.TB, srv *Server) *client {
	tb.Helper()
	conn, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return &client{tb, conn, bufio.NewReader(conn)}
}

// do sends a request head and reads the answer.
func (c *client) do(method, head string) (*http.Response, []byte) {
	c.tb.Helper()
	if _, err := io.WriteString(c.conn, method+" "+head+"\r\n\r\n"); err != nil {
		c.tb.Fatal(err)
	}
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.tb.Fatalf("%s %q: %v", method, head, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.tb.Fatalf("%s %q: %v", method, head, err)
	}
	return resp, body
}

func (c *client) get(host, target string) (*http.Response, []byte) {
	c.tb.Helper()
	return c.do("GET", target+" HTTP/1.1\r\nHost: "+host)
}

func TestServerAnswersEveryURLAsGetDoes(t *testing.T) {
	s, srv := start(t, Config{Seed: 11, Hosts: 4, PagesPerHost: 160, MedianBytes: 4_000})
	c := dial(t, srv)
	asked := 0
	for e := range s.all() {
		authority, target := cutURL([]byte(e.URL))
		resp, body := c.get(string(authority), string(target))
		want := s.Get(e.URL)
		got := Response{resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Get("Location"), body}
		if got.Status != want.Status || got.ContentType != want.ContentType || got.Location != want.Location ||
			!bytes.Equal(got.Body, want.Body) {
			t.Errorf("%s: got %.200v, want %.200v", e.URL, got, want)
		}
		asked++
	}
	if got := srv.Journal().Requests(); got != asked {
		t.Errorf("journal: %d requests, want %d", got, asked)
	}
}

// Spellings of one URL are one page; targets that only a repair makes alike are not.
func TestTargetsAreTakenAsBytes(t *testing.T) {
	s, srv := start(t, Config{Seed: 12, PagesPerHost: 400})
	c := dial(t, srv)
	find := func(head string) string {
		for n := range s.cfg.PagesPerHost {
			if target := string(s.appendTarget(nil, place{3, n})); strings.HasPrefix(target, head) {
				return target
			}
		}
		t.Fatalf("no page like %s", head)
		return ""
	}
	for _, tt := range []struct {
		name, target string
		status       int
	}{
		{"empty segment", find("//double"), 200},
		{"empty segment cleaned away", find("//double")[1:], 404},
		{"encoded slash", find("/a%2F"), 200},
		{"encoded slash in lower case", strings.Replace(find("/a%2F"), "%2F", "%2f", 1), 200},
		{"encoded slash decoded", strings.Replace(find("/a%2F"), "%2F", "/", 1), 404},
		{"bar", find("/left|"), 200},
		{"bar encoded", strings.Replace(find("/left|"), "|", "%7C", 1), 200},
		{"lone percent", find("/100%"), 200},
		{"lone percent encoded", strings.Replace(find("/100%"), "%", "%25", 1), 200},
		{"tilde", find("/~ann"), 200},
		{"tilde encoded", strings.Replace(find("/~ann"), "~", "%7e", 1), 200},
		{"raw UTF-8", strings.Replace(find("/caf%C3%A9/"), "%C3%A9", "\u00E9", 1), 200},
		{"letters in another case", strings.ToLower(find("/Mixed")), 404},
		{"long", find("/long"), 200},
		{"question mark and hash as data", find("/what%3F%23"), 200},
		{"dot segments left in", "/x/.." + find("/p/"), 404},
		{"ampersand of HTML left in", strings.Replace(find("/shop"), "&", "&amp;", 1), 404},
		{"fragment sent along", find("/p/") + "#top", 200},
		{"slash added", find("/a/") + "/", 404},
		{"leading zero", strings.Replace(find("/a/"), "/a/", "/a/0", 1), 404},
		{"nothing", "/nothing", 404},
		{"slot past the last", "/a/4000", 404},
		{"number past all", "/a/40000000000000000000000", 404},
	} {
		resp, _ := c.get("www03.test", tt.target)
		if resp.StatusCode != tt.status {
			t.Errorf("%s: %s answers %d, want %d", tt.name, tt.target, resp.StatusCode, tt.status)
		}
	}
}

func TestHostField(t *testing.T) {
	_, srv := start(t, Config{Hosts: 101})
	c := dial(t, srv)
	for host, status := range map[string]int{
		"www00.test": 200, "WWW09.Test": 200, "www100.test": 200, "www05.test:80": 200, "www05.test.": 200, outsideHost: 200,
		"www101.test": 404, "www0.test": 404, "www000.test": 404, "www-1.test": 404, "www+1.test": 404, "test": 404, "": 404,
	} {
		if resp, _ := c.get(host, "/"); resp.StatusCode != status {
			t.Errorf("Host %q: %d, want %d", host, resp.StatusCode, status)
		}
	}
	resp, body := c.do("GET", "HTTP://www04.test HTTP/1.1\r\nHost: proxy.test")
	if resp.StatusCode != 200 || !strings.Contains(string(body), "Page 0 of www04.test") {
		t.Errorf("as a proxy: %d", resp.StatusCode)
	}
}

func TestMethodsAndRefusals(t *testing.T) {
	_, srv := start(t, Config{})
	for _, tt := range []struct {
		name, method, head string
		status             int
		length             bool
	}{
		{"HEAD", "HEAD", "/ HTTP/1.1\r\nhost: www00.test", 200, true},
		{"bare line ends", "GET", "/ HTTP/1.1\nHost: www00.test\n", 200, true},
		{"old version", "GET", "/ HTTP/1.0\r\nHost: www00.test", 200, true},
		{"POST", "POST", "/ HTTP/1.1\r\nHost: www00.test", 405, false},
		{"with a body", "GET", "/ HTTP/1.1\r\nHost: www00.test\r\nContent-Length: 3", 400, false},
		{"chunked body", "GET", "/ HTTP/1.1\r\nTransfer-Encoding: chunked", 400, false},
		{"no target", "GET", "HTTP/1.1", 400, false},
		{"no slash", "GET", "x HTTP/1.1", 400, false},
		{"no colon", "GET", "/ HTTP/1.1\r\nHost", 400, false},
		{"long line", "GET", "/" + strings.Repeat("x", maxLine) + " HTTP/1.1", 414, false},
		{"many lines", "GET", "/ HTTP/1.1" + strings.Repeat("\r\nA: b", maxLines), 431, false},
	} {
		resp, body := dial(t, srv).do(tt.method, tt.head)
		if resp.StatusCode != tt.status || (resp.ContentLength > 0) != tt.length {
			t.Errorf("%s: %d with length %d, want %d", tt.name, resp.StatusCode, resp.ContentLength, tt.status)
		}
		if tt.method == "HEAD" && len(body) > 0 {
			t.Errorf("%s: %d bytes of body", tt.name, len(body))
		}
	}
	if got := srv.Journal().Malformed(); got != 8 {
		t.Errorf("journal: %d malformed, want 8", got)
	}
}

func TestBusyPagesAnswerLater(t *testing.T) {
	s, srv := start(t, Config{Seed: 13, Hosts: 2, FailRate503: 0.5, FailFirst: 2, RetryAfter: 1500 * time.Millisecond})
	c := dial(t, srv)
	fail := 0
	for e := range s.Expected() {
		authority, target := cutURL([]byte(e.URL))
		if e.Fails {
			fail++
			for range 2 {
				resp, _ := c.get(string(authority), string(target))
				if resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "2" {
					t.Errorf("%s: %d, Retry-After %q", e.URL, resp.StatusCode, resp.Header.Get("Retry-After"))
				}
			}
		}
		if resp, _ := c.get(string(authority), string(target)); resp.StatusCode != e.Status {
			t.Errorf("%s: %d, want %d", e.URL, resp.StatusCode, e.Status)
		}
	}
	if fail < 20 || fail > 60 {
		t.Errorf("%d of 80 slots answer 503 at first", fail)
	}
	if r := s.Check(srv.Journal().Fetched()); !r.OK() {
		t.Error(r)
	}
}

func TestGzipIsTheSamePage(t *testing.T) {
	s, srv := start(t, Config{Seed: 14, Gzip: true})
	c := dial(t, srv)
	for _, seed := range s.Seeds() {
		host := strings.TrimSuffix(strings.TrimPrefix(seed, "http://"), "/")
		resp, body := c.do("GET", "/ HTTP/1.1\r\nHost: "+host+"\r\nAccept-Encoding: br, gzip")
		if resp.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s: not compressed", seed)
		}
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(plain, s.Get(seed).Body) {
			t.Errorf("%s: another page when compressed (%v)", seed, err)
		}
		if resp, _ := c.get(host, "/"); resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: compressed for a client that did not ask", seed)
		}
	}
}

func TestTLS(t *testing.T) {
	s := newSite(t, Config{Hosts: 2, HTTPS: true})
	srv, err := s.StartTLS()
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, srv.Addr())
		},
	}
	defer transport.CloseIdleConnections()
	for _, seed := range s.Seeds() {
		resp, err := (&http.Client{Transport: transport}).Get(seed)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Equal(body, s.Get(seed).Body) {
			t.Errorf("%s: %d bytes (%v)", seed, len(body), err)
		}
	}
	if r := s.Check(srv.Journal().Fetched()); len(r.Unexpected)+len(r.Twice) > 0 || r.Fetched != 2 {
		t.Error(r)
	}
}

func TestJournalSeesImpoliteness(t *testing.T) {
	t.Run("one after another", func(t *testing.T) {
		s, srv := start(t, Config{Hosts: 2})
		c := dial(t, srv)
		for _, target := range []string{robotsPath, "/", "/decoy/none/1", "/"} {
			c.get("www01.test", target)
		}
		h := slices.Collect(srv.Journal().Hosts())
		if len(h) != 1 || h[0].Host != "www01.test" || h[0].Requests != 4 || len(h[0].Arrivals) != 4 {
			t.Fatalf("got %+v", h)
		}
		if h[0].MaxInFlight != 1 || !h[0].RobotsFirst {
			t.Errorf("%d in flight, robots first %v", h[0].MaxInFlight, h[0].RobotsFirst)
		}
		if h[0].MinGap < h[0].MinPause || h[0].MinPause <= 0 {
			t.Errorf("gap %v, pause %v", h[0].MinGap, h[0].MinPause)
		}
		got := map[string]int{}
		for r := range srv.Journal().URLs() {
			got[r.URL+" "+r.Class.String()] = r.Answers
		}
		if len(got) != 3 || got[s.Seeds()[1]+" plain"] != 2 || got["http://www01.test/decoy/none/1 unknown"] != 1 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("page before robots.txt, two at once", func(t *testing.T) {
		inMemory(t, Config{Latency: time.Second}, func(srv *Server, dial func() *client) {
			var wg sync.WaitGroup
			for range 2 {
				c := dial()
				wg.Go(func() { c.get("www00.test", "/") })
			}
			wg.Wait()
			h := slices.Collect(srv.Journal().Hosts())
			if h[0].MaxInFlight != 2 || h[0].RobotsFirst || h[0].MinPause != 0 {
				t.Errorf("got %+v", h[0])
			}
		})
	})
}

// inMemory runs test in a bubble with a fake clock, which makes times exact; pipes take the place of sockets.
func inMemory(t *testing.T, cfg Config, test func(srv *Server, dial func() *client)) {
	synctest.Test(t, func(t *testing.T) {
		ln := newPipeListener()
		srv := newSite(t, cfg).Serve(ln)
		test(srv, func() *client {
			conn := ln.dial()
			t.Cleanup(func() { conn.Close() })
			return &client{t, conn, bufio.NewReader(conn)}
		})
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestLatencyAndGapsAreKept(t *testing.T) {
	inMemory(t, Config{Latency: 20 * time.Millisecond}, func(srv *Server, dial func() *client) {
		c, begin := dial(), time.Now()
		for range 3 {
			c.get("www00.test", robotsPath)
			<-time.After(time.Second)
		}
		if got, want := time.Since(begin), 3*(time.Second+20*time.Millisecond); got != want {
			t.Errorf("three requests took %v, want %v", got, want)
		}
		h := slices.Collect(srv.Journal().Hosts())[0]
		if h.MinGap != 1020*time.Millisecond || h.MinPause != time.Second {
			t.Errorf("gap %v, pause %v", h.MinGap, h.MinPause)
		}
	})
}

func TestJournalIsBounded(t *testing.T) {
	s := newSite(t, Config{Hosts: 1})
	j := newJournal(s)
	for i := range maxOthers + 5 {
		a := address{area: inNothing}
		v, _ := j.arrive(a, fmt.Sprintf("http://www00.test/none/%d", i))
		j.leave(a, v, true)
	}
	if urls := len(slices.Collect(j.URLs())); urls != maxOthers || j.Unlisted() != 5 || j.Requests() != maxOthers+5 {
		t.Errorf("%d URLs listed, %d not, %d requests", urls, j.Unlisted(), j.Requests())
	}
	if h := slices.Collect(j.Hosts()); len(h[0].Arrivals) != maxArrivals {
		t.Errorf("%d arrivals kept", len(h[0].Arrivals))
	}
}

func TestCloseCutsAnswersShort(t *testing.T) {
	inMemory(t, Config{Latency: time.Hour}, func(srv *Server, dial func() *client) {
		if _, err := io.WriteString(dial().conn, "GET / HTTP/1.1\r\nHost: www00.test\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begin := time.Now()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("Close waited %v", took)
		}
		if r := slices.Collect(srv.Journal().URLs()); len(r) != 1 || r[0].Answers != 0 || r[0].Requests != 1 {
			t.Errorf("got %+v", r)
		}
	})
}

// pipeListener is a network in memory.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{make(chan net.Conn), make(chan struct{})}
}

func (l *pipeListener) dial() net.Conn {
	ours, theirs := net.Pipe()
	l.conns <- theirs
	return ours
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
