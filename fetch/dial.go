package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

// attemptDelay is how long an address may keep silent before the next one is tried beside it (RFC 8305, section 5).
const attemptDelay = 250 * time.Millisecond

// dialTCP connects without keep-alive probes: every wait on the connection has a deadline.
//
// Dialer.DialTCP (Go 1.26) would bind a local port first, also without a local address: with ten thousand connections the
// search for one took four fifths of a crawl's CPU time, and a port bound so serves one connection, whatever its peer.
func dialTCP(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{KeepAlive: -1}
	return d.DialContext(ctx, "tcp", addr.String())
}

// dial opens a connection for h.
func (c *Client) dial(ctx context.Context, h hop) (*conn, error) {
	start := time.Now()
	by := earlier(start.Add(c.cfg.ConnectTimeout), h.deadline)
	dialCtx, cancel := context.WithDeadline(ctx, by)
	l, err := c.open(dialCtx, h)
	cancel()
	if err != nil {
		return nil, newError(h.URL, PhaseDial, h.via.late(err, by.Sub(start)))
	}
	cn := newConn(l.nc, connKey{h.URL.Origin(), l.addr, h.via})
	cn.direct = l.direct
	if h.URL.Scheme() != "https" {
		return cn, nil
	}
	if err := c.secure(ctx, cn, h); err != nil {
		cn.close()
		return nil, newError(h.URL, PhaseTLS, err)
	}
	return cn, nil
}

// open connects to h's host. Its addresses are checked here again, since this is where a mistake would tell.
func (c *Client) open(ctx context.Context, h hop) (line, error) {
	if h.via.findsNames() {
		if err := c.checkUnseen(h.URL); err != nil {
			return line{}, err
		}
		return c.dialVia(ctx, h, nil)
	}
	addrs, err := c.permitted(h.URL, h.Addrs)
	switch {
	case err != nil:
		return line{}, err
	case h.via != nil:
		return c.dialVia(ctx, h, addrs)
	}
	nc, addr, err := c.dialFirst(ctx, addrs)
	if err != nil && !canceled(ctx) { // the host may have moved
		host, _, _ := c.target(h.URL)
		c.doubt(host)
	}
	return line{nc: nc, addr: addr}, err
}

// overdue says of a deadline that passed how long it was.
func overdue(err error, missing string, after time.Duration) error {
	if isTimeout(err) {
		return timeoutError{missing, after}
	}
	return err
}

// dialFirst connects to the first of addrs that answers: the next one is tried when one fails, or beside it when it
// keeps silent for attemptDelay (RFC 8305). Those that were out of reach lately come last. All attempts have ended when it
// returns.
func (c *Client) dialFirst(ctx context.Context, addrs []netip.AddrPort) (net.Conn, netip.AddrPort, error) {
	if len(addrs) == 1 {
		nc, err := c.dialer(ctx, addrs[0])
		return nc, addrs[0], dialError(addrs[0], err)
	}
	addrs = c.reach.recent(slices.Clone(addrs))
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
				c.reach.won(addrs, slices.Index(addrs, a.addr))
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
