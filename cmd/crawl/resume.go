package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"crawl/crawler"
	"crawl/internal/config"
	"crawl/store"
)

func (a *app) resumeCommand() *cobra.Command {
	var file, print string
	defaults := config.Default()
	cmd := &cobra.Command{
		Use:   "resume [DIR] [flags]",
		Short: "Go on with a crawl that was stopped, killed or paused",
		Long: `Go on with a crawl from its last checkpoint, under the settings it was last run with, which flags may change. A running
crawl that is paused goes on; a complete one is done at once.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := checkPrint(print); err != nil {
				return err
			}
			dir, _, err := dirOf(given)
			if err != nil {
				return err
			}
			return a.goOn(cmd, dir, file, print)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "file of settings to go on with")
	cmd.Flags().StringVar(&print, "print", "", "stream records to standard output as they are safe on disk: urls or pages")
	defaults.Register(cmd.Flags())
	return cmd
}

// goOn resumes the crawl in dir: in this process, or by a word to the process that has paused it.
func (a *app) goOn(cmd *cobra.Command, dir, file, print string) error {
	reader, err := store.OpenReader(dir)
	if err != nil {
		return explain(err, dir)
	}
	if remote, err := dial(dir); err == nil {
		return a.unpause(cmd.Context(), remote)
	}
	kept, err := crawler.ReadSnapshot(reader.Cut())
	if err != nil {
		return err
	}
	settings, err := storedSettings(cmd, dir, file, reader.Cut())
	if err != nil {
		return err
	}
	cfg, err := crawlConfig(settings)
	if err != nil {
		return err
	}
	if kept.State == crawler.Complete {
		a.say("%s is complete: %s page records", dir, count(kept.Pages))
		return nil
	}
	session := a.newSession(dir, print, false)
	session.attach(&cfg)
	c, err := crawler.Open(dir, func(stored *crawler.Config) {
		cfg.Seen.Seed = stored.Seen.Seed
		if cfg.Seen.ExpectedItems == 0 {
			cfg.Seen.ExpectedItems = stored.Seen.ExpectedItems
		}
		*stored = cfg
	})
	if err != nil {
		return explain(err, dir)
	}
	if err := store.WriteWhole(filepath.Join(dir, "config.yaml"), []byte(cfg.Rendering), 0o600); err != nil {
		return errors.Join(err, c.Close())
	}
	return session.run(cmd.Context(), c)
}

// storedSettings reads the settings in force from DIR/config.yaml, or, when it is gone, from the checkpoint.
func storedSettings(cmd *cobra.Command, dir, file string, cut store.Cut) (config.Settings, error) {
	stored := filepath.Join(dir, "config.yaml")
	if _, err := os.Stat(stored); errors.Is(err, os.ErrNotExist) {
		rendering, err := crawler.ReadRendering(cut)
		if err != nil {
			return config.Settings{}, err
		}
		if err := store.WriteWhole(stored, []byte(rendering), 0o600); err != nil {
			return config.Settings{}, err
		}
	}
	settings, err := config.Resume(stored, file, os.Environ(), cmd.Flags())
	if err != nil {
		return settings, &usageError{err}
	}
	return settings, nil
}
