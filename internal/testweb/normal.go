package testweb

import "bytes"

const upperHex = "0123456789ABCDEF"

var (
	percent = []byte{'%'}
	encoded = []byte("%\"<>\\^`{|}") // of printable ASCII; # and triplets are dealt with before
)

// appendNormal appends the form in which two targets are compared: without fragment, triplets of unreserved characters
// decoded, other triplets in upper case, every other byte that RFC 3986 does not let stand there encoded. Targets that a
// server may tell apart stay apart, but for a lone % and %25, and for | and %7C: clients differ in how they send those.
// Dot segments stay, since it is the client that removes them.
func appendNormal(dst, target []byte) []byte {
	for i := 0; i < len(target); i++ {
		b := target[i]
		switch {
		case b == '#':
			return dst
		case b == '%' && i+2 < len(target) && isHex(target[i+1]) && isHex(target[i+2]):
			if v := unhex(target[i+1])<<4 | unhex(target[i+2]); unreserved(v) {
				dst = append(dst, v)
			} else {
				dst = appendTriplet(dst, v)
			}
			i += 2
		case b <= ' ' || b >= 0x7F || bytes.IndexByte(encoded, b) >= 0:
			dst = appendTriplet(dst, b)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

func appendTriplet(dst []byte, b byte) []byte {
	return append(dst, '%', upperHex[b>>4], upperHex[b&15])
}

// unreserved follows RFC 3986, section 2.3.
func unreserved(b byte) bool {
	return isLetter(b) || b >= '0' && b <= '9' || b == '-' || b == '.' || b == '_' || b == '~'
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func isHex(b byte) bool { return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' }

func unhex(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b | 0x20 - 'a' + 10
}
