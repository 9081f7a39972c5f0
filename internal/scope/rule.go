package scope

import (
	"errors"
	"fmt"
	"mime"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crawl/canon"
)

// Rule admits or refuses the URLs that meet all of its conditions. A condition with several values is met by any of them,
// and a Rule without conditions by every URL.
type Rule struct {
	Name  string // what a Verdict calls it; empty: the conditions themselves
	Admit bool   // false: refuse

	Seeds        string   // a Mode: what the seeds reach by it
	Hosts        []string // a host (a.example), a name and all below it (*.example), or every host (*); with a port that one alone
	Domains      []string // registrable domains by the public suffix list, with every host below
	Prefixes     []string // what a URL starts with; without a scheme, http and https
	Regexps      []string // RE2, matched anywhere in the URL as it is requested
	Schemes      []string // http, https
	Ports        []int    // that are dialled, the scheme's default included
	MinDepth     *int     // links from a seed
	MaxDepth     *int
	Classes      []string // navigation, requisite, sitemap
	ContentTypes []string // media types (text/html), or all of a kind (image/*); known once the head of an answer is there
}

// Place is what is known of a URL besides itself. The zero Place is a link of a seed's depth of which the rest is not known.
type Place struct {
	Depth       int    // links from a seed; UnknownDepth: not known
	Class       string // empty: not known
	ContentType string // media type in lower case; empty: not known
}

// UnknownDepth is a Depth that is not known.
const UnknownDepth = -1

// classes a condition may name.
var classes = []string{"navigation", "requisite", "sitemap"}

// rule is a Rule to test URLs by.
type rule struct {
	name  string
	admit bool

	seeds    *reach // nil: no condition; likewise below
	hosts    hostSet
	domains  hostSet // and what is below them
	prefixes []prefix
	regexps  []*regexp.Regexp
	schemes  []string
	ports    []string
	minDepth *int
	maxDepth *int
	classes  []string
	types    []string
	lacks    bool // met by what matches none of regexps
}

// prefix is the start of keys, of one scheme or, where it is empty, of both.
type prefix struct{ scheme, start string }

// compile returns what is wrong with a rule under the name of each condition.
func (s *Scope) compileRule(r Rule) (c rule, err error) {
	c = rule{name: r.Name, admit: r.Admit, minDepth: r.MinDepth, maxDepth: r.MaxDepth, classes: r.Classes}
	if c.name == "" {
		c.name = r.String()
	}
	var errs []error
	wrong := func(condition, value, want string) {
		errs = append(errs, fmt.Errorf("%s: want %s, got %.60q", condition, want, value))
	}
	if r.Seeds != "" {
		if mode := Mode(r.Seeds); slices.Contains(modes, mode) {
			c.seeds = s.reachBy(mode)
		} else {
			errs = append(errs, fmt.Errorf("seeds: %w, got %.60q", errMode, r.Seeds))
		}
	}
	for _, text := range r.Hosts {
		if !c.hosts.add(text) {
			wrong("host", text, "a host such as a.example, a.example:8080, *.example or *")
		}
	}
	for _, text := range r.Domains {
		if domain, ok := registrable(text); !ok || domain != text {
			wrong("domain", text, "a registrable domain such as example.org")
			continue
		}
		c.domains.add("*." + text)
	}
	for _, text := range r.Prefixes {
		p, err := prefixOf(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("prefix: %w", err))
		}
		c.prefixes = append(c.prefixes, p)
	}
	for _, text := range r.Regexps {
		re, err := compileRegexp(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("regexp: %w, got %.60q", err, text))
		}
		c.regexps = append(c.regexps, re)
	}
	for _, text := range r.Schemes {
		if text != "http" && text != "https" {
			wrong("scheme", text, "http or https")
		}
		c.schemes = append(c.schemes, text)
	}
	for _, port := range r.Ports {
		if port < 1 || port > 65_535 {
			wrong("port", strconv.Itoa(port), "from 1 to 65535")
		}
		c.ports = append(c.ports, strconv.Itoa(port))
	}
	if r.MinDepth != nil && *r.MinDepth < 0 || r.MaxDepth != nil && *r.MaxDepth < 0 {
		wrong("depth", r.depths(), "0 or more")
	}
	if r.MinDepth != nil && r.MaxDepth != nil && *r.MinDepth > *r.MaxDepth {
		wrong("depth", r.depths(), "a range that is not empty")
	}
	for _, text := range r.Classes {
		if !slices.Contains(classes, text) {
			wrong("class", text, "one of "+strings.Join(classes, ", "))
		}
	}
	for _, text := range r.ContentTypes {
		if !IsMediaRange(text) {
			wrong("content_type", text, "a media type such as text/html, or image/*")
		}
		c.types = append(c.types, text)
	}
	return c, errors.Join(errs...)
}

// IsMediaRange reports whether a text is a media type in lower case without parameters, or TYPE/*.
func IsMediaRange(text string) bool {
	kind, sub, ok := strings.Cut(text, "/")
	if ok && sub == "*" {
		text = kind + "/any"
	}
	read, parameters, err := mime.ParseMediaType(text)
	return ok && kind != "" && kind != "*" && err == nil && read == text && len(parameters) == 0
}

// prefixOf reads the start of URLs: scheme, host and at least the path's first slash, which may be left out.
func prefixOf(text string) (prefix, error) {
	scheme, rest, full := strings.Cut(text, "://")
	if !full {
		scheme, rest = "", text
	}
	whole := text
	if !full {
		whole = "https://" + text
	}
	u, err := canon.Parse(whole)
	if err != nil || strings.HasPrefix(rest, "/") { // a path alone would be taken for a host
		return prefix{}, fmt.Errorf("want the start of URLs, such as https://a.example/docs/ or a.example/docs/, got %.60q", text)
	}
	_, start, _ := strings.Cut(u.Key(), "://")
	return prefix{strings.ToLower(scheme), start}, nil
}

// String names a rule by what it does: refuse host a.example, depth 3...
func (r Rule) String() string {
	verb := "refuse"
	if r.Admit {
		verb = "admit"
	}
	var conditions []string
	add := func(name string, values ...string) {
		if len(values) > 0 {
			conditions = append(conditions, name+" "+strings.Join(values, " "))
		}
	}
	if r.Seeds != "" {
		add("seeds", r.Seeds)
	}
	add("host", r.Hosts...)
	add("domain", r.Domains...)
	add("prefix", r.Prefixes...)
	add("regexp", r.Regexps...)
	add("scheme", r.Schemes...)
	var ports []string
	for _, port := range r.Ports {
		ports = append(ports, strconv.Itoa(port))
	}
	add("port", ports...)
	if r.MinDepth != nil || r.MaxDepth != nil {
		add("depth", r.depths())
	}
	add("class", r.Classes...)
	add("content_type", r.ContentTypes...)
	if len(conditions) == 0 {
		return verb + " any"
	}
	name := verb + " " + strings.Join(conditions, ", ")
	if len(name) > maxNameBytes {
		name = strings.ToValidUTF8(name[:maxNameBytes], "") + "..."
	}
	return name
}

// maxNameBytes bounds the name of a rule with many values: records of pages have it.
const maxNameBytes = 200

// depths writes a range as 3, 3.., ..3 or 1..3.
func (r Rule) depths() string {
	low, high := "", ""
	if r.MinDepth != nil {
		low = strconv.Itoa(*r.MinDepth)
	}
	if r.MaxDepth != nil {
		high = strconv.Itoa(*r.MaxDepth)
	}
	if low == high {
		return low
	}
	return low + ".." + high
}
