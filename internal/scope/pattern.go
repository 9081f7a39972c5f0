package scope

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

var (
	modes   = []Mode{Host, Domain, Prefix, Any}
	errMode = fmt.Errorf("want one of %s, %s, %s, %s", Host, Domain, Prefix, Any)
	errName = errors.New("want another name than an earlier rule has")
)

// Error is one bad value of a Config.
type Error struct {
	Key   string // scope, include or exclude
	Index int    // of the rule or pattern in its list, from 0; -1 for the Mode
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

// includes returns the rule that refuses what matches none of the patterns.
func includes(texts []string, problems *[]error) []rule {
	if len(texts) == 0 {
		return nil
	}
	r := rule{name: "no include matches", lacks: true}
	for i, text := range texts {
		r.regexps = append(r.regexps, pattern("include", i, text, problems))
	}
	return []rule{r}
}

// excludes returns a rule for each pattern.
func excludes(texts []string, problems *[]error) (rules []rule) {
	for i, text := range texts {
		rules = append(rules, rule{name: "exclude " + text, regexps: []*regexp.Regexp{pattern("exclude", i, text, problems)}})
	}
	return rules
}

func pattern(key string, i int, text string, problems *[]error) *regexp.Regexp {
	re, err := compileRegexp(text)
	if err != nil {
		*problems = append(*problems, &Error{Key: key, Index: i, Value: text, Err: err})
	}
	return re
}

func compileRegexp(text string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(text)
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		err = fmt.Errorf("want a regular expression (%s in it)", wrong.Code)
	}
	return re, err
}
