package crawler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"crawl/canon"
	"crawl/frontier"
	"crawl/internal/parse"
	"crawl/internal/scope"
	"crawl/internal/trap"
	"crawl/store"
)

// AlikePattern is a pattern of URLs whose pages said the same again and again, so that no more of it are fetched.
type AlikePattern struct {
	Rule    string    `json:"rule"`    // that shut it: alike, near_alike, growing or alike_hosts
	Pattern string    `json:"pattern"` // a.test/cal?m&y; of growing the host and what its pages say: a.test/** 0123456789abcdef; of alike_hosts *.a.test
	Example string    `json:"example"` // URL of the page that was one too many
	At      time.Time `json:"at"`
	Spared  []string  `json:"spared,omitempty"` // hosts that are asked nevertheless, in the pattern's row alone
}

// alike watches what the pages of each pattern of URLs say. Sites without end have pages that say the same under ever new
// URLs of one pattern: empty months, one item under many sessions. Archives have patterns of as many pages, which do not.
//
// Which patterns are shut is part of the crawl's state; how far others have come is not, and is counted anew by a run.
//
// Pages that all say one thing but for a word or two, such as the time, are nearly alike (parse.Simhash). Catalogues of parts
// have such pages, too, so that it takes far more of them.
type alike struct {
	limit int // pages in a row; 0: none are watched for that
	near  int // pages in a row that are nearly alike; 0: likewise
	from  int // pages of a pattern before one is looked at: until then it costs a count alone
	every int // of those after them, one in as many is looked at, for as many

	any atomic.Bool // a pattern is shut: else there is nothing to ask

	mu       sync.RWMutex // guards all below
	watched  map[string]*watchedPattern
	judged   int                 // how many of them have said something
	shut     map[string]string   // the rule that shut it, by the pattern
	shutHost map[string]struct{} // hosts of shut
}

// watchedPattern is how far a pattern has come.
type watchedPattern struct {
	pages int
	run   int                 // pages that said what another one had said, less unlikeWeighs for each that did not
	near  int                 // those that said nearly that, likewise
	last  [nearKept]uint64    // parse.Simhash of the last ones that were not near to one before
	next  int                 // in last
	said  map[uint64]struct{} // parse.Likeness; nil until one is looked at
}

const (
	fromMost     = 1 << 10 // of alike.from
	everyMost    = 16      // of alike.every: looking at a page takes about as long as reading it
	unlikeWeighs = 8       // a page that says something new is worth as many that do not
	datedWeighs  = 4       // a page of a calendar is worth as many others: listings may have thousands of steps, months not
	nearKept     = 8       // kinds of pages of a pattern that others may be near to
	nearBits     = 3       // at most, in which two that are near each other differ
	maxSaid      = 512     // things that one pattern's pages say and that are remembered: more than a calendar has kinds of months
	maxWatched   = 1 << 16 // patterns that are counted
	maxJudged    = 1 << 10 // patterns that are looked at
)

func newAlike(limit, near *int) *alike {
	a := &alike{watched: make(map[string]*watchedPattern), shut: make(map[string]string), shutHost: make(map[string]struct{})}
	if limit != nil {
		a.limit = *limit
	}
	if near != nil {
		a.near = *near
	}
	if least := min(a.limit, a.near); least > 0 {
		a.pace(least)
	} else {
		a.pace(max(a.limit, a.near))
	}
	return a
}

// pace says how many pages of a pattern are looked at, for a limit.
func (a *alike) pace(limit int) {
	a.from = min(limit/4, fromMost)
	a.every = min(max(limit/256, 1), everyMost)
}

// read takes in a page. It returns the pattern that is shut by it, and the rule.
func (a *alike) read(u canon.URL, body []byte) (shut, rule string) {
	if a.limit == 0 && a.near == 0 {
		return "", ""
	}
	pattern := trap.Pattern(u)
	weight := 1
	if trap.IsDated(u) {
		weight = datedWeighs
	}
	if !a.counts(pattern, weight) {
		return "", ""
	}
	says, nearly := parse.Likeness(body, u), uint64(0)
	if a.near > 0 {
		nearly = parse.Simhash(body, u)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.watched[pattern]
	if w == nil || w.said == nil { // forgotten, or shut, meanwhile
		return "", ""
	}
	w.take(says, nearly, a.every*weight)
	switch {
	case a.limit > 0 && w.run >= a.limit:
		rule = trapAlike
	case a.near > 0 && w.near >= a.near:
		rule = trapNearAlike
	default:
		return "", ""
	}
	a.forget(pattern)
	a.close(pattern, rule)
	return pattern, rule
}

// take takes in what a page says that stands for so many.
func (w *watchedPattern) take(says, nearly uint64, weight int) {
	_, again := w.said[says]
	if again {
		w.run += weight
	} else {
		w.run = max(0, w.run-unlikeWeighs*weight)
		if len(w.said) < maxSaid {
			w.said[says] = struct{}{}
		}
	}
	if again || w.isNear(nearly) {
		w.near += weight
		return
	}
	w.near = max(0, w.near-unlikeWeighs*weight)
	w.last[w.next] = nearly
	w.next = (w.next + 1) % nearKept
}

func (w *watchedPattern) isNear(nearly uint64) bool {
	return slices.ContainsFunc(w.last[:], func(other uint64) bool { return bits.OnesCount64(nearly^other) <= nearBits })
}

// counts counts a page that weighs as many, and reports whether it is to be looked at.
func (a *alike) counts(pattern string, weight int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, shut := a.shut[pattern]; shut {
		return false
	}
	w := a.watched[pattern]
	if w == nil {
		a.makeRoom()
		w = new(watchedPattern)
		a.watched[pattern] = w
	}
	if w.pages++; w.pages <= a.from/weight || w.pages%a.every != 0 {
		return false
	}
	if w.said == nil && a.judged < maxJudged {
		w.said = make(map[uint64]struct{})
		a.judged++
	}
	return w.said != nil
}

// makeRoom forgets the patterns of which little came lately, once there are too many.
func (a *alike) makeRoom() {
	if len(a.watched) < maxWatched {
		return
	}
	for pattern, w := range a.watched {
		if w.pages /= 2; w.pages == 0 || w.said != nil && w.pages < a.from {
			a.forget(pattern)
		}
	}
}

func (a *alike) forget(pattern string) {
	if a.watched[pattern].said != nil {
		a.judged--
	}
	delete(a.watched, pattern)
}

func (a *alike) close(pattern, rule string) {
	a.shut[pattern] = rule
	host, _, _ := strings.Cut(pattern, "/")
	a.shutHost[host] = struct{}{}
	a.any.Store(true)
}

// refuses returns the pattern of u and the rule that shut it; an empty rule: none did.
func (a *alike) refuses(u canon.URL) (pattern, rule string) {
	if !a.any.Load() {
		return "", ""
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if _, some := a.shutHost[u.Host()]; !some {
		return "", ""
	}
	pattern = trap.Pattern(u)
	if rule = a.shut[pattern]; !a.isWatching(rule) {
		return "", "" // it was lifted
	}
	return pattern, rule
}

func (a *alike) isWatching(rule string) bool {
	return rule == trapAlike && a.limit > 0 || rule == trapNearAlike && a.near > 0
}

// Names of the rules in statistics.
const (
	trapAlike     = "alike"
	trapNearAlike = "near_alike"
)

// maxShownAlike is how many patterns a snapshot names: the last ones.
const maxShownAlike = 20

// judge looks whether a page is one too many of its kind. Seeds, what was added by hand and pages that are empty without
// their scripts count for nothing.
func (c *Crawler) judge(v *visit, page *parse.Page, body []byte) {
	if v.lease.Class <= frontier.Added || v.page.NeedsScripts { // what scripts would say is not known
		return
	}
	if domain := c.namesakes.read(v.lease.URL, body); domain != "" {
		c.shut(v, trapHosts, hostsPattern(domain))
		v.shuts.Spared = c.namesakes.spared(domain)
		return
	}
	if pattern, rule := c.alike.read(v.lease.URL, body); rule != "" {
		c.shut(v, rule, pattern)
		return
	}
	leadsOn, says := c.growing.read(&v.lease, v.page.Referrer, body, page.Links)
	v.ledEnough = !leadsOn
	if says != 0 {
		c.shut(v, trapGrowing, growingPattern(v.lease.URL.Host(), says))
	}
}

// shut notes what a page was one too many of.
func (c *Crawler) shut(v *visit, rule, pattern string) {
	v.shuts = &AlikePattern{Rule: rule, Pattern: pattern, Example: v.page.URL, At: time.Now().UTC().Truncate(time.Millisecond)}
	c.log.Warn("pages say the same again and again: no more of their kind are fetched", "rule", rule, "pattern", pattern, "last", v.page.URL)
}

// shutPattern has the next checkpoint keep that a pattern is shut.
func (k *committer) shutPattern(p *AlikePattern) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	k.rows = append(k.rows, store.Row{Key: alikePrefix + p.Pattern, Value: text})
	shown := *p
	shown.Spared = nil
	k.books.Alike = append(k.books.Alike, shown)
	k.books.Alike = k.books.Alike[max(0, len(k.books.Alike)-maxShownAlike):]
	return nil
}

// amongShown returns a look-up in the patterns that the books name.
func amongShown(shown []AlikePattern) func(canon.URL) (pattern, rule string) {
	return func(u canon.URL) (string, string) {
		pattern, hosts := trap.Pattern(u), ""
		if domain, ok := scope.Registrable(u.Host()); ok {
			hosts = hostsPattern(domain)
		}
		for _, p := range shown {
			switch rule := cmp.Or(p.Rule, trapAlike); {
			case rule == trapHosts && p.Pattern == hosts:
				return hosts + " but for some that are exempt", rule
			case rule != trapHosts && p.Pattern == pattern:
				return pattern, rule
			}
		}
		return "", ""
	}
}

func readAlikeRow(name string, value []byte) (p AlikePattern, err error) {
	if err = json.Unmarshal(value, &p); err != nil {
		return p, err
	}
	switch p.Rule = cmp.Or(p.Rule, trapAlike); { // rows of former versions name none
	case p.Pattern != name:
		return p, fmt.Errorf("it is of %s", p.Pattern)
	case p.Rule == trapGrowing:
		_, _, err = readGrowingPattern(name)
	case p.Rule == trapHosts && strings.HasPrefix(name, hostsPattern("")):
	case p.Rule != trapAlike && p.Rule != trapNearAlike:
		err = fmt.Errorf("its rule is %q", p.Rule)
	}
	return p, err
}
