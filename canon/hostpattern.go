package canon

import (
	"fmt"
	"strings"
)

// HostPattern names hosts: one ("a.example"), a name and all below it ("*.a.example"), or every one ("*"). With a port it
// means that one alone ("a.example:8080", "*:8080"). Upper case and a dot at the end of a name mean nothing; an IPv6 address
// stands in brackets, and nothing is below an address.
type HostPattern struct {
	Name  string // as URL.Host has it, without a dot at its end; empty: every name
	Below bool   // all names below Name as well
	Port  string // empty: any
}

// ParseHostPattern reads a pattern. Its error says what is wanted.
func ParseHostPattern(text string) (HostPattern, error) {
	bad := func(why string) (HostPattern, error) {
		return HostPattern{}, fmt.Errorf("want a host such as a.example, a.example:8080, *.example or *, got %q: %s", text, why)
	}
	rest, below := strings.CutPrefix(text, "*")
	every := below && (rest == "" || rest[0] == ':')
	switch {
	case every:
		rest = "any.invalid" + rest // a name to be parsed with the port
	case below && rest[0] != '.':
		return bad("neither a dot nor a colon follows the star")
	case below:
		rest = rest[1:]
	}
	// What would make it more than a host and a port in a URL, and a further star.
	if strings.ContainsAny(rest, "/\\?#@%* \t\r\n") || strings.HasSuffix(rest, ":") {
		return bad("no host of a URL")
	}
	u, err := Parse("http://" + rest + "/")
	if err != nil {
		return bad("no host of a URL")
	}
	p := HostPattern{Name: bareName(u), Below: below}
	if _, port := splitPort(rest); port != "" {
		p.Port = u.Port()
	}
	switch {
	case every:
		p.Name = ""
	case p.Name == "":
		return bad("no host of a URL")
	case below && isAddress(p.Name):
		return bad("nothing is below an address")
	}
	return p, nil
}

// MatchesName reports whether the name of u's host is one of those. Which ports are one its caller knows.
func (p HostPattern) MatchesName(u URL) bool {
	name := bareName(u)
	if p.Name == "" || name == p.Name {
		return true
	}
	rest, found := strings.CutSuffix(name, p.Name)
	return p.Below && found && strings.HasSuffix(rest, ".")
}

// bareName returns a host without its port and the dot that may end it.
func bareName(u URL) string {
	name, _ := splitPort(u.Host())
	return strings.TrimSuffix(name, ".")
}

// isAddress reports whether a host's name is an address: no name of a URL ends in a number.
func isAddress(name string) bool {
	return strings.HasPrefix(name, "[") || endsInNumber(name)
}
