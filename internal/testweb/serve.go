package testweb

import (
	"bufio"
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Server answers for all hosts of a site at one address. It is HTTP/1.1 written on connections, since net/http refuses
// targets that pages do link to, such as a lone %.
type Server struct {
	site    *Site
	ln      net.Listener
	cert    *x509.Certificate
	journal *Journal
	closing chan struct{}
	running sync.WaitGroup
	pool    sync.Pool // of *exchange

	mu     sync.Mutex // guards all below
	conns  map[net.Conn]struct{}
	closed bool
}

// Start serves the site on a free port of the loopback address.
func (s *Site) Start() (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("testweb: %w", err)
	}
	return s.Serve(ln), nil
}

// Serve serves the site on ln, which is the server's from now on. The caller closes the server.
func (s *Site) Serve(ln net.Listener) *Server {
	srv := &Server{
		site: s, ln: ln, journal: newJournal(s), closing: make(chan struct{}), conns: map[net.Conn]struct{}{},
	}
	srv.pool.New = func() any { return newExchange(s) }
	srv.running.Go(srv.accept)
	return srv
}

// Addr returns where the server listens: host:port.
func (srv *Server) Addr() string { return srv.ln.Addr().String() }

// ConnectTo returns a value for --connect-to, of crawl and of curl, that sends all names and ports to the server.
func (srv *Server) ConnectTo() string { return "::" + srv.Addr() }

// Journal returns what the server was asked. It can be read also after Close.
func (srv *Server) Journal() *Journal { return srv.journal }

// Close ends all connections, also those in the middle of an answer, and waits for the server's goroutines.
func (srv *Server) Close() error {
	srv.mu.Lock()
	if srv.closed {
		srv.mu.Unlock()
		return nil
	}
	srv.closed = true
	close(srv.closing)
	err := srv.ln.Close()
	for conn := range srv.conns {
		conn.Close() // its goroutine notices, and has nothing to lose
	}
	srv.mu.Unlock()
	srv.running.Wait()
	return err
}

// acceptRetry is the wait after a failed accept, as when the process is out of file descriptors.
const acceptRetry = 5 * time.Millisecond

func (srv *Server) accept() {
	for {
		conn, err := srv.ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			if !srv.wait(acceptRetry) {
				return
			}
		case !srv.add(conn):
			conn.Close()
			return
		}
	}
}

// add starts serving conn unless the server is closing.
func (srv *Server) add(conn net.Conn) bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.closed {
		return false
	}
	srv.conns[conn] = struct{}{}
	srv.running.Go(func() { srv.serve(conn) })
	return true
}

func (srv *Server) remove(conn net.Conn) {
	conn.Close()
	srv.mu.Lock()
	delete(srv.conns, conn)
	srv.mu.Unlock()
}

// wait returns false if the server closed meanwhile.
func (srv *Server) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-srv.closing:
		return false
	}
}

// serve answers the requests of a connection, one after another.
func (srv *Server) serve(conn net.Conn) {
	defer srv.remove(conn)
	x := srv.pool.Get().(*exchange)
	defer srv.pool.Put(x)
	x.in.Reset(conn)
	defer x.in.Reset(nil)
	for {
		err := x.request.read(x.in)
		if refused, ok := errors.AsType[requestError](err); ok {
			srv.journal.malformed.Add(1)
			fmt.Fprintf(conn, "HTTP/1.1 %d Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", int(refused))
		}
		if err != nil || srv.exchange(conn, x) != nil || x.request.last {
			return
		}
	}
}

// exchange answers one request that has been read.
func (srv *Server) exchange(conn net.Conn, x *exchange) error {
	req := &x.request
	authority := string(req.authority)
	a := srv.site.locate(authority, req.target)
	v, fail := srv.journal.arrive(a, srv.canonical(a, authority, req.target))
	waited := srv.site.cfg.Latency == 0 || srv.wait(srv.site.cfg.Latency)
	r := reply{status: 503, contentType: textUTF8}
	if !fail {
		r = x.composer.answer(a, req.target)
	}
	err := x.prepare(r)
	final := !fail && !req.head && (r.location == "" || !srv.site.bounces(a, req.target))
	srv.journal.leave(a, v, final && waited && err == nil)
	if err != nil || !waited {
		return cmp.Or(err, net.ErrClosed)
	}
	return x.send(conn)
}

// canonical returns the URL of what is no slot; slots are counted by number.
func (srv *Server) canonical(a address, authority string, target []byte) string {
	if a.area == inSlot {
		return ""
	}
	return srv.site.scheme() + "://" + hostOnly(authority) + string(appendNormal(nil, target))
}

// bounces reports whether the answer at a is a redirect to another spelling of the same URL.
func (s *Site) bounces(a address, target []byte) bool {
	return a.area == inSlot && bounced(s.kindOf(a.place), target)
}

// exchange is what a connection needs to answer.
type exchange struct {
	site     *Site
	in       *bufio.Reader
	request  request
	composer composer
	packer   packer
	head     []byte
	list     [][]byte // the answer, head first
	parts    net.Buffers
}

func newExchange(s *Site) *exchange {
	return &exchange{site: s, in: bufio.NewReaderSize(nil, maxLine), composer: composer{site: s}}
}
