package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"crawl/crawler"
	"crawl/store"
)

func (a *app) statsCommand() *cobra.Command {
	hosts := false
	cmd := &cobra.Command{
		Use:   "stats [DIR]",
		Short: "Show what a crawl has done and is doing",
		Long: `Show a crawl's counters: of a running one as they are, of a stopped one as its last checkpoint holds them. Each line is a
total and the parts that add up to it. --json prints one object.

--hosts shows instead the hosts that nothing more is asked of: why, since when, how many URLs of theirs wait, and how they are
asked again. --json prints one object a host, one a line.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			dir, err := dirOf(given)
			if err != nil {
				return err
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
	cmd.Flags().BoolVar(&hosts, "hosts", false, "show the hosts that were given up")
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
