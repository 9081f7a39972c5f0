package hostile

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"
	"time"
)

// Server runs behaviours.
type Server struct {
	sites     []*site
	byName    map[string]*site
	authority *authority
	closing   chan struct{}
	running   sync.WaitGroup

	mu     sync.Mutex // guards all below
	conns  map[net.Conn]string
	gone   chan struct{} // closed when the next connection has gone
	closed bool
}

// site is the server of one behaviour.
type site struct {
	Behaviour
	listener net.Listener

	mu    sync.Mutex // guards all below
	count Asked
}

// Asked is what a server was asked.
type Asked struct {
	Conns    int            // accepted
	Requests int            // read
	Targets  map[string]int // requests by target
	Head     int            // bytes of the longest request
	Tricked  bool           // a request held what its client should not have taken
	HTTP2    int            // connections on which HTTP/2 was agreed upon
	Held     time.Duration  // for which a client bore with one answer, at most
	Sent     int64          // bytes on one connection, at most
}

// Start runs all behaviours on the loopback address, for clients with limits l. The caller closes the server.
func Start(l Limits) (*Server, error) {
	authority, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("hostile: certificates: %w", err)
	}
	s := &Server{
		byName: map[string]*site{}, authority: authority, closing: make(chan struct{}), conns: map[net.Conn]string{},
		gone: make(chan struct{}),
	}
	for i, b := range All(l) {
		ln, err := listen(i)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("hostile: %w", err), s.Close())
		}
		at := &site{Behaviour: b, listener: ln, count: Asked{Targets: map[string]int{}}}
		s.sites = append(s.sites, at)
		s.byName[b.Name] = at
		s.running.Go(func() { s.accept(at) })
	}
	return s, nil
}

// listen takes IPv4 and IPv6 in turn, where there is IPv6.
func listen(turn int) (net.Listener, error) {
	if turn%2 == 1 {
		if ln, err := net.Listen("tcp", "[::1]:0"); err == nil {
			return ln, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// Behaviours returns what the server does, in order.
func (s *Server) Behaviours() []Behaviour {
	all := make([]Behaviour, len(s.sites))
	for i, at := range s.sites {
		all[i] = at.Behaviour
	}
	return all
}

// ConnectTo returns values for --connect-to, of crawl and of curl, that send each host to its server.
func (s *Server) ConnectTo() []string {
	var rules []string
	for _, at := range s.sites {
		for _, host := range append([]string{at.Host()}, at.Hosts...) {
			rules = append(rules, host+"::"+at.listener.Addr().String())
		}
	}
	return rules
}

// Root returns what a client has to trust: the authority of those certificates that are in order.
func (s *Server) Root() *x509.Certificate { return s.authority.root }

// Asked returns what the server of a behaviour was asked so far.
func (s *Server) Asked(name string) Asked {
	at := s.byName[name]
	at.mu.Lock()
	defer at.mu.Unlock()
	count := at.count
	count.Targets = maps.Clone(count.Targets)
	return count
}

// Quiet waits until clients have closed all their connections. When ctx ends first, the error tells whose are left.
func (s *Server) Quiet(ctx context.Context) error {
	for {
		s.mu.Lock()
		left, gone := maps.Clone(s.conns), s.gone
		s.mu.Unlock()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-gone:
		case <-ctx.Done():
			count := map[string]int{}
			for _, name := range left {
				count[name]++
			}
			return fmt.Errorf("hostile: connections are left open, by behaviour: %v", count)
		}
	}
}

// Close ends all connections, and waits for the server's goroutines.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.closing)
	var errs []error
	for _, at := range s.sites {
		errs = append(errs, at.listener.Close())
	}
	for nc := range s.conns {
		nc.Close() // its goroutine notices
	}
	s.mu.Unlock()
	s.running.Wait()
	return errors.Join(errs...)
}

func (s *Server) accept(at *site) {
	for {
		nc, err := at.listener.Accept()
		if err != nil {
			return // closed; a lack of files fails the test by the behaviour's want
		}
		if !s.add(at, nc) {
			nc.Close()
			return
		}
	}
}

// add serves nc unless the server is closing.
func (s *Server) add(at *site, nc net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[nc] = at.Name
	s.running.Go(func() {
		defer s.remove(nc)
		p := newPeer(s, at, nc)
		at.accepted()
		at.serve(p)
		at.ended(p.sent.Load())
	})
	return true
}

func (s *Server) remove(nc net.Conn) {
	nc.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, nc)
	close(s.gone)
	s.gone = make(chan struct{})
}

func (at *site) accepted() {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.count.Conns++
}

func (at *site) asked(target string, size int, tricked bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.count.Head = max(at.count.Head, size)
	at.count.Tricked = at.count.Tricked || tricked
	at.count.Requests++
	at.count.Targets[target]++
}

func (at *site) agreed() {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.count.HTTP2++
}

func (at *site) held(took time.Duration) {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.count.Held = max(at.count.Held, took)
}

func (at *site) ended(sent int64) {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.count.Sent = max(at.count.Sent, sent)
}
