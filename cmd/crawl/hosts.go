package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"

	"crawl/crawler"
	"crawl/frontier"
)

// statsOfHosts shows the hosts that a crawl has given up.
func (a *app) statsOfHosts(ctx context.Context, dir string) error {
	hosts, running, err := givenUpHosts(ctx, dir)
	if err != nil {
		return err
	}
	if !a.json {
		return writeHosts(a.stdout, hosts, dir, running)
	}
	out := a.lines()
	for _, h := range hosts {
		line := struct {
			crawler.GivenUpHost
			Revive string `json:"revive"` // the command that has it asked again
		}{h, reviveCommand(h.Why, h.Host, dir, running)}
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return nil
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
