package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"crawl/crawler"
	"crawl/internal/config"
	"crawl/store"
)

// session is one run of a crawl in this process, with all that is around it: signals, control, progress, printing.
type session struct {
	*app
	dir       string
	printer   *printer // nil: nothing is streamed
	temporary bool     // the directory goes with the process
	strict    bool     // what could not be had is an error

	changing sync.Mutex      // held while settings change; guards all below
	settings config.Settings // in force
}

// sessionFlags are the flags of run and resume that are no settings.
type sessionFlags struct {
	config string
	print  string
	strict bool

	rebuildSeen bool // of resume alone
}

func (f *sessionFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.config, "config", "", "`file` of settings")
	fs.StringVar(&f.print, "print", "", "stream to standard output the urls that were fetched, or all records as pages: as checkpoints make them safe; without --dir at once, and nothing is kept")
	fs.BoolVar(&f.strict, "strict", false, "exit with 5 if anything in scope could not be had whole")
}

func (f *sessionFlags) check() error {
	switch f.print {
	case "", "urls", "pages":
		return nil
	}
	return usagef("--print: want urls or pages, got %q", f.print)
}

func (a *app) newSession(dir string, f sessionFlags, temporary bool) *session {
	s := &session{app: a, dir: dir, temporary: temporary, strict: f.strict}
	if f.print != "" {
		s.printer = newPrinter(a.stdout, f.print)
	}
	return s
}

// unattendedWait is how long a crawl waits for space on the disk when nobody sees that it does.
const unattendedWait = 10 * time.Minute

// attach has the crawl tell this session what happens.
func (s *session) attach(cfg *crawler.Config) {
	cfg.Log = s.log
	if !s.stderr.terminal {
		cfg.MinFreeWait = unattendedWait
	}
	s.fitFiles(cfg)
	cfg.OnCheckpoint = func(store.Cut) { paceCollector() }
	if s.printer == nil {
		return
	}
	if s.temporary { // nothing outlives the process, so there is nothing to wait for
		cfg.OnCommit = s.printer.page
		return
	}
	cfg.OnCheckpoint = func(cut store.Cut) {
		paceCollector()
		s.printer.checkpoint(cut)
	}
}

// run crawls to the end, whatever end it is, and says how it went.
func (s *session) run(ctx context.Context, c *crawler.Crawler) error {
	paceCollector()
	if !s.temporary {
		s.log.Info("crawling", "dir", s.dir)
	}
	snapshot, err := s.crawl(ctx, c)
	s.stderr.setStatus("")
	if errors.Is(err, errClosedPipe) {
		return err
	}
	if s.json {
		s.log.Info("ended", "crawl", snapshot)
	} else if !s.quiet {
		fmt.Fprint(s.stderr, summary(snapshot, s.dir, s.temporary))
	}
	if err != nil {
		return err
	}
	return s.judge(snapshot)
}

// judge says whether a crawl that ended well is good enough.
func (s *session) judge(snapshot crawler.Snapshot) error {
	if nothingFetched(snapshot) {
		why := snapshot.Errors
		if len(why) == 0 { // robots.txt forbade it all
			why = snapshot.ByOutcome
		}
		if len(why) == 0 { // denylists all of the seeds
			why = snapshot.ByReason
		}
		return fmt.Errorf("%w: %s", errNothingFetched, counts(why, " "))
	}
	return s.lack(snapshot)
}

// lack is the error of a crawl that has to be whole and is not.
func (s *session) lack(snapshot crawler.Snapshot) error {
	if n := lacking(snapshot); s.strict && n > 0 {
		return fmt.Errorf("%w: %s", errPartial, plural(n, "URL", "URLs"))
	}
	return nil
}

// crawl runs c, closes it, and returns how it was at the end.
func (s *session) crawl(ctx context.Context, c *crawler.Crawler) (crawler.Snapshot, error) {
	run, end := context.WithCancelCause(ctx)
	defer end(nil)
	control, err := serveControl(s, c)
	if err != nil {
		return c.Snapshot(), errors.Join(err, c.Close())
	}
	caught := make(chan os.Signal, 2) // from before the first request: one that nobody catches would kill
	signal.Notify(caught, endingSignals()...)
	defer signal.Stop(caught)
	var helpers errgroup.Group
	over := make(chan struct{})
	helpers.Go(func() error { s.signals(caught, end, over); return nil })
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
	err = errors.Join(err, helpers.Wait())
	snapshot := c.Snapshot()
	// control goes last: whoever waits for it to be gone wants the directory free.
	return snapshot, errors.Join(err, c.Close(), control.Close())
}

// print streams records after the given one.
func (s *session) print(after uint64, over <-chan struct{}) error {
	if s.temporary {
		return s.printer.watch(over)
	}
	return s.printer.follow(s.dir, after, over)
}

// endingSignals are those that end a run. SIGHUP is ignored where it was when the process began: then nohup wants so.
func endingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// signals ends the run at the first signal, and says so, and the process at the second.
func (s *session) signals(caught <-chan os.Signal, end context.CancelCauseFunc, over <-chan struct{}) {
	endAt(caught, over, func(first error) {
		end(first)
		s.say("stopping: finishing what is in flight; once more to leave now")
	})
}

// oneAct is how close together signals are one act. timeout(1), and much else that runs commands, sends its signal to the
// process and then to the group that it is in; taken for a second one, that would cost all since the last checkpoint.
const oneAct = 100 * time.Millisecond

// endAt calls end with the first signal, a *signalError, and ends the process at the second. It returns when it is over.
func endAt(caught <-chan os.Signal, over <-chan struct{}, end func(first error)) {
	var firstAt time.Time // zero until there was one
	for {
		select {
		case <-over:
			return
		case sig := <-caught:
			switch {
			case firstAt.IsZero():
				firstAt = time.Now()
				end(&signalError{sig})
			case time.Since(firstAt) > oneAct:
				os.Exit(codeOf(&signalError{sig}))
			}
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

// say tells people something, unless they want quiet. With --json it is a line of the log.
func (a *app) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case a.json:
		a.log.Info(text)
	case !a.quiet:
		fmt.Fprintln(a.stderr, text)
	}
}

// nothingFetched: there were visits, and not one was answered.
func nothingFetched(s crawler.Snapshot) bool {
	unanswered := s.ByOutcome[store.OutcomeFailed.String()] + s.ByOutcome[store.OutcomeAddressDenied.String()] +
		s.ByOutcome[store.OutcomeRobotsDenied.String()]
	denied := s.ByReason[crawler.Denied.String()]
	return s.State == crawler.Complete && s.Done+denied > 0 && s.Done == unanswered+s.ByOutcome[store.OutcomeDenied.String()] ||
		s.State == crawler.Partial && s.Done == unanswered
}

// lacking counts the URLs that could not be had whole, as far as it is not by the user's or the site's rules.
func lacking(s crawler.Snapshot) uint64 {
	sum := s.Stranded
	for _, o := range []store.Outcome{store.OutcomeFailed, store.OutcomeServerError, store.OutcomeTruncated} {
		sum += s.ByOutcome[o.String()]
	}
	return sum
}
