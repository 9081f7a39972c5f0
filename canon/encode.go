package canon

import (
	"strconv"
	"unicode/utf8"
)

// An Encoder writes text in a legacy encoding: it appends the bytes to dst and returns how many bytes of text they
// stand for. That is all of it, or what comes before the first character that the encoding lacks. Text is valid UTF-8.
//
// The nil Encoder is UTF-8. The standard uses UTF-8 for documents in UTF-16 and in the replacement encoding, too.
type Encoder func(dst, text []byte) (encoded []byte, n int)

const upperHex = "0123456789ABCDEF"

func appendTriplet(dst []byte, c byte) []byte {
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}

// appendEncoded percent-encodes the bytes of s that are in set. Bytes that are no UTF-8 are encoded as they came:
// the server that wrote them knows its pages by them.
func appendEncoded[S string | []byte](dst []byte, s S, set class) []byte {
	for i := range len(s) {
		if c := s[i]; classes[c]&set != 0 {
			dst = appendTriplet(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// appendQuery percent-encodes a query, after encoding it where the document is not UTF-8.
func appendQuery(dst []byte, query string, encode Encoder) []byte {
	if encode == nil {
		return appendEncoded(dst, query, encodeQuery)
	}
	for text := []byte(query); len(text) > 0; {
		valid := validPrefix(text)
		dst = appendLegacy(dst, text[:valid], encode)
		if text = text[valid:]; len(text) > 0 { // a byte that is no UTF-8
			dst = appendTriplet(dst, text[0])
			text = text[1:]
		}
	}
	return dst
}

// appendLegacy encodes and percent-encodes text. A character that the encoding lacks becomes a numeric character
// reference, itself percent-encoded (URL standard, "percent-encode after encoding").
func appendLegacy(dst, text []byte, encode Encoder) []byte {
	var encoded []byte
	for len(text) > 0 {
		n := 0
		encoded, n = encode(encoded[:0], text)
		dst = appendEncoded(dst, encoded, encodeQuery)
		if text = text[n:]; len(text) > 0 {
			lacking, size := utf8.DecodeRune(text)
			dst = append(dst, "%26%23"...)
			dst = strconv.AppendInt(dst, int64(lacking), 10)
			dst = append(dst, "%3B"...)
			text = text[size:]
		}
	}
	return dst
}

// validPrefix returns the length of the longest prefix of text that is UTF-8.
func validPrefix(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}
