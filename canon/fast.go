package canon

import "strings"

// parseClean parses the references that need no work: joined to what they take from base, they are both the URL and its
// key. One pass over a table decides it. Where ok is false parseFull has to look; where it is true, parseFull would say
// the same.
func parseClean(base URL, ref string) (u URL, ok bool) {
	if u, ok := cleanWhole(ref); ok {
		return URL{href: strings.Clone(u.href)}, true
	}
	switch {
	case base.IsZero():
		return URL{}, false
	case ref == "" || ref[0] == '#':
		return base, true
	case ref[0] == '?':
		return cleanRelative(base, base.pathEnd(), ref)
	case ref[0] != '/':
		if i := strings.IndexByte(ref, ':'); i >= 0 && schemeEnd(ref) == i {
			return URL{}, false
		}
		root := base.pathStart()
		keep, rest := climb(base.href, root, base.folderEnd(root), ref)
		return cleanRelative(base, keep, rest)
	case len(ref) > 1 && ref[1] == '/':
		scheme := base.Scheme()
		return cleanAbsolute(scheme, base.href[:len(scheme)+1], ref, len("//"))
	}
	return cleanRelative(base, base.pathStart(), ref)
}

// cleanWhole is parseClean for an absolute URL, with whose text u shares memory.
func cleanWhole(s string) (u URL, ok bool) {
	switch {
	case strings.HasPrefix(s, "https://"):
		return cleanAbsolute("https", "", s, len("https://"))
	case strings.HasPrefix(s, "http://"):
		return cleanAbsolute("http", "", s, len("http://"))
	}
	return URL{}, false
}

// climb follows the dot segments that ref starts with, from the folder href[:keep] on, whose path starts at href[root].
func climb(href string, root, keep int, ref string) (above int, rest string) {
	for {
		switch {
		case strings.HasPrefix(ref, "./"):
			ref = ref[len("./"):]
		case strings.HasPrefix(ref, "../"):
			ref = ref[len("../"):]
			keep = max(root, root+strings.LastIndexByte(href[root:keep-1], '/')) + 1
		default:
			return keep, ref
		}
	}
}

// cleanRelative joins base.href[:keep] and ref.
func cleanRelative(base URL, keep int, ref string) (URL, bool) {
	if base.key != "" { // its path may be what differs
		if _, ok := cleanTarget(base.href[:keep], base.pathStart()); !ok {
			return URL{}, false
		}
	}
	end, ok := cleanTarget(ref, 0)
	if !ok {
		return URL{}, false
	}
	return URL{href: base.href[:keep] + ref[:end]}, true
}

// cleanAbsolute joins prefix, which is empty or the scheme with its colon, and ref, whose host starts at ref[host]. Where
// it is empty, u shares memory with ref.
func cleanAbsolute(scheme, prefix, ref string, host int) (u URL, ok bool) {
	i, ok := cleanAuthority(ref, host, scheme)
	switch {
	case !ok:
		return URL{}, false
	case i == len(ref) || ref[i] == '#':
		return URL{href: prefix + ref[:i] + "/"}, true
	case ref[i] != '/':
		return URL{}, false
	}
	end, ok := cleanTarget(ref, i)
	return URL{href: prefix + ref[:end]}, ok
}

// cleanAuthority returns where the host and port that start at s[i] end.
func cleanAuthority(s string, i int, scheme string) (end int, ok bool) {
	start, label := i, i // label: where the last label starts
	for i < len(s) && classes[s[i]]&cleanHost != 0 {
		if s[i] == '.' {
			label = i + 1
		}
		i++
	}
	// An empty last label is a host with a trailing dot or none at all; one that starts with a digit may be a number,
	// which makes the host an IPv4 address.
	if i == start || i == label || isDigit(s[label]) {
		return 0, false
	}
	if i < len(s) && s[i] == ':' {
		return cleanPort(s, i+1, scheme)
	}
	return i, true
}

// cleanPort returns where the port that starts at s[i] ends.
func cleanPort(s string, i int, scheme string) (end int, ok bool) {
	start := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	port := s[start:i]
	return i, 0 < len(port) && len(port) < 5 && port[0] != '0' && port != defaultPort(scheme)
}

// cleanTarget returns where the path and query that start at s[i] end. A path without its first slash starts with a
// segment.
func cleanTarget(s string, i int) (end int, ok bool) {
	clean := cleanPath
	for start := i; i < len(s); i++ {
		c := s[i]
		if classes[c]&clean != 0 {
			continue
		}
		switch c {
		case '.':
			if (i == start || s[i-1] == '/') && dotSegment(s[i:]) {
				return 0, false
			}
		case '%':
			if !cleanTriplet(s, i) {
				return 0, false
			}
			i += 2
		case '?':
			if i+1 == len(s) || s[i+1] == '#' { // the key has no empty query
				return 0, false
			}
			clean = cleanQuery
		case '#':
			return i, true
		default:
			return 0, false
		}
	}
	return len(s), true
}

// dotSegment reports whether a path that starts with a dot starts with a dot segment.
func dotSegment(path string) bool {
	n := 1
	if len(path) > 1 && path[1] == '.' {
		n = 2
	}
	return len(path) == n || path[n] == '/' || path[n] == '?' || path[n] == '#'
}

// cleanTriplet reports whether the triplet at s[i] is valid, in upper case and of a byte that is not unreserved.
func cleanTriplet(s string, i int) bool {
	c, ok := triplet(s, i)
	return ok && classes[c]&unreserved == 0 && s[i+1] < 'a' && s[i+2] < 'a'
}
