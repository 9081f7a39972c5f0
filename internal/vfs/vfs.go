// Package vfs is the file system as a crawl's directory needs it: few calls, all of them explicit about what they make
// durable. OS is the real one; tests put others in its place, which lose what was not synced or fail a chosen call
// (package vfstest).
//
// It promises what POSIX does, and no more. What was written to a file is durable once its Sync has returned; a name that
// was made, renamed or removed is durable once SyncDir of its folder has. Until then a power cut may keep, lose or tear
// it. The price is that every path goes through an interface: files that other libraries open by themselves (bbolt's, the
// lock) are not seen here.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// FS is a file system. Paths are those of package os, and errors are *fs.PathError or *os.LinkError as there: callers
// branch by errors.Is. All methods are safe for concurrent use.
type FS interface {
	// OpenFile opens a file with the flags of package os.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Rename gives a file another name, in place of a file that has it. Both names are durable only after SyncDir.
	Rename(from, to string) error
	// Remove removes a file or an empty folder. It may come back after a power cut until SyncDir has returned.
	Remove(name string) error
	// ReadDir lists a folder in the order of names.
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// MkdirAll makes a folder and what is missing above it.
	MkdirAll(name string, perm fs.FileMode) error
	// SyncDir makes the names in a folder durable. Where the system has no such operation, it does nothing.
	SyncDir(name string) error
	// Free returns how many bytes this process may still write on the disk that holds name, math.MaxUint64 where the
	// system does not tell.
	Free(name string) (uint64, error)
}

// File is an open file. It is for one goroutine, but for ReadAt, which any number may call.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Seeker
	io.Closer

	Name() string // as it was opened
	Stat() (fs.FileInfo, error)
	// Sync makes the file's bytes and its length durable. After an error nothing is known of what was written since the
	// last Sync that returned nil, and a further Sync proves nothing: the kernel may have dropped the pages.
	Sync() error
	Truncate(size int64) error
}

// OS is the file system of the machine.
type OS struct{}

// OpenFile is os.OpenFile.
func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a File that holds a nil *os.File
	}
	return f, nil
}

// Rename is os.Rename.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove is os.Remove.
func (OS) Remove(name string) error { return os.Remove(name) }

// ReadDir is os.ReadDir.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Stat is os.Stat.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// MkdirAll is os.MkdirAll.
func (OS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }

// SyncDir forgives file systems that cannot sync a folder: they keep names durable by themselves.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cannotSyncDir(err) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// Free counts what is left to an ordinary user: a part of the disk may be set aside for the system.
func (OS) Free(name string) (uint64, error) { return free(name) }

// Open opens a file for reading.
func Open(fsys FS, name string) (File, error) { return fsys.OpenFile(name, os.O_RDONLY, 0) }

// ReadFile returns all of a file.
func ReadFile(fsys FS, name string) (data []byte, err error) {
	f, err := Open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data = make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // empty, or cut since
	}
	return data[:n], err
}

// WriteFile replaces a file's contents, or makes the file. Nothing of it is durable: it may be torn.
func WriteFile(fsys FS, name string, data []byte, perm fs.FileMode) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
