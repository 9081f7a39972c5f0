// Package config reads the settings of a crawl once and judges them once.
//
// One word names a setting everywhere: host_delay in a file, --host-delay on the command line, CRAWL_HOST_DELAY in the
// environment. A flag goes over the environment, that over the file, that over the default. Whatever is wrong is
// reported together, each problem with its place and with what is wanted there; no bad value turns into a default, and
// no key that is not known passes. What Render writes reads back as the same Settings.
//
// The price: a file is a flat mapping of plain values and lists. YAML's anchors, aliases, tags and merge keys are
// refused.
package config

import (
	"errors"
	"time"
)

// Settings are all that a user can set about a crawl. They are plain data: nothing here knows the packages it steers.
// Default gives the polite and safe start; the zero Settings are not valid.
type Settings struct {
	// Limits.
	MaxPages        Optional[Count]    // page records over the crawl's life
	MaxBytes        Optional[Size]     // of bodies over the crawl's life
	MaxPagesPerHost Optional[Count]    // page records over the crawl's life
	MaxBytesPerHost Optional[Size]     // of bodies over the crawl's life
	MaxDepth        Optional[Count]    // links from a seed; 0 is the seeds alone
	MaxTime         Optional[Duration] // of one run, pauses not counted

	// Scope.
	Scope         Scope
	ScopeRules    []ScopeRule // change what Scope says; the last one that a URL meets decides
	Include       []Pattern   // on the requested URL; when given, one must match
	Exclude       []Pattern   // on the requested URL; none may match
	Deny          []File      // denylists
	AdmitAfter    Count       // pages that have to link to a URL: 1 or 2
	AdmitWindow   Duration    // for which a first sight is remembered, in the crawl's time
	AdmitMemory   Size        // cap of first sights
	Requisites    bool        // also images, style sheets, scripts and other parts of a page
	Nofollow      NoFollow    // whose word counts that links are not to be followed
	CheckExternal bool        // ask once for each link out of the crawl whether it leads anywhere
	Sitemaps      bool        // also what the sitemaps named in a robots.txt list

	SamePage []SamePage // which URLs count as one page

	// Traps: limits to the URLs that links lead to.
	MaxURL          Optional[Size] // longest one
	MaxPathSegments Optional[Count]
	MaxRepeats      Optional[Count] // of a segment in a path, or of a parameter with its value in a query
	MaxParameters   Optional[Count] // of a query
	MaxYearsAhead   Optional[Count] // of a date
	MaxGrowing      Optional[Count] // pages that say what the page said that led to them
	MaxNearAlike    Optional[Count] // pages of one pattern that say nearly the same
	MaxAlikeHosts   Optional[Count] // hosts of one domain that say the same
	MaxAlike        Optional[Count] // pages of one pattern that say the same

	// Politeness.
	Concurrency     Count               // requests in flight
	MaxRate         Optional[Frequency] // requests in a time, to all hosts together
	HostDelay       Duration            // from one request to a host to the next
	HostConcurrency Count               // requests in flight to one host
	PerIP           bool                // hosts on one address share both
	DelayFactor     Factor              // the delay is at least this many response times
	CrawlDelayMax   Duration            // a longer Crawl-delay counts as this
	Robots          Robots
	GiveUpAfter     Optional[Count] // failures of a host in a row
	Hosts           []HostRule      // of those that match a host, the last one that has a field decides it

	// Requests.
	UserAgent     Agent
	Contact       Contact
	Header        []Header       // to all hosts, secret ones to the seeds' alone
	Auth          Optional[Auth] // for the seeds' hosts
	Cookies       Cookies
	LoadCookies   Optional[File] // cookies.txt, for the seeds' hosts
	Conditional   bool           // another visit of a page asks whether it has changed
	Timeout       Duration       // of a whole request
	MaxBody       Size           // bytes kept of a body; what is longer is cut
	Retries       Count          // after the first attempt
	RetryDelay    Duration       // before the first retry, doubled for each further one
	Retry         []RetryRule    // what differs for some classes of failure
	RetryAfterMax Duration       // a longer Retry-After counts as this
	Insecure      bool           // certificates are not checked
	AllowPrivate  []Private
	ConnectTo     []ConnectTo
	Proxy         Optional[Proxy] // for all hosts

	// Limits of a request.
	DNSTimeout       Duration       // of a name look-up
	DNSMinTTL        Duration       // an answer of a name server holds this long at least
	Resolvers        []Resolver     // in place of the system's
	ConnectTimeout   Duration       // of connecting
	TLSTimeout       Duration       // of a handshake
	FirstByteTimeout Duration       // from sending the request to the end of the answer's head
	MinRate          Optional[Size] // bytes a second of a body
	MaxHead          Size           // bytes of an answer's head
	MaxHeadLines     Count          // fields of it
	HTTP2            bool           // with servers that choose it
	MaxBodyOther     Optional[Size] // of one that can hold no links
	MaxDecodeRatio   Count          // times as long as it was sent that a body may become by decoding

	// The memory of URLs met.
	Seen       Seen            // whose word it is
	FP         Rate            // chance that a new URL is taken for a known one
	Expect     Optional[Count] // URLs the filter is sized for
	SeenMemory Size            // cap of the filter

	// Memory.
	MaxHosts     Count // with work
	MaxTasks     Count // URLs to be fetched
	BodyMemory   Size  // bytes of all bodies in flight
	RobotsMemory Size  // bytes of the rules of large robots.txt files

	// State and output.
	CheckpointInterval Duration
	Grace              Duration // for what is in flight when a crawl is stopped
	MinFree            Size     // bytes to leave free on the disk
	PagesSize          Size     // a file of page records is closed at this size
	LogSize            Size     // a segment of either log is closed at this size
	KeepRefused        Count    // refused links to list
	Extract            []Extract
}

// Extract is a field of the page record and the elements its value is taken from.
type Extract struct {
	Field    string // key in the page record
	Selector string // CSS selector
	Attr     string // attribute to take; empty for the text
	HTML     bool   // take the markup inside, not the text
	All      bool   // take every match as a list, not the first alone
	Pages    string // regular expression that the URL of a page must match; empty for all pages
}

// Default returns the settings that hold where nothing is said.
func Default() Settings {
	return Settings{
		Scope:              ScopeHost,
		AdmitAfter:         1,
		AdmitWindow:        Duration(30 * 24 * time.Hour),
		AdmitMemory:        256 << 20,
		MaxURL:             Some[Size](4000),
		MaxPathSegments:    Some[Count](20),
		MaxRepeats:         Some[Count](3),
		MaxParameters:      Some[Count](32),
		MaxYearsAhead:      Some[Count](2),
		MaxAlike:           Some[Count](6000),
		MaxGrowing:         Some[Count](16),
		MaxNearAlike:       Some[Count](50_000),
		MaxAlikeHosts:      Some[Count](2000),
		Concurrency:        16,
		HostDelay:          Duration(1 * time.Second),
		HostConcurrency:    1,
		DelayFactor:        2,
		CrawlDelayMax:      Duration(60 * time.Second),
		Robots:             RobotsObey,
		Nofollow:           NoFollowPages,
		GiveUpAfter:        Some[Count](10),
		UserAgent:          "crawl/" + versionMark,
		Cookies:            CookiesOff,
		Conditional:        true,
		Timeout:            Duration(30 * time.Second),
		DNSTimeout:         Duration(10 * time.Second),
		DNSMinTTL:          Duration(5 * time.Minute),
		ConnectTimeout:     Duration(10 * time.Second),
		TLSTimeout:         Duration(10 * time.Second),
		FirstByteTimeout:   Duration(20 * time.Second),
		MinRate:            Some[Size](100),
		MaxHead:            256 << 10,
		MaxHeadLines:       2000,
		MaxBody:            64 << 20,
		MaxDecodeRatio:     200,
		HTTP2:              true,
		Retries:            3,
		RetryDelay:         Duration(10 * time.Second),
		RetryAfterMax:      Duration(5 * time.Minute),
		Seen:               SeenBloom,
		FP:                 0.001,
		SeenMemory:         1 << 30,
		MaxHosts:           100_000,
		MaxTasks:           250_000,
		BodyMemory:         512 << 20,
		RobotsMemory:       64 << 20,
		CheckpointInterval: Duration(10 * time.Second),
		Grace:              Duration(8 * time.Second),
		MinFree:            1 << 30,
		PagesSize:          1 << 30,
		LogSize:            256 << 20,
		KeepRefused:        100_000,
	}
}

// Validate reports every value that is out of its range, each as an *Error under its key. Load has done so already.
func (s *Settings) Validate() error {
	var problems []error
	for i := range table {
		if want := table[i].wanted(s); want != "" {
			problems = append(problems, table[i].problem("", want, s))
		}
	}
	return errors.Join(problems...)
}
