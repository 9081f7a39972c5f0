//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package fetch

// mapRegion takes n bytes of the heap. Systems that count memory when it is first written to do so here too, until the
// garbage collector hands out the same memory again.
func mapRegion(n int64) ([]byte, error) { return make([]byte, n), nil }

func unmapRegion([]byte) {}

// wholePages is how much of a region is used when n bytes of size were written: all of it, until the region is collected.
func wholePages(_, size int64) int64 { return size }
