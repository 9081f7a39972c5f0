package crawler

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"crawl/store"
)

// HostAsked is the account of one host: in `crawl stats --hosts --json` the object asked. Keys are only ever added.
type HostAsked struct {
	Host           string    `json:"host"`
	Scheme         string    `json:"scheme,omitempty"` // of the last request
	FirstAsked     time.Time `json:"first_asked,omitzero"`
	LastAsked      time.Time `json:"last_asked,omitzero"`
	Requests       uint64    `json:"requests"`
	RobotsRequests uint64    `json:"robots_requests"` // of Requests, for a robots.txt
	BodyBytes      uint64    `json:"body_bytes"`
	Status429      uint64    `json:"status_429"`
	Status503      uint64    `json:"status_503"`
	Unanswered     uint64    `json:"unanswered"`
	RobotsDenied   uint64    `json:"robots_denied"` // URLs that its robots.txt forbids; not asked for

	MostInFlight int `json:"most_in_flight"` // requests at once
	Allowed      int `json:"allowed"`        // of them, when the host was asked last

	// The smallest time between two requests, and what was promised then, and by what. Absent before there were two.
	SmallestGapS *float64 `json:"smallest_gap_s,omitempty"`
	AskedGapS    float64  `json:"asked_gap_s,omitempty"`
	AskedFrom    string   `json:"asked_from,omitempty"`

	// The time that was promised when the host was asked last, and by what.
	DelayS         float64 `json:"delay_s"`
	DelayFrom      string  `json:"delay_from"`
	CrawlDelayLine int     `json:"crawl_delay_line,omitempty"` // of the Crawl-delay in its robots.txt
}

// LedgerRest are the totals of hosts that are no longer kept one by one. A host that was asked again later counts again.
type LedgerRest struct {
	Hosts        uint64 `json:"hosts"`
	Requests     uint64 `json:"requests"`
	BodyBytes    uint64 `json:"body_bytes"`
	Status429    uint64 `json:"status_429"`
	Status503    uint64 `json:"status_503"`
	Unanswered   uint64 `json:"unanswered"`
	RobotsDenied uint64 `json:"robots_denied"`
}

// Asked is what a crawl has asked of its hosts, those with most requests first.
type Asked struct {
	Hosts []HostAsked `json:"hosts"`
	Rest  LedgerRest  `json:"rest"`
}

// Row keys of the ledger.
const (
	ledgerPrefix  = "ledger/"     // a host's account, by name
	ledgerRestKey = "ledger-rest" // the totals of others
)

// ledgerRow is a HostAsked as a checkpoint keeps it: under a key that is its host, and short.
type ledgerRow struct {
	Host           string    `json:"-"`
	Scheme         string    `json:"scheme,omitzero"`
	FirstAsked     time.Time `json:"first,omitzero"`
	LastAsked      time.Time `json:"last,omitzero"`
	Requests       uint64    `json:"n,omitzero"`
	RobotsRequests uint64    `json:"robots,omitzero"`
	BodyBytes      uint64    `json:"bytes,omitzero"`
	Status429      uint64    `json:"429,omitzero"`
	Status503      uint64    `json:"503,omitzero"`
	Unanswered     uint64    `json:"none,omitzero"`
	RobotsDenied   uint64    `json:"denied,omitzero"`
	MostInFlight   int       `json:"most,omitzero"`
	Allowed        int       `json:"allowed,omitzero"`
	SmallestGapS   *float64  `json:"gap,omitzero"`
	AskedGapS      float64   `json:"asked,omitzero"`
	AskedFrom      string    `json:"from,omitzero"`
	DelayS         float64   `json:"delay,omitzero"`
	DelayFrom      string    `json:"by,omitzero"`
	CrawlDelayLine int       `json:"line,omitzero"`
}

// readLedgerRow reads a host's row.
func readLedgerRow(key string, value []byte) (HostAsked, error) {
	var row ledgerRow
	if err := json.Unmarshal(value, &row); err != nil {
		return HostAsked{}, rowDamage(key, err)
	}
	row.Host = strings.TrimPrefix(key, ledgerPrefix)
	return HostAsked(row), nil
}

// admit makes room for a host and takes it in.
func (g *hostLedger) admit(name string, at time.Duration) *ledgerHost {
	if len(g.hosts) >= maxLedgerHosts {
		g.forgetOne(at)
	}
	return g.newHost(strings.Clone(name))
}

func (g *hostLedger) newHost(name string) *ledgerHost {
	h := &ledgerHost{HostAsked: HostAsked{Host: name}}
	if g.resumed {
		h.last = lastRequest{known: true, ended: true} // as if the last request of the process before had ended with it
	}
	g.hosts[name] = h
	return h
}

// Of so many hosts the one with the fewest requests is forgotten; of more, if none of them is free of promises.
const (
	forgetLook = 8
	forgetMost = 256
)

// forgetOne counts a host in the totals alone. Go's order of a map's keys is a random one.
func (g *hostLedger) forgetOne(at time.Duration) {
	var least *ledgerHost
	better := func(h *ledgerHost) bool {
		if least == nil {
			return true
		}
		return cmp.Or(cmp.Compare(max(h.free, at), max(least.free, at)), cmp.Compare(h.Requests, least.Requests)) < 0
	}
	looked := 0
	for _, h := range g.hosts {
		if looked++; h.inFlight == 0 && better(h) {
			least = h
		}
		if least != nil && (looked >= forgetMost || looked >= forgetLook && least.free <= at) {
			break
		}
	}
	if least == nil {
		return // all are in flight
	}
	delete(g.hosts, least.Host)
	if least.kept {
		g.gone = append(g.gone, least.Host)
	}
	least.changed = true // so that it is not entered again
	g.rest.add(&least.HostAsked)
	g.restChanged = true
}

func (r *LedgerRest) add(h *HostAsked) {
	r.Hosts++
	r.Requests += h.Requests
	r.BodyBytes += h.BodyBytes
	r.Status429 += h.Status429
	r.Status503 += h.Status503
	r.Unanswered += h.Unanswered
	r.RobotsDenied += h.RobotsDenied
}

// rows returns what changed since the last call, for a checkpoint. Of a host that was forgotten and met again, the row comes
// after its removal.
func (g *hostLedger) rows() ([]store.Row, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rows := make([]store.Row, 0, len(g.gone)+len(g.changed)+1)
	for _, name := range g.gone {
		rows = append(rows, store.Row{Key: ledgerPrefix + name})
	}
	add := func(key string, v any) error {
		value, err := json.Marshal(v)
		rows = append(rows, store.Row{Key: key, Value: value})
		return err
	}
	for _, h := range g.changed {
		if g.hosts[h.Host] != h {
			continue
		}
		h.changed, h.kept = false, true
		if err := add(ledgerPrefix+h.Host, ledgerRow(h.HostAsked)); err != nil {
			return nil, err
		}
	}
	if g.restChanged {
		if err := add(ledgerRestKey, &g.rest); err != nil {
			return nil, err
		}
	}
	g.gone, g.changed, g.restChanged = nil, nil, false
	return rows, nil
}

// restore takes over the account that a checkpoint has of a host.
func (g *hostLedger) restore(host string, value []byte) error {
	asked, err := readLedgerRow(ledgerPrefix+host, value)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.newHost(host)
	h.HostAsked, h.kept = asked, true
	return nil
}

// restoreRest takes over the totals.
func (g *hostLedger) restoreRest(value []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return readLedgerRest(value, &g.rest)
}

func readLedgerRest(value []byte, rest *LedgerRest) error {
	if err := json.Unmarshal(value, rest); err != nil {
		return rowDamage(ledgerRestKey, err)
	}
	return nil
}

// asked returns the accounts as they are.
func (g *hostLedger) asked() Asked {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := Asked{Hosts: make([]HostAsked, 0, len(g.hosts)), Rest: g.rest}
	for _, h := range g.hosts {
		if h.Requests > 0 { // others are on their first
			a.Hosts = append(a.Hosts, h.HostAsked)
		}
	}
	a.sort()
	return a
}

func (a *Asked) sort() {
	slices.SortFunc(a.Hosts, func(x, y HostAsked) int {
		return cmp.Or(cmp.Compare(y.Requests, x.Requests), strings.Compare(x.Host, y.Host))
	})
}

// notAsked returns those of the hosts that nothing was asked of, each with the hosts of its name on other ports that
// something was. Of one that may have been forgotten nobody knows: none is among them then.
func (g *hostLedger) notAsked(hosts []string) map[string][]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rest.Hosts > 0 {
		return nil
	}
	found := make(map[string][]string)
	byName := make(map[string][]string)
	for _, host := range hosts {
		if h := g.hosts[host]; h == nil || h.Requests == 0 {
			found[host], byName[hostName(host)] = nil, nil
		}
	}
	if len(found) == 0 {
		return nil
	}
	for host, h := range g.hosts {
		if others, sought := byName[hostName(host)]; sought && h.Requests > 0 {
			byName[hostName(host)] = append(others, host)
		}
	}
	for host := range found {
		found[host] = slices.Sorted(slices.Values(byName[hostName(host)]))
	}
	return found
}

// otherPorts returns the hosts of the same name on other ports.
func (a *Asked) otherPorts(host string) (others []string) {
	for i := range a.Hosts {
		if other := a.Hosts[i].Host; other != host && hostName(other) == hostName(host) {
			others = append(others, other)
		}
	}
	return others
}

// hostName returns a host without its port.
func hostName(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host[:i]
	}
	return host
}

// Asked returns what the crawl has asked of its hosts until now. It may be called beside a run.
func (c *Crawler) Asked() Asked { return c.ledger.asked() }

// ReadAsked is Crawler.Asked for the crawl in dir, which no process has open, as its last checkpoint has it. It fails as
// store.ReadRows does.
func ReadAsked(_ context.Context, dir string) (Asked, error) {
	var a Asked
	err := store.ReadRows(dir, "ledger", func(key string, value []byte) error {
		if key == ledgerRestKey {
			return readLedgerRest(value, &a.Rest)
		}
		h, err := readLedgerRow(key, value)
		if h.Requests > 0 {
			a.Hosts = append(a.Hosts, h)
		}
		return err
	})
	a.sort()
	return a, err
}
