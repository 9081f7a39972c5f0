package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"crawl/crawler"
	"crawl/store"
)

func (a *app) statsCommand() *cobra.Command {
	hosts, rules, host := false, false, ""
	cmd := &cobra.Command{
		Use:   "stats [DIR]",
		Short: "Show what a crawl has done and is doing",
		Long: `Show a crawl's counters: of a running one as they are, of a stopped one as its last checkpoint holds them. Each line is a
total and the parts that add up to it. --json prints one object.

--hosts shows instead what was asked of the hosts: how often, the smallest time between two requests against what was promised
then and by what, how many were in flight at once; and of which hosts nothing more is asked, why, since when, how many URLs of theirs
wait, and how they are asked again. --json prints one object a host, one a line. The crawl keeps 32,768 hosts one by one, those with
the most requests, and totals of others.

--rules shows what each rule of the crawl has kept out: the links that it refused, how many of their URLs are listed (crawl export urls
--refused) and how many had no room in the list, and URLs that were queued before and that it refused at their turn. Of rules of
same_page it shows how many links they took for pages met before, and a random sample of them. --json prints one object a rule.

--host HOST shows one of them in words: a text for the owner of a site, with what to write into robots.txt.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			dir, err := dirOf(given)
			if err != nil {
				return err
			}
			if host != "" {
				name, err := crawler.HostOf(host)
				if err != nil {
					return &usageError{err}
				}
				return explain(a.statsOfHost(cmd.Context(), dir, name), dir)
			}
			if rules {
				return explain(a.statsOfRules(cmd.Context(), dir), dir)
			}
			if hosts {
				return explain(a.statsOfHosts(cmd.Context(), dir), dir)
			}
			snapshot, err := snapshotOf(cmd, dir)
			if err != nil {
				return explain(err, dir)
			}
			if a.json {
				return json.NewEncoder(a.stdout).Encode(snapshot)
			}
			_, err = fmt.Fprintf(a.stdout, "%s, %s: %s\n%s", dir, snapshot.State, why(snapshot), table(snapshot))
			return err
		},
	}
	cmd.Flags().BoolVar(&hosts, "hosts", false, "show what was asked of the hosts, and which were given up")
	cmd.Flags().BoolVar(&rules, "rules", false, "show what each rule has refused or merged")
	cmd.Flags().StringVar(&host, "host", "", "show what was asked of one `host`, as a text for its owner")
	return cmd
}

func snapshotOf(cmd *cobra.Command, dir string) (crawler.Snapshot, error) {
	if r, err := dial(dir); err == nil {
		return r.stats(cmd.Context())
	}
	reader, err := store.OpenReader(dir)
	if err != nil {
		return crawler.Snapshot{}, err
	}
	return crawler.ReadSnapshot(reader.Cut())
}
