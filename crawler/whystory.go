package crawler

import (
	"errors"
	"strings"
	"time"

	"crawl/canon"
	"crawl/frontier"
	"crawl/store"
)

// Story says what became of one URL, and why: the object of `crawl why --json`. Keys are only ever added.
type Story struct {
	URL   string `json:"url"`             // as it would be requested
	Key   string `json:"key,omitempty"`   // what it is remembered by
	Host  string `json:"host,omitempty"`  // whose queue and delay
	Rules string `json:"rules,omitempty"` // the set of rules that made the key

	Fate      Fate      `json:"fate"`
	RefusedBy RulingBy  `json:"refused_by,omitempty"` // of FateRefused
	RulesNow  []Ruling  `json:"rules_now,omitempty"`  // what the rules in force say of it, whatever they said before
	State     State     `json:"state,omitempty"`      // of the crawl
	AsOf      time.Time `json:"as_of,omitzero"`       // the moment of which all this is told
	Live      bool      `json:"live"`                 // the crawl's own process tells it; otherwise its last checkpoint

	Filter    *FilterStory    `json:"filter,omitempty"`    // of a URL that is not in the log
	Admission *AdmissionStory `json:"admission,omitempty"` // of one that is
	Queue     *QueueStory     `json:"queue,omitempty"`     // where it is pending or in flight
	Last      *EventStory     `json:"last,omitempty"`      // what happened to it last
	Page      *store.Page     `json:"page,omitempty"`      // the record of its last visit, once a checkpoint holds that

	names  *canon.Rules
	sights Ruling // what first sights have to say; zero: nothing
}

// Met reports whether the URL is in the crawl's log: it was admitted, and has been fetched or will be.
func (s *Story) Met() bool { return s.Admission != nil }

// Checked reports whether the URL is met as a link out of the crawl alone, and was never to be a page.
func (s *Story) Checked() bool { return s.Met() && s.Admission.Class == frontier.Check.String() }

// Fate is what became of a URL. The list is closed.
type Fate string

// The fates.
const (
	FateNeverMet     Fate = "never_met"      // not in the log, and the rules in force would admit it
	FateRefused      Fate = "refused"        // not in the log, and the rules in force would not admit it
	FateTakenForSeen Fate = "taken_for_seen" // not in the log, and the filter takes it for seen: a false positive
	FateUnreadSeed   Fate = "unread_seed"    // among the seeds, and not read yet
	FatePending      Fate = "pending"
	FateInFlight     Fate = "in_flight"
	FateDone         Fate = "done"
)

// Ruling is what one rule in force says of a URL.
type Ruling struct {
	By      RulingBy `json:"by"`
	Verdict Verdict  `json:"verdict"`
	Rule    string   `json:"rule"` // the one that decided, or why nobody knows
}

// RulingBy names what rules.
type RulingBy string

// What rules, in the order in which a URL is tested. The last one is asked when its turn to be fetched has come.
const (
	ByURL      RulingBy = "url"         // the standard, the scheme and the longest URL that is admitted
	ByScope    RulingBy = "scope"       // scope, include, exclude
	ByMaxDepth RulingBy = "max_depth"   //
	ByTrap     RulingBy = "trap"        // the shape of the URL
	ByDeny     RulingBy = "deny"        // the denylists
	BySights   RulingBy = "admit_after" // a URL may wait for a second page
	ByRobots   RulingBy = "robots"      // the site's robots.txt
)

// Verdict is a ruling's answer.
type Verdict string

// The verdicts.
const (
	Allows  Verdict = "allows"
	Refuses Verdict = "refuses"
	Unknown Verdict = "unknown"
)

// FilterStory is what the filter says of a URL.
type FilterStory struct {
	Says string  `json:"says"`   // seen, new or not_asked
	Rate float64 `json:"fp_now"` // the chance that a URL that was never met is taken for seen, now
	// Same is a URL that was met and has the same hash, once among 10^10 URLs and more: this one is lost to it.
	Same string `json:"same_hash,omitempty"`
}

// What the filter says.
const (
	FilterSeen     = "seen"
	FilterNew      = "new"
	FilterNotAsked = "not_asked" // it is in the memory of a crawl that does not answer
)

// AdmissionStory is a URL's entry in the admission log.
type AdmissionStory struct {
	Seq      uint64 `json:"seq"`
	URL      string `json:"url"` // as it is requested: of several spellings, the one that was met first
	Class    string `json:"class"`
	Depth    int    `json:"depth"`              // links from a seed, as first met
	Hop      int    `json:"hop,omitempty"`      // redirects followed on the way
	From     uint64 `json:"from,omitempty"`     // number of the page that led to it
	Referrer string `json:"referrer,omitempty"` // its URL
	Seed     string `json:"seed,omitempty"`     // label of the seed it descends from, where it is known
}

// EventStory is the last event of a URL in the done log.
type EventStory struct {
	Event   string    `json:"event"`             // done or again
	Outcome string    `json:"outcome,omitempty"` // of the visit, or of the attempt that failed
	Status  int       `json:"status,omitempty"`
	Visit   int       `json:"visit"`
	Attempt int       `json:"attempt"` // attempts made so far in that visit
	At      time.Time `json:"at"`
	Due     time.Time `json:"due,omitzero"`     // not to be tried again before
	Record  uint64    `json:"record,omitempty"` // number of the page record
}

// QueueStory is where a URL waits, and for what.
type QueueStory struct {
	Where    string    `json:"where"`               // memory, aside, disk, flight, or unknown
	Visit    int       `json:"visit"`               // that is to be made: 1 is the first
	Attempts int       `json:"attempts"`            // made so far in it
	Class    string    `json:"class"`               // a host's URLs of a lower class come first
	AskedAs  string    `json:"asked_as,omitempty"`  // the spelling that a redirect gave it
	LeasedAt time.Time `json:"leased_at,omitzero"`  // in flight since
	Ahead    int       `json:"ahead"`               // URLs of its host that come before it
	AtLeast  bool      `json:"ahead_is_at_least"`   // others may wait on disk
	Due      time.Time `json:"due,omitzero"`        // it is asked for no sooner
	WaitsFor string    `json:"waits_for,omitempty"` // a frontier.Wait, or resume
	Until    time.Time `json:"waits_until,omitzero"`
	Detail   string    `json:"detail,omitempty"`

	HostDelayS    float64 `json:"host_delay_s,omitempty"`    // between two requests
	HostDelayFrom string  `json:"host_delay_from,omitempty"` // what set it, or the wait that is longer, as in the ledger
	HostFailures  int     `json:"host_failures,omitempty"`
	HostInFlight  int     `json:"host_in_flight,omitempty"`
}

// WaitsForResume: the crawl does not run.
const WaitsForResume = "resume"

// SpelledAs returns the URLs that a text may stand for: the one that it is or, for a bare host, https and http, as a seed
// is taken. User and password are dropped, as those of links are. The error is a *canon.Error, for which Unreadable has a story.
func SpelledAs(text string) ([]canon.URL, error) {
	u, guessed, err := Seed{URL: withoutUser(strings.TrimSpace(text))}.parse()
	switch e, malformed := errors.AsType[*canon.Error](err); {
	case malformed:
		return nil, e
	case err != nil:
		return nil, &canon.Error{In: text, Reason: canon.Malformed, Detail: errTooLong.Error()}
	case !guessed:
		return []canon.URL{u}, nil
	}
	plain, err := canon.Parse("http" + u.String()[len("https"):])
	return []canon.URL{u, plain}, err
}

// Unreadable is the story of a text that is no URL of http or https, or too long a one: no crawl admits it.
func Unreadable(text string, why *canon.Error) Story {
	rule := string(why.Reason)
	if why.Detail != "" {
		rule += ": " + why.Detail
	}
	return Story{URL: text, Rules: rules.Version(), Fate: FateRefused, RefusedBy: ByURL,
		RulesNow: []Ruling{{ByURL, Refuses, rule}}}
}

func newStory(u canon.URL, names *canon.Rules) Story {
	return Story{URL: u.String(), Key: names.Key(u), Host: u.Host(), Rules: names.Version(), names: names}
}

// ledger is where both logs are looked up: in the open crawl, or by a reader beside it.
type ledger interface {
	Find(hashes []uint64) (map[uint64]uint64, error)
	Admission(seq uint64) (store.Admission, error)
	LastDone(seq uint64) (store.DoneEntry, bool, error)
}

// lookUp tells what both logs know, and returns the URL's admission, as a task; its Seq is 0 where it has none.
func (s *Story) lookUp(in ledger, u canon.URL, hashes nameHashes) (frontier.Task, error) {
	seq, met, err := hashes.find(in)
	if err != nil {
		return frontier.Task{}, err
	}
	if !met {
		return frontier.Task{URL: u}, nil
	}
	a, err := in.Admission(seq)
	if err != nil {
		return frontier.Task{}, err
	}
	last, _, err := in.LastDone(seq)
	if err != nil {
		return frontier.Task{}, err
	}
	task, err := pendingTask(seq, a, last)
	if err != nil {
		return frontier.Task{}, err
	}
	if s.names.Key(task.URL) != s.Key {
		s.Filter = &FilterStory{Same: task.URL.String()}
		return frontier.Task{URL: u}, nil
	}
	s.Admission = &AdmissionStory{
		Seq: seq, URL: task.URL.String(), Class: frontier.Class(a.Class).String(), Depth: int(a.Depth), Hop: int(a.Hop), From: a.From,
	}
	if a.From != 0 {
		from, err := in.Admission(a.From)
		if err != nil {
			return frontier.Task{}, err
		}
		s.Admission.Referrer = from.URL
	}
	s.tellLast(last)
	return task, nil
}

// tellLast enters the last event; zero for none. What is not done is pending.
func (s *Story) tellLast(e store.DoneEntry) {
	s.Fate = FatePending
	if e.Seq == 0 {
		return
	}
	s.Last = &EventStory{
		Event: "again", Status: int(e.Status), Visit: int(e.Visit), Attempt: int(e.Attempt), At: e.At, Due: e.Due,
	}
	if e.Outcome != 0 {
		s.Last.Outcome = e.Outcome.String()
	}
	if e.Event == store.EventDone {
		s.Last.Event, s.Last.Record, s.Fate = "done", e.Record, FateDone
	}
}

// delayFrom names what set a host's delay; of a host that is not in memory nothing is known.
func delayFrom(h frontier.Host) string {
	if h.Delay == 0 && h.Why == frontier.Unknown {
		return ""
	}
	return h.Why.String()
}
