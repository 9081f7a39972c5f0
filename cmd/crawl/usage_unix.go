//go:build unix

package main

import (
	"runtime"
	"syscall"
	"time"
)

// usage returns what the process has used so far (getrusage(2)).
func usage() usageFigures {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return usageFigures{}
	}
	unit := uint64(1024) // ru_maxrss is in KiB, but on macOS in bytes
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		unit = 1
	}
	return usageFigures{
		cpu:       time.Duration(r.Utime.Nano() + r.Stime.Nano()),
		peakBytes: uint64(r.Maxrss) * unit,
		known:     true,
	}
}
