package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"crawl/crawler"
)

// writeHostReport is a text that the owner of a site can be shown: who asked, how often, what was promised and what was
// kept, and how to have it otherwise.
func writeHostReport(out io.Writer, r crawler.HostReport, dir string) error {
	var paragraphs []string
	say := func(format string, args ...any) { paragraphs = append(paragraphs, fmt.Sprintf(format, args...)) }
	contact := "No contact is told in it."
	if r.Contact != "" {
		contact = "Whoever runs it is reached at " + r.Contact + "."
	}
	say("Requests of the crawl %s to %s. Their User-Agent is\n\n    %s\n\n%s", dir, r.Host, r.UserAgent, contact)
	switch a := &r.Asked; {
	case !r.Kept && r.Forgotten > 0:
		say("What it asked of this host is not kept, or it asked nothing: of %s with few requests only totals are.",
			plural(r.Forgotten, "host", "hosts"))
	case !r.Kept:
		say("It has asked nothing of this host.")
	default:
		say("%s", requestsText(a))
		say("%s", strings.Join([]string{inFlightText(a), gapText(a)}, " "))
		say("%s", delayText(r))
	}
	if len(r.OtherPorts) > 0 {
		say("It has asked %s.", strings.Join(r.OtherPorts, ", "))
	}
	if r.GivenUp != "" {
		say("It asks nothing more of this host: %s.", r.GivenUp)
	}
	say("%s", robotsText(r))
	for i, p := range paragraphs {
		if i > 0 {
			p = "\n" + p
		}
		if _, err := fmt.Fprintln(out, p); err != nil {
			return err
		}
	}
	return nil
}

// requestsText: how many, of what, and what came of them.
func requestsText(a *crawler.HostAsked) string {
	var b strings.Builder
	fmt.Fprintf(&b, "From %s to %s it made %s, %s of them for robots.txt, and received %s of bodies.", localTime(a.FirstAsked),
		localTime(a.LastAsked), plural(a.Requests, "request", "requests"), count(a.RobotsRequests), size(a.BodyBytes))
	if busy := a.Status429 + a.Status503; busy > 0 {
		fmt.Fprintf(&b, " The answer was 429 or 503 %s.", times(busy))
	}
	if a.Unanswered > 0 {
		fmt.Fprintf(&b, " There was no answer %s.", times(a.Unanswered))
	}
	if a.RobotsDenied > 0 {
		fmt.Fprintf(&b, " %s not asked for, since robots.txt forbids it.", plural(a.RobotsDenied, "URL was", "URLs were"))
	}
	return b.String()
}

func inFlightText(a *crawler.HostAsked) string {
	return fmt.Sprintf("At most %s in flight at once; %d promised.", plural(uint64(a.MostInFlight), "was", "were"), a.Allowed)
}

// gapText: the smallest time between two requests, against what was promised just then.
func gapText(a *crawler.HostAsked) string {
	if a.SmallestGapS == nil {
		return ""
	}
	from := "end of one to the next"
	if a.Allowed > 1 {
		from = "begin of one to that of the next"
	}
	return fmt.Sprintf("The smallest time from the %s was %s; %s were promised then, %s.", from, secondsText(*a.SmallestGapS),
		secondsText(a.AskedGapS), sourceText(a.AskedFrom, a.CrawlDelayLine))
}

// delayText: what holds now.
func delayText(r crawler.HostReport) string {
	text := fmt.Sprintf("The last request was promised %s after the one before, %s.", secondsText(r.Asked.DelayS),
		sourceText(r.Asked.DelayFrom, r.Asked.CrawlDelayLine))
	if r.PerIP {
		text += " Hosts on one address take turns, as if they were one (per_ip)."
	}
	return text
}

// sourceText says what set a delay.
func sourceText(source string, line int) string {
	switch source {
	case "unknown":
		return "as it had been put off by an earlier run"
	case "host_delay":
		return "as the crawl is configured (host_delay)"
	case "hosts_rule":
		return "as the crawl is configured for this host (hosts:)"
	case "crawl_delay":
		if line > 0 {
			return fmt.Sprintf("since line %d of its robots.txt has a Crawl-delay", line)
		}
		return "since its robots.txt has a Crawl-delay"
	case "response_time":
		return "by the time that its answers take (delay_factor)"
	case "eased":
		return "since it had answered slowly, with 429 or 503, or not at all"
	case "back_off":
		return "since it had answered 429 or 503, or not at all"
	case "retry_after":
		return "as its Retry-After asked"
	case "robots":
		return "since its robots.txt could not be had"
	case "dns":
		return "since its name could not be looked up"
	}
	return "by " + source // of a later version
}

// robotsText: what its owner can do.
func robotsText(r crawler.HostReport) string {
	if r.IgnoresRobots {
		return "This crawl is configured not to obey the robots.txt of this host (robots: ignore). To end it, turn to the contact."
	}
	return fmt.Sprintf("To keep it out, these lines in %s:\n\n    User-agent: %s\n    Disallow: /\n\n"+
		"To have it come less often, a line as \"Crawl-delay: 30\" (seconds) in their place. It reads the file anew at least once a day.",
		robotsPlaces(r.Asked.Scheme, r.Host), r.Product)
}

// robotsPlaces names the robots.txt files of a host: that of the scheme it was asked by first, and on a port of its own alone.
func robotsPlaces(scheme, host string) string {
	first, second := "https", "http"
	if scheme == second {
		first, second = second, first
	}
	place := fmt.Sprintf("%s://%s/robots.txt", first, host)
	if scheme != "" && strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']') {
		return place
	}
	return fmt.Sprintf("%s, and in that of %s:// where that is in use", place, second)
}

// secondsText writes seconds, cut to milliseconds.
func secondsText(s float64) string {
	d := time.Duration(s * float64(time.Second)).Round(time.Microsecond).Truncate(time.Millisecond)
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return count(n) + " times"
}
