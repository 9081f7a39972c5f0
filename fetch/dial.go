package fetch

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"crawl/canon"
)

// attemptDelay is how long an address may keep silent before the next one is tried beside it (RFC 8305, section 5).
const attemptDelay = 250 * time.Millisecond

// dialTCP connects without keep-alive probes: every wait on the connection has a deadline.
func dialTCP(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{KeepAlive: -1}
	nc, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, addr)
	if err != nil {
		return nil, err // a nil *net.TCPConn in a net.Conn would not be nil
	}
	return nc, nil
}

// dial opens a connection for h. The addresses are checked here again, since this is where a mistake would tell.
func (c *Client) dial(ctx context.Context, h hop) (*conn, error) {
	addrs, err := c.permitted(h.URL, h.Addrs)
	if err != nil {
		return nil, newError(h.URL, PhaseDial, err)
	}
	connectBy := time.Now().Add(c.cfg.ConnectTimeout)
	if h.deadline.Before(connectBy) {
		connectBy = h.deadline
	}
	dialCtx, cancel := context.WithDeadline(ctx, connectBy)
	defer cancel()
	cn, phase, err := c.connect(dialCtx, h.URL, addrs)
	if err == nil {
		return cn, nil
	}
	if isTimeout(err) {
		err = timeoutError{after: connectBy.Sub(h.start)}
	}
	return nil, newError(h.URL, phase, err)
}

// connect dials one of addrs and, for https, does the handshake. A failure comes with its phase.
func (c *Client) connect(ctx context.Context, u canon.URL, addrs []netip.AddrPort) (*conn, Phase, error) {
	nc, addr, err := c.dialFirst(ctx, addrs)
	if err != nil {
		return nil, PhaseDial, err
	}
	cn := newConn(nc, connKey{origin: u.Origin(), addr: addr})
	if u.Scheme() == "https" {
		if err := cn.handshake(ctx, c.tls, u.Hostname()); err != nil {
			cn.close()
			return nil, PhaseTLS, err
		}
	}
	return cn, "", nil
}

// handshake puts TLS on the connection.
func (cn *conn) handshake(ctx context.Context, base *tls.Config, hostname string) error {
	cfg := base.Clone()
	cfg.ServerName = strings.TrimSuffix(hostname, ".")
	secure := tls.Client(cn.raw, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		return err
	}
	cn.nc, cn.secure = secure, true
	return nil
}

// dialFirst connects to the first of addrs that answers: the next one is tried when one fails, or beside it when it
// keeps silent for attemptDelay. All attempts have ended when it returns.
func (c *Client) dialFirst(ctx context.Context, addrs []netip.AddrPort) (net.Conn, netip.AddrPort, error) {
	if len(addrs) == 1 {
		nc, err := c.dialer(ctx, addrs[0])
		return nc, addrs[0], dialError(addrs[0], err)
	}
	ctx, cancel := context.WithCancel(ctx)
	race := dialRace{ended: make(chan attempt, len(addrs))}
	defer race.drain()
	defer cancel()
	next := time.NewTimer(attemptDelay)
	defer next.Stop()
	var failed attempt // the best address's failure tells most
	for race.start(ctx, c.dialer, addrs); race.running > 0; {
		select {
		case a := <-race.ended:
			race.running--
			if a.err == nil {
				return a.nc, a.addr, nil
			}
			if failed.err == nil {
				failed = a
			}
		case <-next.C:
		}
		race.start(ctx, c.dialer, addrs)
		next.Reset(attemptDelay)
	}
	if failed.err == nil {
		failed = attempt{addr: addrs[0], err: ctx.Err()}
	}
	return nil, failed.addr, dialError(failed.addr, failed.err)
}

// attempt is how dialling one address ended.
type attempt struct {
	nc   net.Conn
	addr netip.AddrPort
	err  error
}

// dialRace is a set of attempts under way. One goroutine owns it.
type dialRace struct {
	ended            chan attempt // has room for all
	started, running int
}

// start begins the next attempt, if there is one.
func (r *dialRace) start(ctx context.Context, dial func(context.Context, netip.AddrPort) (net.Conn, error), addrs []netip.AddrPort) {
	if r.started == len(addrs) || ctx.Err() != nil {
		return
	}
	addr := addrs[r.started]
	r.started++
	r.running++
	go func() {
		nc, err := dial(ctx, addr)
		r.ended <- attempt{nc, addr, err}
	}()
}

// drain waits for the attempts that lost and closes what they opened.
func (r *dialRace) drain() {
	for range r.running {
		if a := <-r.ended; a.nc != nil {
			a.nc.Close()
		}
	}
}

func dialError(addr netip.AddrPort, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%v: %w", addr, bare(err))
}
