// Package scope decides which URLs belong to a crawl.
//
// A Scope is an ordered list of rules, of which the last one that a URL meets has the last word. It starts from a Mode, what
// the seeds reach, and learns the seeds as they are read; beyond that only Join widens it. Where a link was found, or what
// redirected to it, counts for nothing unless a rule asks for the depth: a page outside cannot bring the crawl outside. Test
// may run beside AddSeed and Join, and takes the same time however many seeds there are, and however many hosts a rule
// names; it takes longer with each rule, and each regular expression costs what matching it costs.
//
// What a rule asks for may not be known yet: the content type of a link, say. Such a URL is admitted as long as something
// that is not known could admit it, and is tested again when more is known.
//
// The price is memory: a key and a rule for each host, domain or directory that the seeds name, about 130 bytes, and
// where there are rules about 40 bytes more for each seed.
package scope

import (
	"cmp"
	"errors"
	"hash/maphash"
	"slices"
	"sync"

	"crawl/canon"
)

// Mode says how far a seed reaches.
type Mode string

// The modes. In each, http and https count as one, and a seed's host as the same with and without a leading "www.".
const (
	// Host admits the hosts of the seeds. A port that is not the scheme's default makes another host. The empty Mode
	// is Host.
	Host Mode = "host"
	// Domain admits the registrable domains of the seeds by the public suffix list, its private part included: every
	// host below, on all ports. A seed's host without one (an address, a single label, a public suffix) stands for
	// itself alone, port included.
	Domain Mode = "domain"
	// Prefix admits, on a seed's host, what starts with the seed's path up to its last slash.
	Prefix Mode = "prefix"
	// Any admits every URL.
	Any Mode = "any"
)

// Config says what belongs to a crawl. The zero Config is the hosts of the seeds.
type Config struct {
	Mode Mode

	// Rules change what Mode says, each what all before it say. Seeds are exempt.
	Rules []Rule

	// Include and Exclude hold regular expressions in the syntax of RE2, matched against the URL as it is requested,
	// anywhere in it unless anchored. They are the last rules: where there are Includes, what matches none of them is
	// refused, and then what matches an Exclude. Seeds are exempt from both.
	Include, Exclude []string
}

// Verdict is what a Scope says about a URL.
type Verdict struct {
	Admitted bool
	// Rule names what decided, as "host www.a.test", "prefix a.test/docs/", "exclude \.pdf$" or "not a seed's host".
	Rule string
	// Unless names the rule that may have another word once more is known of an admitted URL; empty where there is none.
	Unless string
}

// Scope decides which URLs belong to a crawl. It is safe for concurrent use.
type Scope struct {
	// Not written after New.
	mode    Mode
	base    *reach   // of mode
	reaches []*reach // base, and those that rules ask for
	rules   []rule   // the last one that is met decides
	salt    maphash.Seed
	types   bool // some rule asks for the content type
	widens  bool // some rule admits

	mu     sync.RWMutex        // guards all below
	exempt map[uint64]struct{} // hashes of the seeds, where there are rules to be exempt from
	joined []string            // entries taken in by Join, in their order
}

// New returns a Scope that knows no seed yet. The error joins an *Error for every bad value.
func New(cfg Config) (*Scope, error) {
	s := &Scope{mode: cmp.Or(cfg.Mode, Host), salt: maphash.MakeSeed(), exempt: map[uint64]struct{}{}}
	s.base = s.reachBy(s.mode)
	var problems []error
	if !slices.Contains(modes, s.mode) {
		problems = append(problems, &Error{Key: "scope", Index: -1, Value: string(s.mode), Err: errMode})
	}
	names := make(map[string]bool)
	for i, r := range cfg.Rules {
		compiled, err := s.compileRule(r)
		switch {
		case err != nil:
			problems = append(problems, &Error{Key: "scope", Index: i, Value: r.String(), Err: err})
		case r.Name != "" && names[r.Name]:
			problems = append(problems, &Error{Key: "scope", Index: i, Value: r.Name, Err: errName})
		}
		names[r.Name] = true
		s.rules = append(s.rules, compiled)
		s.types = s.types || compiled.types != nil
		s.widens = s.widens || compiled.admit
	}
	s.rules = append(s.rules, includes(cfg.Include, &problems)...)
	s.rules = append(s.rules, excludes(cfg.Exclude, &problems)...)
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return s, nil
}

// AsksType reports whether a rule asks for the content type, so that the head of an answer has to be tested.
func (s *Scope) AsksType() bool { return s.types }

// AddSeed takes in a seed, with all that the rules let it reach, and reports whether that widens the scope.
func (s *Scope) AddSeed(seed canon.URL) (wider bool) {
	if seed.IsZero() {
		return false
	}
	wider = s.extend(located(seed), "")
	if len(s.rules) > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.exempt[s.hash(seed)] = struct{}{}
	}
	return wider
}

// extend adds a host with a path to what the seeds reach, by each of the ways that the rules ask for.
func (s *Scope) extend(place, note string) (wider bool) {
	for _, r := range s.reaches {
		wider = r.extend(place, note) || wider
	}
	return wider
}

// Entry returns what Join takes for a URL that a seed itself redirects to: its host, under Prefix followed by its
// directory, and where what the seeds reach is no matter, nothing.
func (s *Scope) Entry(u canon.URL) string {
	if u.IsZero() || !slices.ContainsFunc(s.reaches, func(r *reach) bool { return r.mode != Any }) {
		return ""
	}
	if slices.ContainsFunc(s.reaches, func(r *reach) bool { return r.mode == Prefix }) {
		return directory(located(u))
	}
	return u.Host()
}

// Join takes in what a seed itself redirects to, as though a seed were there. entry is an Entry, or a host, which under
// Prefix is taken in whole. Join reports whether that widens the scope. An entry that does is part of the crawl's
// state, to be joined again when the crawl is resumed.
func (s *Scope) Join(entry string) bool {
	if entry == "" || !s.extend(entry, " (a seed redirects there)") {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined = append(s.joined, entry)
	return true
}

// Joined returns the entries that widened the scope, in the order of their Join.
func (s *Scope) Joined() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.joined)
}

// Test says whether u belongs to the crawl, and which rule decides. It allocates nothing, except where looking a host up
// in the suffix list does.
func (s *Scope) Test(u canon.URL, at Place) Verdict {
	if u.IsZero() {
		return Verdict{Rule: "no URL"}
	}
	if len(s.rules) == 0 {
		rule, reached := s.base.test(u)
		return Verdict{Admitted: reached, Rule: rule}
	}
	v := s.decide(u, at)
	if (!v.Admitted || v.Unless != "") && s.isSeed(u) {
		return Verdict{Admitted: true, Rule: "seed"}
	}
	return v
}

// decide goes from the last rule to the first. A rule of which it is not known whether u meets it decides only if it admits:
// what might be admitted is not refused yet. Where no rule admits, what the seeds do not reach needs none of them.
func (s *Scope) decide(u canon.URL, at Place) Verdict {
	base, reached := s.base.test(u)
	if !reached && !s.widens {
		return Verdict{Rule: base}
	}
	unless := ""
	for i := len(s.rules) - 1; i >= 0; i-- {
		r := &s.rules[i]
		met := r.meets(u, at)
		if met == maybe && unless == "" {
			unless = r.name
		}
		if met == yes || met == maybe && r.admit {
			return verdict(r.admit, r.name, unless)
		}
	}
	return verdict(reached, base, unless)
}

// Barred reports whether the user wants a URL asked for in no way, and by which rule: the last one that it meets, in reach of
// the seeds or not, is one that refuses it, and it is no seed. What an include leaves out is not barred.
func (s *Scope) Barred(u canon.URL) (rule string, barred bool) {
	for i := len(s.rules) - 1; i >= 0; i-- {
		if r := &s.rules[i]; !r.lacks && r.meets(u, Place{Depth: UnknownDepth}) == yes {
			return r.name, !r.admit && !s.isSeed(u)
		}
	}
	return "", false
}

// verdict: what is not known could only have refused what is refused anyway.
func verdict(admitted bool, rule, unless string) Verdict {
	if !admitted {
		unless = ""
	}
	return Verdict{Admitted: admitted, Rule: rule, Unless: unless}
}

func (s *Scope) isSeed(u canon.URL) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, is := s.exempt[s.hash(u)]
	return is
}

// hash stands for a seed, so that its text need not be kept. With a million seeds, one in 2^44 other URLs is taken for
// a seed, which exempts it from the patterns and does no more.
func (s *Scope) hash(u canon.URL) uint64 { return maphash.String(s.salt, u.Key()) }
