package canon

import "strings"

// newURL returns the URL of a serialised URL.
func newURL(href string) URL {
	u := URL{href: href}
	start := u.pathStart()
	if end, ok := cleanTarget(href, start); ok && end == len(href) {
		return u
	}
	if key := makeKey(href, start); key != href {
		u.key = key
	}
	return u
}

// makeKey brings the percent-encoding of path and query into one form (RFC 3986, sections 6.2.2.1 and 6.2.2.2). It need
// not look for dot segments again: a segment that decodes to one was one for the parser already. Hosts are left as they
// are: the host parser would decode their triplets.
func makeKey(href string, pathStart int) string {
	if path, ok := strings.CutSuffix(href, "?"); ok && strings.IndexByte(path, '?') < 0 {
		href = path // an empty query
	}
	key := make([]byte, pathStart, len(href)+16)
	copy(key, href)
	for i := pathStart; i < len(href); i++ {
		c := href[i]
		if c != '%' {
			if classes[c]&keyRaw != 0 {
				key = append(key, c)
			} else {
				key = appendTriplet(key, c)
			}
			continue
		}
		c, ok := triplet(href, i)
		if !ok { // a lone percent sign
			key = append(key, "%25"...)
			continue
		}
		if classes[c]&unreserved != 0 {
			key = append(key, c)
		} else {
			key = appendTriplet(key, c)
		}
		i += 2
	}
	return string(key)
}
