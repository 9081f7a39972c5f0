// Package canon gives each page one name.
//
// A URL is what a crawler requests: parsed and serialised by the WHATWG URL standard (https://url.spec.whatwg.org), so
// that a server is asked for what a browser would ask it for. Its Key is what a crawler remembers: a canonical form that
// is never sent. Under the safe rules two URLs that a server can tell apart have different keys, and the key of a key is
// the key itself.
//
// Only http and https are spoken. Of a reference these parts are dropped: the fragment, be it a "#!" one, and user and
// password, which are neither kept nor sent, and not shown in an error. The dot at the end of a host is kept.
//
// The standard is followed but for three things. Bytes that are no UTF-8 are percent-encoded as they came, since a
// server that writes them in a Location header knows them, where a browser would make each U+FFFD. A host that is not
// ASCII may have 1,024 bytes. Hosts are mapped by the Unicode tables of golang.org/x/net/idna: a host with a character
// that is newer than they are is refused.
package canon

import "strings"

// URL is an http or https URL without fragment and credentials. Only Rules.Parse makes one; the zero URL is none.
// URLs are comparable: equal values are requested alike and remembered alike.
type URL struct {
	href string // scheme "://" host [":" port that is not the scheme's default] path ["?" query]; pure ASCII
	key  string // empty where it equals href
}

// String returns the URL as it is requested.
func (u URL) String() string { return u.href }

// Key returns the canonical form by which the URL is remembered.
func (u URL) Key() string {
	if u.key == "" {
		return u.href
	}
	return u.key
}

// IsZero reports whether u is no URL.
func (u URL) IsZero() bool { return u.href == "" }

// Scheme returns "http" or "https".
func (u URL) Scheme() string {
	switch {
	case u.href == "":
		return ""
	case u.href[len("http")] == ':':
		return "http"
	}
	return "https"
}

// Origin returns scheme, host and port: what one robots.txt speaks for (RFC 9309, section 2.3).
func (u URL) Origin() string { return u.href[:u.pathStart()] }

// Host returns the host and, unless it is the scheme's default, the port. It names the queue a URL waits in: http and
// https of a site share it.
func (u URL) Host() string { return u.href[u.hostStart():u.pathStart()] }

// Hostname returns the host alone; an IPv6 address comes without its brackets.
func (u URL) Hostname() string {
	name, _ := splitPort(u.Host())
	return strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
}

// Port returns the port that is dialled, the scheme's default included.
func (u URL) Port() string {
	if _, port := splitPort(u.Host()); port != "" {
		return port
	}
	return defaultPort(u.Scheme())
}

// Path returns the path, which starts with a slash.
func (u URL) Path() string {
	path, _, _ := strings.Cut(u.Target(), "?")
	return path
}

// Query returns what follows the question mark; empty for none.
func (u URL) Query() string {
	_, query, _ := strings.Cut(u.Target(), "?")
	return query
}

// Target returns path and query as they stand in a request line.
func (u URL) Target() string { return u.href[u.pathStart():] }

func (u URL) hostStart() int {
	if u.href == "" {
		return 0
	}
	return len(u.Scheme()) + len("://")
}

func (u URL) pathStart() int {
	start := u.hostStart()
	if i := strings.IndexByte(u.href[start:], '/'); i >= 0 {
		return start + i
	}
	return len(u.href)
}

func (u URL) pathEnd() int {
	start := u.pathStart()
	if i := strings.IndexByte(u.href[start:], '?'); i >= 0 {
		return start + i
	}
	return len(u.href)
}

// folderEnd returns where the last segment of the path, which starts at pathStart, starts.
func (u URL) folderEnd(pathStart int) int {
	path, _, _ := strings.Cut(u.href[pathStart:], "?")
	return pathStart + strings.LastIndexByte(path, '/') + 1
}

// defaultPort returns the port that a URL of the scheme does not name.
func defaultPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// splitPort cuts "name:port". The colons of an IPv6 address stand inside brackets.
func splitPort(host string) (name, port string) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host, ""
	}
	return host[:i], host[i+1:]
}
