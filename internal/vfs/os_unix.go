//go:build !windows

package vfs

import (
	"errors"
	"syscall"
)

// cannotSyncDir tells a file system without the operation from a disk that failed.
func cannotSyncDir(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
