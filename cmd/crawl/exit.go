package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"crawl/crawler"
	"crawl/store"
)

// Exit codes. Scripts depend on them.
const (
	exitDone        = 0 // complete, at a limit that was set, or stopped by `crawl stop`
	exitFailed      = 1
	exitUsage       = 2 // the command line, the configuration, the seeds
	exitDisk        = 3 // the disk is full or the state is damaged
	exitNothing     = 4 // nothing could be fetched
	exitPartial     = 5 // with --strict: something could not be had whole
	exitInterrupted = 128
)

// errNothingFetched: every visit failed before an answer.
var errNothingFetched = errors.New("nothing could be fetched")

// errDamaged: what is on disk is not as the crawl left it.
var errDamaged = errors.New("is damaged")

// errPartial: something in scope is missing, and --strict was asked for.
var errPartial = errors.New("could not be had whole")

// signalError says that a signal ended the crawl, its state saved.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return fmt.Sprintf("stopped by signal: %s", e.signal) }

// exitCode says an error, if there is one, and returns its code.
func (a *app) exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	code := codeOf(err)
	switch {
	case code == exitDone: // nobody reads our output any longer
	case code >= exitInterrupted: // a signal was talked of when it came
	case a.json && a.log != nil:
		a.log.Error(err.Error())
	default:
		fmt.Fprintln(a.stderr, "crawl:", err)
	}
	return code
}

func codeOf(err error) int {
	if e, ok := errors.AsType[*signalError](err); ok {
		if number, ok := e.signal.(syscall.Signal); ok {
			return exitInterrupted + int(number)
		}
		return exitFailed
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*crawler.DenylistError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*store.WriteError](err); ok {
		return exitDisk
	}
	if _, ok := errors.AsType[*store.DamageError](err); ok {
		return exitDisk
	}
	if _, ok := errors.AsType[*crawler.SpaceError](err); ok {
		return exitDisk
	}
	switch {
	case errors.Is(err, crawler.ErrNoSeed), errors.Is(err, crawler.ErrFixed), errors.Is(err, store.ErrExists),
		errors.Is(err, store.ErrNotCrawl), errors.Is(err, store.ErrForeign):
		return exitUsage
	case errors.Is(err, errDamaged), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOSPC): // of standard output too
		return exitDisk
	case errors.Is(err, errNothingFetched):
		return exitNothing
	case errors.Is(err, errPartial):
		return exitPartial
	case errors.Is(closedPipe(err), errClosedPipe):
		return exitDone
	}
	return exitFailed
}
