package testweb

import (
	"compress/gzip"
	"fmt"
	"net"
	"strconv"
	"time"
)

// packer compresses bodies.
type packer struct {
	out    []byte
	writer *gzip.Writer
}

// Write implements io.Writer for the gzip writer.
func (p *packer) Write(b []byte) (int, error) {
	p.out = append(p.out, b...)
	return len(b), nil
}

// pack returns body in gzip format; it is valid until the next call.
func (p *packer) pack(body []byte) ([]byte, error) {
	p.out = p.out[:0]
	if p.writer == nil {
		w, err := gzip.NewWriterLevel(p, gzip.BestSpeed)
		if err != nil {
			return nil, err
		}
		p.writer = w
	}
	p.writer.Reset(p)
	if _, err := p.writer.Write(body); err != nil {
		return nil, err
	}
	if err := p.writer.Close(); err != nil {
		return nil, err
	}
	return p.out, nil
}

var reasons = map[int]string{
	200: "OK", 301: "Moved Permanently", 302: "Found", 303: "See Other", 307: "Temporary Redirect", 308: "Permanent Redirect",
	404: "Not Found", 410: "Gone", 503: "Service Unavailable",
}

// prepare turns a reply into what goes on the wire.
func (x *exchange) prepare(r reply) error {
	encoded := x.site.cfg.Gzip && x.request.gzip && len(r.body) > 0
	if encoded {
		packed, err := x.packer.pack(r.body)
		if err != nil {
			return fmt.Errorf("testweb: gzip: %w", err)
		}
		r.body = packed
	}
	r.chunked = r.chunked && !x.request.old
	x.prepareHead(r, encoded)
	x.list = append(x.list[:0], x.head)
	switch {
	case x.request.head:
	case r.chunked:
		x.appendChunks(r.body)
	case len(r.body) > 0:
		x.list = append(x.list, r.body)
	}
	return nil
}

// prepareHead writes the head. It has no Date: an answer depends on the site alone.
func (x *exchange) prepareHead(r reply, encoded bool) {
	h := append(x.head[:0], "HTTP/1.1 "...)
	h = strconv.AppendInt(h, int64(r.status), 10)
	h = append(append(h, ' '), reasons[r.status]...)
	h = appendField(h, "Content-Type", r.contentType)
	if r.location != "" {
		h = appendField(h, "Location", r.location)
	}
	if encoded {
		h = appendField(h, "Content-Encoding", "gzip")
	}
	if x.site.cfg.Gzip {
		h = appendField(h, "Vary", "Accept-Encoding")
	}
	if wait := x.site.cfg.RetryAfter; r.status == 503 && wait > 0 {
		h = appendField(h, "Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
	switch {
	case x.request.last:
		h = appendField(h, "Connection", "close")
	case x.site.cfg.KeepAlive:
		h = appendField(h, "Connection", "keep-alive")
	}
	if r.chunked {
		h = appendField(h, "Transfer-Encoding", "chunked")
	} else {
		h = appendField(h, "Content-Length", strconv.Itoa(len(r.body)))
	}
	x.head = append(h, "\r\n\r\n"...)
}

func appendField(h []byte, name, value string) []byte {
	h = append(append(h, "\r\n"...), name...)
	return append(append(h, ": "...), value...)
}

// appendChunks writes body in two chunks.
func (x *exchange) appendChunks(body []byte) {
	for _, chunk := range [][]byte{body[:len(body)/3], body[len(body)/3:]} {
		if len(chunk) > 0 {
			x.list = append(x.list, fmt.Appendf(nil, "%x\r\n", len(chunk)), chunk, []byte("\r\n"))
		}
	}
	x.list = append(x.list, []byte("0\r\n\r\n"))
}

// send writes what prepare made: in one system call where the connection can.
func (x *exchange) send(conn net.Conn) error {
	x.parts = x.list // WriteTo shortens parts as it goes
	_, err := x.parts.WriteTo(conn)
	return err
}
