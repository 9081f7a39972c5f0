package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"crawl/canon"
)

// line is a connection on which a host can be spoken to.
type line struct {
	nc     net.Conn
	addr   netip.AddrPort // of the host; zero where a proxy finds it
	direct bool           // requests are written to an HTTP proxy itself, with the whole URL
}

// dialVia connects to h's host by its proxy.
func (c *Client) dialVia(ctx context.Context, h hop, addrs []netip.AddrPort) (line, error) {
	switch p := h.via; {
	case p.isSOCKS():
		return c.dialSOCKS(ctx, h, addrs)
	case c.speaksDirectly(h.URL):
		nc, err := c.dialProxy(ctx, p)
		return line{nc: nc, direct: true}, err
	default:
		host, port, _ := c.target(h.URL)
		nc, err := c.dialTunnel(ctx, p, net.JoinHostPort(host, port))
		return line{nc: nc}, err
	}
}

// speaksDirectly reports whether an HTTP proxy gets the request for u itself. A host that is secure, or to be found
// elsewhere, is reached through a tunnel; curl does likewise.
func (c *Client) speaksDirectly(u canon.URL) bool {
	host, port, _ := c.target(u)
	return u.Scheme() == "http" && host == u.Hostname() && port == u.Port()
}

// dialProxy connects to the proxy. Its own address is nobody's link: it may be a private one. A failure is a *ProxyError.
func (c *Client) dialProxy(ctx context.Context, p *proxy) (net.Conn, error) {
	addrs, _, err := c.addressesOf(ctx, p.host, p.port)
	if err != nil {
		return nil, &ProxyError{p.name, err}
	}
	nc, _, err := c.dialFirst(ctx, c.reach.order(addrs))
	if err != nil {
		c.doubt(p.host)
		return nil, &ProxyError{p.name, err}
	}
	if p.scheme != "https" {
		return nc, nil
	}
	cfg := c.tls.Clone()
	cfg.ServerName, cfg.NextProtos = p.host, []string{"http/1.1"}
	secure := tls.Client(nc, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, &ProxyError{p.name, err}
	}
	return secureLine{secure, nc}, nil
}

// secureLine is TLS to a proxy. It is closed, and looked at, as the socket below it.
type secureLine struct {
	*tls.Conn
	socket net.Conn
}

func (l secureLine) Close() error { return l.socket.Close() }

// SyscallConn lets the socket be looked at while the connection is kept.
func (l secureLine) SyscallConn() (syscall.RawConn, error) {
	if socket, ok := l.socket.(syscall.Conn); ok {
		return socket.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// within has fn talk on nc until ctx ends. Closing what fn gave up is for the caller.
func within(ctx context.Context, nc net.Conn, fn func() error) error {
	if by, ok := ctx.Deadline(); ok {
		nc.SetDeadline(by)
	}
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(past) })
	err := fn()
	if !stop() {
		return ctx.Err()
	}
	if err == nil {
		err = nc.SetDeadline(time.Time{})
	}
	return err
}

// maxTunnelHead is how long the answer to a CONNECT may be.
const maxTunnelHead = 16 << 10

// dialTunnel has an HTTP proxy connect to target (RFC 9110, section 9.3.6).
func (c *Client) dialTunnel(ctx context.Context, p *proxy, target string) (net.Conn, error) {
	nc, err := c.dialProxy(ctx, p)
	if err != nil {
		return nil, err
	}
	err = within(ctx, nc, func() error {
		request := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
		if p.authorization != "" {
			request += "Proxy-Authorization: " + p.authorization + "\r\n"
		}
		if _, err := nc.Write([]byte(request + "\r\n")); err != nil {
			return err
		}
		return p.tunnelAnswer(nc)
	})
	if err != nil {
		nc.Close()
		return nil, p.about(err)
	}
	return nc, nil
}

// about says of an error which proxy it came by, if it does not yet.
func (p *proxy) about(err error) error {
	if _, said := errors.AsType[*ProxyError](err); said {
		return err
	}
	return fmt.Errorf("by proxy %s: %w", p.name, bare(err))
}

// tunnelAnswer reads the answer to a CONNECT, and nothing behind it.
func (p *proxy) tunnelAnswer(nc net.Conn) error {
	head := make([]byte, 0, 512)
	for {
		if len(head) == maxTunnelHead {
			return errHeadTooLong
		}
		head = append(head, make([]byte, min(512, maxTunnelHead-len(head)))...)[:len(head)]
		n, err := nc.Read(head[len(head):min(cap(head), maxTunnelHead)])
		head = head[:len(head)+n]
		for end := headEnd(head); end > 0; end = headEnd(head) {
			answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head[:end])), &http.Request{Method: http.MethodConnect})
			switch {
			case err != nil:
				return fmt.Errorf("%.200q", err)
			case answer.StatusCode >= 200:
				return p.tunnelOutcome(answer, len(head) > end)
			}
			head = head[end:] // an interim response
		}
		if err != nil {
			return err
		}
	}
}

// headEnd returns where a head ends that is whole; 0 for none.
func headEnd(b []byte) int {
	if i := bytes.Index(b, []byte("\r\n\r\n")); i >= 0 {
		return i + 4
	}
	if i := bytes.Index(b, []byte("\n\n")); i >= 0 {
		return i + 2
	}
	return 0
}

// tunnelOutcome says what an answer means. A proxy that did not get through answers 502, 503 or 504, which tells of the
// host.
func (p *proxy) tunnelOutcome(answer *http.Response, more bool) error {
	switch status := answer.StatusCode; {
	case status < 300 && more:
		return errors.New("bytes behind the head of its answer")
	case status < 300:
		return nil
	case status == http.StatusProxyAuthRequired:
		return &ProxyError{p.name, ErrProxyAuth}
	case status >= 500:
		return fmt.Errorf("it answers %.100q: %w", answer.Status, syscall.EHOSTUNREACH)
	default:
		return fmt.Errorf("it answers %.100q: %w", answer.Status, ErrProxyDenied)
	}
}
