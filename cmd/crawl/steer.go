package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"crawl/crawler"
	"crawl/store"
)

func (a *app) pauseCommand() *cobra.Command {
	return a.steerCommand("pause", "Keep a running crawl from making new requests, until `crawl resume`",
		func(ctx context.Context, r *remote) error {
			if err := r.call(ctx, http.MethodPost, "/pause", nil, nil); err != nil {
				return err
			}
			a.say("%s is paused; go on with: crawl resume %s", r.dir, r.dir)
			return nil
		})
}

func (a *app) stopCommand() *cobra.Command {
	return a.steerCommand("stop", "Stop a running crawl, its state saved",
		func(ctx context.Context, r *remote) error {
			if err := r.call(ctx, http.MethodPost, "/stop", nil, nil); err != nil {
				return err
			}
			if err := awaitEnd(ctx, r.dir); err != nil {
				return err
			}
			a.say("%s is stopped; go on with: crawl resume %s", r.dir, r.dir)
			return nil
		})
}

// steerCommand says one thing to the process that runs a crawl.
func (a *app) steerCommand(name, short string, do func(context.Context, *remote) error) *cobra.Command {
	return &cobra.Command{
		Use:   name + " [DIR]",
		Short: short,
		Args:  args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			dir, err := dirOf(given)
			if err != nil {
				return err
			}
			if _, err := store.ReadFormat(dir); err != nil {
				return explain(err, dir)
			}
			r, err := dial(dir)
			if err != nil {
				return err
			}
			return do(cmd.Context(), r)
		},
	}
}

// unpause has the process that runs a crawl go on, under the settings that it has.
func (a *app) unpause(cmd *cobra.Command, r *remote) error {
	ctx := cmd.Context()
	s, err := r.stats(ctx)
	if err != nil {
		return err
	}
	if s.State != crawler.Paused {
		return fmt.Errorf("%s is running already: watch it with `crawl stats %s`; for other settings end it first with `crawl stop %s`",
			r.dir, r.dir, r.dir)
	}
	var given []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			given = append(given, "--"+f.Name)
		}
	})
	if len(given) > 0 {
		return usagef("%s is paused, and goes on as it is: for %s, end it first with `crawl stop %s`", r.dir, strings.Join(given, ", "), r.dir)
	}
	if err := r.call(ctx, http.MethodPost, "/resume", nil, nil); err != nil {
		return err
	}
	if s.PausedFor == crawler.PausedForSpace {
		a.say("%s goes on when the disk has more room than min_free keeps", r.dir)
	} else {
		a.say("%s goes on", r.dir)
	}
	return nil
}

// awaitEnd returns when the process that ran the crawl no longer answers.
func awaitEnd(ctx context.Context, dir string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := dial(dir); errors.Is(err, errNotRunning) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *app) addCommand() *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use:   "add [DIR] URL... | -",
		Short: "Add seeds to a crawl, or fetch pages again",
		Long: `Add seeds to a crawl, running or not; their hosts join its scope. With --again, pages that were fetched before are fetched
once more. - reads seeds from standard input, one a line. The command returns when a checkpoint holds them all.`,
		RunE: func(cmd *cobra.Command, given []string) error {
			dir, urls, err := dirAmong(given)
			if err != nil {
				return err
			}
			seeds, refused, err := a.seedsToAdd(urls)
			if err != nil {
				return err
			}
			added, err := addTo(cmd.Context(), dir, seeds, again)
			if err != nil {
				return explain(err, dir)
			}
			added.Refused = append(refused, added.Refused...)
			return a.reportAdded(added)
		},
	}
	cmd.Flags().BoolVar(&again, "again", false, "fetch what was fetched before once more")
	return cmd
}

// seedsToAdd returns the seeds that can be read, and why others cannot.
func (a *app) seedsToAdd(urls []string) (seeds []crawler.Seed, refused []string, err error) {
	if len(urls) == 0 {
		return nil, nil, usagef("add: name URLs, or - to read them from standard input")
	}
	for _, url := range urls {
		if url == "true" || url == "false" {
			return nil, nil, switchedApart(url)
		}
	}
	source := seedSource{urls: urls, stdin: a.stdin}
	if len(urls) == 1 && urls[0] == "-" {
		source = seedSource{file: "-", stdin: a.stdin}
	}
	list, closer, err := source.open()
	if err != nil {
		return nil, nil, err
	}
	defer closer.Close()
	for s, err := range list {
		if bad, ok := errors.AsType[*crawler.SeedError](err); ok {
			refused = append(refused, bad.Error())
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		seeds = append(seeds, s)
	}
	return seeds, refused, nil
}

// addBatch keeps a command to the running process small.
const addBatch = 10_000

// addTo adds through the process that runs the crawl or, when there is none, to the directory itself.
func addTo(ctx context.Context, dir string, seeds []crawler.Seed, again bool) (sum crawler.Added, err error) {
	r, err := dial(dir)
	if err != nil {
		return addOffline(ctx, dir, seeds, again)
	}
	for len(seeds) > 0 {
		n := min(addBatch, len(seeds))
		var added crawler.Added
		if err := r.call(ctx, http.MethodPost, "/add", addRequest{Seeds: seeds[:n], Again: again}, &added); err != nil {
			return sum, err
		}
		sum.Admitted += added.Admitted
		sum.Again += added.Again
		sum.Known += added.Known
		sum.Refused = append(sum.Refused, added.Refused...)
		sum.Revived = append(sum.Revived, added.Revived...)
		sum.UsedUp = append(sum.UsedUp, added.UsedUp...)
		seeds = seeds[n:]
	}
	return sum, nil
}

func addOffline(ctx context.Context, dir string, seeds []crawler.Seed, again bool) (crawler.Added, error) {
	c, err := crawler.Open(dir, nil)
	if err != nil {
		return crawler.Added{}, err
	}
	added, err := c.Add(ctx, slices.Values(seeds), again)
	return added, errors.Join(err, c.Close())
}

func (a *app) reportAdded(added crawler.Added) error {
	for _, refused := range added.Refused {
		a.log.Warn("seed passed over", "err", refused)
	}
	if a.json {
		added.Refused = append([]string{}, added.Refused...) // an empty list, not null
		return json.NewEncoder(a.stdout).Encode(added)
	}
	parts := []string{fmt.Sprintf("%d added", added.Admitted)}
	if added.Again > 0 {
		parts = append(parts, fmt.Sprintf("%d to be fetched again", added.Again))
	}
	if added.Known > 0 {
		parts = append(parts, fmt.Sprintf("%d known already", added.Known))
	}
	if n := len(added.Revived); n > 0 {
		parts = append(parts, plural(uint64(n), "host", "hosts")+" asked again")
	}
	for _, host := range added.UsedUp {
		parts = append(parts, usedUpText(host))
	}
	a.say("%s", strings.Join(parts, ", "))
	if len(added.Refused) > 0 && added.Admitted+added.Again+added.Known == 0 {
		return &usageError{crawler.ErrNoSeed}
	}
	return nil
}
