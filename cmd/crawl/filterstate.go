package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"

	"crawl/internal/config"
	"crawl/seen"
)

// openState reads the filter of the run before, or makes one if there was none, and keeps all others from it.
func (d *deduplicator) openState() (*memory, error) {
	path := d.statePath
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, usagef("--state: %s is a folder, as --exact makes it: pass --exact, or name another", path)
	}
	lock := flock.New(path + ".lock")
	held, err := lock.TryLock()
	if err != nil {
		return nil, &usageError{err}
	}
	if !held {
		return nil, fmt.Errorf("--state: %s is in use by another process", path)
	}
	f, err := d.readState()
	if errors.Is(err, fs.ErrNotExist) {
		f, err = d.newFilter()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	next, err := nextFileAt(path) // now: a folder that cannot be written to is told before any line is printed
	if err != nil {
		return nil, errors.Join(err, lock.Close())
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
	state, err := openFilter(path)
	if err != nil {
		return nil, err
	}
	f, ok := state.asked.(seen.Filter)
	kind := state.kind()
	switch {
	case !ok || kind != seen.KindScalable && kind != seen.KindWindow:
		return nil, errors.Join(usagef("--state: %s is a filter of kind %s, which dedup has not made", path, kind), state.close())
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
	dir, temporary := d.statePath, d.statePath == ""
	if temporary {
		var err error
		if dir, err = os.MkdirTemp("", "crawl-dedup-"); err != nil {
			return nil, err
		}
	} else if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, usagef("--state: %s is a file, as dedup makes it without --exact: leave out --exact, or name another", dir)
	}
	set, err := seen.OpenExact(dir, c)
	switch {
	case errors.Is(err, seen.ErrLocked):
		return nil, fmt.Errorf("--state: %s is in use by another process", dir)
	case errors.Is(err, seen.ErrDamaged):
		return nil, fmt.Errorf("%s %w: %s; remove it to begin anew", dir, errDamaged, damageText(err, dir))
	case err != nil && temporary:
		return nil, errors.Join(d.explain(err), os.RemoveAll(dir))
	case err != nil:
		return nil, d.explain(err)
	}
	if temporary {
		gone := func() error { return errors.Join(set.Abandon(), os.RemoveAll(dir)) }
		return &memory{Filter: set, keep: gone, abandon: gone}, nil
	}
	return &memory{Filter: set, keep: set.Close, abandon: set.Abandon}, nil
}
