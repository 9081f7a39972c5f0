// Package trap knows URLs that no end comes of: relative links on a server that answers everything, filters that are
// combined without limit, calendars that lead into all eternity.
//
// A rule looks at one URL alone, so it holds nothing in memory, and gives the same answer wherever and whenever a link is
// found (but for the year that is written). Each has a limit that ordinary sites stay far below; a corpus of such URLs is
// among the tests.
//
// The price is that shapes are all it sees: a trap whose URLs look like those of an archive is not found here.
package trap

import (
	"strings"

	"crawl/canon"
)

// Rule is a kind of trap.
type Rule uint8

// The rules, in the order in which they are asked.
const (
	None       Rule = iota
	Length          // the URL is too long: /x/AAAAAAAA…
	Segments        // the path has too many segments: /a/b/c/d/…
	Repeats         // a part of the path or of the query comes again and again: /en/en/en/en/, ?q=a?q=a?q=a?q=a
	Parameters      // the query has too many parameters: ?a=&b=&c=&…
	Calendar        // a date is too far ahead: ?year=2087&month=3, /events/2087/03/
	numRules
)

var names = [numRules]string{
	None: "none", Length: "url_length", Segments: "path_segments", Repeats: "repeats", Parameters: "parameters", Calendar: "calendar",
}

// String returns the rule's name in statistics.
func (r Rule) String() string { return names[r] }

// Rules lists all rules.
func Rules() []Rule {
	all := make([]Rule, 0, numRules-1)
	for r := None + 1; r < numRules; r++ {
		all = append(all, r)
	}
	return all
}

// Config holds the limits; nil is no limit.
type Config struct {
	MaxURLBytes     *int
	MaxPathSegments *int
	MaxRepeats      *int // of one segment in a path, and of one piece in a query
	MaxParameters   *int // of a query
	MaxYearsAhead   *int // of a date in a URL
}

// Default returns the limits that hold where nothing is said.
func Default() Config {
	limit := func(n int) *int { return &n }
	return Config{
		MaxURLBytes: limit(4000), MaxPathSegments: limit(20), MaxRepeats: limit(3), MaxParameters: limit(32), MaxYearsAhead: limit(2),
	}
}

// Test returns the rule that u breaks, or None. year is the present one.
func (c *Config) Test(u canon.URL, year int) Rule {
	path, query, _ := strings.Cut(u.Target(), "?")
	segments := strings.Count(strings.TrimSuffix(path, "/"), "/")
	switch {
	case exceeds(c.MaxURLBytes, len(u.String())):
		return Length
	case exceeds(c.MaxPathSegments, segments):
		return Segments
	case c.MaxRepeats != nil && (pathRepeats(path, segments, *c.MaxRepeats) || queryRepeats(query, *c.MaxRepeats)):
		return Repeats
	case exceeds(c.MaxParameters, parameters(query)):
		return Parameters
	case c.MaxYearsAhead != nil && isAhead(path, query, year+*c.MaxYearsAhead):
		return Calendar
	}
	return None
}

func exceeds(limit *int, n int) bool { return limit != nil && n > *limit }

// parameters counts the parameters of a query.
func parameters(query string) int {
	if query == "" {
		return 0
	}
	return 1 + strings.Count(query, "&")
}
