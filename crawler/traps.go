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

// trap refuses a link by a rule against endless sites.
func (v *visit) trap(rule string, l link) {
	v.countTrap(rule, 1)
	v.turnAway(Trap, rule, l)
}

// trapped counts links that a rule against endless sites refused, of which there is nothing to list.
func (v *visit) trapped(rule string, n uint64) {
	if n > 0 {
		v.countTrap(rule, n)
		v.reasons[Trap] += n
		v.tally(ruleKey{Trap, rule}, n)
	}
}

func (v *visit) countTrap(rule string, n uint64) {
	if v.traps == nil {
		v.traps = make(map[string]uint64)
	}
	v.traps[rule] += n
}

// trapOf returns the rule against endless sites that refuses a link of a page; empty: none does.
func (c *Crawler) trapOf(v *visit, next link) string {
	if rule := c.cfg.Traps.test(next.url, v.lease.LeasedAt.Year()); rule != trap.None {
		return rule.String()
	}
	if _, rule := c.alike.refuses(next.url); rule != "" {
		return rule
	}
	if _, refused := c.namesakes.refuses(next.url); refused {
		return trapHosts
	}
	if v.ledEnough && next.class == frontier.Navigation && trap.Grows(v.page.URL, next.url.String()) {
		return trapGrowing
	}
	return ""
}

// entrapped ends a visit that a rule against endless sites forbids which was not met yet when its URL was admitted.
func (c *Crawler) entrapped(v *visit) bool {
	l := &v.lease
	if pattern, rule := c.alike.refuses(l.URL); rule != "" {
		v.refuseBy(Trap, rule, rule+": pages of "+pattern+" say the same")
		return true
	}
	if domain, refused := c.namesakes.refuses(l.URL); refused {
		v.refuseBy(Trap, trapHosts, trapHosts+": hosts of "+domain+" say the same")
		return true
	}
	if c.growing.refuses(&l.Task, v.page.Referrer) {
		v.refuseBy(Trap, trapGrowing, trapGrowing+": pages say what the page said that led to them")
		return true
	}
	return false
}

// trapRuling says what the rules against endless sites have against a URL. shut returns the pattern of a URL of which no more
// is wanted, and the rule that says so. What the page said that led to the URL is not asked.
func trapRuling(t Traps, task frontier.Task, year int, shut func(canon.URL) (pattern, rule string)) Ruling {
	if exempt(task) {
		return Ruling{ByTrap, Allows, seedsExempt}
	}
	if isCheck(task) {
		return Ruling{ByTrap, Allows, checksExempt}
	}
	if rule := t.test(task.URL, year); rule != trap.None {
		return Ruling{ByTrap, Refuses, rule.String()}
	}
	if pattern, rule := shut(task.URL); rule != "" {
		return Ruling{ByTrap, Refuses, rule + ": pages of " + pattern + " say the same"}
	}
	return Ruling{ByTrap, Allows, "no trap by its shape"}
}
