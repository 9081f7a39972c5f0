package fetch

import (
	"errors"
	"net/http"
	"net/netip"
	"time"

	"crawl/canon"
)

// Result is the answer to a request. Payload and Body lie in the client's buffers until Release.
type Result struct {
	URL    canon.URL // as requested
	Status int
	Proto  string // as in the status line: "HTTP/1.1"
	Header http.Header

	Payload []byte // the body as sent: free of transfer codings, with its content codings
	Body    []byte // the body without its content codings; the same memory as Payload where there are none

	Addr netip.AddrPort // who answered

	Truncated Truncation // why Payload or Body is not whole
	BodyErr   error      // the cause when the deadline or the peer ended the body

	// DecodeErr tells what of the content codings could not be taken off. Body is what was decoded before the fault, and
	// Payload itself when a coding is unknown. Where the payload was cut, that its coding has no end is not told again.
	DecodeErr error

	FirstByte time.Duration // from sending the request to the first byte of the answer
	Took      time.Duration // of the whole Fetch

	bufs          *buffers
	payload, body *buffer // body is nil where Body is Payload
}

// Truncation says why a body is not whole. The words are those of WARC-Truncated (ISO 28500).
type Truncation string

// The reasons.
const (
	Whole               Truncation = ""
	TruncatedLength     Truncation = "length"     // longer than Config.MaxBodyBytes, before or after decoding
	TruncatedTime       Truncation = "time"       // the deadline passed
	TruncatedDisconnect Truncation = "disconnect" // the peer stopped early, or broke the framing
)

// Location returns the Location field of a redirect, byte for byte: an answer with status 301, 302, 303, 307 or 308. A
// 300 is a page that offers a choice, and 304 is no redirect.
func (r *Result) Location() (ref string, ok bool) {
	switch r.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		ref = r.Header.Get("Location")
	}
	return ref, ref != ""
}

// Release gives Payload and Body back to the client. The rest of the result stays valid. Without it the garbage
// collector does the work.
func (r *Result) Release() {
	r.bufs.put(r.body)
	r.bufs.put(r.payload)
	r.Payload, r.Body = nil, nil
	r.payload, r.body = nil, nil
}

// readBody reads the payload. ended: its last byte was read, and no more is to come.
func (r *Result) readBody(resp *http.Response, limit int64) (ended bool) {
	expect := resp.ContentLength
	if expect < 0 {
		expect = 32 << 10
	}
	b, more, err := r.bufs.fill(r.bufs.get(min(expect, limit, maxLentBytes)), resp.Body, limit)
	r.payload, r.Payload, r.Body = b, b.b, b.b
	switch {
	case more:
		r.Truncated = TruncatedLength
	case err != nil && isTimeout(err):
		r.Truncated, r.BodyErr = TruncatedTime, bare(err)
	case err != nil:
		r.Truncated, r.BodyErr = TruncatedDisconnect, bare(err)
	}
	return r.Truncated == Whole
}

// decode takes the content codings off.
func (r *Result) decode(d *decoders, limit int64) {
	body, more, err := d.decode(r.Payload, r.Header["Content-Encoding"], limit)
	if body != nil {
		r.body, r.Body = body, body.b
	}
	if more && r.Truncated == Whole {
		r.Truncated = TruncatedLength
	}
	if r.Truncated != Whole && errors.Is(err, errNoEnd) {
		err = nil
	}
	r.DecodeErr = err
}
