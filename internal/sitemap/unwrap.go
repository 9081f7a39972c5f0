package sitemap

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"regexp"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	bufferBytes = 64 << 10

	// maxWraps is how often a file may be gzipped. Once is usual; twice comes of servers that pack what is packed.
	maxWraps = 3

	declarationBytes = 256 // that an XML declaration stands in
)

// unwrap takes gzip off, going by the first bytes alone: names and labels lie in both directions. What it gives ends with
// ErrTooLong after MaxBytes.
func unwrap(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, bufferBytes)
	for range maxWraps {
		if head, _ := b.Peek(2); !bytes.Equal(head, []byte("\x1f\x8b")) {
			break
		}
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		b = bufio.NewReaderSize(z, bufferBytes)
	}
	return bufio.NewReaderSize(&limited{b, MaxBytes}, bufferBytes), nil
}

// limited reads at most left bytes, and fails where there are more.
type limited struct {
	r    *bufio.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left == 0 {
		if _, err := l.r.Peek(1); err != nil {
			return 0, err
		}
		return 0, ErrTooLong
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// decoded gives text in UTF-8, without a byte order mark. What decides is the mark, then the charset of the media type,
// then the XML declaration (RFC 7303, section 3). Bytes that are no UTF-8 where UTF-8 was said stay as they are.
func decoded(b *bufio.Reader, contentType string) *bufio.Reader {
	head, _ := b.Peek(declarationBytes)
	if size := len("\xef\xbb\xbf"); bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		b.Discard(size)
		return b
	}
	enc := marked(head)
	if enc == nil {
		_, params, _ := mime.ParseMediaType(contentType)
		enc = named(params["charset"])
	}
	if enc == nil {
		if said := declaration.FindSubmatch(head); said != nil {
			enc = named(string(said[1]))
		}
	}
	if enc == nil || enc == unicode.UTF8 {
		return b
	}
	return bufio.NewReaderSize(transform.NewReader(b, enc.NewDecoder()), bufferBytes)
}

var declaration = regexp.MustCompile(`^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// marked returns the UTF-16 that a byte order mark, or an XML document's first characters, show.
func marked(head []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("<\x00?\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\x00<\x00?")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	return nil
}

// named returns the encoding of a label of the Encoding standard. UTF-16 without its mark is a label that cannot be true:
// the text that it stands in was read as ASCII.
func named(label string) encoding.Encoding {
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil
	}
	switch name, _ := htmlindex.Name(enc); name {
	case "utf-16le", "utf-16be", "utf-8", "replacement":
		return unicode.UTF8
	}
	return enc
}
