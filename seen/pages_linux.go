package seen

import "syscall"

// preferLargePages asks for pages of 2 MiB: a key touches a line anywhere in its layer, and the addresses of small pages
// miss the processor's cache of them each time. A system that has none keeps the small ones.
func preferLargePages(mapping []byte) { _ = syscall.Madvise(mapping, syscall.MADV_HUGEPAGE) }
