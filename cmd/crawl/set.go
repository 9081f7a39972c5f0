package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"crawl/crawler"
	"crawl/frontier"
	"crawl/internal/config"
	"crawl/store"
)

// setRequest asks for other settings and hosts of a crawl that runs.
type setRequest struct {
	Settings config.Changes `json:"settings"`
	Drop     []string       `json:"drop"`
	Revive   []string       `json:"revive"`
}

// setAnswer says what came of it.
type setAnswer struct {
	Settings []config.Changed `json:"settings"`
	crawler.Changed
}

func (a *app) setCommand() *cobra.Command {
	var ask setRequest
	cmd := &cobra.Command{
		Use:   "set [DIR] [flags]",
		Short: "Change settings of a running crawl; drop hosts and take them back",
		Long: `Change settings of a running crawl, several at once. What is in flight goes on as it began. The command returns when a
checkpoint holds the change; the crawl's config.yaml says then what is in force. To a crawl that does not run, pass settings
with crawl resume.

A host that is dropped is asked nothing more, and its URLs stay queued. --revive takes that back, and also that a host was
given up for its failures; both work on a crawl that does not run as well.`,
		Example: `  crawl set --host-delay 3s --concurrency 64
  crawl set --max-pages none --drop slow.example.org --drop calendar.example.org:8080`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			dir, err := dirOf(given)
			if err != nil {
				return err
			}
			ask.Settings = config.GivenLive(cmd.Flags())
			if err := ask.check(); err != nil {
				return err
			}
			answer, err := a.setIn(cmd.Context(), dir, ask)
			if err != nil {
				return explain(err, dir)
			}
			return a.reportSet(dir, answer)
		},
	}
	fs := cmd.Flags()
	config.RegisterLive(fs)
	fs.StringArrayVar(&ask.Drop, "drop", nil, "`host` to ask nothing more of; may be given again")
	fs.StringArrayVar(&ask.Revive, "revive", nil, "`host` that was dropped or given up, to be asked again; may be given again")
	return cmd
}

// check refuses what no crawl would take, and names hosts as crawls do.
func (ask *setRequest) check() error {
	if len(ask.Settings)+len(ask.Drop)+len(ask.Revive) == 0 {
		return usagef("set: name a setting, as in --host-delay 2s, or a host to --drop or --revive")
	}
	_, _, err := config.Default().Change(ask.Settings)
	errs := []error{err}
	for _, hosts := range [][]string{ask.Drop, ask.Revive} {
		for i, text := range hosts {
			hosts[i], err = crawler.HostOf(text)
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &usageError{err}
	}
	for _, host := range ask.Drop {
		if slices.Contains(ask.Revive, host) {
			return usagef("set: %s is to be dropped and revived", host)
		}
	}
	return nil
}

// setIn changes the crawl through the process that runs it or, where hosts are all that is to change, in its directory.
func (a *app) setIn(ctx context.Context, dir string, ask setRequest) (answer setAnswer, err error) {
	if _, err := store.ReadFormat(dir); err != nil {
		return answer, err
	}
	if r, err := dial(dir); err == nil {
		err = r.call(ctx, http.MethodPost, "/set", ask, &answer)
		return answer, err
	}
	if len(ask.Settings) > 0 {
		return answer, usagef("%s is not running: pass %s to `crawl resume %s`", dir, strings.Join(ask.Settings.Flags(), ", "), dir)
	}
	c, err := crawler.Open(dir, nil)
	if err != nil {
		return answer, err
	}
	answer.Changed, err = c.Change(ctx, crawler.Change{Drop: ask.Drop, Revive: ask.Revive})
	return answer, errors.Join(err, c.Close())
}

// set changes the crawl that this session runs. One change is made at a time. Once it has begun it does not depend on who
// asked for it.
func (s *session) set(ctx context.Context, c *crawler.Crawler, ask setRequest) (answer setAnswer, err error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	ctx = context.WithoutCancel(ctx)
	want := crawler.Change{Drop: ask.Drop, Revive: ask.Revive}
	if len(ask.Settings) == 0 {
		answer.Changed, err = c.Change(ctx, want)
		return answer, err
	}
	settings, changed, err := s.settings.Change(ask.Settings)
	if err != nil {
		return answer, err
	}
	cfg, err := crawlConfig(settings)
	if err != nil {
		return answer, err
	}
	s.fitFiles(&cfg)
	want.Settings = func(in *crawler.Config) { setLive(in, &cfg) }
	err = configIn(s.dir).change(cfg.Rendering, func() (err error) {
		if answer.Changed, err = c.Change(ctx, want); err == nil {
			s.settings, answer.Settings = settings, changed
		}
		return err
	})
	return answer, err
}

// setLive copies what may change while a crawl runs.
func setLive(to, from *crawler.Config) {
	to.Frontier, to.Concurrency, to.Rendering = from.Frontier, from.Concurrency, from.Rendering
	to.MaxDepth, to.MaxPages, to.MaxBytes, to.MaxTime = from.MaxDepth, from.MaxPages, from.MaxBytes, from.MaxTime
	to.Retries, to.RetryDelay, to.Retry = from.Retries, from.RetryDelay, from.Retry
	to.Store.MinFreeBytes = from.Store.MinFreeBytes
}

// usedUpText says of a host that cannot be revived what would help.
func usedUpText(host string) string {
	return host + " has used up what it may have: raise max_pages_per_host or max_bytes_per_host"
}

// notAskedText says of a host that is dropped when it may not be the one that is meant.
func notAskedText(notAsked map[string][]string, host string) string {
	others, is := notAsked[host]
	switch {
	case !is:
		return ""
	case len(others) > 0:
		return ", of which nothing was asked so far, unlike " + strings.Join(others, ", ")
	}
	return ", of which nothing was asked so far"
}

func (a *app) reportSet(dir string, answer setAnswer) error {
	if a.json { // empty lists, not null
		answer.Settings = append([]config.Changed{}, answer.Settings...)
		answer.Dropped = append([]string{}, answer.Dropped...)
		answer.Revived = append([]string{}, answer.Revived...)
		if answer.NotAsked == nil {
			answer.NotAsked = map[string][]string{}
		}
		if answer.NotRevived == nil {
			answer.NotRevived = map[string]frontier.Reason{}
		}
		return json.NewEncoder(a.stdout).Encode(answer)
	}
	var parts []string
	for _, s := range answer.Settings {
		parts = append(parts, fmt.Sprintf("%s %s, was %s", s.Key, s.To, s.From))
	}
	for _, host := range answer.Dropped {
		parts = append(parts, host+" is dropped"+notAskedText(answer.NotAsked, host))
	}
	for _, host := range answer.Revived {
		parts = append(parts, host+" is asked again")
	}
	for _, host := range slices.Sorted(maps.Keys(answer.NotRevived)) {
		if answer.NotRevived[host] == frontier.BudgetUsed {
			parts = append(parts, usedUpText(host))
			continue
		}
		parts = append(parts, host+" was not given up")
	}
	if len(parts) == 0 {
		parts = []string{"nothing to change: it is so already"}
	}
	a.say("%s: %s", dir, strings.Join(parts, "; "))
	return nil
}
