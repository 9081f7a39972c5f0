package crawler

import (
	"slices"
	"time"
)

// DenylistView is what a snapshot says of a denylist.
type DenylistView struct {
	List    string `json:"list"` // as refusals name it
	File    string `json:"file"`
	Entries uint64 `json:"entries"`
	Bytes   int64  `json:"bytes"` // of memory
	// PassedOver counts the lines of a text that are none of a list.
	PassedOver uint64 `json:"lines_passed_over"`

	// The version in force.
	Modified time.Time `json:"modified"`         // of its file
	Digest   string    `json:"digest,omitempty"` // of its text; a filter's file has none
	Since    time.Time `json:"in_force_since"`
	// Refused is why the file as it is now is not in force; empty: it is.
	Refused string `json:"file_refused,omitempty"`

	// Over the crawl's life.
	Links uint64 `json:"links"` // refused, seeds and redirects included
	URLs  uint64 `json:"urls"`  // that were admitted before, and refused at their turn

	// Of this version, since the process began or read it.
	Lookups uint64 `json:"lookups"` // of what its filter takes for an entry
	Caught  uint64 `json:"caught"`  // of these, what is none: the filter alone would have refused it
}

// views says what there is to say of the lists in force, but for what they refused.
func (d *denylists) views() []DenylistView {
	if d == nil {
		return nil
	}
	var views []DenylistView
	for _, v := range d.now.Load().versions {
		looked := v.table.LookupStats()
		view := DenylistView{
			List: v.list.rule, File: v.list.file, Entries: v.entries, Bytes: v.table.Stats().Bytes + 8*passedSlots, PassedOver: v.Bad,
			Modified: v.mark.Modified, Digest: v.digest, Since: v.since, Lookups: looked.Maybes, Caught: looked.FalsePositives,
		}
		if why := v.list.why.Load(); why != nil {
			view.Refused = *why
		}
		views = append(views, view)
	}
	return views
}

// differ reports whether the lists in force are other ones than those of a checkpoint, or other versions of them.
func (d *denylists) differ(kept []DenylistView) bool {
	now := d.now.Load().versions
	return !slices.EqualFunc(now, kept, func(v *denyVersion, before DenylistView) bool { return v.is(&before) })
}

// is reports whether a view is of v.
func (v *denyVersion) is(view *DenylistView) bool {
	return v.list.rule == view.List && v.mark.Modified.Equal(view.Modified) && v.digest == view.Digest
}

// denyCounts counts what denylists refused, by list, over the crawl's life.
type denyCounts struct {
	Links map[string]uint64 `json:"links,omitempty"`
	URLs  map[string]uint64 `json:"urls,omitempty"`
}

func countIn(counts *map[string]uint64, name string, n uint64) {
	if *counts == nil {
		*counts = make(map[string]uint64)
	}
	(*counts)[name] += n
}

// denied counts links to URLs that lists refuse.
func (c *counters) denied(by map[string]uint64) {
	for rule, n := range by {
		c.Reasons[Denied] += n
		countIn(&c.Denied.Links, rule, n)
	}
}

// deniedByHand counts URLs that were named, and that lists refuse. The user has been told, so they are not listed.
func (c *counters) deniedByHand(by map[string]uint64) {
	c.denied(by)
	for name, n := range by {
		count := c.rule(ruleKey{Denied, name})
		count.Links += n
		count.Unlisted += n
	}
}

// countDenied enters URLs that were to be added, and that lists refuse.
func (k *committer) countDenied(by map[string]uint64) error {
	return k.whole(func() error {
		k.books.Counters.deniedByHand(by)
		return nil
	})
}

// withCounts fills in what lists refused.
func (b *books) withCounts(views []DenylistView) []DenylistView {
	for i := range views {
		views[i].Links, views[i].URLs = b.Counters.Denied.Links[views[i].List], b.Counters.Denied.URLs[views[i].List]
	}
	return views
}
