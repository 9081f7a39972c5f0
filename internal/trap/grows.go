package trap

import (
	"slices"
	"strings"
)

// Grows reports whether a link from one URL to another on its host leads down: to a path of more segments, or to the same
// path with a longer query that holds the one before. Links that are relative to a page on a server that answers everything
// do so without end. Both are the text of URLs.
func Grows(from, to string) bool {
	fromPath, fromQuery, _ := strings.Cut(from, "?")
	toPath, toQuery, _ := strings.Cut(to, "?")
	if originOf(from) != originOf(to) {
		return false
	}
	if fromPath == toPath {
		return len(toQuery) > len(fromQuery) && strings.Contains(toQuery, fromQuery)
	}
	return strings.Count(toPath, "/") > strings.Count(fromPath, "/")
}

// originOf returns scheme and host of the text of a URL.
func originOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return url[:min(len(url), len(scheme)+len("://")+len(host))]
}

// ComesAgain returns how many segments of a path, and pairs of a query, have come before in it: 1 for /a/b/a/, 2 for
// /a/b/a/b/ and /a/a/a/. Short numbers do not count.
func ComesAgain(path, query string) (n int) {
	n = repeated(path[1:], "/", isShortNumber)
	if query != "" {
		n += repeated(query, "&", func(string) bool { return false })
	}
	return n
}

func repeated(text, between string, may func(piece string) bool) (n int) {
	var stack [24]string
	before := stack[:0]
	for piece := range strings.SplitSeq(text, between) {
		switch {
		case len(before) == cap(stack): // longer than what anybody has made, or near it
			return n
		case piece == "" || may(piece):
		case slices.Contains(before, piece):
			n++
		default:
			before = append(before, piece)
		}
	}
	return n
}
