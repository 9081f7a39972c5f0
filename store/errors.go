package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrExists: the directory holds a crawl already.
var ErrExists = errors.New("holds a crawl already")

// ErrNotCrawl: the directory holds no crawl.
var ErrNotCrawl = errors.New("holds no crawl")

// ErrForeign: a file that a crawl would write over is there, and no crawl made it.
var ErrForeign = errors.New("was not made by a crawl, and a crawl here would write over it")

// A LockedError tells that another process has the directory open.
type LockedError struct {
	Dir    string
	Holder string // what the note beside the lock says of its holder; may be empty
}

func (e *LockedError) Error() string {
	if e.Holder == "" {
		return fmt.Sprintf("%s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("%s is in use by %s", e.Dir, e.Holder)
}

// A VersionError tells of a directory in a format this program does not know.
type VersionError struct {
	Dir       string
	Got, Know int
}

func (e *VersionError) Error() string {
	if e.Got > e.Know {
		return fmt.Sprintf("%s has format %d, this program knows %d: use a newer crawl", e.Dir, e.Got, e.Know)
	}
	return fmt.Sprintf("%s has format %d, this program knows only %d: go on with the version that began it, or begin anew", e.Dir, e.Got, e.Know)
}

// A DamageError names the place where a file is not what its checksums or the last checkpoint say.
type DamageError struct {
	File   string
	Offset int64 // where the damaged block or value starts; -1: the whole file
	Err    error
}

func (e *DamageError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s is damaged: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s is damaged at byte %d: %v", e.File, e.Offset, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// A WriteError tells that the disk did not take what a crawl has to keep. No checkpoint is written after one.
type WriteError struct {
	File string
	Err  error
}

// Error names the file once: the errors of package os name it too.
func (e *WriteError) Error() string {
	step, cause := "", e.Err
	if p, ok := errors.AsType[*fs.PathError](e.Err); ok {
		step, cause = p.Op, p.Err
	} else if l, ok := errors.AsType[*os.LinkError](e.Err); ok {
		step, cause = l.Op, l.Err
	}
	if step == "" || step == "write" {
		return fmt.Sprintf("write %s: %v", e.File, cause)
	}
	return fmt.Sprintf("write %s: %s: %v", e.File, step, cause)
}

func (e *WriteError) Unwrap() error { return e.Err }

// ErrElsewhere is part of a *DamageError of what lies whole in another place too. Open makes it again.
var ErrElsewhere = errors.New("the block that follows has them")

var errMissing = errors.New("the file is missing")

// cannotOpen tells a file that is gone, which is damage, from one that the system will not open now: too many open
// files, or no permission.
func cannotOpen(file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &DamageError{File: file, Offset: -1, Err: errMissing}
	}
	return err // names the file
}
