package testweb

import (
	"errors"
	"fmt"
	"time"
)

// Config says which web to make. Two sites of one Config are the same web, byte for byte. The zero Config is a web of
// 10 hosts with 40 slots each.
type Config struct {
	Seed         uint64 // another seed is another web of the same shape
	Hosts        int    // 0: 10
	PagesPerHost int    // slots a host, root included; four in five are ordinary pages, the rest special cases; 0: 40
	LinksPerPage int    // mean number of link elements of a page; a page has as many more as the tree asks for; 0: 65
	MedianBytes  int    // median size of an ordinary page; sizes are log-normal, the mean is 1.36 times this; 0: 25,000
	HTTPS        bool   // URLs are https; such a site is for StartTLS

	KeepAlive  bool          // say Connection: keep-alive, which HTTP/1.1 does not need and wget2 does not believe without
	Gzip       bool          // compress bodies for clients that accept it: costs about 0.2 CPU s per 1,000 pages
	Latency    time.Duration // wait before each answer, robots.txt included
	CrawlDelay time.Duration // Crawl-delay in each robots.txt, in seconds and fractions; 0: no such line

	FailRate503 float64       // share of the pages that answer 503 at first
	FailFirst   int           // how many times such a page answers 503; 0: once
	RetryAfter  time.Duration // Retry-After on a 503, in whole seconds; 0: no such line
}

const (
	maxHosts       = 1 << 20 // a host costs about 300 bytes of memory
	maxSlots       = 1 << 30
	maxLinks       = 10_000
	minMedianBytes = 1_000
	maxMedianBytes = 4_000_000
)

// withDefaults replaces each zero that stands for a default.
func (c Config) withDefaults() Config {
	for _, f := range []struct {
		field *int
		value int
	}{{&c.Hosts, 10}, {&c.PagesPerHost, 40}, {&c.LinksPerPage, 65}, {&c.MedianBytes, 25_000}, {&c.FailFirst, 1}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return c
}

// Validate reports every problem at once, each under its field.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	check := func(ok bool, field, want string, got any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: want %s, got %v", field, want, got))
		}
	}
	check(c.Hosts > 0 && c.Hosts <= maxHosts, "Hosts", fmt.Sprintf("1 to %d", maxHosts), c.Hosts)
	check(c.PagesPerHost > 0, "PagesPerHost", "at least 1", c.PagesPerHost)
	if c.Hosts > 0 && c.PagesPerHost > 0 {
		check(c.Hosts <= maxSlots/c.PagesPerHost, "Hosts * PagesPerHost", fmt.Sprintf("at most %d", maxSlots),
			fmt.Sprintf("%d * %d", c.Hosts, c.PagesPerHost))
	}
	check(c.LinksPerPage > 0 && c.LinksPerPage <= maxLinks, "LinksPerPage", fmt.Sprintf("1 to %d", maxLinks), c.LinksPerPage)
	check(c.MedianBytes >= minMedianBytes && c.MedianBytes <= maxMedianBytes, "MedianBytes",
		fmt.Sprintf("%d to %d", minMedianBytes, maxMedianBytes), c.MedianBytes)
	check(c.Latency >= 0, "Latency", "at least 0", c.Latency)
	check(c.CrawlDelay >= 0, "CrawlDelay", "at least 0", c.CrawlDelay)
	check(c.FailRate503 >= 0 && c.FailRate503 <= 1, "FailRate503", "0 to 1", c.FailRate503)
	check(c.FailFirst > 0, "FailFirst", "at least 1", c.FailFirst)
	check(c.RetryAfter >= 0, "RetryAfter", "at least 0", c.RetryAfter)
	return errors.Join(errs...)
}
