package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"

	"crawl/crawler"
	"crawl/store"
)

// session is one run of a crawl in this process, with all that is around it: signals, control, progress, printing.
type session struct {
	*app
	dir       string
	printer   *printer // nil: nothing is streamed
	temporary bool     // the directory goes with the process
}

func (a *app) newSession(dir, print string, temporary bool) *session {
	s := &session{app: a, dir: dir, temporary: temporary}
	if print != "" {
		s.printer = newPrinter(a.stdout, print)
	}
	return s
}

// attach has the crawl tell this session what happens.
func (s *session) attach(cfg *crawler.Config) {
	cfg.Log = s.log
	if s.printer == nil {
		return
	}
	if s.temporary { // nothing outlives the process, so there is nothing to wait for
		cfg.OnCommit = s.printer.page
		return
	}
	cfg.OnCheckpoint = s.printer.checkpoint
}

// run crawls to the end, whatever end it is, and says how it went.
func (s *session) run(ctx context.Context, c *crawler.Crawler) error {
	if !s.temporary {
		s.log.Info("crawling", "dir", s.dir)
	}
	err := s.crawl(ctx, c)
	s.stderr.setStatus("")
	snapshot := c.Snapshot()
	err = errors.Join(err, c.Close())
	if s.printer != nil && errors.Is(err, errClosedPipe) {
		return nil
	}
	if !s.quiet {
		fmt.Fprint(s.stderr, summary(snapshot, s.dir, s.temporary))
	}
	if err == nil && nothingFetched(snapshot) {
		return errNothingFetched
	}
	return err
}

func (s *session) crawl(ctx context.Context, c *crawler.Crawler) error {
	run, end := context.WithCancelCause(ctx)
	defer end(nil)
	control, err := serveControl(s.dir, c)
	if err != nil {
		return err
	}
	var helpers errgroup.Group
	over := make(chan struct{})
	helpers.Go(func() error { s.signals(end, over); return nil })
	helpers.Go(func() error { s.progress(c, over); return nil })
	if s.printer != nil {
		printed := c.Snapshot().Pages
		helpers.Go(func() error {
			err := s.print(printed, over)
			if err != nil {
				end(err) // nobody reads any longer: a clean stop
			}
			return err
		})
	}
	err = c.Run(run)
	close(over)
	return errors.Join(err, helpers.Wait(), control.Close())
}

// print streams records after the given one.
func (s *session) print(after uint64, over <-chan struct{}) error {
	if s.temporary {
		return s.printer.watch(over)
	}
	return s.printer.follow(s.dir, after, over)
}

// signals ends the run at the first signal, and the process at the second.
func (s *session) signals(end context.CancelCauseFunc, over <-chan struct{}) {
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(caught)
	for first := true; ; first = false {
		select {
		case <-over:
			return
		case sig := <-caught:
			if !first {
				os.Exit(codeOf(&signalError{sig}))
			}
			s.say("\nstopping: finishing what is in flight; once more to leave now\ngo on later with: crawl resume %s", s.dir)
			end(&signalError{sig})
		}
	}
}

// logger writes to stderr: short lines for a terminal, full ones for a file.
func (a *app) logger() *slog.Logger {
	level := slog.LevelInfo
	switch {
	case a.quiet:
		level = slog.LevelError
	case a.verbose:
		level = slog.LevelDebug
	}
	options := &slog.HandlerOptions{Level: level}
	if a.json {
		return slog.New(slog.NewJSONHandler(a.stderr, options))
	}
	if a.stderr.terminal {
		return slog.New(terminalLog{out: a.stderr, level: level})
	}
	return slog.New(slog.NewTextHandler(a.stderr, options))
}

// say tells people something, unless they want quiet.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}

// nothingFetched: there were visits, and not one was answered.
func nothingFetched(s crawler.Snapshot) bool {
	unanswered := s.ByOutcome[store.OutcomeFailed.String()] + s.ByOutcome[store.OutcomeAddressDenied.String()] +
		s.ByOutcome[store.OutcomeRobotsDenied.String()]
	return s.State == crawler.Complete && s.Done > 0 && s.Done == unanswered ||
		s.State == crawler.Partial && s.Done == unanswered
}
