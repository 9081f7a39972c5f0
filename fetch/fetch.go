// Package fetch makes one polite HTTP hop.
//
// A Fetch sends one GET, or one HEAD, and returns its answer. It follows no redirect, dials no address but those it was given and has
// checked, keeps one deadline from the call to the last byte, and holds no more of a head or a body than the caps allow,
// before decoding and after, nor of all bodies together. What a server sent only in part is returned and marked, not thrown away. A Robots says what a
// site's robots.txt allows; each of its rules costs time linear in rule and URL.
//
// It speaks HTTP/1.1, and HTTP/2 over TLS with servers that choose it.
//
// The price: no other methods, bodies whole in memory, large ones that wait for each other's memory, and a caller
// that must give each Result back by Release.
package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"crawl/canon"
	"crawl/fetch/dns"
)

// Client fetches. It is safe for use by many goroutines, and owns the connections between fetches and the buffers that
// results lie in.
type Client struct {
	cfg     Config // not written after New, as all below
	policy  policy
	creds   *credentials // what is sent with requests
	proxies proxies
	tls     *tls.Config
	lookup  func(ctx context.Context, host string) (dns.Answer, error)
	doubt   func(host string) // what is known of its addresses
	reach   *reach
	dialer  func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)

	h2      *http.Transport // makes sessions of HTTP/2; nil where it is off
	firsts  firsts
	idle    *idleConns
	heads   headBuffers
	bufs    *buffers
	codings *decoders
	memory  *budget
}

// Request names what to fetch.
type Request struct {
	URL canon.URL

	// HeadOnly asks by HEAD: the answer has no body.
	HeadOnly bool

	// Addrs are the addresses that may be dialled for URL, best first, as Resolve returns them. With none, Fetch asks
	// Resolve itself.
	Addrs []netip.AddrPort

	// MaxBodyBytes caps the body as sent, and as decoded, in place of Config.MaxBodyBytes: a longer one is cut there. 0: that
	// one. MaxRobotsBytes is the most.
	MaxBodyBytes int64

	// Want, if set, is asked with an answer's head how much of its body is wanted, in bytes; MaxBodyBytes caps it. Where
	// the head says that the body is longer, nothing of it is read, nor where nothing is wanted; otherwise it is cut there.
	// Result.Truncated and Result.BodyErr say so.
	Want func(status int, h http.Header) int64

	// Fresh has the request sent on a new connection: the way to ask again after ErrAskAgain.
	Fresh bool

	// Header holds further fields to send. They replace the client's own of the same name. Fields that frame the message
	// or name its host are refused.
	Header http.Header
}

var errNoURL = errors.New("no URL")

// New returns a client for cfg, which it completes with the defaults.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	bufs := new(buffers)
	c := &Client{
		cfg:     cfg,
		policy:  newPolicy(cfg.AllowPrivate),
		creds:   newCredentials(cfg),
		reach:   newReach(),
		proxies: newProxies(cfg.Proxies),
		dialer:  dialTCP,
		idle:    newIdleConns(cfg.MaxIdleConns, cfg.MaxIdlePerHost, cfg.IdleTimeout),
		bufs:    bufs,
		codings: &decoders{bufs: bufs, maxRatio: cfg.MaxDecodeRatio},
		memory:  newBudget(cfg.BodyMemoryBytes, mostOfBody(cfg.MaxBodyBytes, cfg.Capture)),
	}
	names := dns.New(dns.Config{Servers: cfg.Resolvers, Timeout: cfg.DNSTimeout, MinTTL: cfg.DNSMinTTL, IPv6: c.reach.hasIPv6})
	c.lookup, c.doubt = names.Lookup, names.Doubt
	c.tls = &tls.Config{
		InsecureSkipVerify: cfg.InsecureTLS,
		NextProtos:         []string{"h2", "http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(min(max(cfg.MaxIdleConns, 64), mostSessions)),
	}
	if cfg.DisableHTTP2 {
		c.tls.NextProtos = []string{"http/1.1"}
	} else {
		c.h2 = newH2(cfg)
	}
	return c, nil
}

// Close closes the idle connections. Fetches under way end as they would have, and close theirs; later ones fail with
// net.ErrClosed. Once they have returned, the client has no goroutine and no connection left.
func (c *Client) Close() error {
	c.idle.close()
	return nil
}

// Fetch asks for r.URL once and returns the answer, whatever its status. It fails with an *Error when there is no
// complete head. Once there is one, the result is returned even if the body is cut short by the deadline, by the caps or
// by the peer: Result.Truncated says so. Time in which a body waits for memory that others hold does not count against
// Config.Timeout, up to as much time again; then it is cut there. The end of ctx aborts at once; when that is a cancellation and no deadline,
// there is no result.
//
// No request is sent twice by itself, since a delay may be owed between the two. One that fails on a kept connection before
// the first byte of its answer ends with ErrAskAgain: the server may have closed that connection meanwhile. So does one over
// HTTP/2 that the server says it has not seen.
func (c *Client) Fetch(ctx context.Context, r Request) (*Result, error) {
	h := hop{Request: r, start: time.Now(), via: c.proxies.of(r.URL)}
	h.deadline = h.start.Add(c.cfg.Timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(h.deadline) {
		h.deadline = d
	}
	if err := c.admit(ctx, r); err != nil {
		return nil, err
	}
	if len(h.Addrs) == 0 && !h.via.findsNames() {
		found, err := c.resolveBy(ctx, h.deadline, r.URL)
		if err != nil {
			return nil, err
		}
		h.Addrs = found.Addrs
	}
	cn, err := c.connection(ctx, h)
	if err != nil {
		return nil, err
	}
	return c.exchange(ctx, cn, h)
}

func (c *Client) resolveBy(ctx context.Context, deadline time.Time, u canon.URL) (Resolution, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return c.Resolve(ctx, u)
}

// hop is one Fetch under way.
type hop struct {
	Request
	start, deadline time.Time
	via             *proxy // nil: none
}

// noPlace stands for the addresses of a host that a proxy finds.
var noPlace = []netip.AddrPort{{}}

// places returns where h's host may be.
func (h *hop) places() []netip.AddrPort {
	if h.via.findsNames() {
		return noPlace
	}
	return h.Addrs
}

// admit refuses what needs no connection to fail.
func (c *Client) admit(ctx context.Context, r Request) error {
	switch {
	case r.URL.IsZero():
		return &Error{URL: r.URL, Phase: PhaseWrite, Err: errNoURL}
	case c.idle.isClosed():
		return &Error{URL: r.URL, Phase: PhaseDial, Err: fmt.Errorf("client: %w", net.ErrClosed)}
	}
	if err := ctx.Err(); err != nil {
		return newError(r.URL, PhaseDial, err)
	}
	if err := checkFields(r.Header); err != nil {
		return &Error{URL: r.URL, Phase: PhaseWrite, Err: err}
	}
	return nil
}

// exchange sends the request on cn and reads its answer. Afterwards cn is idle or closed.
func (c *Client) exchange(ctx context.Context, cn *conn, h hop) (*Result, error) {
	if cn.h2 != nil {
		return c.exchange2(ctx, cn, h)
	}
	aborted := cn.begin(ctx, cn.clock.reset(h, time.Now(), c.cfg.FirstByteTimeout, c.cfg.MinRate))
	cn.in.bufs = &c.heads
	res, whole, err := c.roundTrip(ctx, cn, h)
	cn.in.release()
	// Asked first in any case: a connection that ctx may still break serves no other fetch.
	if !aborted() && whole {
		c.idle.put(cn)
	} else {
		cn.close()
	}
	if err != nil {
		return nil, h.explain(ctx, err)
	}
	return c.finish(ctx, res, h)
}

// finish takes cookies, and decodes what came.
func (c *Client) finish(ctx context.Context, res *Result, h hop) (*Result, error) {
	res.SetCookies = c.creds.receive(h.URL, res.Header)
	res.decode(ctx, c.codings, c.bodyLimit(h.Request))
	res.share.complete()
	res.Waited = res.share.waited
	res.Took = time.Since(h.start) - res.Waited
	if res.Truncated == TruncatedTime && canceled(ctx) {
		res.Release()
		return nil, newError(h.URL, PhaseBody, ctx.Err())
	}
	return res, nil
}

// roundTrip writes the request and reads the answer. whole: nothing of the answer is left unread, and the connection
// stays open.
func (c *Client) roundTrip(ctx context.Context, cn *conn, h hop) (res *Result, whole bool, err error) {
	sent := time.Now()
	if err := cn.send(h.Request, c.creds.of(h.URL)); err != nil {
		return nil, false, cn.fail(h.URL, PhaseWrite, err)
	}
	head, interim, err := cn.readHead(headLimits{c.cfg.MaxHeadBytes, c.cfg.MaxHeadLines})
	if err != nil {
		return nil, false, cn.fail(h.URL, PhaseHead, err)
	}
	if cn.direct && head.status == http.StatusProxyAuthRequired {
		return nil, false, newError(h.URL, PhaseDial, &ProxyError{h.via.name, ErrProxyAuth})
	}
	framing, err := head.frame(h.HeadOnly)
	if err != nil {
		return nil, false, cn.fail(h.URL, PhaseHead, err)
	}
	cn.clock.headDone(time.Now(), cn.in.left())
	res = c.newResult(h, head.status, head.proto, head.header)
	res.Addr, res.FirstByte, res.transfer = cn.key.addr, cn.firstByte.Sub(sent), framing.codings
	resume := func() { cn.setDeadline(cn.clock.extend(time.Now(), h.deadline.Add(res.share.waited))) }
	want := c.wantedOf(h.Request, head.status, head.header, framing.length)
	g := res.bodyGrowth(ctx, want.limit, resume)
	b := newBody(cn, framing)
	if c.cfg.Capture {
		res.capture = &capture{request: c.creds.withoutSecrets(cn.out), head: head.text, interim: interim}
		b.chunks.record = func(payload int64, framing []byte) error { return res.record(g, payload, framing) }
	}
	return res, res.readWanted(g, payloadSource{b, framing.length, cn.in.full}, want) && b.reusable(), nil
}

func (c *Client) newResult(h hop, status int, proto string, header http.Header) *Result {
	return &Result{
		URL: h.URL, Status: status, Proto: proto, Header: header, Proxy: h.via.url(),
		bufs: c.bufs, share: c.memory.open(c.cfg.Timeout),
	}
}

// explain gives a failure its last cause: an aborted or timed-out connection knows only that its deadline has passed.
func (h hop) explain(ctx context.Context, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || !isTimeout(e.Err) {
		return err
	}
	if canceled(ctx) {
		return newError(h.URL, e.Phase, ctx.Err())
	}
	if _, ok := e.Err.(timeoutError); ok {
		return err
	}
	return newError(h.URL, e.Phase, timeoutError{"no answer", h.deadline.Sub(h.start)})
}

// canceled tells a caller that gave up from a deadline of the caller's.
func canceled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
