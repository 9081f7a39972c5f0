package scope

import (
	"strings"
	"sync"

	"crawl/canon"
	"golang.org/x/net/publicsuffix"
)

// What the seeds reach is a set of keys, so that testing a URL is a look-up and never a search:
//
//	Host    a host without www.                   a.test, a.test:8080
//	Domain  a registrable domain, or a host       a.co.uk, 127.0.0.1:8080
//	Prefix  a host without www. and a directory   a.test/docs/
//
// A URL's own keys are parts of its text, so that looking them up allocates nothing.

// reach is what the seeds reach by one mode.
type reach struct {
	mode Mode

	mu      sync.RWMutex      // guards all below
	rules   map[string]string // by key, the rule that says so
	longest int               // length of the longest key, in bytes
}

// reachBy returns what the seeds reach by a mode, which the scope learns from then on.
func (s *Scope) reachBy(mode Mode) *reach {
	for _, r := range s.reaches {
		if r.mode == mode {
			return r
		}
	}
	r := &reach{mode: mode, rules: make(map[string]string)}
	s.reaches = append(s.reaches, r)
	return r
}

// extend adds a host, with a path or without, and reports whether it was not there yet.
func (r *reach) extend(place, note string) bool {
	host, _, _ := strings.Cut(place, "/")
	kind, name := string(r.mode), host
	switch r.mode {
	case Any:
		return false
	case Prefix:
		if name = directory(place); name == "" {
			name = host + "/"
		}
	case Domain:
		if domain, ok := registrable(host); ok {
			name = domain
		} else {
			kind = string(Host)
		}
	}
	rule := kind + " " + name + note
	key := rule[len(kind)+1:][:len(name)] // a part of the rule, so that one string serves for both
	if r.mode != Domain {
		key = withoutWWW(key)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.rules[key]; known {
		return false
	}
	r.rules[key] = rule
	r.longest = max(r.longest, len(key))
	return true
}

func (r *reach) has(u canon.URL) bool {
	_, ok := r.test(u)
	return ok
}

// test says whether the seeds reach u, and which of them, or that none does.
func (r *reach) test(u canon.URL) (rule string, ok bool) {
	if r.mode == Any {
		return "any URL", true
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	switch r.mode {
	case Domain:
		rule, ok = r.domain(u)
		return or(rule, ok, "not in a seed's domain")
	case Prefix:
		rule, ok = r.prefix(u)
		return or(rule, ok, "not under a seed's directory")
	default:
		rule, ok = r.rules[withoutWWW(u.Host())]
		return or(rule, ok, "not a seed's host")
	}
}

func or(rule string, ok bool, refusal string) (string, bool) {
	if ok {
		return rule, true
	}
	return refusal, false
}

func (r *reach) domain(u canon.URL) (rule string, ok bool) {
	host := u.Host()
	if rule, ok = r.rules[host]; ok {
		return rule, true
	}
	domain, ok := registrable(host)
	if !ok {
		return "", false
	}
	rule, ok = r.rules[domain]
	return rule, ok
}

// prefix looks up u's directory and all above it, the nearest first. It leaves out those that are longer than any key:
// a path of nothing but slashes would take time by the square of its length.
func (r *reach) prefix(u canon.URL) (rule string, ok bool) {
	place := withoutWWW(located(u))
	place = place[:min(len(place), r.longest)]
	for dir := directory(place); dir != ""; dir = directory(dir[:len(dir)-1]) {
		if rule, ok = r.rules[dir]; ok {
			return rule, true
		}
	}
	return "", false
}

// located returns host and path of u as one text, in their canonical form: what counts as one page has one place.
func located(u canon.URL) string {
	_, rest, _ := strings.Cut(u.Key(), "://")
	place, _, _ := strings.Cut(rest, "?")
	return place
}

// directory cuts text after its last slash. Without a slash there is none.
func directory(text string) string { return text[:strings.LastIndexByte(text, '/')+1] }

// withoutWWW cuts a leading www. off a host, and off a host with a path. A host of two labels keeps it: www.test is not
// the site of test.
func withoutWWW(text string) string {
	rest, found := strings.CutPrefix(text, "www.")
	if i := strings.IndexAny(rest, "./:"); found && i > 0 && rest[i] == '.' {
		return rest
	}
	return text
}

// registrable returns the registrable domain of a host, whose port does not matter. ok is false for an address, for a
// single label and for a public suffix.
func registrable(host string) (domain string, ok bool) {
	name, _, _ := strings.Cut(host, ":")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" || last[0] == '[' {
		return "", false // an IPv4 address, a trailing dot, an IPv6 address
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	return domain, err == nil
}
