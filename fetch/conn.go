package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode"

	"crawl/canon"
)

var (
	errHeadTooLong  = errors.New("head too long")
	errInterimFlood = errors.New("too many interim responses")

	// errStale ends an exchange on a kept connection that the server has closed: nothing of an answer has come.
	errStale = errors.New("kept connection closed by the server")
)

// maxInterim is how many 1xx responses may come before the answer.
const maxInterim = 16

// conn is one connection to an origin. A single exchange, or the set of idle connections, owns it at any time.
type conn struct {
	raw    net.Conn // the socket
	nc     net.Conn // what is spoken through: raw, or TLS on it
	secure bool
	key    connKey
	out    []byte // the last request's bytes, kept for their memory

	quietSocket func() bool // nothing waits on the socket

	// Of the exchange under way.
	br        *bufio.Reader // reads from the conn itself; nil between exchanges
	room      int           // bytes that may still be read
	firstByte time.Time     // zero until something has come
	broken    error         // what reading ended with

	idleConn // of idleConns
}

// connKey says what a connection may serve: one scheme, host and port, at the address it was checked for.
type connKey struct {
	origin string
	addr   netip.AddrPort
}

func newConn(nc net.Conn, key connKey) *conn {
	return &conn{raw: nc, nc: nc, key: key, quietSocket: socketProbe(nc)}
}

// begin starts an exchange that ends by deadline, or with ctx. aborted ends it and reports whether ctx has, or still may,
// break the connection.
func (cn *conn) begin(ctx context.Context, deadline time.Time, br *bufio.Reader) (aborted func() bool) {
	cn.br = br
	cn.firstByte = time.Time{}
	cn.broken = nil
	cn.nc.SetDeadline(deadline) // fails on a closed connection only; the write will say so
	if ctx.Done() == nil {
		return func() bool { return false }
	}
	stop := context.AfterFunc(ctx, cn.abort)
	return func() bool { return !stop() }
}

// resume sets another deadline, unless ctx is over: what it aborted stays so.
func (cn *conn) resume(ctx context.Context, deadline time.Time) {
	if own, ok := ctx.Deadline(); ok && own.Before(deadline) {
		deadline = own
	}
	cn.nc.SetDeadline(deadline)
	if ctx.Err() != nil {
		cn.abort()
	}
}

// abort makes all reads and writes under way fail at once.
func (cn *conn) abort() { cn.nc.SetDeadline(time.Unix(1, 0)) }

// close drops the socket without a TLS farewell, which could wait for a peer that reads no more.
func (cn *conn) close() { cn.raw.Close() }

// Read is what br reads from. It keeps to the room left.
func (cn *conn) Read(p []byte) (int, error) {
	if cn.room <= 0 {
		cn.broken = errHeadTooLong
		return 0, cn.broken
	}
	n, err := cn.nc.Read(p[:min(len(p), cn.room)])
	if n > 0 && cn.firstByte.IsZero() {
		cn.firstByte = time.Now()
	}
	cn.room -= n
	cn.broken = err
	return n, err
}

// readHead reads up to the end of the head of the final answer. At most maxBytes are read before that.
func (cn *conn) readHead(maxBytes int) (*http.Response, error) {
	cn.room = maxBytes
	for range maxInterim + 1 {
		resp, err := http.ReadResponse(cn.br, nil)
		switch {
		case err != nil && cn.broken != nil:
			return nil, cn.broken // the parser may know only of a line that makes no sense
		case err != nil:
			return nil, readable(err)
		case resp.StatusCode < 100 || resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, fmt.Errorf("unexpected status %q", resp.Status)
		case resp.StatusCode >= 200:
			cn.room = math.MaxInt
			return resp, nil
		}
	}
	return nil, errInterimFlood
}

// readable makes an error that quotes a bad head fit for a log: short, and free of control characters.
func readable(err error) error {
	const most = 200
	text := err.Error()
	clean := strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return unicode.ReplacementChar
		}
		return c
	}, text[:min(len(text), most)])
	if clean == text {
		return err
	}
	return errors.New(clean)
}

// fail returns err as what it means for a request on this connection.
func (cn *conn) fail(u canon.URL, phase Phase, err error) error {
	if cn.reused && cn.firstByte.IsZero() && !isTimeout(err) {
		return errStale
	}
	return newError(u, phase, err)
}

// quiet reports whether the connection is open with nothing waiting to be read. Bytes that no request has asked for
// would be taken for the next answer.
func (cn *conn) quiet() bool {
	if cn.secure {
		// What TLS has already taken off the socket shows here; a deadline in the past keeps the read off the socket.
		cn.nc.SetReadDeadline(time.Unix(1, 0))
		var b [1]byte
		if _, err := cn.nc.Read(b[:]); !isTimeout(err) {
			return false
		}
	}
	return cn.quietSocket()
}

// readers lends the buffers that answers are read through; connections between exchanges hold none.
type readers struct{ pool sync.Pool }

// readerBytes holds a usual head with the start of its body. It also caps the trailers of a chunked body.
const readerBytes = 8 << 10

func (r *readers) get(cn *conn) *bufio.Reader {
	if br, ok := r.pool.Get().(*bufio.Reader); ok {
		br.Reset(cn)
		return br
	}
	return bufio.NewReaderSize(cn, readerBytes)
}

func (r *readers) put(br *bufio.Reader) {
	br.Reset(nil)
	r.pool.Put(br)
}
