package crawler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/parse"
	"crawl/seen"
	"crawl/store"
)

// Config says what a crawl does. It is stored with the crawl, so a crawl goes on as it began; what cannot be stored is
// marked so. DefaultConfig is polite and safe.
type Config struct {
	Frontier frontier.Config
	Seen     seen.Config
	Fetch    fetch.Config
	Store    store.Config

	// Exact has each URL that the filter takes for seen looked up among the hashes of all that were admitted, on disk: no
	// new URL is skipped, but for two with one 64-bit hash. It may change when a crawl goes on; what was skipped before
	// stays so.
	Exact bool

	// Canon are policies by which URLs that a server can tell apart count as one page. They are part of the crawl's state:
	// RebuildSeen takes others where they name no URL of the log anew.
	Canon []canon.Policy

	Scope       Scope
	Deny        []string // files of denylists, by absolute paths; nobody is exempt
	Traps       Traps
	MaxGrowing  *int // pages of a host that say what the page said that led to them, one below the other; nil: no limit
	MaxAlike    *int // pages of one pattern of URLs that say the same, after which no more are fetched; nil: no limit
	AdmitAfter  AdmitAfter
	MaxDepth    *int           // links from a seed; 0: seeds only; nil: no limit
	MaxPages    *uint64        // page records over the crawl's life; nil: no limit
	MaxOther    *uint64        // bytes of a body that can hold no links; nil: Fetch.MaxBodyBytes
	MaxBytes    *uint64        // bytes of bodies over the crawl's life; nil: no limit
	MaxTime     *time.Duration // of one run, pauses not counted; nil: no limit
	Concurrency int            // fetchers
	Requisites  bool           // fetch images, scripts and style sheets too
	NoFollow    NoFollowRules  // whose word counts that links are not to be followed
	// MaxAlikeHosts is how many hosts of one domain may say the same before no others of it are asked; nil: no limit.
	MaxAlikeHosts *int
	// MaxNearAlike is how many pages of one pattern may say nearly the same before no more are fetched; nil: no limit.
	MaxNearAlike *int
	// CheckExternal has links that the scope refuses, and no Exclude, asked for once each: whether they lead anywhere.
	CheckExternal bool
	Sitemaps      bool                     // fetch the sitemaps that a robots.txt names
	Retries       int                      // after the first attempt
	RetryDelay    time.Duration            // before the first retry; doubled for each further one, up to a day
	Retry         map[RetryClass]RetryRule // what differs for some failures; those of no rule see retryPolicy
	Extract       []Extract
	KeepRefused   int  // refused links to list, at most; 0: none
	Conditional   bool // a page that is fetched again is asked for only if it has changed

	CheckpointInterval time.Duration
	Grace              time.Duration // for requests in flight when Run's context ends
	Rendering          string        // the settings as their user wrote them; kept, not read

	// RebuildSeen remakes the filter from the log when the crawl is opened, and all else that the hashes of URLs are in: it
	// may have another FalsePositiveRate and ExpectedItems then.
	RebuildSeen bool `json:"-"`
	// MinFreeWait is how long a run waits for space when the disk has less than Store.MinFreeBytes left; then it ends. 0: for
	// ever.
	MinFreeWait time.Duration `json:"-"`

	Log          *slog.Logger      `json:"-"` // nil: discarded
	Fetcher      Fetcher           `json:"-"` // nil: a fetch.Client of Config.Fetch
	OnCommit     func(*store.Page) `json:"-"` // in commit order, before the record is durable; must not wait
	OnCheckpoint func(store.Cut)   `json:"-"` // after each durable checkpoint, in order; must not wait
}

// Extract is a field that is taken from each page by a CSS selector.
type Extract struct {
	Field    string
	Selector string
	Attr     string // empty: the text
	HTML     bool   // the markup inside, not the text
	All      bool   // every match, not only the first
	Pages    string // RE2 that the URL of a page must match; empty: all pages
}

// Fetcher makes one request and follows no redirect. Its errors are *fetch.Error.
type Fetcher interface {
	Resolve(context.Context, canon.URL) (fetch.Resolution, error)
	Fetch(context.Context, fetch.Request) (*fetch.Result, error)
	Close() error
}

// DefaultConfig asks each host once a second, one request at a time, and obeys robots.txt.
func DefaultConfig() Config {
	return Config{
		Frontier:           frontier.Default(),
		Scope:              Scope{Mode: "host"},
		Traps:              DefaultTraps(),
		MaxAlike:           new(6000),
		MaxNearAlike:       new(50_000),
		MaxGrowing:         new(16),
		MaxAlikeHosts:      new(2000),
		Concurrency:        16,
		Retries:            3,
		RetryDelay:         10 * time.Second,
		KeepRefused:        100_000,
		Conditional:        true,
		CheckpointInterval: 10 * time.Second,
		Grace:              8 * time.Second,
	}
}

// Validate reports every problem at once, each under its key in config.yaml.
func (c Config) Validate() error {
	var errs []error
	if c.Concurrency < 1 {
		errs = append(errs, fmt.Errorf("concurrency: want 1 or more, got %d", c.Concurrency))
	}
	if c.Retries < 0 || c.Retries > maxRetries {
		errs = append(errs, fmt.Errorf("retries: want 0 to %d, got %d", maxRetries, c.Retries))
	}
	if c.KeepRefused < 0 {
		errs = append(errs, fmt.Errorf("keep_refused: want 0 or more, got %d", c.KeepRefused))
	}
	if c.MaxDepth != nil && *c.MaxDepth < 0 {
		errs = append(errs, fmt.Errorf("max_depth: want 0 or more, got %d", *c.MaxDepth))
	}
	for key, limit := range map[string]*int{
		"max_growing": c.MaxGrowing, "max_alike_hosts": c.MaxAlikeHosts, "max_alike": c.MaxAlike, "max_near_alike": c.MaxNearAlike,
	} {
		if limit != nil && *limit < 1 {
			errs = append(errs, fmt.Errorf("%s: want 1 or more, got %d", key, *limit))
		}
	}
	if c.MaxTime != nil && *c.MaxTime < 0 {
		errs = append(errs, fmt.Errorf("max_time: want 0 or more, got %s", *c.MaxTime))
	}
	if c.RetryDelay < 0 || c.RetryDelay > maxRetryWait {
		errs = append(errs, fmt.Errorf("retry_delay: want 0 to %s, got %s", maxRetryWait, c.RetryDelay))
	}
	if c.CheckpointInterval <= 0 {
		errs = append(errs, fmt.Errorf("checkpoint_interval: want more than 0, got %s", c.CheckpointInterval))
	}
	if c.Grace < 0 {
		errs = append(errs, fmt.Errorf("grace: want 0 or more, got %s", c.Grace))
	}
	_, canonErr := canon.NewRules(c.Canon...)
	_, scopeErr := c.Scope.compile()
	_, extractErr := compileExtract(c.Extract)
	errs = append(errs, validateRetries(c.Retry), canonErr, scopeErr, c.Traps.validate(), c.AdmitAfter.validate(), extractErr, c.Frontier.Validate(), c.Seen.Validate(), c.Fetch.Validate())
	return errors.Join(errs...)
}

// compileExtract returns nil where nothing is to be extracted.
func compileExtract(fields []Extract) (*parse.Extractor, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	selectors := make([]parse.Rule, len(fields))
	for i, f := range fields {
		selectors[i] = parse.Rule(f)
	}
	return parse.Compile(selectors)
}

// rules read URLs: what is requested is the same by all rules. A crawl's own, Crawler.names, say which are one page.
var rules *canon.Rules
