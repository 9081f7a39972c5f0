package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"crawl/crawler"
	"crawl/seen"
)

// summary is what a person reads at the end of a run: how it ended, and sums that add up.
func summary(s crawler.Snapshot, dir string, temporary bool) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s after %s: %s\n", s.State, duration(s.ElapsedS), why(s))
	out.WriteString(table(s))
	out.WriteString(refusals(s))
	if !temporary {
		fmt.Fprintf(&out, "output      %s\n%s", filepath.Join(dir, "pages"), goOn(s, dir))
	}
	return out.String()
}

// why says what ended the crawl.
func why(s crawler.Snapshot) string {
	switch {
	case s.LimitReached == crawler.PausedForSpace:
		return "the disk has less room left than min_free"
	case s.PausedFor == crawler.PausedForSpace:
		return "the disk has less room left than min_free; it goes on by itself when there is more"
	case s.LimitReached != "":
		return s.LimitReached + " is reached"
	case s.State == crawler.Complete:
		return "nothing is left to fetch"
	case s.State == crawler.Partial:
		return fmt.Sprintf("%s left on %s given up", plural(s.Stranded, "URL is", "URLs are"),
			plural(uint64(s.HostsGivenUp), "host that was", "hosts that were"))
	case s.State == crawler.Stopped && s.Admitted == 0:
		return "nothing was fetched up to its last checkpoint"
	case s.State == crawler.Stopped:
		return plural(s.Queued, "URL is", "URLs are") + " left"
	}
	return plural(s.Queued, "URL is", "URLs are") + " queued"
}

// table shows a snapshot. Each line after the first word is a total and the parts that make it.
func table(s crawler.Snapshot) string {
	var out strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&out, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("pages", "%s, %s; %.1f pages/s and %s/s over the last minute", plural(s.Pages, "record", "records"), size(s.BodyBytes),
		s.PagesPerS, size(uint64(s.BytesPerS)))
	if s.NeedsScripts > 0 {
		row("", "%s empty without scripts, which crawl does not run", plural(s.NeedsScripts, "page looks", "pages look"))
	}
	if s.Checks > 0 {
		row("", "%s of links out of the crawl, %s broken; the other %s", plural(s.Checks, "record is a check", "records are checks"),
			count(s.Broken), plural(s.Pages-s.Checks, "record is a page", "records are pages"))
	}
	row("links", "%s found: %s", count(s.Discovered), counts(s.ByReason, " "))
	if n := s.NoFollow; n != (crawler.NoFollowView{}) {
		row("nofollow", "%s left since their pages say it, %s since they say it themselves; %s with rel=nofollow taken as any other",
			plural(n.Page, "link", "links"), count(n.Link), count(n.Followed))
	}
	if len(s.ByMerge) > 0 {
		row("same page", "links taken for pages met before: %s", counts(s.ByMerge, " by "))
	}
	if len(s.ByTrap) > 0 {
		row("traps", "%s links left out: %s", count(s.ByReason["trap"]), counts(s.ByTrap, " "))
	}
	if f := s.FirstSights; f != nil {
		row("first sight", "%s remembered in %s; %s admitted by a second page; takes a first sight for a second with a chance of %s now",
			plural(f.Items, "URL", "URLs"), size(uint64(f.Bytes)), count(f.Promoted), percent(f.Rate))
		if f.Capped {
			row("", "it is at its memory cap and errs more often as it fills: raise admit_memory and resume")
		}
	}
	for _, d := range s.Deny {
		denylistRows(&d, row)
	}
	for _, p := range s.Alike {
		row("", "left since its pages say the same: %s (as %s)", p.Pattern, p.Example)
	}
	row("admitted", "%s: %s done, %s queued, %s in flight", count(s.Admitted), count(s.Done), count(s.Queued), count(s.InFlight))
	row("outcomes", "%s: %s", count(s.Done), counts(s.ByOutcome, " "))
	row("statuses", "%s", counts(s.ByStatus, " × "))
	row("errors", "%s; %s", counts(s.Errors, " "), plural(s.Retries, "retry", "retries"))
	row("hosts", "%s in memory, %s with work, %d given up%s; %s", count(uint64(s.Hosts)), count(uint64(s.HostsWorking)),
		s.HostsGivenUp, reasons(s), plural(s.Requests, "request", "requests"))
	row("filter", "%s", filterSummary(&s.Seen))
	if s.Seen.Capped {
		row("", "the filter is at its memory cap and errs more often as it fills: raise seen_memory and resume")
	}
	if s.Checkpoint.Number > 0 {
		row("checkpoint", "number %s at %s", count(s.Checkpoint.Number), s.Checkpoint.At.Local().Format(time.DateTime))
	}
	return out.String()
}

// denylistRows says what a denylist is and did.
func denylistRows(d *crawler.DenylistView, row func(name, format string, args ...any)) {
	row("denylist", "%s: %s, in force since %s (file of %s); refused %s, and %s at their turn; %s, %s of what is not on it", d.List,
		plural(d.Entries, "entry", "entries"), localTime(d.Since), localTime(d.Modified), plural(d.Links, "link", "links"),
		plural(d.URLs, "URL", "URLs"), plural(d.Lookups, "look-up", "look-ups"), count(d.Caught))
	if d.PassedOver > 0 {
		row("", "%s of it passed over: no entries", plural(d.PassedOver, "line", "lines"))
	}
	if d.Refused != "" {
		row("", "its file as it is now is not in force: %s", d.Refused)
	}
}

// filterSummary says what the memory of URLs met holds, and what it may have cost.
func filterSummary(f *crawler.FilterView) string {
	holds := fmt.Sprintf("%s in %s", plural(f.Items, "URL", "URLs"), size(uint64(f.Bytes)))
	skipped := fmt.Sprintf("expected to have skipped %.2g pages (95%%: at most %.2g)", f.ExpectedSkipped, f.ExpectedSkippedHigh)
	if f.Kind == string(seen.KindExact) {
		if f.ExpectedSkipped < 0.001 { // nothing was left to the filter alone
			skipped = "none skipped"
		}
		return fmt.Sprintf("%s, exact: %s; since its last start %s, and %s that the filter alone would have skipped", holds, skipped,
			plural(f.Lookups, "look-up", "look-ups"), plural(f.Caught, "URL", "URLs"))
	}
	return fmt.Sprintf("%s; takes a new URL for a known one with a chance of %s now, %s measured; %s", holds, percent(f.Rate),
		percent(f.Measured), skipped)
}
