package seen

import "unsafe"

// prefetch asks for the lines of hashes. The processor goes on without waiting: a load of a line, the best that Go can
// say, keeps all that follows from retiring until it has come, and a batch of 32 then takes half as long again.
func prefetch(table [][lineWords]uint64, hashes []uint64) {
	prefetchLines(unsafe.Pointer(unsafe.SliceData(table)), uint64(len(table)), hashes)
}

// prefetchLines executes PREFETCHT0 at table + lineBytes*(h*lines>>64) for each hash. Prefetching never faults.
//
//go:noescape
func prefetchLines(table unsafe.Pointer, lines uint64, hashes []uint64)
