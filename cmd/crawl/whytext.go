package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"crawl/crawler"
	"crawl/frontier"
)

// storyText is what a person reads of a URL's story.
func storyText(s *crawler.Story) string {
	var out strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&out, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("url", "%s", s.URL)
	if s.Key != "" {
		row("key", "%s, by rules %s; queue of %s", s.Key, s.Rules, s.Host)
	}
	row("fate", "%s", fateText(s))
	if a := s.Admission; a != nil {
		row("met", "%s", admissionText(a, s.URL))
	}
	if s.Last != nil {
		row("last event", "%s", eventText(s.Last))
	}
	if s.Queue != nil {
		queueRows(s, row)
	}
	for _, r := range s.RulesNow {
		if s.Fate != crawler.FateDone || r.Verdict == crawler.Refuses {
			row("rules now", "%s %s: %s", r.By, verdictText(s, r.Verdict), r.Rule)
		}
	}
	if s.Page != nil {
		row("record", "%s", pageLine(s))
	}
	if !s.AsOf.IsZero() {
		row("told of", "%s", asOfText(s))
	}
	return out.String()
}

// verdictText: the site's rules are asked when a URL's turn comes, the others when it is met and, but for seeds, once more
// then.
func verdictText(s *crawler.Story, v crawler.Verdict) string {
	switch {
	case v == crawler.Unknown:
		return "is not known"
	case v == crawler.Refuses && s.Met() && s.Fate != crawler.FateDone:
		return "will refuse it at its turn"
	}
	return string(v) + " it"
}

func fateText(s *crawler.Story) string {
	switch s.Fate {
	case crawler.FateRefused, crawler.FateUnreadSeed:
		return notMetText(s)
	case crawler.FateNeverMet, crawler.FateTakenForSeen:
		return notMetText(s) + filterText(s)
	case crawler.FatePending:
		return "pending" + visitText(s.Queue) + checkedText(s)
	case crawler.FateInFlight:
		if s.Queue.LeasedAt.IsZero() { // what ends without a request is through at once
			return "in flight" + visitText(s.Queue)
		}
		return fmt.Sprintf("in flight since %s%s", localTime(s.Queue.LeasedAt), visitText(s.Queue))
	case crawler.FateDone:
		return "done: " + strings.TrimSpace(s.Last.Outcome+" "+statusText(s.Last.Status)) + checkedText(s)
	}
	return string(s.Fate)
}

// checkedText says of a link out of the crawl that it is no page of it.
func checkedText(s *crawler.Story) string {
	if !s.Checked() {
		return ""
	}
	if s.Page != nil && s.Page.Check != "" {
		return fmt.Sprintf("; only checked, by %s: it leads out of the crawl", strings.ToUpper(string(s.Page.Check)))
	}
	return "; only checked: it leads out of the crawl"
}

// notMetText is the fate of a URL that the crawl has not met, in a few words: the error that `crawl why` ends with.
func notMetText(s *crawler.Story) string {
	switch s.Fate {
	case crawler.FateRefused:
		return "not in the log; refused by the rules in force now: " + string(s.RefusedBy)
	case crawler.FateUnreadSeed:
		return "among the seeds, and not read yet"
	case crawler.FateTakenForSeen:
		return "taken for seen"
	}
	return "never met"
}

// filterText goes on from notMetText with what the filter has to do with it.
func filterText(s *crawler.Story) string {
	f := s.Filter
	switch {
	case f.Same != "":
		return fmt.Sprintf(": %s has the same hash, so a link to it is passed over", f.Same)
	case f.Says == crawler.FilterSeen:
		return fmt.Sprintf(", and not in the log: the filter errs, and a link to it is passed over; %s of all new URLs are lost so now",
			percent(f.Rate))
	case f.Says == crawler.FilterNew:
		return ": no page that was fetched has led to it, or a rule refused it then"
	}
	return fmt.Sprintf(": no page that was fetched has led to it, a rule refused it then, or the filter took it for seen, which it "+
		"does with %s of all new URLs now", percent(f.Rate))
}

func statusText(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprint(status)
}

func visitText(q *crawler.QueueStory) string {
	text := ""
	if q.Visit > 1 {
		text = fmt.Sprintf(", visit %d", q.Visit)
	}
	if q.Attempts > 0 {
		text += fmt.Sprintf(", after %s", plural(uint64(q.Attempts), "attempt", "attempts"))
	}
	return text
}

func admissionText(a *crawler.AdmissionStory, asked string) string {
	text := fmt.Sprintf("number %d, class %s, depth %d", a.Seq, a.Class, a.Depth)
	if a.URL != asked {
		text += ", as " + a.URL
	}
	switch {
	case a.Referrer != "" && a.Hop > 0:
		text += ", by a redirect of " + a.Referrer
	case a.Referrer != "":
		text += ", on " + a.Referrer
	}
	if a.Seed != "" {
		text += ", seed label " + a.Seed
	}
	return text
}

func eventText(e *crawler.EventStory) string {
	ending := strings.TrimSpace(e.Outcome + " " + statusText(e.Status))
	switch {
	case e.Event == "done":
		return fmt.Sprintf("%s at %s, visit %d, attempt %d, record %d", ending, localTime(e.At), e.Visit, e.Attempt, e.Record)
	case e.Attempt > 0:
		return fmt.Sprintf("attempt %d ended with %s at %s; again from %s on", e.Attempt, ending, localTime(e.At), localTime(e.Due))
	}
	if ending != "" {
		ending = ", since the one before ended with " + ending
	}
	return fmt.Sprintf("visit %d was asked for at %s%s", e.Visit, localTime(e.At), ending)
}

// queueRows prints where a URL waits and for what.
func queueRows(s *crawler.Story, row func(name, format string, args ...any)) {
	q := s.Queue
	if q.AskedAs != "" {
		row("asked as", "%s, where a redirect led", q.AskedAs)
	}
	if place := placeText(q); place != "" {
		row("place", "%s", place)
	}
	if q.WaitsFor != "" {
		row("waits for", "%s", waitText(q))
	}
	if q.WaitsFor == string(frontier.WaitGivenUp) {
		row("to do", "%s", reviveText(s))
	}
}

func placeText(q *crawler.QueueStory) string {
	ahead := fmt.Sprintf("%s of its host before it", plural(uint64(q.Ahead), "URL", "URLs"))
	if q.AtLeast {
		ahead = "at least " + ahead
	}
	if !q.Due.IsZero() {
		ahead += fmt.Sprintf("; due at %s, or later", localTime(q.Due))
	}
	switch q.Where {
	case "memory":
		return "in memory, " + ahead
	case "aside":
		return "aside, until it may be tried again; others of its host go on" + dueText(q.Due)
	case "disk":
		return "in the queue on disk, " + ahead
	}
	return ""
}

func dueText(due time.Time) string {
	if due.IsZero() {
		return ""
	}
	return "; due at " + localTime(due)
}

// waits says what it is that a URL waits for.
var waits = map[string]string{
	string(frontier.WaitPaused):     "the crawl, which is paused",
	string(frontier.WaitBudget):     "a higher max_pages_per_host or max_bytes_per_host: its host has had what it may",
	string(frontier.WaitGivenUp):    "its host, which was given up",
	string(frontier.WaitRoom):       "its host's turn to come into memory",
	string(frontier.WaitRetry):      "the time of its next attempt",
	string(frontier.WaitResolving):  "its host's addresses",
	string(frontier.WaitRobots):     "its host's robots.txt",
	string(frontier.WaitBusy):       "the end of the requests in flight to its host",
	string(frontier.WaitBackOff):    "its host, which failed and is left alone",
	string(frontier.WaitRetryAfter): "its host, which asked to be left alone",
	string(frontier.WaitDelay):      "its host's delay",
	string(frontier.WaitTurn):       "its turn",
	crawler.WaitsForResume:          "crawl resume: the crawl does not run",
}

func waitText(q *crawler.QueueStory) string {
	text := cmp.Or(waits[q.WaitsFor], q.WaitsFor)
	if q.Detail != "" {
		text += ": " + q.Detail
	}
	if q.HostFailures > 0 {
		text += fmt.Sprintf(", %s in a row", plural(uint64(q.HostFailures), "failure", "failures"))
	}
	if q.WaitsFor == string(frontier.WaitDelay) {
		text += " of " + duration(q.HostDelayS)
		if q.HostDelayFrom != "" {
			text += " (" + strings.ReplaceAll(q.HostDelayFrom, "_", " ") + ")"
		}
	}
	if !q.Until.IsZero() {
		text += ", until " + localTime(q.Until)
	}
	return text
}

// reviveText says what takes back that a URL's host was given up.
func reviveText(s *crawler.Story) string {
	text := "crawl set --revive " + s.Host
	if s.Queue.Detail == "" { // the reason is not known
		text += ", or a higher max_pages_per_host or max_bytes_per_host; --exact tells which"
	}
	return text
}

func asOfText(s *crawler.Story) string {
	if s.Live {
		return fmt.Sprintf("now, %s; the crawl is %s", localTime(s.AsOf), s.State)
	}
	return fmt.Sprintf("its last checkpoint, of %s; the crawl is %s", localTime(s.AsOf), s.State)
}

// localTime writes a time for people here.
func localTime(t time.Time) string { return t.Local().Format(time.DateTime) }
