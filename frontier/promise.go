package frontier

import "time"

// Source is what set the time between two requests to a host.
type Source uint8

// The sources.
const (
	Unknown      Source = iota // a wait that an earlier process left
	Configured                 // Config.HostDelay
	HostsRule                  // an Override
	CrawlDelay                 // the host's robots.txt
	ResponseTime               // Config.DelayFactor times its response time
	Eased                      // one of the first three, longer since the host answered slowly, with 429 or 503, or not at all
	BackOff                    // it did not answer, or answered 429 or 503
	RetryAfter                 // its own word in an answer
	RobotsRetry                // its robots.txt could not be had, and is asked for again
	NoAddress                  // its name could not be looked up
)

var sourceNames = [...]string{
	"unknown", "host_delay", "hosts_rule", "crawl_delay", "response_time", "eased", "back_off", "retry_after", "robots", "dns",
}

// String returns the source's name, as in the ledger.
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return sourceNames[Unknown]
}

// Promise is what a lease keeps to its host, for whoever checks that. The first fields are the frontier's own reckoning; the
// last two are copies of what was asked for, which do not depend on it.
type Promise struct {
	Slots int           // so many requests in flight at most, this one included
	Delay time.Duration // at least so long after the request before, and
	Why   Source        // what set it
	Until time.Time     // not before then; long past where nothing held the host, or no longer than Delay
	Held  Source        // what did

	HostDelay     time.Duration // the configured delay of this host
	MaxCrawlDelay time.Duration // the cap of the Crawl-delay
}

// promise returns what holds for a request to h that is leased now.
func (f *Frontier) promise(h *host) Promise {
	p := Promise{
		Slots: h.policy.hostConcurrency, Until: f.time(max(h.until, 0)), Held: h.heldFor, HostDelay: h.policy.hostDelay,
		MaxCrawlDelay: f.cfg.MaxCrawlDelay,
	}
	p.Delay, p.Why = f.delayWhy(h)
	return p
}
