package canon

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Reason says why a reference is not a URL that can be crawled.
type Reason string

// The reasons.
const (
	Malformed         Reason = "malformed"
	UnsupportedScheme Reason = "unsupported scheme"
)

// Error tells of a reference that is no http or https URL.
type Error struct {
	In     string // the reference as it came, less its credentials
	Reason Reason
	Detail string // what is wrong with it; for UnsupportedScheme the scheme
}

// maxShown is how many bytes of a reference an error's text shows: some pages hold references of megabytes.
const maxShown = 200

func (e *Error) Error() string {
	in := e.In
	if n := maxShown; len(in) > n {
		for !utf8.RuneStart(in[n]) && n > maxShown-utf8.UTFMax {
			n--
		}
		in = in[:n] + "..."
	}
	return fmt.Sprintf("parse URL %q: %s: %s", in, e.Reason, e.Detail)
}

// flaw is what makes a reference malformed, in words for a person.
type flaw string

func (f flaw) Error() string { return string(f) }

// withoutCredentials copies ref without the part that could hold a password: it may be printed and stored.
func withoutCredentials(ref string) string {
	if strings.IndexByte(ref, '@') < 0 {
		return strings.Clone(ref)
	}
	in := stripped(ref)
	start := 0
	if scheme, rest, ok := cutScheme(in); ok {
		switch scheme {
		case "data", "javascript", "mailto":
			return strings.Clone(in) // what stands before their @ is no credential
		}
		start = len(in) - len(rest)
	} else if !isSlash(in[0]) {
		return strings.Clone(in) // a relative path has no authority
	}
	for start < len(in) && isSlash(in[start]) {
		start++
	}
	authority, _ := cutAuthority(in[start:])
	return strings.Clone(in[:start] + in[start+strings.LastIndexByte(authority, '@')+1:])
}
