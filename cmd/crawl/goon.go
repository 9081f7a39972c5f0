package main

import (
	"fmt"
	"strings"

	"crawl/crawler"
	"crawl/frontier"
)

// goOn says how a crawl goes on that has something left; a line for each way.
func goOn(s crawler.Snapshot, dir string) string {
	var ways []string
	switch s.State {
	case crawler.Stopped:
		ways = []string{fmt.Sprintf("crawl resume %s%s", dir, raised(s))}
	case crawler.Partial: // the same settings would give the same hosts up at once
		ways = takeBack(s, dir)
	}
	if len(ways) == 0 {
		return ""
	}
	return "go on with  " + strings.Join(ways, "\n            ") + "\n"
}

// raised is the flag without which a crawl that is at its limit would stop again at once.
func raised(s crawler.Snapshot) string {
	switch s.LimitReached {
	case "max_pages":
		return fmt.Sprintf(" --max-pages N    with N over %d, or none", s.Pages)
	case "max_bytes":
		return fmt.Sprintf(" --max-bytes N    with N over %d, or none", s.BodyBytes)
	}
	return ""
}

// takeBack says how hosts that were given up are asked again, for each reason that some were.
func takeBack(s crawler.Snapshot, dir string) []string {
	var ways []string
	for _, way := range []struct {
		why  frontier.Reason
		what string
	}{
		{frontier.TooManyFailures, "crawl resume %s --give-up-after none"},
		{frontier.BudgetUsed, "crawl resume %s --max-pages-per-host N    or --max-bytes-per-host N, with more, or none; or hosts: in a file"},
		{crawler.Dropped, "crawl set %[1]s --revive HOST    then crawl resume %[1]s"},
	} {
		if s.GivenUp[way.why] > 0 {
			ways = append(ways, fmt.Sprintf(way.what, dir))
		}
	}
	return ways
}

// reasons lists why hosts were given up: " (2 dropped, 1 too many failures)".
func reasons(s crawler.Snapshot) string {
	if len(s.GivenUp) == 0 {
		return ""
	}
	return " (" + counts(s.GivenUp, " ") + ")"
}

// refusals says how many URLs the rules in force have refused that were queued under others.
func refusals(s crawler.Snapshot) string {
	scope, depth := s.ByOutcome["out_of_scope"], s.ByOutcome["too_deep"]
	if scope+depth == 0 {
		return ""
	}
	return fmt.Sprintf("refused     %s at their turn, by the rules in force then: %s out of scope, %s too deep\n",
		plural(scope+depth, "URL", "URLs"), count(scope), count(depth))
}
