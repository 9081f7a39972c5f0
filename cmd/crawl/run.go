package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"crawl/crawler"
	"crawl/internal/config"
	"crawl/store"
)

// runFlags are the flags of run that are no settings.
type runFlags struct {
	sessionFlags
	seeds  string
	dir    string
	resume bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	defaults := config.Default()
	cmd := &cobra.Command{
		Use:   "run [--seeds FILE|-] [URL...] [flags]",
		Short: "Start a crawl",
		Long: `Start a crawl from seeds: URLs on the line, one a line in a file, or piped in. A seed without a scheme is asked by
https first, then by http. What follows a tab on a line of seeds is a label, kept with every page that comes of it.

The crawl lives in a directory, ./NAME.crawl unless --dir says otherwise. Stopped or killed, it goes on from its last
checkpoint with ` + "`crawl resume`" + `.`,
		Example: `  crawl run https://example.org/
  crawl run --seeds seeds.txt --max-pages 10000 --contact bot@example.org
  crawl run --print urls example.org | sort`,
		RunE: func(cmd *cobra.Command, urls []string) error {
			return a.start(cmd, f, urls)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.seeds, "seeds", "", "`file` of seeds, - for standard input")
	fs.StringVarP(&f.dir, "dir", "d", "", "the crawl's `directory` (default ./NAME.crawl)")
	fs.BoolVar(&f.resume, "resume", false, "go on if the directory holds a crawl; done at once if it is complete")
	f.register(fs)
	defaults.Register(fs)
	return cmd
}

// start begins a crawl, or goes on with it when f.resume allows.
func (a *app) start(cmd *cobra.Command, f runFlags, urls []string) error {
	if err := errors.Join(detached(cmd, a.line), f.check()); err != nil {
		return err
	}
	if dir, ok := f.begun(urls); ok {
		return explain(a.goOn(cmd, dir, f.sessionFlags), dir)
	}
	settings, err := config.Load(f.config, os.Environ(), cmd.Flags())
	if err != nil {
		return &usageError{err}
	}
	seeds, err := a.seedsOf(f.seeds, urls)
	if err != nil {
		return err
	}
	dir, temporary, err := f.directory(seeds)
	if err != nil {
		return err
	}
	if temporary {
		defer os.RemoveAll(dir)
	}
	if f.resume && store.Holds(dir) {
		return explain(a.goOn(cmd, dir, f.sessionFlags), dir)
	}
	if err := seeds.fits(dir); err != nil {
		return err
	}
	session := a.newSession(dir, f.sessionFlags, temporary)
	return session.create(cmd.Context(), settings, seeds)
}

// begun finds a crawl to go on with: the one that --dir names or, when nothing is named to start from, the only one here.
func (f runFlags) begun(urls []string) (dir string, ok bool) {
	switch {
	case !f.resume:
		return "", false
	case f.dir != "":
		return f.dir, store.Holds(f.dir)
	case f.seeds != "" || len(urls) > 0:
		return "", false // they name it
	}
	dir, err := onlyCrawl()
	return dir, err == nil
}

// directory says where the crawl lives. One that is only printed and not named leaves nothing behind.
func (f runFlags) directory(seeds seedSource) (dir string, temporary bool, err error) {
	switch {
	case f.dir != "":
		return f.dir, false, nil
	case f.print != "" && !f.resume:
		dir, err = os.MkdirTemp("", "crawl-")
		return dir, true, err
	}
	return filepath.Join(".", seeds.name()+dirSuffix), false, nil
}

// create begins the session's crawl and runs it.
func (s *session) create(ctx context.Context, settings config.Settings, seeds seedSource) error {
	s.warnUnknown(settings)
	s.sayProxies(settings)
	cfg, err := crawlConfig(settings)
	if err != nil {
		return err
	}
	if err := s.loadCookies(settings, &cfg); err != nil {
		return err
	}
	s.attach(&cfg)
	s.settings = settings
	list, closer, err := seeds.open()
	if err != nil {
		return err
	}
	_, statErr := os.Stat(s.dir)
	c, err := crawler.Create(s.dir, cfg, list)
	err = errors.Join(err, closer.Close())
	if err != nil {
		_, locked := errors.AsType[*store.LockedError](err)
		if errors.Is(statErr, os.ErrNotExist) && !locked && !store.Holds(s.dir) {
			os.RemoveAll(s.dir) // we made it, and it holds nothing
		}
		if errors.Is(err, crawler.ErrNoSeed) {
			return seeds.none(err)
		}
		return explain(err, s.dir)
	}
	if err := configIn(s.dir).write(cfg.Rendering); err != nil {
		return errors.Join(err, c.Close())
	}
	if settings.Contact == "" {
		s.log.Warn("no contact is set: site owners cannot reach you", "fix", "--contact you@example.org")
	}
	return s.run(ctx, c)
}

// warnUnknown names variables that were meant for us, by their look, and are not read.
func (a *app) warnUnknown(settings config.Settings) {
	for _, unknown := range config.Unknown(os.Environ(), settings.Variables()...) {
		a.log.Warn("a variable is not read", "err", unknown)
	}
}
