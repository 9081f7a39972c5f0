package seen

import "unsafe"

// prefetchWords executes PREFETCHT0 at words + 8*at[i] for each i. Prefetching never faults. See prefetch.
//
//go:noescape
func prefetchWords(words unsafe.Pointer, at []uint64)
