package fetch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

const (
	gzipMagic         = "\x1f\x8b"
	gzipLengthBytes   = 4 // at the end of a member
	maxContentCodings = 4 // one over another
)

var (
	errNoEnd       = errors.New("gzip: the stream has no end")
	errManyCodings = errors.New("too many content codings")
)

// decoders takes content codings off.
type decoders struct {
	bufs  *buffers
	gzips sync.Pool // of *gunzipper
}

// decode undoes what the Content-Encoding fields say was done to payload, keeping at most limit bytes of each step. The
// body is nil where it is payload itself: without codings, with one that is not known, and when it is labelled as gzip
// but is not.
func (d *decoders) decode(payload []byte, fields []string, limit int64) (body *buffer, more bool, err error) {
	if len(fields) == 0 || len(payload) == 0 {
		return nil, false, nil
	}
	codings := contentCodings(fields)
	if len(codings) > maxContentCodings {
		return nil, false, errManyCodings
	}
	src := payload
	for _, coding := range slices.Backward(codings) {
		if !isGzip(coding) {
			d.bufs.put(body)
			return nil, false, fmt.Errorf("content coding %q is not known", coding)
		}
		if !isGzipped(src) {
			return body, more, err
		}
		inner, cut, failed := d.gunzip(src, limit)
		d.bufs.put(body)
		body, src = inner, inner.b
		more = more || cut
		if err == nil {
			err = failed
		}
	}
	return body, more, err
}

// contentCodings returns the codings in the order in which they were applied, without those that do nothing.
func contentCodings(fields []string) (codings []string) {
	for _, value := range fields {
		for coding := range strings.SplitSeq(value, ",") {
			coding = strings.ToLower(strings.Trim(coding, " \t"))
			if coding != "" && coding != "identity" {
				codings = append(codings, coding)
			}
		}
	}
	return codings
}

func isGzip(coding string) bool { return coding == "gzip" || coding == "x-gzip" }

func isGzipped(b []byte) bool { return bytes.HasPrefix(b, []byte(gzipMagic)) }

// gunzipper is a gzip reader with its source, for use again.
type gunzipper struct {
	src bytes.Reader // reads byte by byte too, so that the gzip reader takes no more than its member
	zr  gzip.Reader
}

// gunzip decodes the members of src, one after another. What follows the last one and is no member is padding.
func (d *decoders) gunzip(src []byte, limit int64) (out *buffer, more bool, err error) {
	g, ok := d.gzips.Get().(*gunzipper)
	if !ok {
		g = new(gunzipper)
	}
	defer func() {
		g.src.Reset(nil)
		d.gzips.Put(g)
	}()
	g.src.Reset(src)
	out = d.bufs.get(min(claimedSize(src), limit+1, maxLentBytes))
	for rest := src; isGzipped(rest); rest = src[len(src)-g.src.Len():] {
		if err := g.zr.Reset(&g.src); err != nil {
			return out, false, gzipError(err)
		}
		g.zr.Multistream(false)
		out, more, err = d.bufs.fill(out, &g.zr, limit)
		if more || err != nil {
			return out, more, gzipError(err)
		}
	}
	return out, false, nil
}

// claimedSize is the length that the last member's trailer tells, plus one to see the end by. It is a hint: it counts
// modulo 2^32, for one member, and a peer may write what it likes.
func claimedSize(src []byte) int64 {
	if len(src) < gzipLengthBytes {
		return 1
	}
	return int64(binary.LittleEndian.Uint32(src[len(src)-gzipLengthBytes:])) + 1
}

func gzipError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errNoEnd
	}
	return fmt.Errorf("gzip: %w", err)
}
