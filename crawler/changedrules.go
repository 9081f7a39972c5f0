package crawler

import (
	"log/slog"
	"reflect"
	"slices"

	"crawl/store"
)

// SayRules logs what a crawl, as its last checkpoint holds it, does not reach by itself under the settings now, where its
// own are narrower: the same that Open logs. It is for a crawl that is complete, which nobody opens.
func SayRules(log *slog.Logger, cut store.Cut, now Config) error {
	kept, err := readBooks(cut)
	if err != nil {
		return err
	}
	before, err := kept.config()
	if err != nil {
		return err
	}
	kept.Counters.sayRules(log, before, now)
	return nil
}

// sayRules tells what settings that differ from those before do not reach by themselves. What was refused is listed in part
// at best: those links are met again where the pages that they stand on are fetched again. The rules also bind
// what is queued, which is refused at its turn and counted by its outcome.
func (c *counters) sayRules(log *slog.Logger, before, after Config) {
	if n := c.Reasons[OutOfScope]; n > 0 && before.Scope.differs(after.Scope) {
		log.Warn("the scope is another: links that were refused as out of scope by earlier rules are met again only where their "+
			"pages are fetched again", "links", n, "fix", "crawl add --again URL")
	}
	if n := c.Reasons[Denied]; n > 0 && !containsAll(after.Deny, before.Deny) {
		log.Warn("there are denylists less: links that they refused are met again only where their pages are fetched again",
			"links", n, "fix", "crawl add --again URL")
	}
	if n := c.Reasons[FirstSight]; n > 0 && before.AdmitAfter.on() && !after.AdmitAfter.on() {
		log.Warn("admit_after is lowered: links that waited for a second page are met again only where their pages are fetched again",
			"links", n, "fix", "crawl add --again URL")
	}
	if n := c.Reasons[TooDeep]; n > 0 && deeper(before.MaxDepth, after.MaxDepth) {
		log.Warn("max_depth is raised: links that were refused as too deep before are met again only where their pages are "+
			"fetched again", "links", n, "fix", "crawl add --again URL")
	}
}

func (s Scope) differs(other Scope) bool {
	return s.Mode != other.Mode || !slices.Equal(s.Include, other.Include) || !slices.Equal(s.Exclude, other.Exclude) ||
		!slices.EqualFunc(s.Rules, other.Rules, func(a, b ScopeRule) bool { return reflect.DeepEqual(a, b) })
}

// containsAll reports whether all has each of some.
func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// deeper reports whether a limit on depth allows more than another; nil is no limit.
func deeper(before, after *int) bool {
	return before != nil && (after == nil || *after > *before)
}
