package canon

import (
	"bytes"
	"strings"
)

// parseFull is the URL parser of the standard for the schemes http and https. The standard's state machine is cut into
// the parts it passes through: scheme, authority, path, query.
func parseFull(base URL, ref string, query Encoder) (URL, error) {
	in := stripped(ref)
	scheme, rest, ok := cutScheme(in)
	relative := false
	switch {
	case !ok && base.IsZero():
		return URL{}, &Error{withoutCredentials(ref), Malformed, "no scheme, and no base URL to resolve it against"}
	case !ok:
		scheme, relative = base.Scheme(), true
	case scheme != "http" && scheme != "https":
		return URL{}, &Error{withoutCredentials(ref), UnsupportedScheme, strings.Clone(scheme)}
	default: // "http:x" is relative to a base of the same scheme
		relative = scheme == base.Scheme()
	}
	var stack [256]byte
	buf := stack[:0]
	if relative && !(len(rest) >= 2 && isSlash(rest[0]) && isSlash(rest[1])) {
		buf = appendRelative(buf, base, rest, query)
	} else {
		var err error
		if buf, err = appendAbsolute(buf, scheme, strings.TrimLeft(rest, `/\`), query); err != nil {
			return URL{}, &Error{withoutCredentials(ref), Malformed, err.Error()}
		}
	}
	return newURL(string(buf)), nil
}

// stripped removes what the standard ignores: spaces and control characters at the ends, tabs and newlines anywhere.
func stripped(ref string) string {
	start, end := 0, len(ref)
	for start < end && ref[start] <= ' ' {
		start++
	}
	for end > start && ref[end-1] <= ' ' {
		end--
	}
	ref = ref[start:end]
	if !strings.ContainsAny(ref, "\t\n\r") {
		return ref
	}
	kept := make([]byte, 0, len(ref))
	for i := range len(ref) {
		if c := ref[i]; c != '\t' && c != '\n' && c != '\r' {
			kept = append(kept, c)
		}
	}
	return string(kept)
}

// cutScheme cuts "scheme:" off and returns the scheme in lower case.
func cutScheme(s string) (scheme, rest string, ok bool) {
	i := schemeEnd(s)
	if i == 0 || i == len(s) || s[i] != ':' || s[0]|0x20 < 'a' || s[0]|0x20 > 'z' {
		return "", s, false
	}
	return strings.ToLower(s[:i]), s[i+1:], true
}

// schemeEnd returns how many bytes at the start of s could be a scheme's.
func schemeEnd(s string) int {
	i := 0
	for i < len(s) && classes[s[i]]&schemeChar != 0 {
		i++
	}
	return i
}

// cutAuthority cuts s before its path, query or fragment.
func cutAuthority(s string) (authority, rest string) {
	if i := strings.IndexAny(s, `/\?#`); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// appendAbsolute appends the URL whose authority s starts with.
func appendAbsolute(dst []byte, scheme, s string, query Encoder) ([]byte, error) {
	authority, rest := cutAuthority(s)
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	host, port, err := cutPort(authority)
	if err != nil {
		return nil, err
	}
	dst = append(append(dst, scheme...), "://"...)
	if dst, err = appendHost(dst, host); err != nil {
		return nil, err
	}
	if port != "" && port != defaultPort(scheme) {
		dst = append(append(dst, ':'), port...)
	}
	path, q, hasQuery := cutTarget(rest)
	if path != "" {
		path = path[1:]
	}
	dst = appendPath(dst, len(dst), path)
	if hasQuery {
		dst = appendQuery(append(dst, '?'), q, query)
	}
	return dst, nil
}

// appendRelative appends the URL that s, a reference without scheme and authority, stands for.
func appendRelative(dst []byte, base URL, s string, query Encoder) []byte {
	path, q, hasQuery := cutTarget(s)
	root := base.pathStart()
	switch {
	case path == "" && !hasQuery:
		return append(dst, base.href...)
	case path == "":
		dst = append(dst, base.href[:base.pathEnd()]...)
	case isSlash(path[0]):
		dst = appendPath(append(dst, base.href[:root]...), root, path[1:])
	default:
		dst = appendPath(append(dst, base.href[:base.folderEnd(root)-1]...), root, path)
	}
	if hasQuery {
		dst = appendQuery(append(dst, '?'), q, query)
	}
	return dst
}

// cutTarget cuts path and query apart and drops the fragment.
func cutTarget(s string) (path, query string, hasQuery bool) {
	s, _, _ = strings.Cut(s, "#")
	return strings.Cut(s, "?")
}

// appendPath appends the segments of path, each after a slash, and follows dot segments. A double dot removes one of
// the segments in dst[root:].
func appendPath(dst []byte, root int, path string) []byte {
	for last := false; !last; {
		segment := path
		if i := strings.IndexAny(path, `/\`); i >= 0 {
			segment, path = path[:i], path[i+1:]
		} else {
			last = true
		}
		switch dots(segment) {
		case 2:
			dst = dst[:root+max(0, bytes.LastIndexByte(dst[root:], '/'))]
		case 1:
		default:
			dst = appendEncoded(append(dst, '/'), segment, encodePath)
			continue
		}
		if last {
			dst = append(dst, '/')
		}
	}
	return dst
}

// dots returns 1 for the segment ".", 2 for "..", each dot possibly written "%2e", and 0 for all others.
func dots(segment string) int {
	n := 0
	for i := 0; i < len(segment); n++ {
		switch {
		case n == 2:
			return 0
		case segment[i] == '.':
			i++
		default:
			if c, ok := triplet(segment, i); segment[i] != '%' || !ok || c != '.' {
				return 0
			}
			i += 3
		}
	}
	return n
}

// cutPort cuts "host:port". The port comes without leading zeros, and is empty where there is none.
func cutPort(authority string) (host, port string, err error) {
	i := portColon(authority)
	if i < 0 {
		return authority, "", nil
	}
	host, port = authority[:i], authority[i+1:]
	if port == "" {
		return host, "", nil
	}
	n := 0
	for j := range len(port) {
		if !isDigit(port[j]) {
			return "", "", flaw("port is not a number")
		}
		if n = n*10 + int(port[j]-'0'); n > 65535 {
			return "", "", flaw("port is over 65535")
		}
	}
	if port = strings.TrimLeft(port, "0"); port == "" {
		port = "0"
	}
	return host, port, nil
}

// portColon finds the first colon outside brackets.
func portColon(authority string) int {
	inside := false
	for i := range len(authority) {
		switch authority[i] {
		case '[':
			inside = true
		case ']':
			inside = false
		case ':':
			if !inside {
				return i
			}
		}
	}
	return -1
}
