package main

import (
	"fmt"
	"time"

	"crawl/crawler"
)

const (
	statusEvery = time.Second      // on a terminal
	reportEvery = 10 * time.Second // in a log
)

// progress shows how the crawl goes: a line that changes in place on a terminal, a log line now and then elsewhere.
func (s *session) progress(c *crawler.Crawler, over <-chan struct{}) {
	if s.quiet {
		return
	}
	every := reportEvery
	if s.stderr.terminal {
		every = statusEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		now := c.Snapshot()
		if s.stderr.terminal {
			s.stderr.setStatus(statusLine(now))
			continue
		}
		s.log.Info("progress", "state", now.State, "pages", now.Pages, "pages_per_s", round(now.PagesPerS),
			"bytes_per_s", int64(now.BytesPerS), "queued", now.Queued, "in_flight", now.InFlight, "hosts", now.Hosts,
			"errors", errorCount(now), "rss_bytes", now.RSSBytes)
	}
}

func statusLine(s crawler.Snapshot) string {
	return fmt.Sprintf("%s  %s  %s  %.0f/s  %s/s  %s queued  %s  %d in flight  %s", clockTime(s.ElapsedS), s.State,
		plural(s.Pages, "page", "pages"), s.PagesPerS, size(uint64(s.BytesPerS)), count(s.Queued),
		plural(errorCount(s), "error", "errors"), s.InFlight, plural(uint64(s.Hosts), "host", "hosts"))
}

func errorCount(s crawler.Snapshot) uint64 {
	var sum uint64
	for _, n := range s.Errors {
		sum += n
	}
	return sum
}

func round(x float64) float64 { return float64(int64(x*10+0.5)) / 10 }
