package scope

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"crawl/canon"
)

var (
	modes   = []Mode{Host, Domain, Prefix, Any}
	errMode = fmt.Errorf("want one of %s, %s, %s, %s", Host, Domain, Prefix, Any)
)

// Error is one bad value of a Config.
type Error struct {
	Key   string // scope, include or exclude
	Index int    // of the pattern in its list, from 0; -1 for scope
	Value string
	Err   error
}

func (e *Error) Error() string {
	key := e.Key
	if e.Index >= 0 {
		key = fmt.Sprintf("%s[%d]", key, e.Index)
	}
	return fmt.Sprintf("%s: %v, got %.60q", key, e.Err, e.Value)
}

func (e *Error) Unwrap() error { return e.Err }

// pattern is a regular expression and the rule it is named by.
type pattern struct {
	*regexp.Regexp
	rule string
}

func compile(key string, texts []string, problems *[]error) []pattern {
	var patterns []pattern
	for i, text := range texts {
		re, err := regexp.Compile(text)
		if wrong, ok := errors.AsType[*syntax.Error](err); ok {
			err = fmt.Errorf("want a regular expression (%s in it)", wrong.Code)
		}
		if err != nil {
			*problems = append(*problems, &Error{Key: key, Index: i, Value: text, Err: err})
			continue
		}
		patterns = append(patterns, pattern{re, key + " " + text})
	}
	return patterns
}

// Barred reports whether the user wants a URL asked for in no way, and by which rule: an Exclude matches it, in reach of
// the seeds or not, and it is no seed.
func (s *Scope) Barred(u canon.URL) (rule string, barred bool) {
	for _, p := range s.exclude {
		if p.MatchString(u.String()) && !s.isSeed(u) {
			return p.rule, true
		}
	}
	return "", false
}

func (s *Scope) hasPatterns() bool { return len(s.include)+len(s.exclude) > 0 }

// filter applies the patterns to a URL that the seeds reach by the given rule.
func (s *Scope) filter(u canon.URL, rule string) Verdict {
	text := u.String()
	if p := match(s.exclude, text); p != nil {
		return Verdict{false, p.rule}
	}
	if len(s.include) == 0 {
		return Verdict{true, rule}
	}
	if p := match(s.include, text); p != nil {
		return Verdict{true, p.rule}
	}
	return Verdict{false, "no include matches"}
}

// match returns the first pattern that matches, or nil.
func match(patterns []pattern, text string) *pattern {
	for i := range patterns {
		if patterns[i].MatchString(text) {
			return &patterns[i]
		}
	}
	return nil
}
