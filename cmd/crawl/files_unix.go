//go:build unix

package main

import "syscall"

// openFiles is how many files this process may have open (getrlimit(2)). The runtime has raised it to the hard limit.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(uint64(limit.Cur), 1<<20))
}
