package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"crawl/store"
)

const dirSuffix = ".crawl"

// dirOf is the directory that a command was given. Without one it is the only crawl in the folder, or the folder itself
// where that is a crawl.
func dirOf(given []string) (string, error) {
	if len(given) == 1 {
		return given[0], nil
	}
	return onlyCrawl()
}

// dirAmong takes the crawl's directory off arguments that may be URLs: the first one that is there, or looks like one.
func dirAmong(arguments []string) (dir string, rest []string, err error) {
	for i, arg := range arguments {
		if strings.Contains(arg, "://") || arg == "-" {
			continue
		}
		if _, err := os.Stat(arg); err == nil || strings.HasSuffix(arg, dirSuffix) {
			rest = append(append(rest, arguments[:i]...), arguments[i+1:]...)
			return arg, rest, nil
		}
	}
	dir, err = onlyCrawl()
	return dir, arguments, err
}

func onlyCrawl() (string, error) {
	if store.Holds(".") {
		return ".", nil
	}
	found, err := filepath.Glob("*" + dirSuffix)
	if err != nil {
		return "", err
	}
	var crawls []string
	for _, dir := range found {
		if store.Holds(dir) {
			crawls = append(crawls, dir)
		}
	}
	switch len(crawls) {
	case 0:
		return "", usagef("there is no crawl in this folder: name its directory")
	case 1:
		return crawls[0], nil
	}
	return "", usagef("there are several crawls in this folder: name one of %s", strings.Join(crawls, ", "))
}

// explain adds to an error about a directory what to do.
func explain(err error, dir string) error {
	locked, isLocked := errors.AsType[*store.LockedError](err)
	_, damaged := errors.AsType[*store.DamageError](err)
	switch {
	case errors.Is(err, store.ErrExists):
		return &usageError{fmt.Errorf("%s holds a crawl already: go on with `crawl resume %s`, or name another --dir", dir, dir)}
	case errors.Is(err, store.ErrNotCrawl):
		return &usageError{fmt.Errorf("%s holds no crawl: start one with `crawl run`", dir)}
	case errors.Is(err, store.ErrForeign):
		return &usageError{fmt.Errorf("%w: move it away, or name another --dir", err)}
	case notMade(err, dir):
		return &usageError{err}
	case damaged:
		return fmt.Errorf("%w; see what is left: crawl verify %s", err, dir)
	case isLocked:
		return fmt.Errorf("%w: watch it with `crawl stats %s`, or stop it with `crawl stop %s`", locked, dir, dir)
	}
	return err
}

// notMade reports whether a crawl's directory could not be made where it was named. A full or broken disk is another matter.
func notMade(err error, dir string) bool {
	failed, isWrite := errors.AsType[*store.WriteError](err)
	made, isPath := errors.AsType[*fs.PathError](err)
	if !isWrite || !isPath || made.Op != "mkdir" || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EIO) {
		return false
	}
	below, relErr := filepath.Rel(failed.File, dir) // the directory itself, or one above it
	return relErr == nil && filepath.IsLocal(below)
}
