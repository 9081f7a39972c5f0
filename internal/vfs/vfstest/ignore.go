package vfstest

import (
	"sync/atomic"

	"crawl/internal/vfs"
)

// Ignore returns fsys without the syncs that which chooses: they return nil and do nothing, as a program that forgot them
// would have it. A test of crashes that such a file system passes proves nothing.
func Ignore(fsys vfs.FS, which func(Op) bool) vfs.FS {
	var syncs atomic.Int64
	return &tap{fs: fsys, around: func(kind Kind, name string, size int, do func(int) error) error {
		if kind != Sync && kind != SyncDir {
			return do(size)
		}
		if which(Op{Kind: kind, Name: name, N: int(syncs.Add(1))}) {
			return nil
		}
		return do(size)
	}}
}
