package config

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"golang.org/x/net/publicsuffix"
)

// ScopeRule admits or refuses the URLs that meet all of its conditions. A condition with several values is met by any of
// them; one without values, by all URLs. A rule without conditions is met by every URL.
type ScopeRule struct {
	Name  string // what statistics call it; empty: what it does
	Admit bool   // false: refuse

	Seeds        *Scope // what the seeds reach by it
	Hosts        []HostPattern
	Domains      []Domain
	Prefixes     []Prefix
	Regexps      []Pattern
	Schemes      []Scheme
	Ports        []Count
	Depth        *Depths
	Classes      []LinkClass
	ContentTypes []MediaRange
}

// conditions lists what a rule may ask for, in the order of a rendered file.
func (r *ScopeRule) conditions() []entryKey {
	return []entryKey{
		{key: "seeds", at: maybe(&r.Seeds)},
		{key: "host", at: many(&r.Hosts)},
		{key: "domain", at: many(&r.Domains)},
		{key: "prefix", at: many(&r.Prefixes)},
		{key: "regexp", at: many(&r.Regexps)},
		{key: "scheme", at: many(&r.Schemes)},
		{key: "port", at: many(&r.Ports), check: func() string { return withinAll(r.Ports, 1, 65_535) }},
		{key: "depth", at: maybe(&r.Depth)},
		{key: "class", at: many(&r.Classes)},
		{key: "content_type", at: many(&r.ContentTypes)},
	}
}

// withinAll is within for each of a list.
func withinAll(list []Count, low, high Count) string {
	for _, v := range list {
		if want := within(v, low, high); want != "" {
			return want
		}
	}
	return ""
}

// soundScope returns what is wanted of rules that a program has set, or that bear one name.
func soundScope(rules []ScopeRule) string {
	names := make(map[string]bool)
	for i, r := range rules { // a copy of each, which put may write to
		switch {
		case !printable(r.Name):
			return fmt.Sprintf("a name without control characters (rule %d)", i+1)
		case r.Name != "" && names[r.Name]:
			return fmt.Sprintf("each name once (rule %d repeats %q)", i+1, r.Name)
		}
		names[r.Name] = true
		if want := soundEntry(r.conditions()); want != "" {
			return fmt.Sprintf("%s (rule %d)", want, i+1)
		}
	}
	return ""
}

// Domain is a registrable domain by the public suffix list.
type Domain string

func (Domain) parse(text string) (Domain, error) {
	name, isAddress, ok := patternName(text)
	if ok && !isAddress {
		if domain, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil && domain == name {
			return Domain(name), nil
		}
	}
	return "", bad("a registrable domain such as example.org (for what is below another name: host: '*.docs.example.org')", text)
}

func (d Domain) String() string { return string(d) }

// Type is what stands for a Domain in a flag's help.
func (Domain) Type() string { return "domain" }

// Prefix is the start of URLs, with a scheme or for both.
type Prefix string

func (Prefix) parse(text string) (Prefix, error) {
	scheme, rest, full := strings.Cut(text, "://")
	if !full {
		scheme, rest = "https", text
	}
	place, _, _ := strings.Cut(rest, "/")
	name, port, hasPort := cutPort(place)
	_, _, ok := patternName(name)
	if !ok || hasPort && !portNumber(port) || !slices.Contains(Scheme("").choices(), strings.ToLower(scheme)) || !printable(text) || strings.ContainsAny(text, " #") {
		return "", bad("the start of URLs, such as https://a.example/docs/ or a.example/docs/", text)
	}
	return Prefix(text), nil
}

func (p Prefix) String() string { return string(p) }

// Type is what stands for a Prefix in a flag's help.
func (Prefix) Type() string { return "URL" }

// Scheme is http or https.
type Scheme string

func (Scheme) choices() []string { return []string{"http", "https"} }

func (s Scheme) parse(text string) (Scheme, error) { return choose[Scheme](s, text) }

func (s Scheme) String() string { return string(s) }

// Type is what stands for a Scheme in a flag's help.
func (s Scheme) Type() string { return strings.Join(s.choices(), "|") }

// LinkClass is how a URL was linked.
type LinkClass string

func (LinkClass) choices() []string { return []string{"navigation", "requisite", "sitemap"} }

func (c LinkClass) parse(text string) (LinkClass, error) { return choose[LinkClass](c, text) }

func (c LinkClass) String() string { return string(c) }

// Type is what stands for a LinkClass in a flag's help.
func (c LinkClass) Type() string { return strings.Join(c.choices(), "|") }

// MediaRange is a media type, or all of a kind.
type MediaRange string

// mediaRange is a media type without parameters (RFC 6838, section 4.2), or its kind and a star.
var mediaRange = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+-]*/([a-z0-9][a-z0-9!#$&^_.+-]*|\*)$`)

func (MediaRange) parse(text string) (MediaRange, error) {
	lower := strings.ToLower(text)
	if !mediaRange.MatchString(lower) {
		return "", bad("a media type such as text/html, or image/*", text)
	}
	return MediaRange(lower), nil
}

func (m MediaRange) String() string { return string(m) }

// Type is what stands for a MediaRange in a flag's help.
func (MediaRange) Type() string { return "type" }

// Depths are numbers of links from a seed: 3, 3.., ..3 or 1..3.
type Depths struct{ Min, Max *int }

var depthsText = regexp.MustCompile(`^(\d{0,9})(\.\.)?(\d{0,9})$`)

func (Depths) parse(text string) (Depths, error) {
	parts := depthsText.FindStringSubmatch(text)
	if parts == nil || parts[1]+parts[3] == "" {
		return Depths{}, bad("a number of links from a seed, or a range such as 3.., ..3 or 1..3", text)
	}
	number := func(digits string) *int {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return nil
		}
		return &n
	}
	d := Depths{number(parts[1]), number(parts[3])}
	if parts[2] == "" {
		d.Max = d.Min
	}
	if d.Min != nil && d.Max != nil && *d.Min > *d.Max {
		return Depths{}, bad("a range that is not empty", text)
	}
	return d, nil
}

func (d Depths) String() string {
	text := func(n *int) string {
		if n == nil {
			return ""
		}
		return strconv.Itoa(*n)
	}
	if low, high := text(d.Min), text(d.Max); low != high {
		return low + ".." + high
	}
	return text(d.Min)
}

// Type is what stands for Depths in a flag's help.
func (Depths) Type() string { return "depths" }

// scopeSlot is the slot of a ready name and, in a file, of rules that follow it.
type scopeSlot struct {
	single[Scope]
	rules *[]ScopeRule
}

func scopeOf(s *Settings) slot { return scopeSlot{single[Scope]{v: &s.Scope}, &s.ScopeRules} }

// clear: another source's ready name replaces the rules of an earlier one too.
func (s scopeSlot) clear() { *s.rules = nil }

const (
	keyName   = "name"
	keyAdmit  = "admit"
	keyRefuse = "refuse"
	keyAny    = "any" // in place of conditions: every URL
)

// scopeRules reads a ready name, or a list of rules that may begin with one, which starts at the token. ok is false when a
// problem was reported.
func (f *file) scopeRules(d *setting, to scopeSlot, node ast.Node, at *token.Token) (ok bool) {
	to.clear()
	list, isList := node.(*ast.SequenceNode)
	if !isList {
		it, ok := f.item(d, to, node, at, false)
		if !ok {
			return false
		}
		return f.ready(d, to, node, it.text)
	}
	before := len(f.problems)
	*to.v = ScopeHost
	for i, n := range list.Values {
		if text, plain := scalar(n); plain && i == 0 {
			f.ready(d, to, n, text)
			continue
		} else if plain {
			f.fail(d.key, n.GetToken(), fmt.Sprintf("want a rule such as admit: {domain: example.org}; %.60q stands first or not at all", text))
			continue
		}
		*to.rules = append(*to.rules, ScopeRule{})
		f.scopeRule(d, &(*to.rules)[len(*to.rules)-1], n)
	}
	return len(f.problems) == before
}

// ready reads a ready name.
func (f *file) ready(d *setting, to scopeSlot, n ast.Node, text string) bool {
	err := to.put(text)
	if err == nil {
		return true
	}
	place, quote := f.locate(n.GetToken())
	f.problems = append(f.problems, &Error{Key: d.key, Place: place, Problem: err.Error(), Excerpt: quote})
	return false
}

// scopeRule reads one rule.
func (f *file) scopeRule(d *setting, r *ScopeRule, node ast.Node) {
	before, verbs := len(f.problems), 0
	f.mapping(d.key, node, func(key string, at *token.Token, value ast.Node) {
		switch key {
		case keyName:
			f.entryKey(d, []entryKey{{key: keyName, at: word{v: &r.Name}}}, keyName, at, value)
			return
		case keyAdmit, keyRefuse:
		default:
			f.unknown(d.key, key, at, nearest(plainKey(key), []string{keyName, keyAdmit, keyRefuse}))
			return
		}
		if verbs++; verbs > 1 {
			f.fail(d.key, at, "want admit or refuse once in a rule")
			return
		}
		r.Admit = key == keyAdmit
		f.conditions(d, r, key, at, value)
	})
	if verbs == 0 && len(f.problems) == before {
		f.fail(d.key, node.GetToken(), "want admit or refuse in a rule, got "+describe(node)+" without")
	}
}

// conditions reads what a rule asks for: any, or a mapping.
func (f *file) conditions(d *setting, r *ScopeRule, verb string, at *token.Token, value ast.Node) {
	keys := r.conditions()
	if text, plain := scalar(value); plain && text == keyAny {
		return
	}
	_, isMapping := value.(ast.MapNode)
	if !isMapping {
		if _, null := value.(*ast.NullNode); !null { // which may stand nowhere
			at = value.GetToken()
		}
		f.fail(d.key, at, fmt.Sprintf("want conditions such as %s: {host: a.example}, or %s: any, got %s", verb, verb, describe(value)))
		return
	}
	some := false
	f.mapping(d.key, value, func(name string, at *token.Token, value ast.Node) {
		some = true
		if i := slices.IndexFunc(keys, func(k entryKey) bool { return k.key == name }); i >= 0 && keys[i].at.isList() {
			if text, plain := scalar(value); plain { // a single value need not be a list
				f.oneOf(d, keys[i], value, text)
				return
			}
		}
		f.entryKey(d, keys, name, at, value)
	})
	if !some {
		f.fail(d.key, at, fmt.Sprintf("want a condition, or %s: any", verb))
	}
}

// oneOf reads a condition that has a single value.
func (f *file) oneOf(d *setting, k entryKey, value ast.Node, text string) {
	if err := k.at.put(text); err != nil {
		f.refuse(d.key, value.GetToken(), k.key, err)
	} else if want := k.wanted(); want != "" {
		f.fail(d.key, value.GetToken(), k.key+": "+(&badValue{want: want, got: text}).Error())
	}
}

// render writes the setting as a file has it.
func (s scopeSlot) render(b *bytes.Buffer, key string) {
	if len(*s.rules) == 0 {
		fmt.Fprintf(b, "%s: %s\n", key, *s.v)
		return
	}
	fmt.Fprintf(b, "%s:\n  - %s\n", key, *s.v)
	for _, r := range *s.rules {
		lead := "  - "
		if r.Name != "" {
			fmt.Fprintf(b, "%sname: %s\n", lead, quote(r.Name))
			lead = "    "
		}
		verb := keyRefuse
		if r.Admit {
			verb = keyAdmit
		}
		var inner bytes.Buffer
		for _, k := range r.conditions() {
			writeCondition(&inner, k)
		}
		if inner.Len() == 0 {
			fmt.Fprintf(b, "%s%s: %s\n", lead, verb, keyAny)
			continue
		}
		fmt.Fprintf(b, "%s%s:\n%s", lead, verb, inner.String())
	}
}

// writeCondition writes a condition that is set.
func writeCondition(b *bytes.Buffer, k entryKey) {
	switch texts := k.at.texts(); len(texts) {
	case 0:
	case 1:
		fmt.Fprintf(b, "      %s: %s\n", k.key, quote(texts[0]))
	default:
		fmt.Fprintf(b, "      %s:\n", k.key)
		for _, text := range texts {
			fmt.Fprintf(b, "        - %s\n", quote(text))
		}
	}
}
