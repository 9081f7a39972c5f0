package fetch

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// capture keeps the bytes of an exchange as they went over the wire, with Config.Capture. What is payload lies where Payload
// does and nowhere else; beside it are the heads, and what stood between the parts of a chunked payload.
type capture struct {
	request []byte
	head    string
	interim string
	framing *buffer // records of a chunked body: how much payload was there before, how long, the bytes; nil: there are none
}

// Wire returns the answer as it came: status line, header and body with its transfer coding, to the end or to where the body
// was cut. For HTTP/2, which has no such text, it is what HTTP/1.1 would have said, with the length of the payload. Interim
// responses are apart. It is nil unless Config.Capture is set, and valid until Release.
func (r *Result) Wire() io.Reader {
	switch {
	case r.capture == nil:
		return nil
	case r.capture.framing == nil:
		return io.MultiReader(strings.NewReader(r.capture.head), bytes.NewReader(r.Payload))
	}
	return io.MultiReader(strings.NewReader(r.capture.head), &wireBody{payload: r.Payload, records: r.capture.framing.b})
}

// WireSize is the number of bytes that Wire gives.
func (r *Result) WireSize() (n int64) {
	if r.capture == nil {
		return 0
	}
	n = int64(len(r.capture.head) + len(r.Payload))
	if r.capture.framing != nil {
		for w := (&wireBody{payload: r.Payload, records: r.capture.framing.b}); ; {
			_, framing, ok := w.record()
			if !ok {
				break
			}
			n += int64(len(framing))
		}
	}
	return n
}

// WireRequest returns the request as it was sent, for HTTP/2 as HTTP/1.1 would have sent it, with the values of credentials
// withheld: what is captured is written down. It is nil unless Config.Capture is set.
func (r *Result) WireRequest() []byte {
	if r.capture == nil {
		return nil
	}
	return r.capture.request
}

// WireInterim returns the heads of the interim (1xx) responses that came before the answer, as they came.
func (r *Result) WireInterim() string {
	if r.capture == nil {
		return ""
	}
	return r.capture.interim
}

// mostWireFraming is how much may be kept of what stands between the parts of a payload of so many bytes.
func mostWireFraming(payload int64) int64 { return 1<<20 + payload/16 }

// record adds framing that came behind so many bytes of payload.
func (r *Result) record(g growth, payload int64, framing []byte) error {
	c := r.capture
	if c.framing == nil {
		c.framing = r.bufs.first(r.share, minBufferBytes)
	}
	var sizes [2 * binary.MaxVarintLen64]byte
	n := binary.PutUvarint(sizes[:], uint64(payload))
	n += binary.PutUvarint(sizes[n:], uint64(len(framing)))
	if int64(len(c.framing.b)+n+len(framing)) > mostWireFraming(payload) {
		return errFraming
	}
	for len(c.framing.b)+n+len(framing) > cap(c.framing.b) {
		var err error
		if c.framing, err = r.bufs.grow(g, c.framing, 0); err != nil {
			return err
		}
	}
	c.framing.b = append(append(c.framing.b, sizes[:n]...), framing...)
	return nil
}

// wireBody puts framing and payload together again.
type wireBody struct {
	payload []byte
	records []byte
	at      int64  // in the payload
	ready   []byte // to be given next
	next    []byte // framing behind ready
	done    bool   // there are no more records
}

// record takes the next one. What came behind the payload that was kept is left out.
func (w *wireBody) record() (at int64, framing []byte, ok bool) {
	offset, n := binary.Uvarint(w.records)
	if n <= 0 || offset > uint64(len(w.payload)) {
		return 0, nil, false
	}
	size, m := binary.Uvarint(w.records[n:])
	framing = w.records[n+m : n+m+int(size)]
	w.records = w.records[n+m+int(size):]
	return int64(offset), framing, true
}

func (w *wireBody) Read(p []byte) (int, error) {
	for len(w.ready) == 0 {
		if w.done {
			return 0, io.EOF
		}
		w.advance()
	}
	n := copy(p, w.ready)
	w.ready = w.ready[n:]
	return n, nil
}

// advance makes ready what comes next: framing, or the payload before the next piece of it, or the rest.
func (w *wireBody) advance() {
	if len(w.next) > 0 {
		w.ready, w.next = w.next, nil
		return
	}
	at, framing, ok := w.record()
	if !ok {
		w.ready, w.done = w.payload[w.at:], true
		return
	}
	w.ready, w.next, w.at = w.payload[w.at:at], framing, at
}

// impliedHead is what HTTP/1.1 would have said in the place of an answer of HTTP/2. length is that of the payload, -1 when it
// is not known.
func impliedHead(status int, h http.Header, length int64) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	if length >= 0 && len(h["Content-Length"]) == 0 {
		b.WriteString("Content-Length: " + strconv.FormatInt(length, 10) + "\r\n")
	}
	b.WriteString("\r\n")
	return b.String()
}
