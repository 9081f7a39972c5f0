//go:build linux || darwin || freebsd

package vfs

import (
	"io/fs"
	"syscall"
)

func free(name string) (uint64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(name, &stat); err != nil {
		return 0, &fs.PathError{Op: "free", Path: name, Err: err}
	}
	// The fields' types differ between systems. What is below nothing, on a disk that only the system may fill, is none.
	return uint64(max(int64(stat.Bavail), 0)) * uint64(stat.Bsize), nil
}
