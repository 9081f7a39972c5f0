package crawler

import (
	"maps"
	"math"
	"slices"
	"time"

	"crawl/frontier"
	"crawl/store"
)

// Snapshot is a crawl at one moment: the object of `crawl stats --json`. Keys are only ever added.
type Snapshot struct {
	State        State                      `json:"state"`
	PausedFor    string                     `json:"paused_for"` // why it is paused: user or min_free; empty: it is not
	StartedAt    time.Time                  `json:"started_at"`
	ElapsedS     float64                    `json:"elapsed_s"`
	Pages        uint64                     `json:"pages"`         // page records
	NeedsScripts uint64                     `json:"needs_scripts"` // of Pages: those that look empty without scripts
	Checks       uint64                     `json:"checks"`        // of Pages: those that only say whether a link out of the crawl leads anywhere
	Broken       uint64                     `json:"broken"`        // of Checks: those that ended in client_error, server_error or failed
	BodyBytes    uint64                     `json:"body_bytes"`
	Discovered   uint64                     `json:"discovered"` // links found, seeds included: the sum of ByReason
	Admitted     uint64                     `json:"admitted"`
	Queued       uint64                     `json:"queued"`
	InFlight     uint64                     `json:"in_flight"`
	Done         uint64                     `json:"done"`          // the sum of ByOutcome; with Queued and InFlight it makes Admitted
	Stranded     uint64                     `json:"stranded"`      // of Queued: on hosts that were given up
	Hosts        int                        `json:"hosts"`         // in memory
	HostsWorking int                        `json:"hosts_working"` // of Hosts: those with work, which max_hosts bounds
	HostsGivenUp int                        `json:"hosts_given_up"`
	GivenUp      map[frontier.Reason]uint64 `json:"given_up"` // HostsGivenUp by the reason
	Requests     uint64                     `json:"requests"`
	Retries      uint64                     `json:"retries"`
	ByStatus     map[int]uint64             `json:"by_status"`
	ByReason     map[string]uint64          `json:"by_reason"`
	ByMerge      map[string]uint64          `json:"by_merge"`               // of ByReason["seen"]: links whose name a policy made, by its rule
	NoFollow     NoFollowView               `json:"nofollow"`               // Page and Link make ByReason["nofollow"]
	ByTrap       map[string]uint64          `json:"by_trap"`                // ByReason["trap"] by the rule
	Alike        []AlikePattern             `json:"alike"`                  // patterns of URLs that were left for it, the last 20
	Deny         []DenylistView             `json:"deny"`                   // the denylists in force
	FirstSights  *SightsView                `json:"first_sights,omitempty"` // where URLs wait for a second page
	ByOutcome    map[string]uint64          `json:"by_outcome"`
	Errors       map[string]uint64          `json:"errors"`
	PagesPerS    float64                    `json:"pages_per_s"` // last 60 s
	BytesPerS    float64                    `json:"bytes_per_s"`
	Seen         FilterView                 `json:"seen"`
	Checkpoint   CheckpointView             `json:"checkpoint"` // the last one
	RSSBytes     uint64                     `json:"rss_bytes"`
	LimitReached string                     `json:"limit_reached"` // max_pages or max_time; empty: none
}

// FilterView is what a snapshot says of the filter.
type FilterView struct {
	Kind                string  `json:"kind"`
	Items               uint64  `json:"items"`
	Layers              int     `json:"layers"`
	Bits                uint64  `json:"bits"`
	Bytes               int64   `json:"bytes"`
	Fill                float64 `json:"fill"`
	TargetRate          float64 `json:"fp_target"`
	Rate                float64 `json:"fp_now"`
	Measured            float64 `json:"fp_measured"`      // by the shadow sample
	ExpectedSkipped     float64 `json:"expected_skipped"` // new URLs taken for seen, over the crawl
	ExpectedSkippedHigh float64 `json:"expected_skipped_high"`
	Capped              bool    `json:"capped"` // at its memory cap: fp_now grows past fp_target
	// In exact mode, since the crawl was last started:
	Lookups uint64 `json:"lookups"` // hashes that the filter takes for seen, looked up behind it
	Caught  uint64 `json:"caught"`  // of these, new ones: what the filter alone would have skipped
}

// CheckpointView is what a snapshot says of a checkpoint.
type CheckpointView struct {
	Number uint64    `json:"number"`
	At     time.Time `json:"at"`
	// What it took. Read from a checkpoint itself, these are of the one before.
	DurationMS int64 `json:"duration_ms"`
	Bytes      int   `json:"bytes"`
}

// Snapshot returns the crawl as it is.
func (c *Crawler) Snapshot() Snapshot {
	k := c.committer
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	stats := k.frontier.Stats()
	k.books.look(stats, k.met.view())
	k.books.Deny = k.books.withCounts(k.deny.views())
	k.books.SeenOnce = k.sights.view(k.books.Counters.Promoted)
	k.books.ElapsedMS = k.clock.elapsed(now).Milliseconds()
	s := k.books.snapshot()
	s.InFlight = uint64(stats.InFlight)
	s.Queued -= min(s.InFlight, s.Queued)
	s.PagesPerS, s.BytesPerS = k.rate.perSecond(now)
	s.RSSBytes = residentBytes()
	return s
}

// ReadSnapshot returns a crawl as its last checkpoint holds it. A crawl whose process was killed counts as stopped.
func ReadSnapshot(cut store.Cut) (Snapshot, error) {
	b, err := readBooks(cut)
	if err != nil {
		return Snapshot{}, err
	}
	s := b.snapshot()
	if s.State == Running || s.State == Stopping || s.State == Paused {
		s.State, s.PausedFor = Stopped, ""
	}
	return s, nil
}

// snapshot turns the books into what people read. All that is not done counts as queued, as it does after a kill.
func (b *books) snapshot() Snapshot {
	c := &b.Counters
	return Snapshot{
		State: b.State, PausedFor: b.PausedFor, StartedAt: b.StartedAt, ElapsedS: float64(b.ElapsedMS) / 1000, Pages: c.Pages, NeedsScripts: c.NeedsScripts, Checks: c.Checks, Broken: c.Broken, NoFollow: c.NoFollow,
		BodyBytes: c.BodyBytes, Discovered: c.Reasons.total(), Admitted: c.Reasons[Admitted],
		Queued: c.Reasons[Admitted] - c.done(), Done: c.done(), Stranded: b.Queue.Stranded, Hosts: b.Queue.Hosts, HostsWorking: b.Queue.Working,
		HostsGivenUp: b.Queue.GivenUp, GivenUp: b.Queue.reasons(), Requests: c.Requests, Retries: c.Retries, ByStatus: maps.Clone(c.Statuses),
		ByReason: c.Reasons.byName(), ByMerge: maps.Clone(c.Merged), ByTrap: maps.Clone(c.Traps), Alike: slices.Clone(b.Alike), Deny: slices.Clone(b.Deny), FirstSights: b.SeenOnce, ByOutcome: c.Outcomes.byName(), Errors: maps.Clone(c.Errors), Seen: b.Filter,
		Checkpoint: b.Previous, LimitReached: b.LimitReached,
	}
}

// reasons counts hosts given up by the reason.
func (q *queueView) reasons() map[frontier.Reason]uint64 {
	named := make(map[frontier.Reason]uint64)
	for why, n := range q.GivenUpFor {
		named[why] = uint64(n)
	}
	return named
}

// onlyReason returns why hosts are given up, if it is one reason for all of them.
func (q *queueView) onlyReason() frontier.Reason {
	var only frontier.Reason
	for why, n := range q.GivenUpFor {
		switch {
		case n == 0:
		case only != "":
			return ""
		default:
			only = why
		}
	}
	return only
}

// look copies what the views say into the books.
func (b *books) look(queue frontier.Stats, filter FilterView) {
	b.Queue = queueView{
		Hosts: queue.Hosts, Working: queue.Hosts - queue.HostsIdle, GivenUp: queue.HostsGivenUp, GivenUpFor: queue.GivenUpFor, Stranded: uint64(queue.Stranded),
	}
	filter.Measured, filter.ExpectedSkipped, filter.ExpectedSkippedHigh = b.Loss.measured(), b.Loss.Expected, b.Loss.high()
	b.Filter = filter
}

// high is the end of a 95% interval: skips are rare and independent, so their number is close to a Poisson variable.
func (l *loss) high() float64 { return l.Expected + 1.96*math.Sqrt(l.Expected) }

// ReadRendering returns the settings as their user wrote them, as the checkpoint keeps them.
func ReadRendering(cut store.Cut) (string, error) {
	b, err := readBooks(cut)
	if err != nil {
		return "", err
	}
	cfg, err := b.config()
	return cfg.Rendering, err
}
