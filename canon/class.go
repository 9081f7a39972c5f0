package canon

// class is a set of properties of a byte.
type class uint8

const (
	encodePath  class = 1 << iota // path percent-encode set
	encodeQuery                   // special-query percent-encode set
	cleanPath                     // stands in a path, in request and key alike; not the dot, which may make a dot segment
	cleanQuery                    // stands in a query, in request and key alike
	keyRaw                        // RFC 3986: pchar, "/" or "?", less "%": what a key's path and query hold beside triplets
	unreserved                    // RFC 3986, section 2.3
	cleanHost                     // stands in a host as it is; the dot included
	schemeChar                    // letters, digits and "+-."
)

var classes = makeClasses()

func makeClasses() (t [256]class) {
	set := func(c class, bytes string) {
		for i := range len(bytes) {
			t[bytes[i]] |= c
		}
	}
	const (
		lower  = "abcdefghijklmnopqrstuvwxyz"
		upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		digits = "0123456789"
		alnum  = lower + upper + digits
	)
	for c := range t {
		if c <= ' ' || c >= 0x7f {
			t[c] |= encodePath | encodeQuery
		}
	}
	set(encodePath, "\"#<>?^`{}")
	set(encodeQuery, "\"#<>'")
	set(unreserved, alnum+"-._~")
	set(keyRaw, alnum+"-._~!$&'()*+,;=:@/?")
	set(cleanPath, alnum+"-_~!$&'()*+,;=:@/")
	set(cleanQuery, alnum+"-._~!$&()*+,;=:@/?")
	set(cleanHost, lower+digits+"-._")
	set(schemeChar, alnum+"+-.")
	return t
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unhex returns the value of a hexadecimal digit.
func unhex(c byte) (v byte, ok bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// triplet returns the byte that "%XX" at s[i] stands for.
func triplet(s string, i int) (v byte, ok bool) {
	if i+2 >= len(s) {
		return 0, false
	}
	hi, ok1 := unhex(s[i+1])
	lo, ok2 := unhex(s[i+2])
	return hi<<4 | lo, ok1 && ok2
}
