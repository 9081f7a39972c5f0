package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"crawl/internal/config"
	"crawl/seen"
)

// openState reads the filter of the run before, or makes one if there was none, and keeps all others from it.
func (d *deduplicator) openState() (*memory, error) {
	path := d.statePath
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, usagef("--state: %s is a folder, as --exact makes it: pass --exact, or name another", path)
	} else if err == nil && !info.Mode().IsRegular() { // a pipe would be waited for, and replaced by a file at the end
		return nil, usagef("--state: %s is a pipe or a device: name a file, which dedup makes", path)
	}
	lock, err := lockState(path)
	if err != nil {
		return nil, err
	}
	f, err := d.readState()
	if errors.Is(err, fs.ErrNotExist) {
		f, err = d.newFilter()
	}
	if err != nil {
		return nil, errors.Join(err, lock.undo())
	}
	next, err := nextFileAt(path) // now: a folder that cannot be written to is told before any line is printed
	if err != nil {
		return nil, errors.Join(err, lock.undo())
	}
	return &memory{
		Filter:  f,
		keep:    func() error { return errors.Join(next.write(f), next.drop(), lock.Close()) },
		abandon: func() error { return errors.Join(next.drop(), lock.Close()) },
	}, nil
}

// readState reads a state that fits the flags. The error is fs.ErrNotExist if there is none.
func (d *deduplicator) readState() (seen.Filter, error) {
	path := d.statePath
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	state, err := readFilter(path)
	if err != nil {
		return nil, d.explainState(err)
	}
	f, ok := state.asked.(seen.Filter)
	kind := state.kind()
	switch {
	case !ok || kind != seen.KindScalable && kind != seen.KindWindow:
		return nil, errors.Join(usagef("--state: %s is a filter of kind %s, which dedup has not made: name a new file", path, kindWord(kind)), state.close())
	case kind == seen.KindScalable && d.window > 0:
		return nil, usagef("--state: %s was made without --window: leave it out, or name another file", path)
	case kind == seen.KindWindow && d.window > 0 && state.window.Span != time.Duration(d.window):
		return nil, usagef("--state: %s was made with --window %s: leave it out, or name another file", path, span(state.window.Span))
	case d.given("fp") && float64(d.fp) != state.config.FalsePositiveRate:
		return nil, usagef("--state: %s was made with --fp %s: leave it out, or name another file", path,
			config.Rate(state.config.FalsePositiveRate))
	}
	return f, nil
}

// openExact opens the set on the disk: the one that --state names, or one that goes with the process.
func (d *deduplicator) openExact() (*memory, error) {
	c := d.config()
	if !d.given("fp") {
		c.FalsePositiveRate = frontRate
	}
	if err := c.Validate(); err != nil {
		return nil, d.explain(err)
	}
	dir, temporary := d.statePath, d.statePath == ""
	if temporary {
		var err error
		if dir, err = os.MkdirTemp("", "crawl-dedup-"); err != nil {
			return nil, err
		}
	} else if info, err := os.Stat(dir); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, usagef("--state: %s is a pipe or a device: name a folder, which dedup makes", dir)
	} else if err == nil && !info.IsDir() {
		return nil, usagef("--state: %s is a file, as dedup makes it without --exact: leave out --exact, or name another", dir)
	}
	set, err := seen.OpenExact(dir, c)
	if err != nil && temporary {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		return nil, d.explainState(err)
	}
	if temporary {
		gone := func() error { return errors.Join(set.Abandon(), os.RemoveAll(dir)) }
		return &memory{Filter: set, keep: gone, abandon: gone}, nil
	}
	return &memory{Filter: set, keep: set.Close, abandon: set.Abandon}, nil
}

// explainState says what is wrong with what --state names, and how to begin anew. It never advises to remove a folder: what
// else is in it, only its owner knows.
func (d *deduplicator) explainState(err error) error {
	path := d.statePath
	if _, explained := errors.AsType[*usageError](err); explained {
		return err
	}
	state, anew := "file", "remove it, or name another file"
	if d.exact {
		state, anew = "folder", "name another folder"
	}
	switch {
	case errors.Is(err, seen.ErrLocked):
		return fmt.Errorf("--state: %s is in use by another process", path)
	case errors.Is(err, seen.ErrDamaged):
		return fmt.Errorf("%s %w: %s; to begin anew, with all lines new again, %s", path, errDamaged, damageText(err, path), anew)
	case errors.Is(err, seen.ErrFormat):
		return usagef("--state: %s is there, and is no state of dedup: name a new %s, which dedup makes", path, state)
	case errors.Is(err, seen.ErrNewer):
		return fmt.Errorf("--state: %s: %w: this is crawl %s", path, err, buildVersion())
	case errors.Is(err, fs.ErrPermission):
		return usagef("--state: %w", err)
	}
	return fmt.Errorf("--state: %s: %w", path, err)
}

// openFilterOrState is openFilter also for the folder that --exact --state has made. All of it is read and checked.
func openFilterOrState(path string) (*filterFile, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return openFilter(path)
	}
	manifest, err := os.Stat(filepath.Join(path, "manifest")) // where there is none, opening would make a set
	if err != nil {
		return nil, usagef("%s is a folder, and none that dedup --exact --state has made: name a filter's file", path)
	}
	set, err := seen.OpenExact(path, seen.Config{FalsePositiveRate: frontRate})
	if err != nil {
		return nil, (&deduplicator{statePath: path, exact: true}).explainState(err)
	}
	return &filterFile{
		asked: set, path: path, bytes: set.LookupStats().DiskBytes, written: manifest.ModTime(), config: set.Config(),
	}, nil
}
