package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"crawl/crawler"
	"crawl/internal/config"
	"crawl/store"
)

func (a *app) resumeCommand() *cobra.Command {
	var f sessionFlags
	defaults := config.Default()
	cmd := &cobra.Command{
		Use:   "resume [DIR] [flags]",
		Short: "Go on with a crawl that was stopped, killed or paused",
		Long: `Go on with a crawl from its last checkpoint, under the settings it was last run with, which flags may change. A running
crawl that is paused goes on; a complete one is done at once.`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := errors.Join(detached(cmd, a.line), f.check()); err != nil {
				return err
			}
			dir, err := dirOf(given)
			if err != nil {
				return err
			}
			if remote, err := dial(dir); err == nil {
				return a.unpause(cmd, remote)
			}
			return explain(a.goOn(cmd, dir, f), dir)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&f.rebuildSeen, "rebuild-seen", false, "make the filter again from the log; --fp and --expect may change then")
	defaults.Register(cmd.Flags())
	return cmd
}

// goOn resumes the crawl in dir in this process.
func (a *app) goOn(cmd *cobra.Command, dir string, f sessionFlags) error {
	reader, err := a.openMended(dir)
	if err != nil {
		return err
	}
	kept, err := crawler.ReadSnapshot(reader.Cut())
	if err != nil {
		return err
	}
	session := a.newSession(dir, f, false)
	settings, err := storedSettings(cmd, dir, f, reader.Cut())
	if err != nil {
		return err
	}
	a.warnUnknown(settings)
	a.sayProxies(settings)
	cfg, err := crawlConfig(settings)
	if err != nil {
		return err
	}
	if kept.State == crawler.Complete && !f.rebuildSeen {
		if err := crawler.SayRules(a.log, reader.Cut(), cfg); err != nil {
			return err
		}
		a.say("%s is complete: %s", dir, plural(kept.Pages, "page record", "page records"))
		return session.judge(kept)
	}
	if err := session.loadCookies(settings, &cfg); err != nil {
		return err
	}
	session.attach(&cfg)
	session.settings = settings
	c, err := crawler.Open(dir, func(stored *crawler.Config) {
		cfg.Seen.Seed, cfg.RebuildSeen = stored.Seen.Seed, f.rebuildSeen
		if cfg.Seen.ExpectedItems == 0 {
			cfg.Seen.ExpectedItems = stored.Seen.ExpectedItems
		}
		*stored = cfg
	})
	if err != nil {
		return err
	}
	if err := configIn(dir).write(cfg.Rendering); err != nil {
		return errors.Join(err, c.Close())
	}
	return session.run(cmd.Context(), c)
}

// openMended reads the last checkpoint of a crawl that is to go on. When the file for readers is damaged, it is made anew
// from the state, and the log says so.
func (a *app) openMended(dir string) (*store.Reader, error) {
	reader, err := store.OpenReader(dir)
	damage, damaged := errors.AsType[*store.DamageError](err)
	if !damaged {
		return reader, err
	}
	st, err := store.Open(dir, store.Config{})
	if err != nil {
		return nil, err
	}
	if err := st.Close(); err != nil {
		return nil, err
	}
	a.log.Warn("the checkpoint's copy for readers is made again from state.db", "err", damage)
	return store.OpenReader(dir)
}

// storedSettings reads the settings in force from DIR/config.yaml, and what goes over them.
func storedSettings(cmd *cobra.Command, dir string, f sessionFlags, cut store.Cut) (config.Settings, error) {
	stored := configIn(dir)
	if err := stored.settle(cut); err != nil {
		return config.Settings{}, err
	}
	load := config.Resume
	if f.rebuildSeen {
		load = config.Rebuild
	}
	settings, err := load(string(stored), f.config, os.Environ(), cmd.Flags())
	if err != nil {
		return settings, &usageError{err}
	}
	return settings, nil
}
