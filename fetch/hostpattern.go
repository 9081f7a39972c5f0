package fetch

import (
	"strings"

	"crawl/canon"
)

// hostPattern is HostRule.Pattern, read.
type hostPattern struct{ canon.HostPattern }

func parseHostPattern(text string) (hostPattern, error) {
	p, err := canon.ParseHostPattern(text)
	return hostPattern{p}, err
}

func (p hostPattern) matches(u canon.URL) bool {
	return (p.Port == "" || p.Port == u.Port()) && p.MatchesName(u)
}

// bareName is a URL's host without the dot that may end it.
func bareName(u canon.URL) string { return strings.TrimSuffix(u.Hostname(), ".") }
