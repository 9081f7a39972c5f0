package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"crawl/seen"
)

// asked is what a filter of any kind and a table answer, read from a file.
type asked interface {
	Hash(key []byte) uint64
	HasBatch(hashes []uint64, has []bool) error
	Len() uint64
	Stats() seen.Stats
}

// filterFile is a filter and the file that it was read from.
type filterFile struct {
	asked
	path    string
	bytes   int64     // of the file; 0 where it is none, but a pipe
	written time.Time // of the same
	config  seen.Config
	window  seen.WindowConfig // of a window
}

// openFilter is readFilter for a file that `crawl filter build` makes.
func openFilter(path string) (*filterFile, error) {
	file, err := readFilter(path)
	if err != nil {
		return nil, explainFilter(err, path)
	}
	return file, nil
}

// readFilter reads the filter in a file. A table stays on the disk, but for the filter in front of it. An error of the
// filter is seen's.
func readFilter(path string) (*filterFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &usageError{err}
	}
	defer f.Close() // it was read, and is not needed any longer
	file := &filterFile{path: path}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, usagef("%s is a folder: name a filter's file", path)
	}
	filter, err := seen.Read(f)
	if err != nil {
		return nil, err
	}
	file.asked = filter
	if info.Mode().IsRegular() {
		file.bytes, file.written = info.Size(), info.ModTime()
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		if at < info.Size() { // what stands behind a filter makes a table of it
			table, err := seen.OpenTable(path)
			if errors.Is(err, seen.ErrFormat) {
				err = fmt.Errorf("%w: byte %d: more follows the filter than belongs to it", seen.ErrDamaged, at)
			}
			if err != nil {
				return nil, err
			}
			file.asked = table
		}
	}
	file.config, file.window = configOf(file.asked)
	return file, nil
}

func (f *filterFile) close() error {
	switch f := f.asked.(type) {
	case *seen.Table:
		return f.Close()
	case *seen.Exact:
		return f.Abandon() // nothing was added
	}
	return nil
}

// kind of what is in the file.
func (f *filterFile) kind() seen.Kind { return f.Stats().Kind }

// kindWord is what a kind is called wherever it is shown: a table is the file of what --exact makes.
func kindWord(kind seen.Kind) string {
	if kind == seen.KindTable {
		return string(seen.KindExact)
	}
	return string(kind)
}

// configOf returns the settings that a filter was made with.
func configOf(filter any) (seen.Config, seen.WindowConfig) {
	switch f := filter.(type) {
	case interface{ Config() seen.Config }:
		return f.Config(), seen.WindowConfig{}
	case interface{ Config() seen.WindowConfig }:
		return f.Config().Config, f.Config()
	}
	return seen.Config{}, seen.WindowConfig{}
}

// explainFilter says what is wrong with a filter's file, and what to do.
func explainFilter(err error, path string) error {
	if _, explained := errors.AsType[*usageError](err); explained {
		return err
	}
	switch {
	case errors.Is(err, seen.ErrDamaged):
		return fmt.Errorf("%s %w: %s; build it again, or take another copy", path, errDamaged, damageText(err, path))
	case errors.Is(err, seen.ErrFormat):
		return usagef("%s holds no filter: make one with `crawl filter build`", path)
	case errors.Is(err, seen.ErrNewer):
		return fmt.Errorf("%s: %w: this is crawl %s", path, err, buildVersion())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return &usageError{err}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// damageText is what an error says of a damage and its place, without what the path and "is damaged" say before it.
func damageText(err error, path string) string {
	text := strings.ReplaceAll(err.Error(), seen.ErrDamaged.Error()+": ", "")
	return strings.TrimPrefix(text, path+": ")
}

// explainFilterIn is explainFilter for an error that may have nothing to do with the filter.
func explainFilterIn(err error, path string) error {
	if errors.Is(err, seen.ErrDamaged) {
		return explainFilter(err, path)
	}
	return err
}

// newFile is a file that appears whole and durable, or not at all. Until then it has a name of its own beside it.
type newFile struct {
	path    string
	partial string
	replace bool
	mode    fs.FileMode
}

// secretMode is that of a new filter's file: the key of its hash is in it.
const secretMode = 0o600

// newFileAt refuses a file that is there already, unless it is to be replaced. Its name until it is whole is nobody else's.
func newFileAt(path string, replace bool) (*newFile, error) {
	return newFileBy(path, replace, func() (*os.File, error) {
		return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.new")
	})
}

// nextFileAt is newFileAt for who holds a lock on the path: what a process that was killed has left is taken over.
func nextFileAt(path string) (*newFile, error) {
	return newFileBy(path, true, func() (*os.File, error) {
		return os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, secretMode)
	})
}

func newFileBy(path string, replace bool, create func() (*os.File, error)) (*newFile, error) {
	if path == "-" {
		return nil, usagef("a filter appears by rename, so it cannot go to standard output: name a file")
	}
	n := &newFile{path: path, replace: replace, mode: secretMode}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, usagef("%s is a folder: name a file", path)
	case err == nil && !info.Mode().IsRegular():
		return nil, usagef("%s is no regular file: a filter appears by rename, so name one", path)
	case err == nil && !replace:
		return nil, &usageError{n.there()}
	case err == nil:
		n.mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &usageError{err}
	}
	f, err := create()
	if err != nil {
		return nil, cannotMake(path, err)
	}
	n.partial = f.Name()
	return n, f.Close()
}

// cannotMake says why no file can be made at a path. The error is that of one with another name beside it.
func cannotMake(path string, err error) error {
	if _, statErr := os.Stat(filepath.Dir(path)); errors.Is(statErr, fs.ErrNotExist) {
		return usagef("%s: there is no folder %s", path, filepath.Dir(path))
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if errors.Is(err, fs.ErrPermission) {
		return usagef("%s: no file can be made in folder %s: %w", path, filepath.Dir(path), err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (n *newFile) there() error {
	return fmt.Errorf("%s is there already: replace it with --force, or name another file", n.path)
}

// write writes the file and commits it.
func (n *newFile) write(from io.WriterTo) error {
	f, err := os.OpenFile(n.partial, os.O_WRONLY|os.O_TRUNC, secretMode)
	if err != nil {
		return err
	}
	_, err = from.WriteTo(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	return n.commit()
}

// commit gives the file, which is durable by now, its name.
func (n *newFile) commit() error {
	if err := os.Chmod(n.partial, n.mode); err != nil {
		return err
	}
	if err := n.rename(); err != nil {
		return err
	}
	n.partial = ""
	return syncDir(filepath.Dir(n.path))
}

// rename replaces a file only where that was asked for, also when it has appeared meanwhile.
func (n *newFile) rename() error {
	if n.replace {
		return os.Rename(n.partial, n.path)
	}
	err := os.Link(n.partial, n.path)
	switch {
	case err == nil:
		return os.Remove(n.partial)
	case errors.Is(err, fs.ErrExist):
		return n.there()
	}
	// A file system without links: what may appear within this moment is replaced.
	if _, err := os.Lstat(n.path); err == nil {
		return n.there()
	}
	return os.Rename(n.partial, n.path)
}

// drop removes what was not committed.
func (n *newFile) drop() error {
	if n.partial == "" {
		return nil
	}
	return os.Remove(n.partial)
}
