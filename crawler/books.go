package crawler

import (
	"encoding/json"
	"time"

	"crawl/canon"
	"crawl/frontier"
	"crawl/store"
)

// books are what a checkpoint keeps besides logs, rows and outputs: everything that cannot be counted again from them,
// and everything that a reader beside the crawl is shown.
type books struct {
	Config     json.RawMessage `json:"config"` // settings in force
	CanonRules string          `json:"canon_rules"`
	RulesAt    time.Time       `json:"rules_at,omitzero"` // when the rules last changed by which pages are read; zero: never

	State        State     `json:"state"`
	PausedFor    string    `json:"paused_for,omitempty"`
	LimitReached string    `json:"limit_reached,omitempty"`
	StartedAt    time.Time `json:"started_at"` // first run
	ElapsedMS    int64     `json:"elapsed_ms"` // of all runs, pauses included

	// Dropped are the hosts that the user wants no more of, which their rows say too: those are in state.db alone.
	Dropped []string `json:"dropped,omitempty"`
	// HostsLost says that rows of hosts are gone, and that no run has begun since.
	HostsLost bool `json:"hosts_lost,omitempty"`

	Counters counters                 `json:"counters"`
	Seeds    seedMark                 `json:"seeds"`
	Loss     loss                     `json:"loss"`
	Merges   map[string][]MergeSample `json:"merges,omitempty"` // samples of Counters.Merged
	Alike    []AlikePattern           `json:"alike,omitempty"`  // the last ones that were shut
	Deny     []DenylistView           `json:"deny,omitempty"`
	Sights   sightMark                `json:"sights,omitzero"` // how far their log goes
	SeenOnce *SightsView              `json:"first_sights,omitempty"`
	Queue    queueView                `json:"queue"`
	SweptTo  uint64                   `json:"swept_to,omitempty"` // host key from which the sweep under way goes on
	Filter   FilterView               `json:"filter"`
	Previous CheckpointView           `json:"previous"` // the checkpoint before this one
}

func newBooks(now time.Time, names *canon.Rules) books {
	return books{CanonRules: names.Version(), State: Stopped, StartedAt: now.UTC(), Counters: newCounters()}
}

// readBooks returns the books of a checkpoint. What a checkpoint took it cannot hold itself: that stays its predecessor's.
func readBooks(cut store.Cut) (books, error) {
	var b books
	if err := json.Unmarshal(cut.Books, &b); err != nil {
		return books{}, &store.DamageError{File: "the books in the checkpoint", Offset: -1, Err: err}
	}
	b.Previous.Number, b.Previous.At = cut.Number, cut.At
	return b, nil
}

// setConfig puts settings in force, and notes when pages are read otherwise from then on.
func (b *books) setConfig(cfg Config) (err error) {
	if b.Config != nil {
		if before, err := b.config(); err != nil || !readAlike(before, cfg) {
			b.RulesAt = time.Now().UTC()
		}
	}
	b.Config, err = json.Marshal(cfg)
	return err
}

func (b *books) config() (Config, error) {
	var cfg Config
	if err := json.Unmarshal(b.Config, &cfg); err != nil {
		return Config{}, &store.DamageError{File: "the settings in the checkpoint", Offset: -1, Err: err}
	}
	return cfg, nil
}

// State is what a crawl is doing, or how it ended.
type State string

// The states.
const (
	Running  State = "running"
	Paused   State = "paused"
	Stopping State = "stopping"
	Stopped  State = "stopped"  // by a signal, a command, a limit or the end of its process; or added to after its end
	Complete State = "complete" // nothing is left to fetch
	Partial  State = "partial"  // nothing is left that may be fetched, but something is left
	Damaged  State = "damaged"  // its files are not what they were
)

// counters count over the crawl's life. Two sums hold at every commit: Reasons add up to all links found, and Outcomes
// together with what is pending add up to Reasons[Admitted].
type counters struct {
	Pages        uint64            `json:"pages"`                   // page records
	NeedsScripts uint64            `json:"needs_scripts,omitempty"` // of Pages: those that look empty without scripts
	Checks       uint64            `json:"checks,omitempty"`        // of Pages: those that only say whether a link leads anywhere
	Broken       uint64            `json:"broken,omitempty"`        // of Checks: those that ended in an error
	NoFollow     NoFollowView      `json:"nofollow,omitzero"`
	Requests     uint64            `json:"requests"`
	Retries      uint64            `json:"retries"`
	BodyBytes    uint64            `json:"body_bytes"` // as sent
	DecodedBytes uint64            `json:"decoded_bytes"`
	Statuses     map[int]uint64    `json:"statuses"`
	Outcomes     outcomeCounts     `json:"outcomes"`
	Reasons      reasonCounts      `json:"reasons"`
	Merged       map[string]uint64 `json:"merged,omitempty"`   // of Reasons[Seen]: those whose name a policy made, by its rule
	Traps        map[string]uint64 `json:"traps,omitempty"`    // Reasons[Trap] by the rule
	Promoted     uint64            `json:"promoted,omitempty"` // of Reasons[Admitted]: those that a second page led to
	Denied       denyCounts        `json:"denied,omitzero"`    // Reasons[Denied] and pages' ends by the list
	Rules        ruleCounts        `json:"rules,omitempty"`    // what rules refused
	Errors       map[string]uint64 `json:"errors"`             // by code; retries included
}

func newCounters() counters {
	return counters{Statuses: make(map[int]uint64), Errors: make(map[string]uint64), Outcomes: make(outcomeCounts)}
}

// addLinks enters what became of a visit's links, as far as they do not come to the filter.
func (c *counters) addLinks(v *visit) {
	c.Reasons.add(&v.reasons)
	c.NoFollow.add(v.noFollow)
	if len(v.traps) > 0 && c.Traps == nil {
		c.Traps = make(map[string]uint64)
	}
	for rule, n := range v.traps {
		c.Traps[rule] += n
	}
	c.denied(v.denied)
}

// addPage counts a page record by what it is of.
func (c *counters) addPage(p *store.Page) {
	c.Pages++
	if p.NeedsScripts {
		c.NeedsScripts++
	}
	if p.Check != "" {
		c.Checks++
		if broken(p.Outcome) {
			c.Broken++
		}
	}
}

// broken reports whether a link with that outcome led nowhere.
func broken(o store.Outcome) bool {
	return o == store.OutcomeClientError || o == store.OutcomeServerError || o == store.OutcomeFailed
}

// merged counts a link to a page that was met before, maybe under another URL that its policies name alike.
func (c *counters) merged(by canon.Applied) {
	if by == 0 {
		return
	}
	if c.Merged == nil {
		c.Merged = make(map[string]uint64)
	}
	for _, rule := range by.Names() {
		c.Merged[rule]++
	}
}

// done is the number of admitted URLs whose last visit has ended.
func (c *counters) done() uint64 {
	var sum uint64
	for _, n := range c.Outcomes {
		sum += n
	}
	return sum
}

// outcomeCounts counts URLs by the outcome of their last visit.
type outcomeCounts map[store.Outcome]uint64

func (c outcomeCounts) byName() map[string]uint64 {
	named := make(map[string]uint64, len(c))
	for o, n := range c {
		if n > 0 {
			named[o.String()] = n
		}
	}
	return named
}

// seedMark is how far the stored seeds have been read.
type seedMark struct {
	Offset int64  `json:"offset"` // in the file of seeds
	Done   bool   `json:"done"`
	Sum    uint32 `json:"sum,omitempty"` // CRC-32C of the whole file; 0: of before there were sums
}

// queueView is the frontier as it was at the checkpoint, for readers.
type queueView struct {
	Hosts   int `json:"hosts"`
	Working int `json:"working"` // of Hosts: those with work
	GivenUp int `json:"given_up"`
	// GivenUpFor is GivenUp by the reason.
	GivenUpFor map[frontier.Reason]int `json:"given_up_for,omitempty"`
	Stranded   uint64                  `json:"stranded"` // pending URLs of hosts that were given up
}
