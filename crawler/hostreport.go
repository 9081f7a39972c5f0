package crawler

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"crawl/fetch"
	"crawl/store"
)

// HostReport is what the owner of a host may want to know of a crawl: the object of `crawl stats --host --json`. Keys are
// only ever added.
type HostReport struct {
	Host          string    `json:"host"`
	UserAgent     string    `json:"user_agent"`
	Product       string    `json:"product"` // the name that its robots.txt and pages speak to the crawl by
	Contact       string    `json:"contact"` // of who runs the crawl; empty: none is told
	StartedAt     time.Time `json:"started_at"`
	IgnoresRobots bool      `json:"ignores_robots"`        // the user had robots.txt left unasked for this host
	PerIP         bool      `json:"per_ip"`                // hosts on its address take turns with it
	Asked         HostAsked `json:"asked"`                 // zero but for the host where it was not asked, or is not kept
	Kept          bool      `json:"kept"`                  // Asked is of this host
	Forgotten     uint64    `json:"hosts_not_kept"`        // hosts that are counted in totals alone, of which this may be one
	OtherPorts    []string  `json:"other_ports,omitempty"` // where it is not kept: hosts of its name that were asked
	GivenUp       string    `json:"given_up,omitzero"`     // why nothing more is asked of it
}

// HostReport tells of a host, as HostOf names it.
func (c *Crawler) HostReport(host string) (HostReport, error) {
	k := c.committer
	k.mu.Lock()
	cfg, err := k.books.config()
	started := k.books.StartedAt
	k.mu.Unlock()
	if err != nil {
		return HostReport{}, err
	}
	r, err := newHostReport(host, cfg, started, c.ledger.asked())
	r.GivenUp = string(c.frontier.GivenUp(host))
	return r, err
}

// ReadHostReport is Crawler.HostReport for the crawl in dir, which no process has open, as its last checkpoint has it.
func ReadHostReport(ctx context.Context, dir, host string) (HostReport, error) {
	asked, err := ReadAsked(ctx, dir)
	if err != nil {
		return HostReport{}, err
	}
	reader, err := store.OpenReader(dir)
	if err != nil {
		return HostReport{}, err
	}
	defer reader.Close() // of files that were only read
	books, err := readBooks(reader.Cut())
	if err != nil {
		return HostReport{}, err
	}
	cfg, err := books.config()
	if err != nil {
		return HostReport{}, err
	}
	r, err := newHostReport(host, cfg, books.StartedAt, asked)
	if err != nil {
		return r, err
	}
	givenUp, err := gatherGivenUp(func(_ string, fn func(string, []byte) error) error {
		return store.ReadRows(dir, hostPrefix+host, fn)
	})
	for _, h := range givenUp {
		if h.Host == host {
			r.GivenUp = string(h.Why)
		}
	}
	return r, err
}

func newHostReport(host string, cfg Config, started time.Time, asked Asked) (HostReport, error) {
	ignores, err := cfg.Frontier.IgnoresRobots(host)
	if err != nil {
		return HostReport{}, fmt.Errorf("the settings in force: %w", err)
	}
	agent := cmp.Or(cfg.Fetch.UserAgent, fetch.DefaultUserAgent)
	r := HostReport{
		Host: host, UserAgent: agent, Product: fetch.Product(agent), Contact: cfg.Fetch.Contact, StartedAt: started,
		IgnoresRobots: ignores, PerIP: cfg.Frontier.PerIP, Asked: HostAsked{Host: host}, Forgotten: asked.Rest.Hosts,
	}
	for i := range asked.Hosts {
		if asked.Hosts[i].Host == host {
			r.Asked, r.Kept = asked.Hosts[i], true
		}
	}
	if !r.Kept {
		r.OtherPorts = asked.otherPorts(host)
	}
	return r, nil
}
