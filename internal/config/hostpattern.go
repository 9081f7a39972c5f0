package config

import (
	"strings"

	"golang.org/x/net/idna"
)

// HostPattern names hosts: one (a.example), a name and all below it (*.example), or every one (*). With a port it means
// that port alone. It is kept in lower case and in the ASCII form of the name (RFC 5891); an IPv6 address is in brackets.
type HostPattern string

func (HostPattern) parse(text string) (HostPattern, error) {
	const want = "a host such as a.example, a.example:8080, *.example or *"
	rest, below := strings.CutPrefix(text, "*")
	name, port, hasPort := cutPort(rest)
	if hasPort && (port == "" || !portNumber(port)) {
		return "", bad(want, text)
	}
	lead := ""
	if below {
		lead = "*"
		if name != "" {
			var dot bool
			if name, dot = strings.CutPrefix(name, "."); !dot {
				return "", bad(want, text)
			}
			lead = "*."
		}
	}
	if lead != "*" {
		host, isAddress, ok := patternName(name)
		if !ok || isAddress && below { // nothing is below an address
			return "", bad(want, text)
		}
		name = host
	}
	if hasPort {
		name += ":" + port
	}
	return HostPattern(lead + name), nil
}

// cutPort splits "name:port". The colons of an IPv6 address stand inside brackets.
func cutPort(text string) (name, port string, hasPort bool) {
	i := strings.LastIndexByte(text, ':')
	if i <= strings.LastIndexByte(text, ']') {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// patternName returns a name or an address as URLs have it.
func patternName(text string) (name string, isAddress, ok bool) {
	const longest = 253 // characters of a name in DNS
	if len(text) > 4*longest || strings.Contains(text, ":") && !strings.HasPrefix(text, "[") {
		return "", false, false
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) {
		ascii, err := idna.Lookup.ToASCII(text)
		if err != nil {
			return "", false, false
		}
		text = ascii
	}
	name, ok = hostName(text)
	name = strings.TrimSuffix(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	isAddress = strings.Contains(name, ":") || strings.Trim(last, "0123456789") == ""
	return bracket(name), isAddress, ok && name != "" && !strings.HasPrefix(name, ".")
}

func (p HostPattern) String() string { return string(p) }

// Type is the word that stands for a HostPattern in a flag's help.
func (HostPattern) Type() string { return "host" }
