package crawler

import (
	"cmp"
	"context"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"crawl/canon"
	"crawl/store"
)

// What rules kept out is counted by the rule, all of it, and listed as far as there is room: the list is for people, who look
// what a rule does and add by hand what they want all the same. Every refused link of a page is one place in the counters;
// in the list a URL stands once, with the first page that was met with it. A site may link to millions of URLs that are refused, so the
// list has three limits: Config.KeepRefused in all, mostOfHost of one rule and host, and of one rule no more than the others leave
// it. What is in neither is counted as unlisted.

// RuleCount is what a rule has kept out: a line of `crawl stats --rules --json`.
type RuleCount struct {
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`   // under which links are counted, of by_reason; of merged URLs: merged
	Links    uint64 `json:"links"`    // that it refused, or took for pages met before
	Listed   uint64 `json:"listed"`   // URLs in the list of refused links
	Unlisted uint64 `json:"unlisted"` // links to URLs that there was no room for
	Pages    uint64 `json:"pages"`    // URLs that were admitted before, and that it refused at their turn

	Samples []MergeSample `json:"samples,omitempty"`
}

const (
	mostOfHost      = 1000 // listed URLs of one rule and host
	mostOfVisit     = 256  // listed URLs of one page
	mostRules       = 1000 // counted by their names
	otherRules      = "(other rules)"
	ruleNoFollow    = "nofollow"
	ruleRelNoFollow = "rel=nofollow"
	ruleMaxDepth    = "max_depth"
)

// ruleTally counts what a visit's links met.
type ruleTally struct {
	ruleKey
	links, offered uint64     // offered: of links, those in visit.refusals
	count          *RuleCount // for the commit
}

// refusedLink is a link that a rule refused.
type refusedLink struct {
	link
	by int // in visit.rules
}

// turnAway refuses a link. rule is one of few texts: a rule's name, and nothing of the URL.
func (v *visit) turnAway(reason Reason, rule string, l link) {
	v.reasons[reason]++
	v.offer(ruleKey{reason, rule}, l)
}

// offer counts a link for the rule that refused it, and offers it to the list.
func (v *visit) offer(by ruleKey, l link) {
	at := v.tally(by, 1)
	if len(v.refusals) < mostOfVisit {
		v.rules[at].offered++
		v.refusals = append(v.refusals, refusedLink{l, at})
	}
}

// tally counts links for the rule that refused them, and returns its place in v.rules.
func (v *visit) tally(by ruleKey, n uint64) (at int) {
	for i := range v.rules {
		if t := &v.rules[i]; t.ruleKey == by {
			t.links += n
			return i
		}
	}
	v.rules = append(v.rules, ruleTally{ruleKey: by, links: n})
	return len(v.rules) - 1
}

// ruleKey is a rule under a reason.
type ruleKey struct {
	reason Reason
	rule   string
}

// ruleCounts count by rule. Books keep them as a list.
type ruleCounts map[ruleKey]*RuleCount

// rule returns a rule's counts. Names beyond mostRules, which settings have only after many changes, share one.
func (c *counters) rule(key ruleKey) *RuleCount {
	if found := c.Rules[key]; found != nil {
		return found
	}
	if len(c.Rules) >= mostRules {
		key.rule = otherRules
		if found := c.Rules[key]; found != nil {
			return found
		}
	}
	if c.Rules == nil {
		c.Rules = make(ruleCounts)
	}
	c.Rules[key] = &RuleCount{Rule: key.rule, Reason: key.reason.String()}
	return c.Rules[key]
}

// list returns copies, the rule with the most links first.
func (c ruleCounts) list() []RuleCount {
	out := make([]RuleCount, 0, len(c))
	for _, r := range c {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b RuleCount) int {
		return cmp.Or(cmp.Compare(b.Links, a.Links), cmp.Compare(b.Pages, a.Pages), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Rule, b.Rule))
	})
	return out
}

// MarshalJSON writes a list.
func (c ruleCounts) MarshalJSON() ([]byte, error) { return json.Marshal(c.list()) }

// UnmarshalJSON reads it back.
func (c *ruleCounts) UnmarshalJSON(text []byte) error {
	var list []RuleCount
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*c = make(ruleCounts, len(list))
	for _, r := range list {
		for reason := range reasons {
			if reason.String() == r.Reason {
				(*c)[ruleKey{reason, r.Rule}] = &r
			}
		}
	}
	return nil
}

// refusedList decides which refused links are listed. The committer owns it.
type refusedList struct {
	most   int // in all; 0: none is listed
	listed int
	known  map[uint64]struct{} // of the URLs in the list
	ofHost map[uint64]int      // listed by rule and host
	salt   maphash.Seed
}

func newRefusedList(most int) *refusedList {
	return &refusedList{most: most, known: make(map[uint64]struct{}), ofHost: make(map[uint64]int), salt: maphash.MakeSeed()}
}

// takes reports whether a URL is to be listed, and whether it is listed already. ofRule is how many its rule has.
func (l *refusedList) takes(u canon.URL, rule string, ofRule uint64) (take, known bool) {
	if l.most == 0 {
		return false, false
	}
	if _, known = l.known[maphash.String(l.salt, u.Key())]; known {
		return false, true
	}
	own := int(min(ofRule, uint64(l.listed)))
	room := l.most - (l.listed - own) // that the others leave, half of which is for those to come
	if 2*own >= room || l.ofHost[l.place(rule, u.Host())] >= mostOfHost {
		return false, false
	}
	l.add(u, rule)
	return true, false
}

func (l *refusedList) add(u canon.URL, rule string) {
	l.listed++
	l.known[maphash.String(l.salt, u.Key())] = struct{}{}
	l.ofHost[l.place(rule, u.Host())]++
}

// place stands for a rule and a host. Two that share one share their room.
func (l *refusedList) place(rule, host string) uint64 {
	return 3*maphash.String(l.salt, rule) + maphash.String(l.salt, host)
}

// enterRefusals enters what a visit's links met, and lists what there is room for.
func (k *committer) enterRefusals(v *visit, from origin) error {
	for i := range v.rules {
		t := &v.rules[i]
		t.count = k.books.Counters.rule(t.ruleKey)
		t.count.Links += t.links
		t.count.Unlisted += t.links - t.offered
	}
	for i := range v.refusals {
		r := &v.refusals[i]
		t := &v.rules[r.by]
		switch take, known := k.refused.takes(r.url, t.rule, t.count.Listed); {
		case take:
			t.count.Listed++
			if err := k.store.Refused.Append(refusedLine(&r.link, t.ruleKey, from)); err != nil {
				return err
			}
		case !known:
			t.count.Unlisted++
		}
	}
	return nil
}

func refusedLine(l *link, by ruleKey, from origin) *store.Refused {
	line := &store.Refused{
		URL: l.url.String(), Reason: by.reason.String(), Rule: by.rule, Referrer: from.seq, Depth: l.depth,
		At: time.Now().UTC().Truncate(time.Second),
	}
	if from.seq != 0 {
		line.From = from.url.String()
	}
	return line
}

// restoreRefused remakes what the list of refused links holds. One that was damaged begins anew, and so do its counts.
func (c *Crawler) restoreRefused() error {
	k := c.committer
	counts := k.books.Counters.Rules
	if err := k.store.RefusedLost(); err != nil {
		c.log.Warn("the list of refused links is begun anew", "err", err)
		for _, count := range counts {
			count.Listed = 0
		}
		return nil
	}
	reader, err := store.OpenReader(k.store.Dir())
	if err != nil {
		return nil // a new crawl has no checkpoint to read yet
	}
	for link, err := range reader.Refused(context.Background()) {
		if err != nil {
			c.log.Warn("the list of refused links cannot be read to its end: some may be listed twice", "err", err)
			break
		}
		if u, err := canon.Parse(link.URL); err == nil {
			k.refused.add(u, link.Rule)
		}
	}
	return reader.Close()
}
