package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"crawl/crawler"
	"crawl/frontier"
	"crawl/internal/config"
)

func (a *app) inspectScopeCommand() *cobra.Command {
	var file, seedFile string
	var seeds []string
	var depth int
	var at crawler.Linked
	cmd := &cobra.Command{
		Use:   "scope --config FILE [--seed URL]... [--seeds FILE] URL...",
		Short: "Show whether URLs belong to a crawl, and which rule of its scope says so",
		Long: `Show whether URLs belong to a crawl with these settings and seeds, and which rule says so: of scope, include and exclude the
last one that the URL meets. Traps, max_depth and denylists are no part of the scope.

Rules may ask for what a URL alone does not tell. Without --depth and --content-type that counts as unknown: the URL is admitted as
long as something could admit it, and "unless" names the rule that may have another word.`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			settings, err := config.Load(file, os.Environ(), nil)
			if err != nil {
				return &usageError{err}
			}
			if cmd.Flags().Changed("depth") {
				at.Depth = &depth
			}
			return a.inspectScope(scopeOf(settings), seedSource{file: seedFile, urls: seeds, stdin: a.stdin}, given, at)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "settings with scope, include and exclude; none: the defaults")
	cmd.Flags().StringArrayVar(&seeds, "seed", nil, "`URL` that the crawl starts from; may be given again")
	cmd.Flags().StringVar(&seedFile, "seeds", "", "`FILE` of them, - for standard input")
	cmd.Flags().IntVar(&depth, "depth", 0, "links from a seed to the URLs")
	cmd.Flags().StringVar(&at.Class, "class", frontier.Navigation.String(), "how they were linked: navigation, requisite or sitemap")
	cmd.Flags().StringVar(&at.ContentType, "content-type", "", "what they are answered with")
	return cmd
}

func (a *app) inspectScope(s crawler.Scope, from seedSource, urls []string, at crawler.Linked) (err error) {
	if from.file == "" && len(from.urls) == 0 && s.NeedsSeeds() {
		a.log.Warn("no seeds are named, so nothing is in reach of one", "fix", "--seed URL")
	}
	seeds, closer, err := from.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	verdicts, err := s.Test(seeds, urls, at)
	if err != nil {
		return &usageError{err}
	}
	out := a.lines()
	for _, v := range verdicts {
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
