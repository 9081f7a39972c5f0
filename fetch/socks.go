package fetch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// The numbers of SOCKS (RFC 1928 and 1929).
const (
	socksVersion     = 5
	socksAuthVersion = 1
	socksNoAuth      = 0
	socksPassword    = 2
	socksConnect     = 1
	socksIPv4        = 1
	socksName        = 3
	socksIPv6        = 4
)

var errNotSOCKS = errors.New("it does not speak SOCKS 5")

// dialSOCKS has a SOCKS proxy connect to h's host: by its name, or to the first of addrs that it gets through to.
func (c *Client) dialSOCKS(ctx context.Context, h hop, addrs []netip.AddrPort) (line, error) {
	if h.via.findsNames() {
		host, port, _ := c.target(h.URL)
		nc, err := c.dialSOCKSTo(ctx, h.via, host, port)
		return line{nc: nc}, err
	}
	var first error
	for _, addr := range addrs {
		nc, err := c.dialSOCKSTo(ctx, h.via, addr.Addr().String(), strconv.Itoa(int(addr.Port())))
		if err == nil {
			return line{nc: nc, addr: addr}, nil
		}
		if first == nil {
			first = err
		}
		if _, itself := errors.AsType[*ProxyError](err); itself || ctx.Err() != nil {
			break
		}
	}
	return line{}, first
}

func (c *Client) dialSOCKSTo(ctx context.Context, p *proxy, host, port string) (net.Conn, error) {
	request, err := socksRequest(host, port)
	if err != nil {
		return nil, err
	}
	nc, err := c.dialProxy(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := within(ctx, nc, func() error { return p.greet(nc) }); err != nil {
		nc.Close()
		return nil, &ProxyError{p.name, bare(err)}
	}
	err = within(ctx, nc, func() error {
		if _, err := nc.Write(request); err != nil {
			return err
		}
		return socksAnswer(nc)
	})
	if err != nil {
		nc.Close()
		return nil, p.about(err)
	}
	return nc, nil
}

// greet agrees with the proxy on who we are.
func (p *proxy) greet(nc net.Conn) error {
	hello := []byte{socksVersion, 1, socksNoAuth}
	if p.user != "" {
		hello = []byte{socksVersion, 2, socksNoAuth, socksPassword}
	}
	var answer [2]byte
	if _, err := nc.Write(hello); err != nil {
		return err
	}
	if _, err := io.ReadFull(nc, answer[:]); err != nil {
		return err
	}
	switch {
	case answer[0] != socksVersion:
		return errNotSOCKS
	case answer[1] == socksNoAuth:
		return nil
	case answer[1] != socksPassword || p.user == "":
		return ErrProxyAuth
	}
	login := append([]byte{socksAuthVersion, byte(len(p.user))}, p.user...)
	login = append(append(login, byte(len(p.password))), p.password...)
	if _, err := nc.Write(login); err != nil {
		return err
	}
	if _, err := io.ReadFull(nc, answer[:]); err != nil {
		return err
	}
	if answer[1] != 0 {
		return ErrProxyAuth
	}
	return nil
}

// socksRequest asks for a connection.
func socksRequest(host, port string) ([]byte, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	b := []byte{socksVersion, socksConnect, 0}
	switch addr, err := netip.ParseAddr(host); {
	case err == nil && addr.Unmap().Is4():
		b = append(append(b, socksIPv4), addr.Unmap().AsSlice()...)
	case err == nil:
		b = append(append(b, socksIPv6), addr.AsSlice()...)
	case len(host) > 255:
		return nil, errors.New("the host's name is too long for SOCKS")
	default:
		b = append(append(b, socksName, byte(len(host))), host...)
	}
	return binary.BigEndian.AppendUint16(b, uint16(n)), nil
}

// socksAnswer reads the answer, and nothing behind it.
func socksAnswer(nc net.Conn) error {
	var head [5]byte // with the first byte of the address, which may be its length
	if _, err := io.ReadFull(nc, head[:4]); err != nil {
		return err
	}
	if head[0] != socksVersion {
		return errNotSOCKS
	}
	if head[1] != 0 {
		return socksFailure(head[1])
	}
	var rest int
	switch head[3] {
	case socksIPv4:
		rest = net.IPv4len
	case socksIPv6:
		rest = net.IPv6len
	case socksName:
		if _, err := io.ReadFull(nc, head[4:]); err != nil {
			return err
		}
		rest = int(head[4])
	default:
		return errNotSOCKS
	}
	_, err := io.CopyN(io.Discard, nc, int64(rest)+2)
	return err
}

// socksFailure says what the proxy's answer means for the host (RFC 1928, section 6).
func socksFailure(code byte) error {
	switch code {
	case 2:
		return ErrProxyDenied
	case 3:
		return fmt.Errorf("it answers: %w", syscall.ENETUNREACH)
	case 5:
		return fmt.Errorf("it answers: %w", syscall.ECONNREFUSED)
	case 1, 4, 6:
		return fmt.Errorf("it answers with code %d: %w", code, syscall.EHOSTUNREACH)
	}
	return fmt.Errorf("it answers with code %d: %w", code, ErrProxyDenied)
}
