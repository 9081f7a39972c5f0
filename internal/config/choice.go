package config

import (
	"slices"
	"strings"
)

// Scope says which URLs belong to a crawl.
type Scope string

// The scopes.
const (
	ScopeHost   Scope = "host"   // the hosts of the seeds
	ScopeDomain Scope = "domain" // their registrable domains
	ScopePrefix Scope = "prefix" // what lies at or below a seed
	ScopeAny    Scope = "any"    // everything
)

func (Scope) choices() []string {
	return []string{string(ScopeHost), string(ScopeDomain), string(ScopePrefix), string(ScopeAny)}
}

func (s Scope) parse(text string) (Scope, error) { return choose[Scope](s, text) }

func (s Scope) String() string { return string(s) }

// Type is what stands for a Scope in a flag's help.
func (s Scope) Type() string { return strings.Join(s.choices(), "|") }

// Seen says whose word it is that a URL was met before.
type Seen string

// The ways to tell.
const (
	SeenBloom Seen = "bloom" // the filter's, which errs with a chance of fp
	SeenExact Seen = "exact" // a look-up's, where the filter says so
)

func (Seen) choices() []string { return []string{string(SeenBloom), string(SeenExact)} }

func (s Seen) parse(text string) (Seen, error) { return choose[Seen](s, text) }

func (s Seen) String() string { return string(s) }

// Type is what stands for a Seen in a flag's help.
func (s Seen) Type() string { return strings.Join(s.choices(), "|") }

// Robots says what a robots.txt counts for.
type Robots string

// The ways to treat a robots.txt.
const (
	RobotsObey   Robots = "obey"
	RobotsIgnore Robots = "ignore"
)

func (Robots) choices() []string { return []string{string(RobotsObey), string(RobotsIgnore)} }

func (r Robots) parse(text string) (Robots, error) { return choose[Robots](r, text) }

func (r Robots) String() string { return string(r) }

// Type is what stands for a Robots in a flag's help.
func (r Robots) Type() string { return strings.Join(r.choices(), "|") }

// NoFollow says whose word counts that links are not to be followed.
type NoFollow string

// Whose word it may be.
const (
	NoFollowPages  NoFollow = "pages"  // of pages: the robots meta element and X-Robots-Tag
	NoFollowLinks  NoFollow = "links"  // of links: rel=nofollow
	NoFollowAll    NoFollow = "all"    // of both
	NoFollowIgnore NoFollow = "ignore" // nobody's
)

func (NoFollow) choices() []string {
	return []string{string(NoFollowPages), string(NoFollowLinks), string(NoFollowAll), string(NoFollowIgnore)}
}

func (n NoFollow) parse(text string) (NoFollow, error) { return choose[NoFollow](n, text) }

func (n NoFollow) String() string { return string(n) }

// Type is what stands for a NoFollow in a flag's help.
func (n NoFollow) Type() string { return strings.Join(n.choices(), "|") }

// Cookies says whether cookies that hosts set are kept and sent back.
type Cookies string

// The ways to treat cookies.
const (
	CookiesOff Cookies = "off"
	CookiesOn  Cookies = "on"
)

func (Cookies) choices() []string { return []string{string(CookiesOff), string(CookiesOn)} }

func (c Cookies) parse(text string) (Cookies, error) { return choose[Cookies](c, text) }

func (c Cookies) String() string { return string(c) }

// Type is what stands for a Cookies in a flag's help.
func (c Cookies) Type() string { return strings.Join(c.choices(), "|") }

// chooser is a type with a closed list of values.
type chooser interface{ choices() []string }

func choose[T ~string](from chooser, text string) (T, error) {
	if !slices.Contains(from.choices(), text) {
		return "", bad("one of "+strings.Join(from.choices(), ", "), text)
	}
	return T(text), nil
}
