package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

// stateLock keeps two runs with one state apart.
type stateLock struct {
	*flock.Flock
	made bool // there was none before
}

// lockState locks the file beside a state. A file that was removed while it was locked (undo) is no lock: another process may
// have made and locked the next one.
func lockState(path string) (*stateLock, error) {
	lock := &stateLock{Flock: flock.New(path + ".lock")}
	_, err := os.Lstat(lock.Path())
	lock.made = errors.Is(err, fs.ErrNotExist)
	held, err := lock.TryLock()
	if err != nil {
		return nil, cannotMake(path, err)
	}
	if held {
		var mine, there fs.FileInfo
		if mine, err = lock.Stat(); err == nil {
			there, err = os.Stat(lock.Path())
		}
		held = err == nil && os.SameFile(mine, there)
	}
	if !held {
		return nil, errors.Join(fmt.Errorf("--state: %s is in use by another process", path), lock.Close())
	}
	return lock, nil
}

// undo lets go of the lock of a state that is not used after all, and leaves no file that was not there before. Windows
// keeps one that is open.
func (l *stateLock) undo() error {
	if l.made {
		_ = os.Remove(l.Path()) // one that stays is in nobody's way
	}
	return l.Close()
}
