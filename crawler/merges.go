package crawler

import (
	"fmt"
	"math/rand/v2"

	"crawl/store"
)

// A policy of same_page may cost pages, so what its rules took for one page is shown: a few merged URLs of each rule, a random
// sample of all (Vitter 1985, algorithm R), each beside the page that it was taken for. A link to a page under the very URL that was
// fetched merges nothing, and only the log tells which that was; it is asked about what comes into the sample, which gets ever
// rarer: some 150 times in 10^6 links.

// MergeSample is a URL that a rule of same_page took for a page met before.
type MergeSample struct {
	URL  string `json:"url"`
	From string `json:"from"` // the page that links to it
	Page string `json:"page"` // as which it counts: what was requested, or will be
	Seq  uint64 `json:"seq"`  // of Page

	// What `crawl stats --rules` finds in the page records.
	Outcome string `json:"outcome,omitempty"` // of Page; empty: it is pending
	Digest  string `json:"digest,omitempty"`
	// OwnDigest is that of URL itself, where it has been requested too: a page that redirects to its other form, say.
	OwnDigest string `json:"own_digest,omitempty"`
}

const (
	mergeSamples   = 10   // of a rule
	maxSampleBytes = 1000 // of a URL in a sample
)

// reasonMerged stands for the reason of rules that merge: their links count as seen.
const reasonMerged = "merged"

// merge enters a link that was met before, maybe under another URL that its policies name alike.
func (k *committer) merge(l *link, from origin) error {
	if l.named == 0 {
		return nil
	}
	c := &k.books.Counters
	c.merged(l.named)
	for _, rule := range l.named.Names() {
		if rand.Uint64N(c.Merged[rule]) >= mergeSamples || len(l.url.String()) > maxSampleBytes {
			continue
		}
		sample, found, err := k.mergedWith(l, from)
		if _, damaged := asDamage(err); err != nil && !damaged { // what is damaged is made again, and a sample less is no loss
			return err
		}
		if err == nil && found {
			k.books.keepMerge(rule, sample)
		}
	}
	return nil
}

// mergedWith returns the sample that a merged link makes; none where nothing was merged, or the filter erred.
func (k *committer) mergedWith(l *link, from origin) (s MergeSample, found bool, err error) {
	known, err := k.store.Find([]uint64{l.hash})
	if err != nil {
		return s, false, err
	}
	seq, met := known[l.hash]
	if !met {
		return s, false, nil
	}
	page, err := k.store.Admissions.Get(seq)
	if err != nil {
		return s, false, err
	}
	s = MergeSample{URL: l.url.String(), Page: page.URL, Seq: seq}
	if from.seq != 0 {
		s.From = from.url.String()
	}
	return s, s.URL != s.Page && len(s.Page) <= maxSampleBytes && len(s.From) <= maxSampleBytes, nil
}

// keepMerge takes a sample in: in the place of a random one where there are enough.
func (b *books) keepMerge(rule string, s MergeSample) {
	if b.Merges == nil {
		b.Merges = make(map[string][]MergeSample)
	}
	have := b.Merges[rule]
	for i := range have {
		if have[i].URL == s.URL {
			return
		}
	}
	if len(have) < mergeSamples {
		b.Merges[rule] = append(have, s)
		return
	}
	have[rand.IntN(len(have))] = s
}

// rules lists what each rule refused or merged.
func (b *books) rules() []RuleCount {
	list := b.Counters.Rules.list()
	merged := make(ruleCounts)
	for rule, n := range b.Counters.Merged {
		samples := append([]MergeSample(nil), b.Merges[rule]...)
		merged[ruleKey{Seen, rule}] = &RuleCount{Rule: rule, Reason: reasonMerged, Links: n, Samples: samples}
	}
	return append(list, merged.list()...)
}

// Rules returns what each rule of the crawl has refused or merged.
func (c *Crawler) Rules() []RuleCount {
	k := c.committer
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.books.rules()
}

// ReadRules returns what each rule had refused or merged at a checkpoint.
func ReadRules(cut store.Cut) ([]RuleCount, error) {
	b, err := readBooks(cut)
	if err != nil {
		return nil, err
	}
	return b.rules(), nil
}

// Look enters what the page records of a checkpoint say of the samples.
func (r *RuleCount) Look(reader *store.Reader) error {
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Seq > reader.Cut().Admissions.Entries {
			continue
		}
		last, found, err := reader.LastDone(s.Seq)
		if err != nil {
			return err
		}
		if !found || last.Event != store.EventDone {
			continue
		}
		page, err := reader.Record(last.Record)
		if err != nil {
			return fmt.Errorf("the record of %s: %w", s.Page, err)
		}
		s.Outcome, s.Digest = page.Outcome.String(), page.Digest
		if page.URL == s.URL { // its other form led here
			s.OwnDigest = page.Digest
		}
	}
	return nil
}
