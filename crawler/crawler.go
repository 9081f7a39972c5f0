// Package crawler runs a crawl: it joins the frontier, the fetcher, the parser, the filter and the store.
//
// A URL takes one straight line: a fetcher goroutine leases it, asks for it, reads its links, and commits the visit. All
// up to the commit runs in parallel; commits are serial, so that there is one order of events and a checkpoint is a cut
// of that order. A crawl whose process is killed at any instant goes on from its last checkpoint: pages committed since
// are fetched again, and none is lost or stands twice in the output.
//
// The price of the filter is said out loud: it takes a new URL for seen with a small chance, and that page is skipped.
// Snapshot tells how many such pages are expected, and what a sample measured.
package crawler

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/parse"
	"crawl/internal/scope"
)

// Crawler is one crawl, open in one process. Its methods may be called at any time from any goroutine; Run by one at a
// time.
type Crawler struct {
	cfg       Config               // as it was opened; not written after Open, as all below
	live      atomic.Pointer[live] // what of cfg may change
	log       *slog.Logger
	product   string       // name that a site's robots.txt and pages speak to us by
	names     *canon.Rules // say which URLs are one page
	hasher    hasher       // the filter's
	frontier  *frontier.Frontier
	fetcher   Fetcher
	scope     *scope.Scope
	deny      *denylists // nil: there are none
	extractor *parse.Extractor
	ledger    *hostLedger
	lease     func(context.Context) (frontier.Lease, error) // the frontier's; tests have worse ones
	committer *committer
	seeds     seedFile
	guessed   *guessedHosts
	alike     *alike
	growing   *growing
	namesakes *alikeHosts
	trusted   *seedOrigins        // nil: there are no credentials for seeds
	literal   map[string]struct{} // stored seeds' hosts and ports that are addresses, or localhost
	budget    *pageBudget
	formers   *formerRecords
	fetchers  fetchers
	drained   drainedLook
	askNext   origins // to be looked up whatever the scope says of the URL
	givenUpAt givenUpTimes

	checkpointing sync.Mutex // held while a checkpoint is made: one at a time
	mending       sync.Mutex // held while a run is remade, likewise

	stop     chan struct{} // closed by Stop
	stopOnce sync.Once
	kick     chan struct{} // asks for a checkpoint before its time
	shortage chan struct{} // one slot; the run is paused for want of space
	retimed  chan struct{} // one slot; Config.MaxTime is another

	exhausted quietly // that the machine has nothing left
	proxies   proxies
}

// hasher is what of the filter may be used beside the committer.
type hasher interface{ HashString(key string) uint64 }

// Stop ends a running Run as its context's end would, but as the user's wish: the crawl is stopped, not interrupted. A
// Run that begins later ends at once.
func (c *Crawler) Stop() { c.stopOnce.Do(func() { close(c.stop) }) }

// Pause keeps new requests from being made until Resume, also in a Run that has yet to begin. It returns when a
// checkpoint holds that, and fails when the run is ending or has ended.
func (c *Crawler) Pause(ctx context.Context) error {
	if err := c.committer.pause(); err != nil {
		return err
	}
	return c.awaitCheckpoint(ctx)
}

// Resume ends a pause. It returns when a checkpoint holds that, and fails as Pause does.
func (c *Crawler) Resume(ctx context.Context) error {
	c.lookAtSpace()
	if err := c.committer.resume(); err != nil {
		return err
	}
	return c.awaitCheckpoint(ctx)
}

// Dir returns the crawl's directory.
func (c *Crawler) Dir() string { return c.committer.store.Dir() }

// Close gives the directory free. Work since the last checkpoint is forgotten; after Run there is none. It is not for a
// crawler whose Run has not returned; all other calls may come late, and fail.
func (c *Crawler) Close() error {
	c.checkpointing.Lock()
	defer c.checkpointing.Unlock()
	c.frontier.Close()
	return errors.Join(c.fetcher.Close(), c.deny.close(), c.formers.close(), c.committer.close())
}

var _ Fetcher = (*fetch.Client)(nil)
