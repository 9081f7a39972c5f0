//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// identity tells a directory from its copies, whatever its path (stat(2)). It is empty where nothing can be told.
func identity(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}
