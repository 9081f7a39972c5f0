package frontier

import (
	"errors"
	"fmt"
	"time"
)

// None, in a field of Config, is an explicit zero: no delay, no back-off, no limit on failures. A zero there stands for
// the default, so that the zero Config is polite.
const None = -1

// Config says how politely hosts are asked. A zero field means its default, None means zero.
type Config struct {
	// HostDelay is the least time between two requests to a host. Default 1s.
	HostDelay time.Duration
	// DelayFactor times a host's last response time is the least time between two requests as well, so that a host in
	// trouble is asked less. It has no effect where HostDelay is None. Default 1.
	DelayFactor float64
	// MaxCrawlDelay caps the delay that a robots.txt asks for. Default 2m; with None none is granted.
	MaxCrawlDelay time.Duration
	// HostConcurrency is how many requests to a host may be in flight. Default 1.
	HostConcurrency int
	// MaxRate is how many requests a second are made of all hosts together, robots.txt included. They are spread evenly;
	// what a busy machine was late with is made up for within 20 ms, where more than one falls into that. 0: no limit.
	MaxRate float64

	// IgnoreRobots leaves robots.txt unasked. Page leases then come without a Permission.
	IgnoreRobots bool
	// RobotsTTL caps how long what a robots.txt said is held true. Default 24h (RFC 9309, section 2.4).
	RobotsTTL time.Duration
	// RobotsDeadline is how long after a robots.txt was first asked for it may still be waited for, where it redirects
	// to another host and stands in that one's queue. Past it, it counts as unanswered, unless that host answers others:
	// then its turn comes. Default 1m; with None such a redirect is never waited for.
	RobotsDeadline time.Duration

	// BackoffBase is how long a host is left alone after a first failure. Each further failure in a row doubles it.
	// Default 2s.
	BackoffBase time.Duration
	// BackoffMax is the longest that this gets. Default 10m.
	BackoffMax time.Duration
	// MaxRetryAfter caps the wait that a server asks for. Default 1h; with None none is granted.
	MaxRetryAfter time.Duration
	// GiveUpAfter is the number of failures in a row after which a host is given up. Default 10; with None never.
	GiveUpAfter int

	// MaxHosts is how many hosts with work are in memory. Beyond it, hosts wait their turn elsewhere. With PerIP, hosts of
	// one address have no more than an eighth of it where room is short. Default 100,000.
	MaxHosts int
	// MaxIdleHosts is how many hosts without work are remembered beyond the time for which they must not be asked.
	// Default 50,000.
	MaxIdleHosts int
	// MaxTasks is how many tasks are in memory, leased ones included. Beyond it, tasks wait elsewhere. Default 250,000.
	MaxTasks int

	// MaxRulesBytes is how much the rules of robots.txt files may take in memory that take more than 4 KiB each. Beyond it,
	// those that were used longest ago are forgotten, and asked for again. Default 64 MiB.
	MaxRulesBytes int64

	// PerIP has the hosts whose first address (Lease.Addrs, the one that is dialled first) is the same share it: between
	// two requests to the address, whatever their hosts, lies the greater delay of the two hosts asked, but for a
	// Crawl-delay, counted as between two requests to one host; and no more requests are in flight to it than the least concurrency of the hosts asked
	// allows. A back-off and Retry-After stay a host's own. Further addresses of a host do not count. Default off.
	PerIP bool
	// MaxHostPages is how many page records a host may have over the crawl's life; then it is given up. A host's records and
	// bytes are counted while there is a limit to either: those before are not. 0: no limit.
	MaxHostPages uint64
	// MaxHostBytes is how many bytes of bodies a host may send over the crawl's life; then it is given up. 0: no limit.
	MaxHostBytes uint64
	// Overrides say what is different for some hosts. Of several that match, later ones win field by field.
	Overrides []Override

	// Lookup returns the durable state of a host that comes into memory, if it has one: what Changed returned last. It
	// is called under the frontier's lock. Nil: no host has one.
	Lookup func(host string) (HostState, bool) `json:"-"`

	// Resumed says that hosts may have been asked shortly before New, by a crawl that this one goes on with: none is
	// asked before its delay since New.
	Resumed bool
}

// Default returns the Config that the zero Config stands for.
func Default() Config {
	return Config{
		HostDelay:       time.Second,
		DelayFactor:     1,
		MaxCrawlDelay:   2 * time.Minute,
		HostConcurrency: 1,
		RobotsTTL:       24 * time.Hour,
		RobotsDeadline:  time.Minute,
		BackoffBase:     2 * time.Second,
		BackoffMax:      10 * time.Minute,
		MaxRetryAfter:   time.Hour,
		GiveUpAfter:     10,
		MaxHosts:        100_000,
		MaxIdleHosts:    50_000,
		MaxTasks:        250_000,
		MaxRulesBytes:   64 << 20,
	}
}

// Validate reports every problem at once, each under its key in config.yaml.
func (c Config) Validate() error {
	var errs []error
	bad := func(key, want string, got any) {
		errs = append(errs, fmt.Errorf("%s: want %s, got %v", key, want, got))
	}
	for _, d := range []struct {
		key  string
		have time.Duration
	}{
		{"host_delay", c.HostDelay},
		{"max_crawl_delay", c.MaxCrawlDelay},
		{"robots_ttl", c.RobotsTTL},
		{"robots_deadline", c.RobotsDeadline},
		{"backoff_base", c.BackoffBase},
		{"backoff_max", c.BackoffMax},
		{"max_retry_after", c.MaxRetryAfter},
	} {
		if d.have < 0 && d.have != None {
			bad(d.key, "0s or more", d.have)
		}
	}
	if c.DelayFactor != None && !(c.DelayFactor >= 0 && c.DelayFactor <= 1000) { // the second form refuses NaN too
		bad("delay_factor", "0 to 1000", c.DelayFactor)
	}
	if c.MaxRate != 0 && !(c.MaxRate > 0 && c.MaxRate <= 1e9) {
		bad("max_rate", "0 for no limit or up to 1e9", c.MaxRate)
	}
	if c.HostConcurrency < 0 {
		bad("host_concurrency", "1 or more", c.HostConcurrency)
	}
	if c.GiveUpAfter < None {
		bad("give_up_after", "0 or more", c.GiveUpAfter)
	}
	if c.MaxHosts < 0 {
		bad("max_hosts", "1 or more", c.MaxHosts)
	}
	if c.MaxRulesBytes < 0 {
		bad("robots_memory", "1 or more", c.MaxRulesBytes)
	}
	if c.MaxTasks < 0 {
		bad("max_tasks", "1 or more", c.MaxTasks)
	}
	for _, o := range c.Overrides {
		errs = append(errs, o.Validate())
	}
	if c.MaxIdleHosts < None {
		bad("max_idle_hosts", "0 or more", c.MaxIdleHosts)
	}
	if r := c.resolved(); r.BackoffMax < r.BackoffBase {
		bad("backoff_max", fmt.Sprintf("at least backoff_base (%v)", r.BackoffBase), r.BackoffMax)
	}
	return errors.Join(errs...)
}

// resolved returns c with each zero replaced by its default and each None by zero.
func (c Config) resolved() Config {
	d := Default()
	fill(&c.HostDelay, d.HostDelay)
	fill(&c.DelayFactor, d.DelayFactor)
	fill(&c.MaxCrawlDelay, d.MaxCrawlDelay)
	fill(&c.HostConcurrency, d.HostConcurrency)
	fill(&c.RobotsTTL, d.RobotsTTL)
	fill(&c.RobotsDeadline, d.RobotsDeadline)
	fill(&c.BackoffBase, d.BackoffBase)
	fill(&c.BackoffMax, d.BackoffMax)
	fill(&c.MaxRetryAfter, d.MaxRetryAfter)
	fill(&c.GiveUpAfter, d.GiveUpAfter)
	fill(&c.MaxHosts, d.MaxHosts)
	fill(&c.MaxIdleHosts, d.MaxIdleHosts)
	fill(&c.MaxTasks, d.MaxTasks)
	fill(&c.MaxRulesBytes, d.MaxRulesBytes)
	return c
}

func fill[T ~int | ~int64 | ~float64](field *T, standard T) {
	switch *field {
	case 0:
		*field = standard
	case None:
		*field = 0
	}
}
