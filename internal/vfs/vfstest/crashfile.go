package vfstest

import "crawl/internal/vfs"

// crashFile is an open file of a Crash. Its embedded file is the real one.
type crashFile struct {
	vfs.File
	crash   *Crash
	node    *node
	at      int64 // where the next Read or Write starts
	appends bool  // it was opened with O_APPEND
}

func (f *crashFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.at += int64(n)
	return n, err
}

func (f *crashFile) Seek(offset int64, whence int) (int64, error) {
	at, err := f.File.Seek(offset, whence)
	if err == nil {
		f.at = at
	}
	return at, err
}

func (f *crashFile) Write(p []byte) (int, error) {
	f.crash.mu.Lock()
	defer f.crash.mu.Unlock()
	if f.appends {
		f.at = f.node.size
	}
	n, err := f.File.Write(p)
	f.node.write(f.at, p[:n])
	f.at += int64(n)
	return n, err
}

func (f *crashFile) Truncate(size int64) error {
	f.crash.mu.Lock()
	defer f.crash.mu.Unlock()
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	f.node.cut(size)
	return nil
}

// Sync makes all that was written to the file durable, through this handle or another.
func (f *crashFile) Sync() error {
	f.crash.mu.Lock()
	defer f.crash.mu.Unlock()
	if _, err := f.Stat(); err != nil {
		return err // it is closed
	}
	f.node.sync()
	return nil
}
