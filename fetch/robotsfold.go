package fetch

import "strings"

// foldKind is what fold is given.
type foldKind int

const (
	inTarget foldKind = iota
	inPattern
)

// fold returns the one form in which patterns and request targets are compared (RFC 9309, section 2.2.2): what may not
// stand in a URI is percent-encoded, an encoded unreserved character is decoded, any other encoded octet stays apart from
// the bare one. A "%" that begins no encoded octet is encoded too, lest it begin one with what is decoded behind it.
// Pattern and target part ways over "*" and "$": in a pattern they are special, the latter at its end, and their encoded
// forms mean the bare characters, so these are encoded in a target (section 2.2.3).
//
// An apostrophe is decoded too although it is reserved: browsers encode it in a query and leave it in a path (URL standard,
// special-query percent-encode set), so that a site's rule and what is asked for may differ in nothing else.
func fold(s string, kind foldKind) string {
	i := 0
	for i < len(s) && foldsToItself(s, i, kind) {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	for ; i < len(s); i++ {
		if foldsToItself(s, i, kind) {
			b.WriteByte(s[i])
			continue
		}
		if s[i] != '%' {
			writeEncoded(&b, s[i])
			continue
		}
		octet, ok := decodeEncoded(s[i:])
		switch {
		case !ok:
			writeEncoded(&b, '%')
			continue
		case isUnreserved(octet), octet == '\'':
			b.WriteByte(octet)
		default:
			writeEncoded(&b, octet)
		}
		i += len("%XX") - 1
	}
	return b.String()
}

func foldsToItself(s string, i int, kind foldKind) bool {
	switch c := s[i]; c {
	case '*':
		return kind == inPattern
	case '$':
		return kind == inPattern && i == len(s)-1
	default:
		return isUnreserved(c) || strings.IndexByte(":/?#[]@!&'()+,;=", c) >= 0
	}
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// decodeEncoded reads the "%XX" that s starts with.
func decodeEncoded(s string) (octet byte, ok bool) {
	if len(s) < len("%XX") {
		return 0, false
	}
	high, ok1 := hexValue(s[1])
	low, ok2 := hexValue(s[2])
	return high<<4 | low, ok1 && ok2
}

func hexValue(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func writeEncoded(b *strings.Builder, octet byte) {
	const digits = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(digits[octet>>4])
	b.WriteByte(digits[octet&0xf])
}
