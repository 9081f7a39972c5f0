package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"crawl/canon"
)

// Result is the answer to a request. Payload and Body lie in the client's memory until Release, which must be called: until
// then they count against Config.BodyMemoryBytes.
type Result struct {
	URL    canon.URL // as requested
	Status int
	Proto  string // "HTTP/1.1", as in the status line, or "HTTP/2.0"
	Header http.Header

	Payload []byte // the body as sent: out of its chunks, with its content codings
	Body    []byte // the body without its content codings; the same memory as Payload where there are none

	SetCookies bool // the answer set a cookie that the next request for its site may carry

	Addr  netip.AddrPort // who answered; zero where a proxy found the address
	Proxy string         // the proxy's URL; empty for none

	Truncated Truncation // why Payload or Body is not whole
	BodyErr   error      // the cause, when it is not Config.MaxBodyBytes alone

	// DecodeErr tells what of the content codings could not be taken off. Body is what was decoded before the fault, and
	// Payload itself when a coding is unknown, or there are too many. Where the payload was cut, that its coding has no end is not told again.
	DecodeErr error

	// Mislabeled is the coding that Content-Encoding names and the body plainly does not have: the bytes that were found in
	// its place are Body, or what gzip or zstd made of them where they begin as such a stream. It is no fault: servers do
	// so, and the page is whole.
	Mislabeled string

	FirstByte time.Duration // from sending the request to the first byte of the answer
	Took      time.Duration // of the whole Fetch, without Waited
	Waited    time.Duration // for memory that other bodies held

	bufs          *buffers
	share         *share
	payload, body *buffer  // body is nil where Body is Payload
	transfer      []string // transfer codings that are still on the payload
	capture       *capture // nil without Config.Capture
}

// Truncation says why a body is not whole. The words are those of WARC-Truncated (ISO 28500).
type Truncation string

// The reasons.
const (
	Whole               Truncation = ""
	TruncatedLength     Truncation = "length"     // longer than Config.MaxBodyBytes, before or after decoding, or out of all proportion to what was sent
	TruncatedTime       Truncation = "time"       // a deadline passed, also that for memory to become free, or it came too slowly
	TruncatedDisconnect Truncation = "disconnect" // the peer stopped early, or broke the framing
)

// Location returns the Location field of a redirect, byte for byte: an answer with status 301, 302, 303, 307 or 308. A
// 300 is a page that offers a choice, and 304 is no redirect. Of several fields it is the first that is not empty.
func (r *Result) Location() (ref string, ok bool) {
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		for _, ref := range r.Header["Location"] {
			if ref != "" {
				return ref, true
			}
		}
	}
	return "", false
}

// Release gives Payload and Body back to the client: nobody may read them any more, nor what Wire gave. The rest of the
// result stays valid.
func (r *Result) Release() {
	r.bufs.put(r.body)
	r.bufs.put(r.payload)
	if r.capture != nil {
		r.bufs.put(r.capture.framing)
		r.capture = nil
	}
	r.Payload, r.Body = nil, nil
	r.payload, r.body = nil, nil
	if r.share != nil {
		r.share.end()
	}
}

// payloadSource is where the payload of an answer comes from.
type payloadSource struct {
	io.Reader
	length int64 // as the head claims; -1: not known
	eager  bool  // more than the start of it is there already
}

// bodyGrowth is how the payload comes to more memory. resume is called after each wait for it.
func (r *Result) bodyGrowth(ctx context.Context, limit int64, resume func()) growth {
	take := func(n int64) error {
		before := r.share.waited
		err := r.share.take(ctx, n, forBody)
		if r.share.waited > before {
			resume()
		}
		return err
	}
	return growth{share: r.share, take: take, limit: limit}
}

// readBody reads the payload. ended: its last byte was read, and no more is to come.
func (r *Result) readBody(g growth, src payloadSource) (ended bool) {
	g.expect = min(32<<10, g.limit)
	if src.length >= 0 {
		g.expect = min(src.length, g.limit)
	}
	// A slow body holds no more than it has brought, however long it says that it is.
	size := min(g.expect, minBufferBytes)
	if src.eager {
		size = min(g.expect, firstBytes)
	}
	b, more, err := r.bufs.fill(g, r.bufs.first(r.share, size), src)
	b.trim(r.share)
	r.payload, r.Payload, r.Body = b, b.b, b.b
	switch {
	case more:
		r.Truncated = TruncatedLength
	case err != nil:
		r.cut(err)
	}
	return r.Truncated == Whole
}

// cut says that err ended the body.
func (r *Result) cut(err error) {
	r.Truncated, r.BodyErr = TruncatedDisconnect, bare(err)
	if isTimeout(err) {
		r.Truncated = TruncatedTime
	}
}

// decode takes the content codings off.
func (r *Result) decode(ctx context.Context, d *decoders, limit int64) {
	fields := r.Header["Content-Encoding"]
	if len(r.transfer) > 0 {
		fields = slices.Concat(fields, r.transfer)
	}
	out := d.decode(ctx, r.share, r.Payload, fields, limit)
	if out.body != nil {
		r.body, r.Body = out.body, out.body.b
	}
	r.Mislabeled = out.mislabeled
	switch err := out.err; {
	case isMemory(err):
		r.cut(err)
		return
	case errors.Is(err, errRatio):
		if r.BodyErr == nil {
			r.BodyErr = err
		}
	case errors.Is(err, errNoEnd) && (out.more || r.Truncated != Whole):
		// It lies in what was cut.
	default:
		r.DecodeErr = err
	}
	if out.more && r.Truncated == Whole {
		r.Truncated = TruncatedLength
	}
}
