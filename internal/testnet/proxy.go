package testnet

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// Proxy says how a proxy behaves.
type Proxy struct {
	SOCKS          bool
	TLS            *tls.Config       // of the proxy itself; nil: none
	User, Password string            // that it asks for; empty: none
	Hosts          map[string]string // where it finds HOST:PORT
	Others         string            // where it finds all others; empty: it does not get through to them
	Answer         string            // in place of the head that follows a CONNECT
	Code           byte              // of SOCKS, in place of a connection
	Mute           bool              // it says nothing
}

// ProxyServer is an HTTP or SOCKS proxy on 127.0.0.1.
type ProxyServer struct {
	Proxy
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex // guards all below
	asked []string
	conns map[net.Conn]bool
	gone  bool
}

// StartProxy starts a proxy.
func StartProxy(how Proxy) (*ProxyServer, error) { return StartProxyAt("127.0.0.1:0", how) }

// StartProxyAt starts a proxy at an address.
func StartProxyAt(at string, how Proxy) (*ProxyServer, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	p := &ProxyServer{Proxy: how, listener: l, conns: make(map[net.Conn]bool)}
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns HOST:PORT.
func (p *ProxyServer) Addr() string { return p.listener.Addr().String() }

// Asked returns what it was asked for: "CONNECT HOST:PORT", "GET URL" or, of SOCKS, "HOST:PORT".
func (p *ProxyServer) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// Close ends it.
func (p *ProxyServer) Close() {
	p.listener.Close()
	p.mu.Lock()
	p.gone = true
	for nc := range p.conns {
		nc.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

// own has Close close nc.
func (p *ProxyServer) own(nc net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[nc] = true
	if p.gone {
		nc.Close()
	}
}

func (p *ProxyServer) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, fmt.Sprintf(format, args...))
}

func (p *ProxyServer) accept() {
	for {
		nc, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.own(nc)
		if p.TLS != nil {
			nc = tls.Server(nc, p.TLS)
		}
		p.running.Go(func() {
			defer nc.Close()
			switch {
			case p.Mute:
				io.Copy(io.Discard, nc)
			case p.SOCKS:
				p.serveSOCKS(nc)
			default:
				p.serveHTTP(nc)
			}
		})
	}
}

func (p *ProxyServer) serveHTTP(nc net.Conn) {
	for in := bufio.NewReader(nc); ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if r.Method == http.MethodConnect {
			p.note("CONNECT %s", r.Host)
		} else {
			p.note("%s %s", r.Method, r.RequestURI)
		}
		want := "Basic " + base64.StdEncoding.EncodeToString([]byte(p.User+":"+p.Password))
		if p.User != "" && r.Header.Get("Proxy-Authorization") != want {
			io.WriteString(nc, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		if r.Method == http.MethodConnect {
			p.tunnel(nc, in, r.Host)
			return
		}
		if !p.forward(nc, r) {
			return
		}
	}
}

// forward answers a request with what its host answers.
func (p *ProxyServer) forward(nc net.Conn, r *http.Request) bool {
	host := r.URL.Host
	if r.URL.Port() == "" {
		host += ":80"
	}
	far, err := p.dial(host)
	if err != nil {
		io.WriteString(nc, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return true
	}
	defer far.Close()
	r.Header.Del("Proxy-Authorization")
	if r.Write(far) != nil {
		return false
	}
	answer, err := http.ReadResponse(bufio.NewReader(far), r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.Write(nc) == nil && !answer.Close
}

func (p *ProxyServer) dial(target string) (net.Conn, error) {
	to, known := p.Hosts[target]
	if !known {
		to = p.Others
	}
	if to == "" {
		return nil, fmt.Errorf("%s is not known", target)
	}
	nc, err := net.Dial("tcp", to)
	if err == nil {
		p.own(nc)
	}
	return nc, err
}

func (p *ProxyServer) tunnel(nc net.Conn, in io.Reader, target string) {
	if p.Answer != "" {
		io.WriteString(nc, p.Answer)
		return
	}
	far, err := p.dial(target)
	if err != nil {
		io.WriteString(nc, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
		return
	}
	io.WriteString(nc, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
	join(nc, in, far)
}

// join copies both ways until one side ends.
func join(near net.Conn, in io.Reader, far net.Conn) {
	var copying sync.WaitGroup
	copying.Go(func() {
		io.Copy(far, in)
		far.Close()
	})
	io.Copy(near, far)
	near.Close()
	copying.Wait()
}

// serveSOCKS speaks RFC 1928 and 1929.
func (p *ProxyServer) serveSOCKS(nc net.Conn) {
	b := make([]byte, 262)
	if _, err := io.ReadFull(nc, b[:2]); err != nil || b[0] != 5 {
		return
	}
	methods := b[2 : 2+int(b[1])]
	if _, err := io.ReadFull(nc, methods); err != nil {
		return
	}
	if p.User == "" {
		nc.Write([]byte{5, 0})
	} else if !p.login(nc, string(methods)) {
		return
	}
	target, err := socksTarget(nc)
	if err != nil {
		return
	}
	p.note("%s", target)
	if p.Code != 0 {
		nc.Write([]byte{5, p.Code, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	far, err := p.dial(target)
	if err != nil {
		nc.Write([]byte{5, 4, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	nc.Write(append([]byte{5, 0, 0, 3, 4}, "name\x00\x00"...)) // bound to a name, which clients pass over
	join(nc, nc, far)
}

// login asks for user and password.
func (p *ProxyServer) login(nc net.Conn, methods string) bool {
	offered := false
	for _, m := range methods {
		offered = offered || m == 2
	}
	if !offered {
		nc.Write([]byte{5, 0xff})
		return false
	}
	nc.Write([]byte{5, 2})
	in := bufio.NewReader(nc)
	version, _ := in.ReadByte()
	user, err := lengthPrefixed(in)
	if err != nil || version != 1 {
		return false
	}
	password, err := lengthPrefixed(in)
	if err != nil {
		return false
	}
	if user != p.User || password != p.Password {
		nc.Write([]byte{1, 1})
		return false
	}
	nc.Write([]byte{1, 0})
	return true
}

func lengthPrefixed(in *bufio.Reader) (string, error) {
	n, err := in.ReadByte()
	if err != nil {
		return "", err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(in, b)
	return string(b), err
}

// socksTarget reads what is asked for.
func socksTarget(nc net.Conn) (string, error) {
	b := make([]byte, 262)
	if _, err := io.ReadFull(nc, b[:5]); err != nil {
		return "", err
	}
	var host string
	var rest []byte
	switch b[3] {
	case 1, 4:
		n := map[byte]int{1: net.IPv4len, 4: net.IPv6len}[b[3]]
		rest = b[5 : 4+n+2]
		if _, err := io.ReadFull(nc, rest); err != nil {
			return "", err
		}
		host = net.IP(b[4 : 4+n]).String()
	case 3:
		n := int(b[4])
		rest = b[5 : 5+n+2]
		if _, err := io.ReadFull(nc, rest); err != nil {
			return "", err
		}
		host = string(b[5 : 5+n])
	default:
		return "", fmt.Errorf("address type %d", b[3])
	}
	port := binary.BigEndian.Uint16(rest[len(rest)-2:])
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}
