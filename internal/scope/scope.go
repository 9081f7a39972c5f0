// Package scope decides which URLs belong to a crawl.
//
// A Scope starts from what the user set and learns the seeds as they are read; beyond that only Join widens it. Where a
// link was found, or what redirected to it, counts for nothing: a page outside cannot bring the crawl outside. Test may
// run beside AddSeed and Join, and takes the same time however many seeds there are.
//
// The price is memory: a key and a rule for each host, domain or directory that the seeds name, about 130 bytes, and
// where there are patterns about 40 bytes more for each seed.
package scope

import (
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

	// Include and Exclude hold regular expressions in the syntax of RE2. They are matched against the URL as it is
	// requested, anywhere in it unless anchored. Both narrow what Mode admits: a URL that matches an Exclude is
	// refused, and where there are Includes so is one that matches none of them. Seeds are exempt from both.
	Include, Exclude []string
}

// Verdict is what a Scope says about a URL.
type Verdict struct {
	Admitted bool
	// Rule names what decided, as "host www.a.test", "prefix a.test/docs/", "exclude \.pdf$" or "not a seed's host".
	Rule string
}

// Scope decides which URLs belong to a crawl. It is safe for concurrent use.
type Scope struct {
	// Not written after New.
	mode             Mode
	include, exclude []pattern
	salt             maphash.Seed

	mu      sync.RWMutex        // guards all below
	reach   map[string]string   // what the seeds reach, by key (see reach.go), and the rule that says so
	longest int                 // length of the longest key in reach, in bytes
	exempt  map[uint64]struct{} // hashes of the seeds, where there are patterns to be exempt from
	joined  []string            // entries taken in by Join, in their order
}

// New returns a Scope that knows no seed yet. The error joins an *Error for every bad value.
func New(cfg Config) (*Scope, error) {
	s := &Scope{
		mode:   cfg.Mode,
		salt:   maphash.MakeSeed(),
		reach:  map[string]string{},
		exempt: map[uint64]struct{}{},
	}
	if s.mode == "" {
		s.mode = Host
	}
	var problems []error
	if !slices.Contains(modes, s.mode) {
		problems = append(problems, &Error{Key: "scope", Index: -1, Value: string(s.mode), Err: errMode})
	}
	s.include = compile("include", cfg.Include, &problems)
	s.exclude = compile("exclude", cfg.Exclude, &problems)
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return s, nil
}

// AddSeed takes in a seed, with all that Mode lets it reach, and reports whether that widens the scope.
func (s *Scope) AddSeed(seed canon.URL) (wider bool) {
	if seed.IsZero() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	wider = s.extend(s.Entry(seed), "")
	if s.hasPatterns() {
		s.exempt[s.hash(seed)] = struct{}{}
	}
	return wider
}

// Entry returns what Join takes for a URL that a seed itself redirects to: its host, under Prefix followed by its
// directory, and under Any nothing.
func (s *Scope) Entry(u canon.URL) string {
	switch {
	case u.IsZero() || s.mode == Any:
		return ""
	case s.mode == Prefix:
		return directory(located(u))
	default:
		return u.Host()
	}
}

// Join takes in what a seed itself redirects to, as though a seed were there. entry is an Entry, or a host, which under
// Prefix is taken in whole. Join reports whether that widens the scope. An entry that does is part of the crawl's
// state, to be joined again when the crawl is resumed.
func (s *Scope) Join(entry string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if entry == "" || !s.extend(entry, " (a seed redirects there)") {
		return false
	}
	s.joined = append(s.joined, entry)
	return true
}

// Joined returns the entries that widened the scope, in the order of their Join.
func (s *Scope) Joined() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.joined)
}

// Test says whether u belongs to the crawl, and which rule decides. It allocates nothing, except under Domain, where
// looking a host up in the suffix list does.
func (s *Scope) Test(u canon.URL) Verdict {
	if u.IsZero() {
		return Verdict{false, "no URL"}
	}
	rule, reached := s.reached(u)
	if !reached || !s.hasPatterns() {
		return Verdict{reached, rule}
	}
	verdict := s.filter(u, rule)
	if !verdict.Admitted && s.isSeed(u) {
		return Verdict{true, "seed"}
	}
	return verdict
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
