package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"crawl/internal/vfs"
)

// WriteWhole replaces a file by rename, so that a reader finds the old or the new content whole; on return it is
// durable. The mode is that of a new file. An error is a *WriteError.
func WriteWhole(path string, data []byte, mode fs.FileMode) error {
	return writeWhole(vfs.OS{}, path, data, mode)
}

func writeWhole(fsys vfs.FS, path string, data []byte, mode fs.FileMode) error {
	partial := path + ".new"
	err := writeSynced(fsys, partial, data, mode)
	if err == nil {
		err = fsys.Rename(partial, path)
	}
	if err != nil {
		_ = fsys.Remove(partial) // a full disk wants its bytes back
		return &WriteError{File: path, Err: err}
	}
	if err := fsys.SyncDir(filepath.Dir(path)); err != nil {
		return &WriteError{File: path, Err: err}
	}
	return nil
}

func writeSynced(fsys vfs.FS, path string, data []byte, mode fs.FileMode) error {
	f, err := fsys.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// removeIfThere removes a file that may be gone already. An error is a *WriteError.
func removeIfThere(fsys vfs.FS, path string) error {
	if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &WriteError{File: path, Err: err}
	}
	return nil
}

// makeDir makes a directory and what is missing above it, and their names durable.
func makeDir(fsys vfs.FS, path string) error {
	if info, err := fsys.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := makeDir(fsys, parent); err != nil {
			return err
		}
	}
	err := fsys.MkdirAll(path, 0o755)
	if err == nil {
		err = fsys.SyncDir(parent)
	}
	if err != nil {
		return &WriteError{File: path, Err: err}
	}
	return nil
}
