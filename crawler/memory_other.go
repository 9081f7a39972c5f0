//go:build !linux

package crawler

import "runtime"

// residentBytes is what the process holds in memory, as far as the runtime knows.
func residentBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}
