package crawler

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"crawl/canon"
	"crawl/frontier"
	"crawl/store"
)

// GivenUpHost is a host that nothing more is asked of: an object of `crawl stats --hosts --json`. Keys are only ever added.
type GivenUpHost struct {
	Host     string          `json:"host"`
	Why      frontier.Reason `json:"why"`
	Since    time.Time       `json:"since,omitzero"` // of the checkpoint that was the first to hold it; zero: not known
	Waiting  uint64          `json:"waiting"`        // URLs of it that are pending
	Failures int             `json:"failures"`       // in a row
	Requests uint64          `json:"requests"`       // made to it, as far as it is remembered
	Pages    uint64          `json:"pages"`          // page records, where a budget has them counted
	Bytes    uint64          `json:"bytes"`          // of bodies, likewise
}

// hostRow is what a checkpoint keeps of a host.
type hostRow struct {
	frontier.HostState
	GivenUpAt time.Time `json:",omitzero"` // of the first checkpoint that has it given up for this reason
}

// GivenUpHosts returns the hosts that are given up as the last checkpoint has it, those with most URLs waiting first. It
// takes a moment for each, and for each of their URLs. It may be called beside a run.
func (c *Crawler) GivenUpHosts(ctx context.Context) ([]GivenUpHost, error) {
	hosts, err := gatherGivenUp(c.committer.store.Rows)
	if err != nil {
		return nil, err
	}
	hosts = slices.DeleteFunc(hosts, func(h GivenUpHost) bool { return c.frontier.GivenUp(h.Host) == "" }) // by the settings of now
	return hosts, countWaiting(ctx, c.Dir(), hosts)
}

// ReadGivenUpHosts is Crawler.GivenUpHosts for the crawl in dir, which no process has open. It fails as store.ReadRows does.
func ReadGivenUpHosts(ctx context.Context, dir string) ([]GivenUpHost, error) {
	hosts, err := gatherGivenUp(func(prefix string, fn func(string, []byte) error) error { return store.ReadRows(dir, prefix, fn) })
	if err != nil {
		return nil, err
	}
	return hosts, countWaiting(ctx, dir, hosts)
}

func gatherGivenUp(rows func(prefix string, fn func(key string, value []byte) error) error) (hosts []GivenUpHost, err error) {
	err = rows(hostPrefix, func(key string, value []byte) error {
		var row hostRow
		if err := json.Unmarshal(value, &row); err != nil {
			return rowDamage(key, err)
		}
		if row.GivenUp != "" {
			hosts = append(hosts, GivenUpHost{
				Host: strings.TrimPrefix(key, hostPrefix), Why: row.GivenUp, Since: row.GivenUpAt, Failures: row.Failures,
				Requests: row.Requests, Pages: row.Pages, Bytes: row.Bytes,
			})
		}
		return nil
	})
	return hosts, err
}

// countWaiting fills in how many URLs wait, and sorts by it.
func countWaiting(ctx context.Context, dir string, hosts []GivenUpHost) (err error) {
	if len(hosts) == 0 {
		return nil
	}
	reader, err := store.OpenReader(dir)
	if err != nil {
		return err
	}
	defer reader.Close() // of files that were only read
	names := make([]string, len(hosts))
	for i := range hosts {
		names[i] = hosts[i].Host
	}
	waiting, err := reader.Waiting(ctx, names, func(url string) uint64 {
		u, err := canon.Parse(url)
		if err != nil {
			return 0 // opening the crawl says so
		}
		return store.HostKey(u.Host())
	})
	if err != nil {
		return err
	}
	for i := range hosts {
		hosts[i].Waiting = waiting[store.HostKey(hosts[i].Host)]
	}
	slices.SortFunc(hosts, func(a, b GivenUpHost) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), strings.Compare(a.Host, b.Host))
	})
	return nil
}

// hostRow returns the row of a host's state; one without a value removes what an earlier checkpoint kept.
func (k *committer) hostRow(state frontier.HostState, now time.Time) (store.Row, error) {
	row := store.Row{Key: hostPrefix + state.Host}
	kept := hostRow{HostState: state, GivenUpAt: k.givenUpAt.is(state, now)}
	if state.IsZero() {
		return row, nil
	}
	var err error
	row.Value, err = json.Marshal(kept)
	return row, err
}

// givenUpTimes remembers since when hosts are given up whose rows may change again: those that were given up by this process,
// and those whose rows it has read. So a checkpoint need read no row.
type givenUpTimes struct {
	mu sync.Mutex // guards all below
	of map[string]givenUpTime
}

type givenUpTime struct {
	why frontier.Reason
	at  time.Time
}

// maxGivenUpTimes bounds it. A host that is forgotten and changes again is given up since then.
const maxGivenUpTimes = 1 << 16

// was notes what a row says.
func (g *givenUpTimes) was(row *hostRow) {
	if row.GivenUp == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.note(row.Host, givenUpTime{row.GivenUp, row.GivenUpAt})
}

// is returns since when a host is given up that is in a state now; the zero time where it is not.
func (g *givenUpTimes) is(state frontier.HostState, now time.Time) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	if state.GivenUp == "" {
		delete(g.of, state.Host)
		return time.Time{}
	}
	if known := g.of[state.Host]; known.why == state.GivenUp {
		return known.at
	}
	since := givenUpTime{state.GivenUp, now.UTC().Truncate(time.Second)}
	g.note(state.Host, since)
	return since.at
}

func (g *givenUpTimes) note(host string, since givenUpTime) {
	if g.of == nil || len(g.of) >= maxGivenUpTimes {
		g.of = make(map[string]givenUpTime)
	}
	g.of[host] = since
}
