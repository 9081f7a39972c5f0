package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteWhole replaces a file by rename, so that a reader finds the old or the new content whole; on return it is
// durable. The mode is that of a new file. An error is a *WriteError.
func WriteWhole(path string, data []byte, mode fs.FileMode) error {
	partial := path + ".new"
	err := writeSynced(partial, data, mode)
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		_ = os.Remove(partial) // a full disk wants its bytes back
		return &WriteError{File: path, Err: err}
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return &WriteError{File: path, Err: err}
	}
	return nil
}

func writeSynced(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// makeDir makes a directory and what is missing above it, and their names durable.
func makeDir(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	err := os.Mkdir(path, 0o755)
	if err == nil {
		err = syncDir(parent)
	}
	if err != nil {
		return &WriteError{File: path, Err: err}
	}
	return nil
}

// syncDir makes the names in a directory durable, where the system has such an operation.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(ignoreUnsupported(d.Sync()), d.Close())
}
