package fetch

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// h2Window is how much of a body a server may send ahead of us. It lies outside Config.BodyMemoryBytes.
	h2Window = 256 << 10

	// h2WriteTimeout is how long a server may take nothing of what we send, which is little.
	h2WriteTimeout = 5 * time.Second
)

// session is HTTP/2 on a connection. Any number of exchanges may use it at once.
type session struct {
	client *http.ClientConn
	frames *frames
}

// handedConn is the key under which a context holds the connection that a session is to be on.
type handedConn struct{}

// newH2 returns what makes sessions on connections of ours: to it they are plain ones, TLS being below.
func newH2(cfg Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return ctx.Value(handedConn{}).(net.Conn), nil
		},
		Protocols:              protocols,
		DisableCompression:     true,
		MaxResponseHeaderBytes: int64(cfg.MaxHeadBytes),
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: h2Window, WriteByteTimeout: h2WriteTimeout},
	}
}

// speak begins HTTP/2 on cn.
func (c *Client) speak(ctx context.Context, cn *conn, by time.Time) error {
	f := newFrames(cn.nc)
	cn.nc.SetDeadline(by)
	client, err := c.h2.NewClientConn(context.WithValue(ctx, handedConn{}, net.Conn(f)), "http", "conn:0") // no address: it is connected
	if err != nil {
		return err
	}
	cn.nc.SetDeadline(time.Time{}) // from here on each exchange has its own
	cn.h2 = &session{client, f}
	return nil
}

// usable reports whether the session takes more requests, or will once others have ended.
func (s *session) usable() bool {
	away, _, broken := s.frames.state(0)
	return broken == nil && away == nil && s.client.Err() == nil
}

// exchange2 is one exchange over HTTP/2.
type exchange2 struct {
	*Client
	cn     *conn
	hop    hop
	cancel context.CancelCauseFunc
	clock  clock
	timer  *time.Timer

	stream    atomic.Uint32 // 0: the request was not sent
	firstByte atomic.Int64  // nanoseconds after sent
	sent      time.Time
	interim   int
}

// exchange2 sends the request on cn and reads its answer. Afterwards cn is idle, or others use it, or it is closed.
func (c *Client) exchange2(ctx context.Context, cn *conn, h hop) (*Result, error) {
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := &exchange2{Client: c, cn: cn, hop: h, cancel: cancel, sent: time.Now()}
	first := x.clock.reset(h, x.sent, c.cfg.FirstByteTimeout, c.cfg.MinRate)
	x.timer = time.AfterFunc(time.Hour, x.overdue)
	defer x.timer.Stop()
	x.timer.Reset(time.Until(first))
	res, keep, err := x.roundTrip(own)
	c.idle.leave(cn, keep)
	if err != nil {
		return nil, h.explain(ctx, err)
	}
	return c.finish(ctx, res, h)
}

// overdue is called when a deadline has passed.
func (x *exchange2) overdue() {
	next, cause := x.clock.next(time.Now())
	if cause != nil {
		x.cancel(cause)
		return
	}
	x.timer.Reset(time.Until(next))
}

// roundTrip does the exchange. keep: the connection may serve further ones.
func (x *exchange2) roundTrip(ctx context.Context) (res *Result, keep bool, err error) {
	resp, err := x.cn.h2.client.RoundTrip(x.request(ctx))
	if err != nil {
		cause, keep := x.judge(ctx, err)
		return nil, keep, cause
	}
	res, err = x.newResult2(resp)
	if err != nil {
		x.cancel(err)
		resp.Body.Close()
		return nil, true, newError(x.hop.URL, PhaseHead, err)
	}
	x.clock.headDone(time.Now(), 0)
	resume := func() {
		x.timer.Reset(time.Until(x.clock.extend(time.Now(), x.hop.deadline.Add(res.share.waited))))
	}
	length := resp.ContentLength
	if x.hop.HeadOnly {
		length = 0 // that of what a GET would get
	}
	want := x.wantedOf(x.hop.Request, res.Status, res.Header, length)
	g := res.bodyGrowth(ctx, want.limit, resume)
	ended := res.readWanted(g, payloadSource{&stream{x, ctx, resp.Body}, length, false}, want)
	if !ended {
		x.cancel(nil) // so that closing the body waits for nobody
	}
	resp.Body.Close()
	if x.cfg.Capture {
		x.capture(res)
	}
	return res, ended || res.Truncated == TruncatedLength, nil
}

// request makes the request. Its target is the URL's, byte for byte.
func (x *exchange2) request(ctx context.Context) *http.Request {
	u := x.hop.URL
	trace := &httptrace.ClientTrace{
		WroteHeaders:         func() { x.stream.Store(x.cn.h2.frames.lastStream.Load()) }, // others' wait meanwhile
		GotFirstResponseByte: func() { x.firstByte.Store(int64(time.Since(x.sent))) },
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			if x.interim++; x.interim > maxInterim {
				return errInterimFlood
			}
			return nil
		},
	}
	req := &http.Request{
		Method: x.hop.method(),
		URL:    &url.URL{Scheme: u.Scheme(), Host: u.Host(), Opaque: "//" + u.Host() + u.Target()},
		Host:   u.Host(),
		Header: requestHeader(x.hop.Request, x.creds.of(u)),
	}
	return req.WithContext(httptrace.WithClientTrace(ctx, trace))
}

// requestHeader holds what appendRequest writes.
func requestHeader(r Request, own []field) http.Header {
	h := make(http.Header, len(own)+len(r.Header))
	for name, values := range r.Header {
		key := http.CanonicalHeaderKey(name)
		h[key] = append(h[key], values...)
	}
	replaced := canonicalNames(r.Header)
	for _, f := range own {
		if !slices.Contains(replaced, f.name) {
			h[f.name] = append(h[f.name], f.value)
		}
	}
	return h
}

func (x *exchange2) newResult2(resp *http.Response) (*Result, error) {
	lines := 0
	for _, values := range resp.Header {
		lines += len(values)
	}
	switch {
	case lines > x.cfg.MaxHeadLines:
		return nil, fmt.Errorf("%w: more than %d lines", errHeadTooLong, x.cfg.MaxHeadLines)
	case resp.StatusCode < 200 || resp.StatusCode > 999:
		return nil, fmt.Errorf("unexpected status %d", resp.StatusCode)
	}
	res := x.newResult(x.hop, resp.StatusCode, "HTTP/2.0", resp.Header)
	res.Addr, res.FirstByte = x.cn.key.addr, time.Duration(x.firstByte.Load())
	return res, nil
}

func (x *exchange2) capture(res *Result) {
	length := int64(-1)
	if res.Truncated == Whole && !x.hop.HeadOnly {
		length = int64(len(res.Payload))
	}
	res.capture = &capture{
		request: x.creds.withoutSecrets(appendRequest(nil, x.hop.Request, x.creds.of(x.hop.URL), nil)),
		head:    impliedHead(res.Status, res.Header, length),
	}
}

// stream is the payload of an answer over HTTP/2.
type stream struct {
	x    *exchange2
	ctx  context.Context
	body io.Reader
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	s.x.clock.came.Add(int64(n))
	if err == nil || err == io.EOF {
		return n, err
	}
	cause, _ := s.x.cause(s.ctx, err)
	return n, cause
}
