package canon

import (
	"strconv"
	"strings"
)

// appendHost is the standard's host parser, followed by its host serializer.
func appendHost(dst []byte, host string) ([]byte, error) {
	if host == "" {
		return nil, flaw("no host")
	}
	if host[0] == '[' {
		return appendIPv6(dst, host)
	}
	domain, err := toASCII(unescaped(host))
	if err != nil {
		return nil, err
	}
	for i := range len(domain) {
		if forbiddenInDomain(domain[i]) {
			return nil, flaw("host contains " + strconv.QuoteRuneToASCII(rune(domain[i])))
		}
	}
	if endsInNumber(domain) {
		return appendIPv4(dst, domain)
	}
	return append(dst, domain...), nil
}

// unescaped percent-decodes s.
func unescaped(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if v, ok := triplet(s, i); ok {
				c = v
				i += 2
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// forbiddenInDomain reports whether c is a forbidden domain code point.
func forbiddenInDomain(c byte) bool {
	return c <= ' ' || c == 0x7f || strings.IndexByte("#/:<>?@[\\]^|%", c) >= 0
}
