//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package seen

import (
	"fmt"
	"syscall"
	"unsafe"
)

// mapBytes returns n bytes of zeros outside the Go heap, at the start of a page; nil where the system has none to give.
func mapBytes(n int) []byte {
	mapping, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	preferLargePages(mapping)
	return mapping
}

// unmap fails only for what mapBytes has not returned, or for what was unmapped before: using it would go on with
// memory that may be another's.
func unmap(mapping []byte) {
	if err := syscall.Munmap(mapping); err != nil {
		panic(fmt.Sprintf("seen: unmap: %v", err))
	}
}

func wordsOf(mapping []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(mapping))), len(mapping)/8)
}
