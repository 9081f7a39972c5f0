// Package vfstest holds file systems for tests: Crash knows what a power cut would leave, Hook looks at every call that
// changes something, Fail makes a chosen one fail, Ignore pretends to sync. They stack.
//
// Crash is exact for files that are appended to, cut, or written whole and renamed within their folder, which is all that
// a crawl's directory does. Its price is a copy in memory of what is durable of each file that was opened for writing.
package vfstest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"crawl/internal/vfs"
)

// Crash is a file system over a real folder that knows what is durable: a file's bytes as they were at its last Sync, and
// the names in a folder as they were at its last SyncDir. It never asks the disk to sync, so it is fast, and proves
// nothing of the machine below.
//
// Files that were only read, or opened past it, count as durable as they are: bbolt syncs for itself. One that is renamed
// here has its name only after SyncDir, as any other.
type Crash struct {
	// Torn lets a clone keep the length of bytes that were lost: rubbish or zeros stand in their place, at the end of the
	// file. It is not written after the first call.
	Torn bool

	root string
	real vfs.OS

	mu  sync.Mutex // guards all below, and holds while a call changes the disk
	top *folder
}

// NewCrash returns the file system of what is under root, a folder. All that is there is durable. Paths that are not under
// root are refused with fs.ErrInvalid.
func NewCrash(root string) (*Crash, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, errors.Join(err, &fs.PathError{Op: "crash", Path: root, Err: fs.ErrInvalid})
	}
	return &Crash{root: root, top: newFolder(root)}, nil
}

// parts returns the names on the way from root to a path.
func (c *Crash) parts(op, name string) ([]string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(c.root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if rel == "." {
		return nil, nil
	}
	return strings.Split(rel, string(filepath.Separator)), nil
}

// folder returns the folder of a path.
func (c *Crash) folder(op, name string) (*folder, error) {
	parts, err := c.parts(op, name)
	if err != nil {
		return nil, err
	}
	at := c.top
	for _, part := range parts {
		if at, err = at.sub(part); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// place returns the folder that holds a path's last name, and the name.
func (c *Crash) place(op, name string) (*folder, string, error) {
	parent, err := c.folder(op, filepath.Dir(filepath.Clean(name)))
	return parent, filepath.Base(name), err
}

// OpenFile is as in vfs.FS.
func (c *Crash) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	parent, base, err := c.place("open", name)
	if err != nil {
		return nil, err
	}
	n, err := parent.forOpen(base, flag)
	if err != nil {
		return nil, err
	}
	file, err := c.real.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	switch {
	case n == nil && !changes(flag):
		return file, nil // it was never written here
	case n == nil:
		n = &node{path: parent.at(base)}
		parent.make(base, n)
	case flag&os.O_TRUNC != 0:
		n.cut(0)
	}
	return &crashFile{File: file, crash: c, node: n, appends: flag&os.O_APPEND != 0}, nil
}

// changes tells flags that may change a file or its name.
func changes(flag int) bool { return flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 }

// Rename is as in vfs.FS, of a file and within a folder; anything else is refused with errors.ErrUnsupported.
func (c *Crash) Rename(from, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	parent, oldName, err := c.place("rename", from)
	if err != nil {
		return err
	}
	other, newName, err := c.place("rename", to)
	if err != nil {
		return err
	}
	n, err := parent.forRename(oldName)
	if err != nil {
		return err
	}
	if other != parent || n.folder != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: errors.ErrUnsupported}
	}
	if newName == oldName {
		return nil
	}
	if err := parent.keep(newName); err != nil {
		return err
	}
	if err := c.real.Rename(from, to); err != nil {
		return err
	}
	parent.rename(oldName, newName, n)
	return nil
}

// Remove is as in vfs.FS.
func (c *Crash) Remove(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	parent, base, err := c.place("remove", name)
	if err != nil {
		return err
	}
	if err := parent.keep(base); err != nil {
		return err
	}
	if err := c.real.Remove(name); err != nil {
		return err
	}
	parent.remove(base)
	return nil
}

// MkdirAll is as in vfs.FS.
func (c *Crash) MkdirAll(name string, perm fs.FileMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts, err := c.parts("mkdir", name)
	if err != nil {
		return err
	}
	at := c.top
	for _, part := range parts {
		err := os.Mkdir(at.at(part), perm)
		if err == nil {
			at.make(part, &node{path: at.at(part), folder: newFolder(at.at(part))})
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if at, err = at.sub(part); err != nil {
			return err
		}
	}
	return nil
}

// SyncDir makes the names in a folder durable, without asking the disk. That of root itself, in the folder above it, is
// durable anyway.
func (c *Crash) SyncDir(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if abs, err := filepath.Abs(name); err == nil && abs == filepath.Dir(c.root) {
		return nil
	}
	f, err := c.folder("syncdir", name)
	if err != nil {
		return err
	}
	f.sync()
	return nil
}

// ReadDir is as in vfs.FS.
func (c *Crash) ReadDir(name string) ([]fs.DirEntry, error) { return c.real.ReadDir(name) }

// Stat is as in vfs.FS.
func (c *Crash) Stat(name string) (fs.FileInfo, error) { return c.real.Stat(name) }

// Free is as in vfs.FS.
func (c *Crash) Free(name string) (uint64, error) { return c.real.Free(name) }

// CloneTo writes into dir a copy of root as a power cut at this moment would leave it: what is durable, and of the rest
// what keep says, which gives numbers from 0, nothing, to 1, all. It is asked once for each file with unsynced bytes, of
// which so much is kept, the oldest first, and up to twice more when Torn is set, for what stands in place of the rest. It
// is asked once for each name that was made or removed since its folder was synced; names that a rename joins are kept or
// lost as one chain of changes, of which the first ones are kept. The same numbers give the same clone.
//
// Calls of this file system wait meanwhile. What is written past it may be copied torn.
func (c *Crash) CloneTo(dir string, keep func() float64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.top.clone(dir, keep, c.Torn)
}
