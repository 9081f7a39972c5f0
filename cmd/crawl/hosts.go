package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"text/tabwriter"

	"crawl/crawler"
	"crawl/frontier"
)

// hostLine is an object of `stats --hosts --json`.
type hostLine struct {
	Host string `json:"host"`
	*crawler.GivenUpHost
	Revive string             `json:"revive,omitzero"` // the command that has a host asked again that was given up
	Asked  *crawler.HostAsked `json:"asked,omitzero"`
}

// statsOfHosts shows what a crawl has asked of its hosts, and which it has given up.
func (a *app) statsOfHosts(ctx context.Context, dir string) error {
	hosts, running, err := givenUpHosts(ctx, dir)
	if err != nil {
		return err
	}
	asked, err := askedOfHosts(ctx, dir)
	if err != nil {
		return err
	}
	if !a.json {
		return errors.Join(writeAsked(a.stdout, asked), writeHosts(a.stdout, hosts, dir, running))
	}
	accounts := make(map[string]*crawler.HostAsked, len(asked.Hosts))
	for i := range asked.Hosts {
		accounts[asked.Hosts[i].Host] = &asked.Hosts[i]
	}
	out := a.lines()
	for i := range hosts {
		h := &hosts[i]
		line := hostLine{Host: h.Host, GivenUpHost: h, Revive: reviveCommand(h.Why, h.Host, dir, running), Asked: accounts[h.Host]}
		delete(accounts, h.Host)
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	for i := range asked.Hosts {
		h := &asked.Hosts[i]
		if accounts[h.Host] == nil {
			continue // among those given up
		}
		if err := out.Encode(hostLine{Host: h.Host, Asked: h}); err != nil {
			return err
		}
	}
	if asked.Rest.Hosts == 0 {
		return nil
	}
	return out.Encode(struct {
		NotKept crawler.LedgerRest `json:"hosts_not_kept"` // totals of hosts that have no line
	}{asked.Rest})
}

// statsOfHost shows a text for the owner of a host. The port need not be named where the crawl has asked but one.
func (a *app) statsOfHost(ctx context.Context, dir, host string) error {
	report, err := hostReport(ctx, dir, host)
	if err == nil && len(report.OtherPorts) == 1 {
		report, err = hostReport(ctx, dir, report.OtherPorts[0])
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.lines().Encode(report)
	}
	return writeHostReport(a.stdout, report, dir)
}

// givenUpHosts asks the process that runs the crawl or, when there is none, the directory.
func givenUpHosts(ctx context.Context, dir string) (hosts []crawler.GivenUpHost, running bool, err error) {
	if r, err := dial(dir); err == nil {
		err = r.call(ctx, http.MethodGet, "/hosts", nil, &hosts)
		return hosts, true, err
	}
	hosts, err = crawler.ReadGivenUpHosts(ctx, dir)
	return hosts, false, err
}

// askedOfHosts does likewise.
func askedOfHosts(ctx context.Context, dir string) (asked crawler.Asked, err error) {
	if r, err := dial(dir); err == nil {
		err = r.call(ctx, http.MethodGet, "/asked", nil, &asked)
		return asked, err
	}
	return crawler.ReadAsked(ctx, dir)
}

// hostReport does likewise.
func hostReport(ctx context.Context, dir, host string) (report crawler.HostReport, err error) {
	if r, err := dial(dir); err == nil {
		err = r.call(ctx, http.MethodGet, "/host?"+url.Values{"host": {host}}.Encode(), nil, &report)
		return report, err
	}
	return crawler.ReadHostReport(ctx, dir, host)
}

// mostShown is how many hosts the table for people has.
const mostShown = 30

// writeAsked is the ledger for people: a line for each of the hosts with most requests.
func writeAsked(out io.Writer, asked crawler.Asked) error {
	if len(asked.Hosts) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) // keeps its first error for Flush
	fmt.Fprintln(table, "host\trequests\tlast asked\tsmallest gap\tpromised\tby\tat once\t429, 503\tno answer\tdenied")
	for _, h := range asked.Hosts[:min(len(asked.Hosts), mostShown)] {
		gap, promised, by := "-", secondsText(h.DelayS), h.DelayFrom
		if h.SmallestGapS != nil {
			gap, promised, by = secondsText(*h.SmallestGapS), secondsText(h.AskedGapS), h.AskedFrom
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%d of %d\t%s\t%s\t%s\n", h.Host, count(h.Requests), localTime(h.LastAsked), gap, promised, by,
			h.MostInFlight, h.Allowed, count(h.Status429+h.Status503), count(h.Unanswered), count(h.RobotsDenied))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	more := uint64(max(0, len(asked.Hosts)-mostShown))
	switch {
	case more > 0 && asked.Rest.Hosts > 0:
		fmt.Fprintf(out, "and %s, which --json shows; of %s more only totals are kept\n", plural(more, "more host", "more hosts"), count(asked.Rest.Hosts))
	case more > 0:
		fmt.Fprintf(out, "and %s, which --json shows\n", plural(more, "more host", "more hosts"))
	}
	_, err := fmt.Fprintln(out)
	return err
}

// writeHosts is the table for people: a line a host, and then how those of each reason are asked again.
func writeHosts(out io.Writer, hosts []crawler.GivenUpHost, dir string, running bool) error {
	if len(hosts) == 0 {
		_, err := fmt.Fprintf(out, "%s has given up no host\n", dir)
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) // keeps its first error for Flush
	fmt.Fprintln(table, "host\twhy\tsince\tURLs waiting")
	var reasons []frontier.Reason
	met := make(map[frontier.Reason]bool)
	for _, h := range hosts {
		since := "not known"
		if !h.Since.IsZero() {
			since = localTime(h.Since)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", h.Host, h.Why, since, count(h.Waiting))
		if !met[h.Why] {
			met[h.Why] = true
			reasons = append(reasons, h.Why)
		}
	}
	fmt.Fprintln(table)
	for _, why := range reasons {
		fmt.Fprintf(table, "%s:\t%s\n", why, reviveCommand(why, "HOST", dir, running))
	}
	return table.Flush()
}

// reviveCommand is what has a host asked again that was given up for a reason.
func reviveCommand(why frontier.Reason, host, dir string, running bool) string {
	if why != frontier.BudgetUsed {
		return fmt.Sprintf("crawl set %s --revive %s", dir, host)
	}
	command := "resume"
	if running {
		command = "set"
	}
	return fmt.Sprintf("crawl %s %s --max-pages-per-host N, or --max-bytes-per-host N; hosts: in a file where that has its limit", command, dir)
}
