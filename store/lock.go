package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/gofrs/flock"
)

// lock keeps a directory for one process. The operating system drops it when the process ends, however it ends.
type lock struct {
	file *flock.Flock
	note string // names the holder, for people: beside the lock, since not every system lets others read a locked file
}

// claim makes the directory if needed and takes its lock at once, or fails with a *LockedError.
func (d directory) claim() (*lock, error) {
	if err := makeDir(string(d)); err != nil {
		return nil, err
	}
	file := flock.New(d.lockFile())
	held, err := file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", d, err)
	}
	note := d.lockNote()
	if !held {
		text, _ := os.ReadFile(note) // a holder that is just starting may not have written it: the error then names none
		return nil, &LockedError{Dir: string(d), Holder: strings.TrimSpace(string(text))}
	}
	who := fmt.Sprintf("process %d\n", os.Getpid())
	if err := os.WriteFile(note, []byte(who), 0o644); err != nil {
		return nil, errors.Join(&WriteError{File: note, Err: err}, file.Close())
	}
	return &lock{file: file, note: note}, nil
}

func (l *lock) release() error {
	err := os.Remove(l.note)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.file.Close())
}
