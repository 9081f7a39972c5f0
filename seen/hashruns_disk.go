package seen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// disk is a folder, and the few things that are done to it. A name is durable once sync has returned, what is in a file
// before that: no file is named by another one before both are.
type disk struct {
	dir string
	// before, if there is one, is asked before each step, and an error takes its place: tests stop there.
	before func(step, file string) error
}

// Steps of a disk.
const (
	stepCreate   = "create"
	stepWrite    = "write"
	stepSync     = "sync"
	stepRename   = "rename"
	stepRemove   = "remove"
	stepSyncDir  = "sync folder"
	stepTempMark = ".tmp"
)

func (d disk) path(name string) string { return filepath.Join(d.dir, name) }

func (d disk) step(step, name string) error {
	if d.before == nil {
		return nil
	}
	if err := d.before(step, name); err != nil {
		return fmt.Errorf("%s %s: %w", step, d.path(name), err)
	}
	return nil
}

// create makes a file of what write writes, and its bytes durable. On an error no file is left. It is readable for its
// owner only: the manifest has the hash's secret seed.
func (d disk) create(name string, write func(io.Writer) error) (err error) {
	if err := d.step(stepCreate, name); err != nil {
		return err
	}
	f, err := os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			os.Remove(f.Name()) // whether it can be removed or not, nothing names it
		}
	}()
	if err := write(stepWriter{d, name, f}); err != nil {
		return err
	}
	if err := d.step(stepSync, name); err != nil {
		return err
	}
	return f.Sync()
}

// replace makes a file of what write writes in the place of one of that name, or leaves that one as it is. When it
// returns, file and name are durable.
func (d disk) replace(name string, write func(io.Writer) error) error {
	temp := name + stepTempMark
	if err := d.remove(temp); err != nil {
		return err
	}
	if err := d.create(temp, write); err != nil {
		return err
	}
	if err := d.step(stepRename, name); err != nil {
		return err
	}
	if err := os.Rename(d.path(temp), d.path(name)); err != nil {
		return err
	}
	return d.sync()
}

// remove removes a file, which need not be there.
func (d disk) remove(name string) error {
	if err := d.step(stepRemove, name); err != nil {
		return err
	}
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// sync makes the folder's names durable. Where the system has no such operation, it does nothing.
func (d disk) sync() (err error) {
	if err := d.step(stepSyncDir, ""); err != nil || runtime.GOOS == "windows" {
		return err
	}
	f, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// stepWriter asks before each write.
type stepWriter struct {
	disk disk
	name string
	file *os.File
}

func (w stepWriter) Write(b []byte) (int, error) {
	if err := w.disk.step(stepWrite, w.name); err != nil {
		return 0, err
	}
	return w.file.Write(b)
}
