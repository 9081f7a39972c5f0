package crawler

import (
	"errors"
	"fmt"

	"crawl/canon"
	"crawl/frontier"
	"crawl/internal/trap"
)

// Traps are limits to the shape of URLs that links lead to: what is beyond them has no end. nil is no limit. Seeds, what is
// added by hand and what these redirect to are exempt.
type Traps struct {
	MaxURLBytes     *int // length of a URL
	MaxPathSegments *int
	MaxRepeats      *int // of one segment in a path, and of one parameter with its value in a query
	MaxParameters   *int // of a query
	MaxYearsAhead   *int // of a date in a URL, counted from this year
}

// DefaultTraps returns limits that ordinary sites stay far below.
func DefaultTraps() Traps { return Traps(trap.Default()) }

func (t Traps) validate() error {
	var errs []error
	for _, limit := range []struct {
		key   string
		value *int
	}{
		{"max_url", t.MaxURLBytes}, {"max_path_segments", t.MaxPathSegments}, {"max_repeats", t.MaxRepeats},
		{"max_parameters", t.MaxParameters}, {"max_years_ahead", t.MaxYearsAhead},
	} {
		if limit.value != nil && *limit.value < 0 {
			errs = append(errs, fmt.Errorf("%s: want 0 or more, got %d", limit.key, *limit.value))
		}
	}
	return errors.Join(errs...)
}

// test returns the rule that u breaks, or trap.None.
func (t Traps) test(u canon.URL, year int) trap.Rule {
	shape := trap.Config(t)
	return shape.Test(u, year)
}

// Names of traps that are no matter of a URL's shape.
const (
	trapRedirects = "redirects"       // a chain that is longer than maxRedirects
	trapEntries   = "sitemap_entries" // beyond what a sitemap may have
)

// trapped counts links that a rule against endless sites refused.
func (v *visit) trapped(rule string, n uint64) {
	if n == 0 {
		return
	}
	v.reasons[Trap] += n
	if v.traps == nil {
		v.traps = make(map[string]uint64)
	}
	v.traps[rule] += n
}

// trapRuling says what the rules against endless sites have against a URL.
func trapRuling(t Traps, task frontier.Task, year int) Ruling {
	if exempt(task) {
		return Ruling{ByTrap, Allows, seedsExempt}
	}
	if isCheck(task) {
		return Ruling{ByTrap, Allows, checksExempt}
	}
	if rule := t.test(task.URL, year); rule != trap.None {
		return Ruling{ByTrap, Refuses, rule.String()}
	}
	return Ruling{ByTrap, Allows, "no trap by its shape"}
}
