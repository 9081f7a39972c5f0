//go:build !windows

package store

import (
	"errors"
	"syscall"
)

// ignoreUnsupported forgives file systems that cannot sync a directory: they keep names durable by themselves.
func ignoreUnsupported(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
