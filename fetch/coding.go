package fetch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// acceptEncoding is what decode understands and browsers send.
const acceptEncoding = "gzip, deflate, br, zstd"

const (
	gzipMagic       = "\x1f\x8b"
	gzipLengthBytes = 4 // at the end of a member
	zstdMagic       = "\x28\xb5\x2f\xfd"

	peekBytes   = 512     // by which text is told from what is none
	pooledBytes = 1 << 20 // a decoder of br that has made more is not kept
)

var (
	errNoEnd   = errors.New("the stream has no end")
	errWindows = errors.New("content codings with windows of more than 32 MiB together")
)

func known(coding string) bool {
	switch coding {
	case "gzip", "x-gzip", "deflate", "br", "zstd":
		return true
	}
	return false
}

func isGzip(coding string) bool { return coding == "gzip" || coding == "x-gzip" }

func isGzipped(b []byte) bool { return bytes.HasPrefix(b, []byte(gzipMagic)) }

// begins reports whether src begins as the coding does, if that has a mark to begin with.
func begins(coding string, src source) bool {
	switch {
	case isGzip(coding):
		return isGzipped(src.peek(len(gzipMagic)))
	case coding == "zstd":
		return isZstd(src.peek(len(zstdMagic)))
	}
	return true
}

// isZstd knows a frame, and one that is to be skipped (RFC 8878, section 3.1). Of a cut one only what is there counts.
func isZstd(b []byte) bool {
	skippable := len(b) == 4 && b[0]&0xf0 == 0x50 && string(b[1:]) == "\x2a\x4d\x18"
	return skippable || len(b) > 0 && bytes.HasPrefix([]byte(zstdMagic), b)
}

// marked returns the coding that src has the mark of, if any.
func marked(src source) string {
	switch {
	case string(src.peek(len(gzipMagic)+1)) == gzipMagic+"\x08": // with the only method that there is
		return "gzip"
	case string(src.peek(len(zstdMagic))) == zstdMagic:
		return "zstd"
	}
	return ""
}

// isZlib knows the header of RFC 1950. "deflate" means that format; some servers send the bare stream of RFC 1951.
func isZlib(b []byte) bool {
	return len(b) >= 2 && b[0]&0x0f == 8 && b[0]>>4 <= 7 && b[1]&0x20 == 0 && binary.BigEndian.Uint16(b)%31 == 0
}

// isText reports whether b, the start of a body, has none of the bytes that tell binary data from text (WHATWG MIME
// Sniffing, section 3). A few bytes without them mean nothing, unless they are UTF-8.
func isText(b []byte) bool {
	binary := bytes.ContainsFunc(b, func(c rune) bool {
		return c <= 0x08 || c == 0x0b || 0x0e <= c && c <= 0x1a || 0x1c <= c && c <= 0x1f
	})
	return !binary && (len(b) == peekBytes || utf8.Valid(b))
}

// source is what a decoder reads. It gives single bytes too, so that a decoder takes no more than its stream.
type source struct {
	r interface {
		io.Reader
		io.ByteReader
	}
	peek func(n int) []byte // the next bytes, n of them if there are
}

func bytesSource(b []byte) source {
	r := bytes.NewReader(b)
	return source{r, func(n int) []byte { return b[len(b)-r.Len():][:min(n, r.Len())] }}
}

func readerSource(l *layer) source {
	r := bufio.NewReaderSize(l, 4<<10)
	return source{r, func(n int) []byte { b, _ := r.Peek(n); return b }}
}

// window is how large the windows of zstd frames may be. A decoder for small ones does for most pages.
type window int64

const (
	smallWindow window = 2 << 20
	largeWindow window = 8 << 20 // the most that a server may use (RFC 9659, section 3)

	tableBytes  = 1 << 20  // what decoders of br and zstd have beside a window
	windowsMost = 64 << 20 // charged for one fetch at most
)

// decoderPools lends decoders. What lies in a pool is to the budget like garbage that is not collected yet.
type decoderPools struct{ gzips, zlibs, flates, brotlis, smallZstds, largeZstds sync.Pool }

// open returns the layer that takes coding off src, once there is memory for its window.
func (u *undoing) open(ctx context.Context, coding string, src source) (*layer, error) {
	l := &layer{coding: coding, left: u.limit}
	switch coding {
	case "deflate":
		l.text, l.other = !isZlib(src.peek(2)) && isText(src.peek(peekBytes)), marked(src)
	case "br":
		l.text, l.other = isText(src.peek(peekBytes)), marked(src)
		l.window = heapFactor * (brotliWindow(src.peek(1)[0]) + tableBytes)
	case "zstd":
		l.window = heapFactor * (int64(u.window) + tableBytes)
	}
	together := l.window
	for _, other := range u.layers {
		together += other.window
	}
	if together > windowsMost {
		return nil, errWindows
	}
	if err := u.share.take(ctx, l.window, forWindow); err != nil {
		return nil, err
	}
	u.start(l, src)
	return l, nil
}

// start gives l its decoder.
func (u *undoing) start(l *layer, src source) {
	switch {
	case isGzip(l.coding):
		u.gunzip(l, src)
	case l.coding == "br":
		u.unbrotli(l, src)
	case l.coding == "zstd":
		u.unzstd(l, src)
	default:
		u.inflate(l, src)
	}
}

// gunzipper reads the members of a gzip stream, one after another. What follows the last one and is no member is padding.
type gunzipper struct {
	src    source
	zr     gzip.Reader
	within bool // a member
}

func (p *decoderPools) gunzip(l *layer, src source) {
	g, ok := p.gzips.Get().(*gunzipper)
	if !ok {
		g = new(gunzipper)
	}
	g.src, g.within = src, false
	l.r, l.put = g, func(bool) {
		g.src = source{}
		p.gzips.Put(g)
	}
}

func (g *gunzipper) Read(p []byte) (int, error) {
	for {
		if !g.within {
			if !isGzipped(g.src.peek(len(gzipMagic))) {
				return 0, io.EOF
			}
			if err := g.zr.Reset(g.src.r); err != nil {
				return 0, unended(err)
			}
			g.zr.Multistream(false)
			g.within = true
		}
		n, err := g.zr.Read(p)
		if err == io.EOF {
			g.within, err = false, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// unended: an end within a header is none.
func unended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// claimedSize is the length that the last member's trailer tells. It is a hint: it counts modulo 2^32, for one member,
// and a peer may write what it likes.
func claimedSize(src []byte) int64 {
	if len(src) < gzipLengthBytes {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(src[len(src)-gzipLengthBytes:]))
}

// inflate reads either form of deflate. What follows the stream is padding.
func (p *decoderPools) inflate(l *layer, src source) {
	pool, fresh := &p.flates, func() io.Reader { return flate.NewReader(src.r) }
	if isZlib(src.peek(2)) {
		pool, fresh = &p.zlibs, func() io.Reader { return new(zlibReader) }
	}
	r, ok := pool.Get().(io.Reader)
	if !ok {
		r = fresh()
	}
	r.(flate.Resetter).Reset(src.r, nil)
	l.r, l.put = r, func(bool) { pool.Put(r) }
}

// zlibReader puts off to its first Read what zlib.NewReader reads at once.
type zlibReader struct {
	src   io.Reader // until then
	inner io.ReadCloser
}

// Reset is that of a flate.Resetter.
func (z *zlibReader) Reset(src io.Reader, _ []byte) error {
	z.src = src
	return nil
}

func (z *zlibReader) Read(p []byte) (n int, err error) {
	if z.src != nil {
		if z.inner == nil {
			z.inner, err = zlib.NewReader(z.src)
		} else {
			err = z.inner.(zlib.Resetter).Reset(z.src, nil)
		}
		z.src = nil
		if err != nil {
			return 0, unended(err)
		}
	}
	return z.inner.Read(p)
}

// brotliWindow returns the size of the window that the stream's first byte tells (RFC 7932, section 9.1).
func brotliWindow(first byte) int64 {
	switch long, short := first>>1&7, first>>4&7; {
	case first&1 == 0:
		return 1 << 16
	case long != 0:
		return 1 << (17 + long)
	case short == 0:
		return 1 << 17
	default:
		return 1 << (8 + short)
	}
}

// unbrotli keeps no decoder that failed, or that may hold a large window, which grows with what was decoded.
func (p *decoderPools) unbrotli(l *layer, src source) {
	br, ok := p.brotlis.Get().(*brotli.Reader)
	if !ok {
		br = new(brotli.Reader)
	}
	br.Reset(src.r) // never fails
	l.r, l.put = br, func(reuse bool) {
		if reuse {
			br.Reset(nil)
			p.brotlis.Put(br)
		}
	}
}

// unzstdder reads zstd frames. What follows the last one and is no frame is padding.
type unzstdder struct {
	*zstd.Decoder
	some bool // has given something
}

func (u *undoing) unzstd(l *layer, src source) {
	pool := &u.smallZstds
	if u.window == largeWindow {
		pool = &u.largeZstds
	}
	z, ok := pool.Get().(*unzstdder)
	if !ok {
		z = newUnzstdder(u.window)
	}
	z.some = false
	z.Reset(src.r) // fails only once it is closed
	l.r, l.put = z, func(bool) {
		z.Reset(nil) // lets go of src
		pool.Put(z)
	}
}

func newUnzstdder(w window) *unzstdder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(w)), zstd.WithDecodeBuffersBelow(0))
	if err != nil {
		panic(err) // only of options out of their range
	}
	return &unzstdder{Decoder: d}
}

func (z *unzstdder) Read(p []byte) (int, error) {
	n, err := z.Decoder.Read(p)
	z.some = z.some || n > 0
	if z.some && errors.Is(err, zstd.ErrMagicMismatch) {
		err = io.EOF
	}
	return n, err
}
