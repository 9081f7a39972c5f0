package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"crawl/internal/vfs"
)

// series is an append-only sequence of numbered files of which only the last is written. It knows no format: a block
// log and the page records are made of it.
type series struct {
	fs       vfs.FS
	dir, ext string
	number   uint64     // of the open file
	file     vfs.File   // nil until something is appended
	offset   int64      // its length
	rolled   []vfs.File // written to their ends, not yet synced
	unsynced bool       // the open file changed since the last checkpoint
	newNames bool       // a file was created since the last checkpoint: the directory must be synced too
	failed   error      // the first write error: after it the file's end is unknown, and nothing more is written
}

// Position is the end of a series at a cut: everything past it belongs to no checkpoint.
type Position struct {
	File   uint64 `json:"file"`
	Offset int64  `json:"offset"`
}

// openSeries cuts a series back to end: later files are removed, the last one is truncated.
func openSeries(fsys vfs.FS, dir, ext string, end Position) (*series, error) {
	if err := makeDir(fsys, dir); err != nil {
		return nil, err
	}
	s := &series{fs: fsys, dir: dir, ext: ext, number: end.File, newNames: true}
	f, err := fsys.OpenFile(s.name(end.File), os.O_RDWR, 0)
	if err != nil && (end.Offset > 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, cannotOpen(s.name(end.File), err)
	}
	if err == nil {
		if err := cutBack(f, end.Offset); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		s.file, s.offset, s.unsynced = f, end.Offset, true // it may have been cut
	}
	if err := removeNumbered(fsys, dir, ext, end.File+1); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func cutBack(f vfs.File, length int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < length {
		return &DamageError{File: f.Name(), Offset: info.Size(),
			Err: fmt.Errorf("the file ends here, the last checkpoint has %d bytes", length)}
	}
	if info.Size() > length {
		if err := f.Truncate(length); err != nil {
			return &WriteError{File: f.Name(), Err: err}
		}
	}
	_, err = f.Seek(length, io.SeekStart)
	return err
}

func (s *series) name(n uint64) string { return numberedName(s.dir, n, s.ext) }

// append writes data behind all that was written. An error is a *WriteError, and is returned ever after.
func (s *series) append(data []byte) error {
	if s.failed == nil {
		s.failed = s.write(data)
	}
	return s.failed
}

func (s *series) write(data []byte) error {
	if s.file == nil {
		f, err := s.fs.OpenFile(s.name(s.number), os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o644)
		if err != nil {
			return &WriteError{File: s.name(s.number), Err: err}
		}
		s.file, s.offset, s.newNames = f, 0, true
	}
	s.unsynced = true
	n, err := s.file.Write(data)
	s.offset += int64(n)
	if err != nil {
		return &WriteError{File: s.file.Name(), Err: err}
	}
	return nil
}

// roll ends the open file for good; the next append goes to a new file with the given number.
func (s *series) roll(next uint64) {
	if s.file != nil {
		s.rolled = append(s.rolled, s.file)
	}
	s.number, s.file, s.offset, s.unsynced = next, nil, 0, false
}

func (s *series) position() Position { return Position{File: s.number, Offset: s.offset} }

// pendingSync is what has to reach the disk before a checkpoint may name the lengths of now.
type pendingSync struct {
	open   vfs.File // nil when it has not changed
	rolled []vfs.File
	fs     vfs.FS
	dir    string // empty when no name is new
}

func (s *series) takeSync() pendingSync {
	p := pendingSync{fs: s.fs, rolled: s.rolled}
	if s.unsynced {
		p.open = s.file
	}
	if s.newNames {
		p.dir = s.dir
	}
	s.rolled, s.unsynced, s.newNames = nil, false, false
	return p
}

func (p pendingSync) run() error {
	for _, f := range p.rolled {
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return &WriteError{File: f.Name(), Err: err}
		}
	}
	if p.open != nil {
		if err := p.open.Sync(); err != nil {
			return &WriteError{File: p.open.Name(), Err: err}
		}
	}
	if p.dir == "" {
		return nil
	}
	if err := errors.Join(p.fs.SyncDir(p.dir), p.fs.SyncDir(filepath.Dir(p.dir))); err != nil {
		return &WriteError{File: p.dir, Err: err}
	}
	return nil
}

func (s *series) close() error {
	var errs []error
	for _, f := range s.rolled {
		errs = append(errs, f.Close())
	}
	if s.file != nil {
		errs = append(errs, s.file.Close())
	}
	return errors.Join(errs...)
}
