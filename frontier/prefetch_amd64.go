package frontier

import "unsafe"

// prefetchLines executes PREFETCHT0 at p and each 64 bytes after it, lines of them, 1 at the least. Prefetching never
// faults.
//
//go:noescape
func prefetchLines(p unsafe.Pointer, lines int)
