package scope

import (
	"slices"
	"strings"

	"crawl/canon"
)

// answer says whether a URL meets conditions, as far as its Place is known.
type answer uint8

const (
	no    answer = iota
	maybe        // what is not known decides
	yes
)

// meets applies all conditions of a rule. Those that cost least come first, and what is not known last: a rule whose other
// conditions are not met depends on nothing.
func (r *rule) meets(u canon.URL, at Place) answer {
	if r.schemes != nil && !slices.Contains(r.schemes, u.Scheme()) ||
		r.ports != nil && !slices.Contains(r.ports, u.Port()) ||
		!r.hosts.empty() && !r.hosts.has(u) ||
		r.prefixes != nil && !r.starts(u) ||
		!r.domains.empty() && !r.inDomain(u) ||
		r.seeds != nil && !r.seeds.has(u) ||
		r.regexps != nil && r.matches(u) == r.lacks {
		return no
	}
	return min(r.deep(at), r.ofClass(at), r.ofType(at))
}

func (r *rule) starts(u canon.URL) bool {
	scheme, rest, _ := strings.Cut(u.Key(), "://")
	return slices.ContainsFunc(r.prefixes, func(p prefix) bool {
		return (p.scheme == "" || p.scheme == scheme) && strings.HasPrefix(rest, p.start)
	})
}

// inDomain asks the suffix list, which takes longer and allocates, only about what lies below a domain: that may be a public
// suffix itself, and what is below it another's.
func (r *rule) inDomain(u canon.URL) bool {
	if !r.domains.has(u) {
		return false
	}
	domain, ok := registrable(u.Host())
	_, found := r.domains.below[domain]
	return ok && found
}

func (r *rule) matches(u canon.URL) bool {
	for _, re := range r.regexps {
		if re.MatchString(u.String()) {
			return true
		}
	}
	return false
}

func (r *rule) deep(at Place) answer {
	switch {
	case r.minDepth == nil && r.maxDepth == nil:
		return yes
	case at.Depth == UnknownDepth:
		return maybe
	case r.minDepth != nil && at.Depth < *r.minDepth, r.maxDepth != nil && at.Depth > *r.maxDepth:
		return no
	}
	return yes
}

func (r *rule) ofClass(at Place) answer {
	switch {
	case r.classes == nil || slices.Contains(r.classes, at.Class):
		return yes
	case at.Class == "":
		return maybe
	}
	return no
}

func (r *rule) ofType(at Place) answer {
	if r.types == nil {
		return yes
	}
	if at.ContentType == "" {
		return maybe
	}
	for _, t := range r.types {
		kind, all := strings.CutSuffix(t, "*")
		if at.ContentType == t || all && strings.HasPrefix(at.ContentType, kind) {
			return yes
		}
	}
	return no
}

// hostSet is a set of patterns of hosts, each with the ports it is for; none means all. A host is looked up once for each
// of its labels, however many patterns there are.
type hostSet struct {
	exact, below map[string][]string
	any          bool // every host, on
	anyPorts     []string
}

func (h *hostSet) empty() bool { return h.exact == nil && h.below == nil && !h.any }

// add takes a pattern in, unless it is none.
func (h *hostSet) add(pattern string) (ok bool) {
	p, err := canon.ParseHostPattern(pattern)
	if err != nil {
		return false
	}
	if p.Name == "" {
		h.anyPorts = withPort(h.anyPorts, h.any, p.Port)
		h.any = true
		return true
	}
	set := &h.exact
	if p.Below {
		set = &h.below
	}
	if *set == nil {
		*set = make(map[string][]string)
	}
	ports, known := (*set)[p.Name]
	(*set)[p.Name] = withPort(ports, known, p.Port)
	return true
}

// withPort adds a port to those of a pattern. Once it is for all, it stays so.
func withPort(ports []string, known bool, port string) []string {
	if port == "" || known && ports == nil {
		return nil
	}
	return append(ports, port)
}

func (h *hostSet) has(u canon.URL) bool {
	name, _ := splitPort(u.Host())
	name = strings.TrimSuffix(name, ".") // as patterns are read
	if ports, found := h.exact[name]; found && onPort(ports, u) || h.any && onPort(h.anyPorts, u) {
		return true
	}
	if h.below == nil {
		return false
	}
	for {
		if ports, found := h.below[name]; found && onPort(ports, u) {
			return true
		}
		_, above, more := strings.Cut(name, ".")
		if !more {
			return false
		}
		name = above
	}
}

func onPort(ports []string, u canon.URL) bool {
	return ports == nil || slices.Contains(ports, u.Port())
}

// splitPort splits a host from its port. The colons of an IPv6 address stand inside brackets.
func splitPort(host string) (name, port string) {
	i := strings.LastIndexByte(host, ':')
	if i <= strings.LastIndexByte(host, ']') {
		return host, ""
	}
	return host[:i], host[i+1:]
}
