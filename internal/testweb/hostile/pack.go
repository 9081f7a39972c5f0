package hostile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"hash/crc32"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// packed writes text through a compressor.
func packed(text io.Reader, open func(io.Writer) io.WriteCloser) string {
	var b bytes.Buffer
	w := open(&b)
	if _, err := io.Copy(w, text); err != nil {
		panic(err) // memory takes whatever is written
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func gzipper(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func deflater(w io.Writer) io.WriteCloser {
	z, err := flate.NewWriter(w, flate.BestCompression)
	if err != nil {
		panic(err) // only of a level that there is none of
	}
	return z
}

func brotlier(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 5) }

func zstdder(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // only of options out of their range
	}
	return z
}

func gzipped(text string) string { return packed(strings.NewReader(text), gzipper) }

// endlessByte is what bombs are made of.
type endlessByte byte

func (c endlessByte) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

// bomb is n bytes of nothing, compressed when it is needed first.
func bomb(n int64, open func(io.Writer) io.WriteCloser) func() string {
	return sync.OnceValue(func() string { return packed(io.LimitReader(endlessByte(0), n), open) })
}

// badChecksum is gzip whose checksum is another text's.
func badChecksum(text string) string {
	b := []byte(gzipped(text))
	sum := crc32.ChecksumIEEE([]byte(text)) + 1
	for i := range 4 {
		b[len(b)-8+i] = byte(sum >> (8 * i))
	}
	return string(b)
}

// wideFrame is the head of a zstd frame that asks for a window of a terabyte (RFC 8878, section 3.1.1.1).
const wideFrame = "\x28\xb5\x2f\xfd\x00\xf0"
