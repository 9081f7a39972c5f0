package fetch

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"crawl/canon"
)

// conn is one connection to an origin. A single exchange, or the set of idle connections, owns it at any time; one of HTTP/2
// belongs to idleConns while any number of exchanges use it.
type conn struct {
	raw    net.Conn // the socket
	nc     net.Conn // what is spoken through: raw, or TLS on it
	secure bool
	h2     *session // nil: HTTP/1.1 is spoken
	key    connKey
	direct bool   // the peer is an HTTP proxy, which is given the whole URL
	out    []byte // the last request's bytes, kept for their memory

	quietSocket func() bool // nothing waits on the socket

	// Of the exchange under way.
	in        input
	clock     clock
	firstByte time.Time // zero until something has come
	aborted   atomic.Bool

	idleConn // of idleConns
}

// connKey says what a connection may serve: one scheme, host and port, at the address it was checked for.
type connKey struct {
	origin string
	addr   netip.AddrPort // zero where a proxy finds it
	via    *proxy         // nil: none
}

func newConn(nc net.Conn, key connKey) *conn {
	return &conn{raw: nc, nc: nc, key: key, quietSocket: socketProbe(nc)}
}

// begin starts an exchange that ends by deadline, or with ctx. aborted ends it and reports whether ctx has, or still may,
// break the connection.
func (cn *conn) begin(ctx context.Context, deadline time.Time) (aborted func() bool) {
	cn.firstByte = time.Time{}
	cn.nc.SetDeadline(deadline) // fails on a closed connection only; the write will say so
	if ctx.Done() == nil {
		return func() bool { return false }
	}
	stop := context.AfterFunc(ctx, cn.abort)
	return func() bool { return !stop() }
}

// setDeadline sets another deadline, unless the exchange is aborted: it stays so.
func (cn *conn) setDeadline(t time.Time) {
	cn.nc.SetDeadline(t)
	if cn.aborted.Load() {
		cn.nc.SetDeadline(past)
	}
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// abort makes all reads and writes under way fail at once.
func (cn *conn) abort() {
	cn.aborted.Store(true)
	cn.nc.SetDeadline(past)
}

// close drops the socket without a TLS farewell, which could wait for a peer that reads no more.
func (cn *conn) close() {
	cn.raw.Close()
	if cn.h2 != nil {
		<-cn.h2.frames.gone // its goroutine reads no more, and ends
	}
}

// Read reads on as long as the exchange's clock gives it another deadline.
func (cn *conn) Read(p []byte) (int, error) {
	for {
		n, err := cn.nc.Read(p)
		if n > 0 {
			if cn.firstByte.IsZero() {
				cn.firstByte = time.Now()
			}
			cn.clock.came.Add(int64(n))
			return n, nil // an error comes again
		}
		if err == nil || !isTimeout(err) {
			return 0, err
		}
		next, cause := cn.clock.next(time.Now())
		if cause != nil || cn.aborted.Load() {
			return 0, cmp.Or(cause, err)
		}
		cn.setDeadline(next)
	}
}

// fail returns err as what it means for a request on this connection.
func (cn *conn) fail(u canon.URL, phase Phase, err error) error {
	if cn.reused && cn.firstByte.IsZero() && !isTimeout(err) {
		err = askAgain(err)
	}
	return newError(u, phase, err)
}

// quiet reports whether the connection is open with nothing waiting to be read. Bytes that no request has asked for
// would be taken for the next answer.
func (cn *conn) quiet() bool {
	if cn.h2 != nil {
		return true // it was joined, and has its own reader
	}
	if cn.secure {
		// What TLS has already taken off the socket shows here; a deadline in the past keeps the read off the socket.
		cn.nc.SetReadDeadline(past)
		var b [1]byte
		if _, err := cn.nc.Read(b[:]); !isTimeout(err) {
			return false
		}
	}
	return cn.quietSocket()
}
