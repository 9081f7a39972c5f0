package parse

import (
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"crawl/canon"
)

// charset is an encoding of the Encoding standard. The zero charset is none.
type charset struct {
	name string // lower case
	enc  encoding.Encoding
}

// lookup returns the charset that a label names, or none.
func lookup(label string) charset {
	enc, err := htmlindex.Get(label)
	if err != nil {
		return charset{}
	}
	name, err := htmlindex.Name(enc)
	if err != nil {
		return charset{}
	}
	return charset{name, enc}
}

// lookupMeta returns the charset that a meta element or an XML declaration names. It is not UTF-16: the name could not
// be read then (HTML standard, "prescan a byte stream to determine its encoding").
func lookupMeta(label []byte) charset {
	c := lookup(string(label))
	switch c.name {
	case "utf-16le", "utf-16be":
		return lookup("utf-8")
	case "x-user-defined":
		return lookup("windows-1252")
	}
	return c
}

// determine returns the charset of a body and the body without its byte order mark (HTML standard, "determining the
// character encoding"): the mark, the label of the Content-Type header, what a prescan finds, and then a guess: UTF-8
// for what is UTF-8, and otherwise what detect says. A meta element may still change one that is not certain.
func determine(label string, body []byte, xml bool, host string) (c charset, certain bool, rest []byte) {
	if c, size := byteOrderMark(body); size > 0 {
		return c, true, body[size:]
	}
	if c := lookup(label); c.name != "" {
		return c, true, body
	}
	if c := prescan(body, xml); c.name != "" {
		return c, xml, body
	}
	if xml || looksUTF8(body) {
		return lookup("utf-8"), xml, body
	}
	return detect(body, lastLabel(host)), false, body
}

func byteOrderMark(body []byte) (c charset, size int) {
	switch {
	case len(body) >= 3 && string(body[:3]) == "\xef\xbb\xbf":
		return lookup("utf-8"), 3
	case len(body) >= 2 && string(body[:2]) == "\xfe\xff":
		return lookup("utf-16be"), 2
	case len(body) >= 2 && string(body[:2]) == "\xff\xfe":
		return lookup("utf-16le"), 2
	}
	return charset{}, 0
}

// looksUTF8 reports whether body is UTF-8 and no ASCII. A character that the end of the body cuts does not count.
func looksUTF8(body []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(body); n++ {
		if end := body[len(body)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				body = body[:len(body)-n]
			}
			break
		}
	}
	return !isASCII(body) && utf8.Valid(body)
}

// isASCII reports whether all bytes of s are ASCII.
func isASCII(s []byte) bool {
	const high = 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		if binary.LittleEndian.Uint64(s)&high != 0 {
			return false
		}
	}
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// extendsASCII reports whether the charset reads ASCII bytes as ASCII.
func (c charset) extendsASCII() bool {
	switch c.name {
	case "utf-16le", "utf-16be", "iso-2022-jp", "replacement":
		return false
	}
	return true
}

// decode returns body in UTF-8, each error replaced by U+FFFD as the Encoding standard says. It copies only what is
// not UTF-8 already, into scratch, and returns scratch as it has grown.
func (c charset) decode(body, scratch []byte) (text, grown []byte) {
	if c.name == "utf-8" && utf8.Valid(body) || c.extendsASCII() && isASCII(body) {
		return body, scratch
	}
	// Decoders replace what they cannot decode; they return no errors.
	text, _, _ = transform.Append(c.enc.NewDecoder(), scratch[:0], body)
	return text, text
}

// encoder returns what writes the queries of the page's URLs (Encoding standard, "get an encoder"); nil for UTF-8.
func (c charset) encoder() canon.Encoder {
	switch c.name {
	case "utf-8", "utf-16le", "utf-16be", "replacement":
		return nil
	}
	t := c.enc.NewEncoder().Transformer
	return func(dst, text []byte) ([]byte, int) {
		dst, n, _ := transform.Append(t, dst, text) // its error says what n says: there is a character that it lacks
		return dst, n
	}
}
