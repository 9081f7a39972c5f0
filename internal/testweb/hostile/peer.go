package hostile

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"
)

// peer is a connection as its server sees it.
type peer struct {
	nc     net.Conn // what is spoken through: the socket, or TLS on it
	raw    *net.TCPConn
	in     *bufio.Reader
	sent   *atomic.Int64 // bytes, on this connection
	server *Server
	site   *site

	ended time.Time // when all was said; zero until then
}

func newPeer(s *Server, at *site, nc net.Conn) *peer {
	counted := &countedConn{TCPConn: nc.(*net.TCPConn)}
	return &peer{
		nc: counted, raw: counted.TCPConn, in: bufio.NewReader(counted), sent: &counted.sent, server: s, site: at,
	}
}

// countedConn counts what is written.
type countedConn struct {
	*net.TCPConn
	sent atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.TCPConn.Write(b)
	c.sent.Add(int64(n))
	return n, err
}

// ReadFrom keeps io.Copy from going past Write.
func (c *countedConn) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, r)
}

var errBadRequest = errors.New("not a request")

// request reads one request and returns its target.
func (p *peer) request() (target string, err error) {
	line, err := p.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(line, " ")
	target, _, isRequest := strings.Cut(rest, " ")
	if !isRequest {
		return "", errBadRequest
	}
	size, tricked := len(line), false
	for strings.TrimSpace(line) != "" {
		if line, err = p.in.ReadString('\n'); err != nil {
			return "", err
		}
		size += len(line)
		tricked = tricked || strings.HasPrefix(line, injected) || strings.HasPrefix(line, "Cookie:") && strings.Contains(line, foreign)
	}
	p.site.asked(target, size, tricked)
	return target, nil
}

// say writes text. false: the client is gone.
func (p *peer) say(text string) bool {
	_, err := io.WriteString(p.nc, text)
	return err == nil
}

// forever writes text until the client is gone.
func (p *peer) forever(text string) {
	for p.say(text) {
	}
}

// drip writes one byte of text after another with a pause before each, and text again at its end, until the client is gone.
func (p *peer) drip(text string, pause time.Duration) {
	for {
		for i := range len(text) {
			if !p.wait(pause) || !p.say(text[i:i+1]) {
				return
			}
		}
	}
}

// wait returns false if the server closed meanwhile.
func (p *peer) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.server.closing:
		return false
	}
}

// hold keeps the connection open and silent until the client is gone.
func (p *peer) hold() {
	_, _ = io.Copy(io.Discard, p.in) // how the client goes is no matter
}

// reset ends the connection by a reset.
func (p *peer) reset() {
	_ = p.raw.SetLinger(0) // fails on a closed connection only
	p.raw.Close()
}

// end says that nothing more comes, and waits for the client to go: a close with a request unread would be a reset.
func (p *peer) end() {
	p.ended = time.Now()
	if secure, ok := p.nc.(*tls.Conn); ok {
		_ = secure.CloseWrite() // the client may be gone
	}
	_ = p.raw.CloseWrite()
	p.hold()
}

// step answers one request. true: the connection goes on.
type step func(p *peer, target string) bool

// steps are what a server does for each path; "*" is any other.
type steps map[string]step

const notFound = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

// serve answers requests one after another. What has none is not found, robots.txt too.
func (s steps) serve(p *peer) {
	for {
		target, err := p.request()
		if err != nil {
			return
		}
		do := s[target]
		if do == nil && target != robotsPath {
			do = s["*"]
		}
		if do == nil {
			do = say(notFound)
		}
		started := time.Now()
		more := do(p, target)
		if p.ended.IsZero() {
			p.ended = time.Now()
		}
		p.site.held(p.ended.Sub(started))
		p.ended = time.Time{}
		if !more {
			return
		}
	}
}

const robotsPath = "/robots.txt"

// page serves do for every page of a host without a robots.txt.
func page(do step) serve { return steps{"*": do}.serve }

// pageAndNext serves first for the first page, and an honest page for /next, on one connection where the client keeps it.
func pageAndNext(first step) serve { return steps{"*": first, "/next": say(nextPage)}.serve }

var nextPage = whole("<title>next</title>")

// say is an answer after which the connection goes on.
func say(text string) step {
	return func(p *peer, _ string) bool { return p.say(text) }
}

// after says text and then does what ends the connection.
func after(text string, last func(p *peer)) step {
	return func(p *peer, _ string) bool {
		if p.say(text) {
			last(p)
		}
		return false
	}
}

// again says head and then text without end.
func again(head, text string) step {
	return after(head, func(p *peer) { p.forever(text) })
}

// whole is an honest answer with an HTML body.
func whole(body string) string { return answer("Content-Type: text/html\r\n", body) }
