package config

import "strings"

// versionMark stands for the program's version in an Agent, so that a stored crawl goes on under the version that
// goes on with it.
const versionMark = "{version}"

// Agent is what a crawler calls itself: a product token, which robots.txt groups name (RFC 9309, section 2.2.1), and
// whatever else the User-Agent header shall hold (RFC 9110, section 10.1.5). {version} in it stands for the version of
// the program.
type Agent string

func (Agent) parse(text string) (Agent, error) {
	a := Agent(text)
	if a.Product() == "" || strings.Trim(a.Product(), tokenCharacters) != "" || !printableASCII(text) {
		return "", bad("a product name, then what you like in ASCII, such as mybot/1.0", text)
	}
	return a, nil
}

// tokenCharacters are those of a token by RFC 9110, section 5.6.2.
const tokenCharacters = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Product returns the name before the first slash or blank: who the rules of a robots.txt are looked up for.
func (a Agent) Product() string {
	name := string(a)
	if i := strings.IndexAny(name, "/ "); i >= 0 {
		name = name[:i]
	}
	return name
}

// Header returns the value of the User-Agent header: the agent under the given version and, unless it is empty, the
// contact, as in "crawl/1.2 (+https://example.org/bot)".
func (a Agent) Header(version string, contact Contact) string {
	header := strings.ReplaceAll(string(a), versionMark, version)
	if contact != "" {
		header += " (+" + string(contact) + ")"
	}
	return header
}

func (a Agent) String() string { return string(a) }

// Type is the word that stands for an Agent in a flag's help.
func (Agent) Type() string { return "name" }

// Contact tells the owner of a site whom to write to: a URL, a mail address, or empty.
type Contact string

func (Contact) parse(text string) (Contact, error) {
	if !printableASCII(text) || strings.ContainsAny(text, ` ()\`) || text != "" && !strings.ContainsAny(text, "@:") {
		return "", bad("a URL or a mail address", text)
	}
	return Contact(text), nil
}

func (c Contact) String() string { return string(c) }

// Type is the word that stands for a Contact in a flag's help.
func (Contact) Type() string { return "contact" }

func printableASCII(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
