package vfstest

import (
	"errors"
	"io/fs"
	"os"

	"crawl/internal/vfs"
)

// Kind is what a call does.
type Kind string

// The calls that change something.
const (
	Create   Kind = "create" // OpenFile with O_CREATE, O_TRUNC or both, whether or not the file is there
	Write    Kind = "write"
	Sync     Kind = "sync"
	Truncate Kind = "truncate"
	Rename   Kind = "rename"
	Remove   Kind = "remove"
	Mkdir    Kind = "mkdir"
	SyncDir  Kind = "syncdir"
)

// The calls that only read.
const (
	Open Kind = "open"
	Read Kind = "read" // Read or ReadAt
	List Kind = "list" // ReadDir
	Stat Kind = "stat" // of a name or of an open file
)

// reads tells calls that change nothing.
func (k Kind) reads() bool { return k == Open || k == Read || k == List || k == Stat }

// Op is one call.
type Op struct {
	Kind Kind
	Name string // as the caller gave it; of a rename the new name
	N    int    // from 1, in the order in which calls began
}

// tap is a file system that hands its calls to around. Seek, Close and Free pass by.
type tap struct {
	fs vfs.FS
	// around makes the call, or does not: do makes it, a write only of the first n bytes of size. Its error is the caller's.
	around func(kind Kind, name string, size int, do func(n int) error) error
}

// plain hands over a call that has no bytes.
func (t *tap) plain(kind Kind, name string, do func() error) error {
	return t.around(kind, name, 0, func(int) error { return do() })
}

func (t *tap) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	kind := Open
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		kind = Create
	}
	var file vfs.File
	err := t.plain(kind, name, func() (err error) {
		file, err = t.fs.OpenFile(name, flag, perm)
		return err
	})
	if err != nil {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
		return nil, err
	}
	return &tapFile{file, t}, nil
}

func (t *tap) Rename(from, to string) error {
	err := t.plain(Rename, to, func() error { return t.fs.Rename(from, to) })
	if p, ok := errors.AsType[*fs.PathError](err); ok { // from around, which knows one name
		return &os.LinkError{Op: p.Op, Old: from, New: to, Err: p.Err}
	}
	return err
}

func (t *tap) Remove(name string) error {
	return t.plain(Remove, name, func() error { return t.fs.Remove(name) })
}

func (t *tap) MkdirAll(name string, perm fs.FileMode) error {
	return t.plain(Mkdir, name, func() error { return t.fs.MkdirAll(name, perm) })
}

func (t *tap) SyncDir(name string) error {
	return t.plain(SyncDir, name, func() error { return t.fs.SyncDir(name) })
}

func (t *tap) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = t.plain(List, name, func() (err error) {
		entries, err = t.fs.ReadDir(name)
		return err
	})
	return entries, err
}

func (t *tap) Stat(name string) (info fs.FileInfo, err error) {
	err = t.plain(Stat, name, func() (err error) {
		info, err = t.fs.Stat(name)
		return err
	})
	return info, err
}

func (t *tap) Free(name string) (uint64, error) { return t.fs.Free(name) }

// tapFile is a file whose calls the tap hands over.
type tapFile struct {
	vfs.File
	tap *tap
}

func (f *tapFile) Read(p []byte) (n int, err error) {
	err = f.tap.plain(Read, f.Name(), func() (err error) {
		n, err = f.File.Read(p)
		return err
	})
	return n, err
}

func (f *tapFile) ReadAt(p []byte, at int64) (n int, err error) {
	err = f.tap.plain(Read, f.Name(), func() (err error) {
		n, err = f.File.ReadAt(p, at)
		return err
	})
	return n, err
}

func (f *tapFile) Write(p []byte) (n int, err error) {
	err = f.tap.around(Write, f.Name(), len(p), func(size int) (err error) {
		n, err = f.File.Write(p[:size])
		return err
	})
	return n, err
}

func (f *tapFile) Sync() error { return f.tap.plain(Sync, f.Name(), f.File.Sync) }

func (f *tapFile) Truncate(size int64) error {
	return f.tap.plain(Truncate, f.Name(), func() error { return f.File.Truncate(size) })
}

func (f *tapFile) Stat() (info fs.FileInfo, err error) {
	err = f.tap.plain(Stat, f.Name(), func() (err error) {
		info, err = f.File.Stat()
		return err
	})
	return info, err
}
