package fetch

import (
	"fmt"
	"strings"

	"crawl/canon"
)

// hostPattern is HostRule.Pattern, read.
type hostPattern struct {
	name  string // without the dot at its end; empty with below: every host
	below bool   // all names below as well
	port  string // empty: any
}

func parseHostPattern(text string) (hostPattern, error) {
	bad := func() (hostPattern, error) {
		return hostPattern{}, fmt.Errorf("pattern %q: want a host such as a.example, a.example:8080, *.example or *", text)
	}
	rest, below := strings.CutPrefix(text, "*")
	every := below && (rest == "" || rest[0] == ':')
	switch {
	case every:
		rest = "any.invalid" + rest // a name to be parsed with the port
	case below && rest[0] != '.':
		return bad()
	case below:
		rest = rest[1:]
	}
	if strings.ContainsAny(rest, "/\\?#@%* \t\r\n") || strings.HasSuffix(rest, ":") {
		return bad()
	}
	u, err := canon.Parse("http://" + rest + "/")
	if err != nil {
		return bad()
	}
	p := hostPattern{name: bareName(u), below: below}
	if strings.LastIndexByte(rest, ':') > strings.LastIndexByte(rest, ']') {
		p.port = u.Port()
	}
	if every {
		p.name = ""
	}
	return p, nil
}

// bareName is a URL's host without the dot that may end it.
func bareName(u canon.URL) string { return strings.TrimSuffix(u.Hostname(), ".") }

func (p hostPattern) matches(u canon.URL) bool {
	if p.port != "" && p.port != u.Port() {
		return false
	}
	name := bareName(u)
	switch {
	case p.below && p.name == "", name == p.name:
		return true
	case p.below:
		return strings.HasSuffix(name, "."+p.name)
	}
	return false
}
