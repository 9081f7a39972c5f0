package crawler

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"crawl/canon"
	"crawl/fetch"
	"crawl/store"
)

// Selection selects page records. Status, Error and Outcome say how a visit ended: a record is selected if any entry of
// any of the three matches, or if all three are empty. Hosts narrows that. At least one entry is required in all.
type Selection struct {
	Status  []string        `json:"status"`  // "404", or with x for any digit: "5xx"
	Error   []string        `json:"error"`   // a code, "dns_timeout", or what codes begin with, "dns"
	Outcome []store.Outcome `json:"outcome"` // as in page records
	Hosts   []string        `json:"hosts"`   // patterns as in frontier.Override
}

// Validate reports every problem at once.
func (s Selection) Validate() error {
	_, err := s.compile()
	return err
}

// selector is a Selection, read.
type selector struct {
	Selection
	hosts          []sitePattern
	withoutRecords []string // of Selection.Hosts: what no record has matched so far
}

func (s Selection) compile() (*selector, error) {
	var errs []error
	if len(s.Status)+len(s.Error)+len(s.Outcome)+len(s.Hosts) == 0 {
		errs = append(errs, errors.New("nothing is selected: want a status, an error, an outcome or a host"))
	}
	for _, status := range s.Status {
		if len(status) != 3 || strings.Trim(status, "0123456789x") != "" || !strings.ContainsAny(status[:1], statusClasses) {
			errs = append(errs, fmt.Errorf("status: want one such as 404 or 5xx, got %q", status))
		}
	}
	for _, code := range s.Error {
		switch {
		case code == "":
			errs = append(errs, errors.New("error: want a code such as dns or timeout, got none"))
		case !knownCode(code):
			errs = append(errs, fmt.Errorf("unknown error %q: want one of %s, or what they begin with", code, strings.Join(errorCodes(), ", ")))
		}
	}
	out := &selector{Selection: s, withoutRecords: slices.Clone(s.Hosts)}
	for _, text := range s.Hosts {
		p, err := parseSitePattern(text)
		errs = append(errs, err)
		out.hosts = append(out.hosts, p)
	}
	return out, errors.Join(errs...)
}

// selects reports whether a record is one of those. What it looks at first is what costs least.
func (s *selector) selects(p *store.Page) bool {
	return s.ended(p) && (len(s.hosts) == 0 || s.at(p.URL))
}

func (s *selector) ended(p *store.Page) bool {
	if len(s.Status)+len(s.Error)+len(s.Outcome) == 0 || slices.Contains(s.Outcome, p.Outcome) {
		return true
	}
	if p.Status != 0 {
		status := strconv.Itoa(p.Status)
		if slices.ContainsFunc(s.Status, func(want string) bool { return matchesDigits(want, status) }) {
			return true
		}
	}
	return p.Error != nil && slices.ContainsFunc(s.Error, func(want string) bool {
		return beginsWith(p.Error.Code, want)
	})
}

// statusClasses are the first digits of statuses that a record may have, and x. 9 is of no standard, and in use: 999.
const statusClasses = "123459x"

// knownCode reports whether records may have an error of that code, or one that begins with it.
func knownCode(want string) bool {
	if status, found := strings.CutPrefix(want, "status_"); found {
		n, err := strconv.Atoi(status)
		return err == nil && statusCode(n) == want
	}
	return slices.ContainsFunc(errorCodes(), func(code string) bool { return beginsWith(code, want) })
}

// errorCodes lists the codes of page records' errors; status stands for that of each answer that failed.
func errorCodes() []string {
	codes := []string{
		"status", "extract", codeNoLocation, codeBadLocation, codeRedirectLoop, codeTooManyRedirects,
		store.OutcomeRobotsDenied.String(), store.OutcomeOutOfScope.String(), store.OutcomeTooDeep.String(), store.OutcomeTrap.String(), store.OutcomeDenied.String(),
	}
	for _, code := range fetch.Codes() {
		codes = append(codes, string(code))
	}
	for _, cut := range []fetch.Truncation{fetch.TruncatedLength, fetch.TruncatedTime, fetch.TruncatedDisconnect} {
		codes = append(codes, truncatedCode(string(cut)))
	}
	return codes
}

// beginsWith reports whether a code is that one, or begins with its words.
func beginsWith(code, words string) bool {
	rest, found := strings.CutPrefix(code, words)
	return found && (rest == "" || rest[0] == '_')
}

func matchesDigits(want, have string) bool {
	if len(want) != len(have) {
		return false
	}
	for i := range len(want) {
		if want[i] != 'x' && want[i] != have[i] {
			return false
		}
	}
	return true
}

// at reports whether the URL of a record is of a selected host.
func (s *selector) at(url string) bool {
	u, err := canon.Parse(url)
	return err == nil && slices.ContainsFunc(s.hosts, func(p sitePattern) bool { return p.matches(u) })
}

// meet notes which patterns of hosts match the URL of a record.
func (s *selector) meet(url string) {
	if len(s.withoutRecords) == 0 {
		return
	}
	u, err := canon.Parse(url)
	if err != nil {
		return
	}
	s.withoutRecords = slices.DeleteFunc(s.withoutRecords, func(pattern string) bool {
		return s.hosts[slices.Index(s.Hosts, pattern)].matches(u)
	})
}

// sitePattern is a host pattern as frontier.Override takes it.
type sitePattern struct{ canon.HostPattern }

func parseSitePattern(text string) (sitePattern, error) {
	p, err := canon.ParseHostPattern(text)
	if err != nil {
		return sitePattern{}, fmt.Errorf("host: %w", err)
	}
	return sitePattern{p}, nil
}

func (p sitePattern) matches(u canon.URL) bool { return p.matchesPort(u) && p.MatchesName(u) }

// matchesPort: http and https of a host are one, so ports 80 and 443 both stand for a URL with its scheme's own.
func (p sitePattern) matchesPort(u canon.URL) bool {
	if p.Port == "" || p.Port == u.Port() {
		return true
	}
	_, named := strings.CutSuffix(u.Host(), ":"+u.Port())
	return !named && (p.Port == "80" || p.Port == "443")
}
