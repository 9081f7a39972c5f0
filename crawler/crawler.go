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

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/parse"
	"crawl/internal/scope"
	"crawl/seen"
)

// Crawler is one crawl, open in one process.
type Crawler struct {
	cfg       Config // not written after Open, as all below
	log       *slog.Logger
	canon     *canon.Rules
	agent     string // product token in robots.txt
	hasher    *seen.Scalable
	frontier  *frontier.Frontier
	fetcher   Fetcher
	scope     *scope.Scope
	extractor *parse.Extractor
	committer *committer
	seeds     seedFile
	guessed   *guessedHosts
	literal   map[string]struct{} // stored seeds' hosts and ports that are addresses, or localhost
	budget    *pageBudget

	checkpointing sync.Mutex // held while a checkpoint is made: one at a time

	stop     chan struct{} // closed by Stop
	stopOnce sync.Once
	kick     chan struct{} // asks for a checkpoint before its time
}

// Stop ends a running Run as its context's end would, but as the user's wish: the crawl is stopped, not interrupted.
func (c *Crawler) Stop() { c.stopOnce.Do(func() { close(c.stop) }) }

// Pause keeps new requests from being made until Resume. It returns when a checkpoint holds that.
func (c *Crawler) Pause(ctx context.Context) error {
	c.frontier.Pause()
	c.committer.setState(Paused)
	return c.awaitCheckpoint(ctx)
}

// Resume ends a pause. It returns when a checkpoint holds that.
func (c *Crawler) Resume(ctx context.Context) error {
	c.committer.setState(Running)
	c.frontier.Resume()
	return c.awaitCheckpoint(ctx)
}

// Dir returns the crawl's directory.
func (c *Crawler) Dir() string { return c.committer.store.Dir() }

// Close gives the directory free. Work since the last checkpoint is forgotten; after Run there is none.
func (c *Crawler) Close() error {
	c.frontier.Close()
	return errors.Join(c.fetcher.Close(), c.committer.store.Close())
}

var _ Fetcher = (*fetch.Client)(nil)
