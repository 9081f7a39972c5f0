package frontier

import (
	"strconv"
	"time"

	"crawl/canon"
)

// Class is why a URL is crawled. A host's tasks of a lower class come first.
type Class uint8

// The classes, in order of preference.
const (
	Seed       Class = iota // given by the user when the crawl began
	Added                   // given by the user later
	Navigation              // a link to another page
	Requisite               // what a page needs to be shown: image, script, style sheet
	Sitemap                 // listed in a sitemap, linked from nowhere yet
	Check                   // leads out of the crawl: only whether it leads anywhere is asked
)

// String returns the class's name in lower case.
func (c Class) String() string {
	switch c {
	case Seed:
		return "seed"
	case Added:
		return "added"
	case Navigation:
		return "navigation"
	case Requisite:
		return "requisite"
	case Sitemap:
		return "sitemap"
	case Check:
		return "check"
	}
	return "class " + strconv.Itoa(int(c))
}

// Task is one visit to be made of one URL. A host's tasks are taken by class, then depth, then sequence number.
type Task struct {
	URL       canon.URL // as it is requested
	NotBefore time.Time // a retry's due time, zero otherwise
	Seq       uint64    // number of its admission
	From      uint64    // number of the page that led to it
	Referrer  string    // its URL
	Via       *Redirect // the last redirect on the way; nil for none
	Depth     int       // links from a seed, as first met
	Hop       int       // redirects on the way from another page
	Reroutes  int       // redirects between spellings of this page so far
	Attempt   int       // attempts made so far
	Visit     int       // 1 = first
	Former    uint64    // record of the visit before; 0: none
	Fresh     bool      // it was asked for on a kept connection that ended without an answer: a new one is to be made
	Seed      uint32    // number of the label of the seed that it descends from
	Class     Class
}

// again reports whether t was tried before, or waits for a time of its own.
func (t *Task) again() bool { return t.Attempt > 0 || !t.NotBefore.IsZero() }

// Redirect is one step of the chain of redirects that led to a task.
type Redirect struct {
	Hash   uint64    // keyed hash of the URL that redirected
	Before *Redirect // the step before it; nil for the first
}

// Contains reports whether the URL with that hash is in the chain: leading there again would be a loop.
func (r *Redirect) Contains(hash uint64) bool {
	for ; r != nil; r = r.Before {
		if r.Hash == hash {
			return true
		}
	}
	return false
}
