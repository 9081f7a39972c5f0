package store

import (
	"time"
)

// A Page is the record of one visit that reached an outcome, as one line of JSON. Keys are only ever added. Seq and
// Visit together are unique.
type Page struct {
	Record       uint64         `json:"record"`             // 1, 2, 3… in commit order
	Seq          uint64         `json:"seq"`                // the URL's number in the admission log
	Visit        int            `json:"visit"`              // 1: the first fetch of this URL
	URL          string         `json:"url"`                // as requested
	Check        Check          `json:"check,omitempty"`    // it was only asked whether the link leads anywhere, and how; empty: a page
	Outcome      Outcome        `json:"outcome"`            // from the closed list
	Status       int            `json:"status,omitempty"`   // absent when no answer came
	FetchedAt    time.Time      `json:"fetched_at"`         // when the request was leased, UTC
	Depth        int            `json:"depth"`              // links from a seed, as first met
	Referrer     string         `json:"referrer,omitempty"` // URL of the page it was first met on
	Seed         string         `json:"seed,omitempty"`     // label of the seed it descends from
	ContentType  string         `json:"content_type,omitempty"`
	Charset      string         `json:"charset,omitempty"`
	BodyBytes    int64          `json:"body_bytes"`       // as sent, without transfer coding
	DecodedBytes int64          `json:"decoded_bytes"`    // without content coding
	Digest       string         `json:"digest,omitempty"` // "sha256:" and hex, of the body as sent
	Title        string         `json:"title,omitempty"`
	Description  string         `json:"description,omitempty"`
	H1           string         `json:"h1,omitempty"`     // the first that has text
	Lang         string         `json:"lang,omitempty"`   // as the html element says
	Robots       string         `json:"robots,omitempty"` // meta robots elements
	XRobotsTag   string         `json:"x_robots_tag,omitempty"`
	Hreflang     []Alternate    `json:"hreflang,omitempty"`
	NeedsScripts bool           `json:"needs_scripts,omitempty"`  // looks empty to those who run no scripts
	Canonical    string         `json:"canonical,omitempty"`      // rel=canonical, resolved
	LinkCount    int            `json:"link_count"`               // links found, repeated ones included
	RelNoFollow  int            `json:"nofollow_links,omitempty"` // of the different links: those with rel=nofollow
	DurationMS   int64          `json:"duration_ms"`              // from the request to the end of the body
	IP           string         `json:"ip,omitempty"`
	Proxy        string         `json:"proxy,omitempty"` // by which it was asked for; no ip then where the proxy looked the host up
	RedirectTo   string         `json:"redirect_to,omitempty"`
	Truncated    string         `json:"truncated,omitempty"`     // length, time or disconnect
	Mislabeled   string         `json:"mislabeled,omitempty"`    // content coding that the answer names and the body does not have
	ETag         string         `json:"etag,omitempty"`          // as sent, where another visit may ask by it
	LastModified string         `json:"last_modified,omitempty"` // likewise
	SameAs       uint64         `json:"same_as,omitempty"`       // not_modified: record of the visit that had the page whole
	Error        *PageError     `json:"error,omitempty"`
	Extract      map[string]any `json:"extract,omitempty"` // fields by the rules of extract:
}

// Check says how it was found out whether a link leads anywhere.
type Check string

// The ways: nothing of a body was read.
const (
	CheckHead Check = "head" // by HEAD
	CheckGet  Check = "get"  // by GET, after a HEAD that did not end well
)

// An Alternate is the same page in another language, by a link with hreflang.
type Alternate struct {
	Lang string `json:"lang"`
	URL  string `json:"url"`
}

// A PageError says why a visit did not end well.
type PageError struct {
	Code    string `json:"code"`  // from a short list, for counting
	Phase   string `json:"phase"` // where in the visit it happened
	Message string `json:"message"`
}
