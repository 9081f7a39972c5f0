package parse

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/charmap"
)

// decodeValue returns the value of an attribute as the standard's tokenizer gives it: character references decoded
// once, newlines normalised, NUL replaced. It returns s where that changes nothing, and otherwise appends to scratch,
// which it returns as it has grown.
func decodeValue(s, scratch []byte) (decoded, grown []byte) {
	if bytes.IndexByte(s, '&') < 0 && bytes.IndexByte(s, '\r') < 0 && bytes.IndexByte(s, 0) < 0 {
		return s, scratch
	}
	n := len(scratch)
	scratch = appendDecoded(scratch, s, true)
	return scratch[n:], scratch
}

func appendDecoded(dst, s []byte, attribute bool) []byte {
	for len(s) > 0 {
		dst, s = appendPiece(dst, s, attribute)
	}
	return dst
}

// maxPiece is how much plain text makes one piece.
const maxPiece = 1024

// appendPiece appends the first piece of s decoded, and returns what follows it: plain text, or one character that
// stands for another. So a long text need not be decoded as a whole.
func appendPiece(dst, s []byte, attribute bool) (grown, rest []byte) {
	switch s[0] {
	case '&':
		dst, n := appendReference(dst, s, attribute)
		return dst, s[n:]
	case 0:
		return utf8.AppendRune(dst, utf8.RuneError), s[1:]
	case '\r':
		if len(s) > 1 && s[1] == '\n' {
			return append(dst, '\n'), s[2:]
		}
		return append(dst, '\n'), s[1:]
	}
	n := 1
	for n < len(s) && n < maxPiece && s[n] != '&' && s[n] != '\r' && s[n] != 0 {
		n++
	}
	return append(dst, s[:n]...), s[n:]
}

// appendReference appends what the ampersand at the start of s stands for, and returns how many bytes it read
// ("character reference state").
func appendReference(dst, s []byte, attribute bool) (grown []byte, read int) {
	if len(s) > 1 && s[1] == '#' {
		return appendNumeric(dst, s)
	}
	if !attribute {
		s = s[:min(len(s), 1+longestName)]
	}
	n := 1
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	if n > 1 && n < len(s) && s[n] == ';' {
		n++
	}
	if attribute {
		return appendNamedInAttribute(dst, s[:n], n < len(s) && s[n] == '='), n
	}
	// In a text the longest name counts that the letters start with, which is what UnescapeString looks for.
	return append(dst, html.UnescapeString(string(s[:n]))...), n
}

// longestName is the length of the longest name of a character, CounterClockwiseContourIntegral with its semicolon.
const longestName = 32

// appendNamedInAttribute appends a named reference, an ampersand with all letters and digits behind it and the
// semicolon if there is one. In an attribute it counts only if all of it is a name: what starts with one may be part
// of a query, as &copy=2 and &notify are ("named character reference state").
func appendNamedInAttribute(dst, s []byte, equals bool) []byte {
	name := s[1:]
	if len(name) == 0 || len(name) > longestName {
		return append(dst, s...)
	}
	longest := 2
	if name[len(name)-1] != ';' {
		longest = 1
		if equals {
			return append(dst, s...)
		}
	}
	if string(name) == "amp;" {
		return append(dst, '&') // by far the commonest
	}
	// A name with a semicolon stands for one or two characters, one without for one. Where only the start of it is a
	// name, or nothing, UnescapeString leaves more.
	if c := html.UnescapeString(string(s)); utf8.RuneCountInString(c) <= longest {
		return append(dst, c...)
	}
	return append(dst, s...)
}

// appendNumeric appends a reference by number, and returns how many bytes it read ("numeric character reference end
// state").
func appendNumeric(dst, s []byte) (grown []byte, read int) {
	n, base := len("&#"), rune(10)
	if n < len(s) && s[n]|0x20 == 'x' {
		n, base = n+1, 16
	}
	start, c := n, rune(0)
	for n < len(s) {
		d := digit(s[n])
		if d >= base {
			break
		}
		if c <= unicode.MaxRune {
			c = base*c + d
		}
		n++
	}
	if n == start {
		return append(dst, '&'), 1
	}
	if n < len(s) && s[n] == ';' {
		n++
	}
	switch {
	case c == 0:
		c = utf8.RuneError
	case c >= 0x80 && c <= 0x9f:
		if w := charmap.Windows1252.DecodeByte(byte(c)); w != utf8.RuneError {
			c = w
		}
	}
	return utf8.AppendRune(dst, c), n // U+FFFD for what is no character
}

// digit returns the value of a hexadecimal digit, and 16 for any other byte.
func digit(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 16
}
