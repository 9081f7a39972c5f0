package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unsafe"

	"crawl/canon"
)

// Robots is what a robots.txt says to one crawler (RFC 9309). It holds for the origin that the file was asked of.
type Robots struct {
	rules    rules
	delay    time.Duration
	hasDelay bool
	delayAt  int // line of delay
	sitemaps []string
	refusal  string // not empty: nothing may be fetched, and why
}

// Decision is the answer for one URL, with the line that gave it.
type Decision struct {
	Allowed bool
	Line    int    // from 1; 0 when no line speaks of the URL
	Rule    string // as "Disallow: /private/", or why there are no lines
}

// AllowAll returns the robots of a site without robots.txt.
func AllowAll() *Robots { return &Robots{} }

// DisallowAll returns the robots of a site whose robots.txt cannot be had. The reason becomes Decision.Rule.
func DisallowAll(reason string) *Robots {
	if reason == "" {
		reason = "robots.txt is not to be had"
	}
	return &Robots{refusal: reason}
}

// RobotsFrom returns what the answer to a request for robots.txt means to the crawler called agent (RFC 9309, section
// 2.3.1). It takes what Fetch returned, and leaves the result to its owner.
//
// A 2xx body is parsed; other 4xx than 429 allow everything. A 5xx, a 429, no answer, and a body cut short by the peer, by
// the deadline or by a damaged content coding forbid everything: what is missing may be the rule that counts. A redirect
// is for the caller to follow, at least five times; one that is left over counts as no robots.txt.
func RobotsFrom(res *Result, err error, agent string) *Robots {
	switch {
	case err != nil:
		if e, ok := errors.AsType[*Error](err); ok {
			return DisallowAll(fmt.Sprintf("robots.txt: %s: %s", e.Phase, e.Code()))
		}
		return DisallowAll(fmt.Sprintf("robots.txt: %v", err))
	case res.Status >= 500 || res.Status == http.StatusTooManyRequests:
		return DisallowAll(fmt.Sprintf("robots.txt answered %d", res.Status))
	case res.Status >= 300:
		return AllowAll()
	case res.Truncated == TruncatedTime || res.Truncated == TruncatedDisconnect:
		return DisallowAll(fmt.Sprintf("robots.txt was cut short: %s", res.Truncated))
	case res.DecodeErr != nil:
		return DisallowAll(fmt.Sprintf("robots.txt cannot be decoded: %v", res.DecodeErr))
	}
	body := res.Body
	if res.Truncated == TruncatedLength { // by a limit of ours below MaxRobotsBytes: the line that it cuts may say anything
		body = body[:bytes.LastIndexAny(body, "\r\n")+1]
	}
	robots, err := ParseRobots(bytes.NewReader(body), agent)
	if err != nil {
		return DisallowAll(fmt.Sprintf("robots.txt: %v", err))
	}
	return robots
}

// Test says whether u may be fetched. The longest pattern that matches path and query decides, counted in octets;
// between equals an Allow wins; no match allows. /robots.txt itself is always allowed. Where maxMatchBytes are used up before
// that is known, nobody can say that u is allowed, so it is not.
func (r *Robots) Test(u canon.URL) Decision {
	if u.Path() == "/robots.txt" {
		return Decision{Allowed: true}
	}
	if r.refusal != "" {
		return Decision{Rule: r.refusal}
	}
	if len(r.rules.all) == 0 {
		return Decision{Allowed: true}
	}
	return r.rules.decide(fold(u.Target(), inTarget))
}

// CrawlDelay returns the pause that the file asks for between two requests; the longest where it asks more than once.
// It is common practice and in no standard.
func (r *Robots) CrawlDelay() (delay time.Duration, ok bool) { return r.delay, r.hasDelay }

// CrawlDelayLine returns the line that the Crawl-delay stands in, from 1; 0 where there is none.
func (r *Robots) CrawlDelayLine() int { return r.delayAt }

// Size returns how many bytes of memory r takes, about.
func (r *Robots) Size() int64 {
	n := r.rules.size() + len(r.refusal)
	for _, s := range r.sitemaps {
		n += len(s) + int(unsafe.Sizeof(s))
	}
	return int64(n)
}

// WithoutSitemaps returns r as it is kept by who has seen its Sitemap lines, of which there may be thousands.
func (r *Robots) WithoutSitemaps() *Robots {
	without := *r
	without.sitemaps = nil
	return &without
}

// Sitemaps returns the values of the Sitemap lines, each once, in their order. They are as they stand in the file: some
// are relative, and none has been checked.
func (r *Robots) Sitemaps() []string { return slices.Clone(r.sitemaps) }
