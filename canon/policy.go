package canon

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"
)

// Policy names URLs alike that a server can tell apart, but in the user's judgement does not: each of its rules may cost
// pages. The zero Policy has none.
type Policy struct {
	// Hosts is whose URLs it is for: a host (a.example), a name and all below it (*.example), or every host (* or empty).
	// With a port it is for that one alone.
	Hosts string

	DropParameters []string // names of parameters that say nothing of the page; one that ends in * stands for all that begin so
	DropSessionIDs bool     // parameters and path parameters that name a session: ;jsessionid=, PHPSESSID=, sid=
	SortParameters bool     // the order of parameters says nothing, but for those of one name
	IndexFiles     []string // files that a directory stands for: index.html
	MergeSlash     bool     // a path with a slash at its end, and without
	MergeWWW       bool     // a host with www. before it, and without
	MergeSchemes   bool     // http and https, on their default ports
}

// Applied is a set of rules of policies.
type Applied uint8

// The rules.
const (
	Schemes Applied = 1 << iota
	WWW
	SessionIDs
	Parameters
	ParameterOrder
	Index
	Slash
)

var appliedNames = []string{"schemes", "www", "session_ids", "parameters", "parameter_order", "index_files", "slash"}

// Names returns the names of the rules in a.
func (a Applied) Names() (names []string) {
	for i, name := range appliedNames {
		if a&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// NewRules returns the safe rules with policies on top. All policies whose hosts a URL is of apply to it.
func NewRules(policies ...Policy) (*Rules, error) {
	r := new(Rules)
	for i, p := range policies {
		if strings.Contains(strings.TrimPrefix(p.Hosts, "*"), "*") {
			return nil, fmt.Errorf("policy %d: hosts %q: a star stands at the start, before a dot, or alone", i+1, p.Hosts)
		}
		r.policies = append(r.policies, p)
	}
	return r, nil
}

// Version names the rules. A crawl stores it, since keys made by other rules do not compare.
func (r *Rules) Version() string {
	const safe = "1"
	if r == nil || len(r.policies) == 0 {
		return safe
	}
	sum := fnv.New64a()
	for _, p := range r.policies {
		fmt.Fprintf(sum, "%#v\n", p)
	}
	return fmt.Sprintf("%s+%016x", safe, sum.Sum64())
}

// Key returns the name of u under r: the key of the safe rules, and what the policies for its host make of that. The name
// of a URL that a name parses to is that name.
func (r *Rules) Key(u URL) string {
	key, _ := r.Apply(u)
	return key
}

// Apply returns Key, and which rules of policies changed it. Policies are tried until none changes anything: what one makes
// of a URL may be another one's, and the result has to be final.
func (r *Rules) Apply(u URL) (key string, by Applied) {
	key = u.Key()
	if r == nil || len(r.policies) == 0 || u.IsZero() {
		return key, 0
	}
	s := split(key)
	for before := (parts{}); s != before; {
		before = s
		for i := range r.policies {
			if p := &r.policies[i]; p.binds(&s) {
				by |= p.apply(&s)
			}
		}
	}
	if by == 0 {
		return key, 0
	}
	return s.String(), by
}

// binds reports whether the policy is for the host.
func (p *Policy) binds(s *parts) bool {
	if p.Hosts == "" || p.Hosts == "*" {
		return true
	}
	name, port := splitPort(p.Hosts)
	host, hostPort := splitPort(s.host)
	if port != "" && port != cmp.Or(hostPort, defaultPort(s.scheme)) {
		return false
	}
	if name == "*" {
		return true
	}
	if below, ok := strings.CutPrefix(name, "*."); ok {
		rest, matches := strings.CutSuffix(host, below)
		return matches && (rest == "" || strings.HasSuffix(rest, "."))
	}
	return host == name
}

// parts is a key taken apart.
type parts struct{ scheme, host, path, query string }

func split(key string) (s parts) {
	var rest string
	s.scheme, rest, _ = strings.Cut(key, "://")
	rest, s.query, _ = strings.Cut(rest, "?")
	i := strings.IndexByte(rest, '/')
	s.host, s.path = rest[:i], rest[i:]
	return s
}

func (s *parts) String() string {
	key := s.scheme + "://" + s.host + s.path
	if s.query != "" {
		key += "?" + s.query
	}
	return key
}

// apply brings a key closer to the policy's form, and returns the rules that changed it.
func (p *Policy) apply(s *parts) (by Applied) {
	note := func(rule Applied, changed bool) {
		if changed {
			by |= rule
		}
	}
	note(Schemes, p.MergeSchemes && s.mergeSchemes())
	note(WWW, p.MergeWWW && s.mergeWWW())
	note(SessionIDs, p.DropSessionIDs && s.dropSessionIDs())
	note(Parameters, len(p.DropParameters) > 0 && s.dropParameters(p.DropParameters))
	note(ParameterOrder, p.SortParameters && s.sortParameters())
	note(Index, len(p.IndexFiles) > 0 && s.dropIndex(p.IndexFiles))
	note(Slash, p.MergeSlash && s.dropSlash())
	return by
}

func (s *parts) mergeSchemes() bool {
	if _, port := splitPort(s.host); s.scheme != "http" || port != "" {
		return false
	}
	s.scheme = "https"
	return true
}

// mergeWWW leaves www.com as it is: what remained would be no host of anybody's.
func (s *parts) mergeWWW() bool {
	rest, ok := strings.CutPrefix(s.host, "www.")
	name, _ := splitPort(rest)
	if !ok || !strings.Contains(strings.TrimSuffix(name, "."), ".") {
		return false
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	s.host = rest
	return true
}

func (s *parts) dropIndex(files []string) bool {
	i := strings.LastIndexByte(s.path, '/') + 1
	if i == len(s.path) || !slices.Contains(files, s.path[i:]) {
		return false
	}
	s.path = s.path[:i]
	return true
}

func (s *parts) dropSlash() bool {
	if len(s.path) < 2 || !strings.HasSuffix(s.path, "/") {
		return false
	}
	s.path = strings.TrimRight(s.path, "/")
	if s.path == "" {
		s.path = "/"
	}
	return true
}

// filter keeps the parameters that pass.
func (s *parts) filter(keep func(name, value string) bool) (changed bool) {
	if s.query == "" {
		return false
	}
	pairs := strings.Split(s.query, "&")
	kept := slices.DeleteFunc(pairs, func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		return !keep(name, value)
	})
	query := strings.Join(kept, "&")
	changed = query != s.query
	s.query = query
	return changed
}

func (s *parts) dropParameters(drop []string) bool {
	return s.filter(func(name, _ string) bool {
		return !slices.ContainsFunc(drop, func(d string) bool {
			prefix, open := strings.CutSuffix(d, "*")
			return name == d || open && strings.HasPrefix(name, prefix)
		})
	})
}

func (s *parts) sortParameters() bool {
	pairs := strings.Split(s.query, "&")
	slices.SortStableFunc(pairs, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, "=")
		nameB, _, _ := strings.Cut(b, "=")
		return strings.Compare(nameA, nameB)
	})
	query := strings.Join(pairs, "&")
	changed := query != s.query
	s.query = query
	return changed
}
