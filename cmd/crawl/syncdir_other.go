//go:build !windows

package main

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes the names in a folder durable. A file system without the operation keeps them by itself.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
