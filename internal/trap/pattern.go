package trap

import (
	"slices"
	"strings"

	"crawl/canon"
)

// Pattern returns what a URL has in common with those of pages like its own, as a text for people: host and path with
// numbers as # and what looks made up by a program as *, and the names of its parameters in order. All pages of a calendar
// have one pattern, and so have all items of a shop.
func Pattern(u canon.URL) string {
	var b strings.Builder
	b.WriteString(u.Host())
	for segment := range strings.SplitSeq(u.Path()[1:], "/") {
		b.WriteByte('/')
		if looksRandom(segment) {
			b.WriteByte('*')
		} else {
			writeNumberless(&b, segment)
		}
	}
	names := parameterNames(u.Query())
	if len(names) > 0 {
		b.WriteByte('?')
		b.WriteString(strings.Join(names, "&"))
	}
	return b.String()
}

// parameterNames returns the names of a query's parameters, each once, sorted.
func parameterNames(query string) []string {
	if query == "" {
		return nil
	}
	var names []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		var b strings.Builder
		writeNumberless(&b, name)
		names = append(names, b.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// writeNumberless writes s with each run of digits as one #.
func writeNumberless(b *strings.Builder, s string) {
	within := false
	for i := range len(s) {
		digit := isDigit(s[i])
		if !digit {
			b.WriteByte(s[i])
		} else if !within {
			b.WriteByte('#')
		}
		within = digit
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

const (
	randomLeast  = 12 // characters of what a program made up: a shorter one may be a word with a number
	randomDigits = 3
)

// looksRandom reports whether a segment looks like a session id, a digest or a token: a long run of letters and digits in
// no order that a person would write, as 0a1b2c3d4e5f or Xk3dP9fQ2mZ7.
func looksRandom(segment string) bool {
	name, _, _ := strings.Cut(segment, ".")
	if len(name) < randomLeast {
		return false
	}
	digits, letters, turns := 0, 0, 0
	for i := range len(name) {
		switch c := name[i]; {
		case isDigit(c):
			digits++
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		default:
			return false
		}
		if i > 0 && isDigit(name[i]) != isDigit(name[i-1]) {
			turns++
		}
	}
	return digits >= randomDigits && letters > 0 && turns >= 4
}
