package store

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gofrs/flock"

	"crawl/internal/vfs"
)

// lock keeps a directory for one process. The operating system drops it when the process ends, however it ends.
type lock struct {
	file *flock.Flock
	fs   vfs.FS
	note string // names the holder, for people: beside the lock, since not every system lets others read a locked file
}

// claim makes the directory if needed and takes its lock at once, or fails with a *LockedError.
func (d directory) claim() (*lock, error) {
	if err := makeDir(d.fs, d.root); err != nil {
		return nil, err
	}
	file := flock.New(d.lockFile())
	held, err := file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", d, err)
	}
	note := d.lockNote()
	if !held {
		text, _ := vfs.ReadFile(d.fs, note) // one that is just starting may not have written it: the error names none
		return nil, &LockedError{Dir: d.root, Holder: strings.TrimSpace(string(text))}
	}
	who := fmt.Sprintf("process %d\n", os.Getpid())
	if err := vfs.WriteFile(d.fs, note, []byte(who), 0o644); err != nil {
		return nil, errors.Join(&WriteError{File: note, Err: err}, file.Close())
	}
	return &lock{file: file, fs: d.fs, note: note}, nil
}

func (l *lock) release() error {
	return errors.Join(removeIfThere(l.fs, l.note), l.file.Close())
}
