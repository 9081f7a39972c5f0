//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fetch

import (
	"fmt"
	"os"
	"syscall"
)

// mapRegion reserves n bytes of the address space. Memory is used by the page, when a page is first written to.
func mapRegion(n int64) ([]byte, error) {
	region, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|mapNoReserve)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", n, err)
	}
	smallPages(region)
	return region, nil
}

// unmapRegion gives a region back. Whoever still reads it breaks the process, which is better than to read another's page.
func unmapRegion(region []byte) {
	if err := syscall.Munmap(region); err != nil {
		panic(fmt.Sprintf("munmap of a body: %v", err)) // only of what is no mapping
	}
}

// wholePages is how much of a region memory is used for when n bytes of size were written.
func wholePages(n, size int64) int64 {
	page := int64(os.Getpagesize())
	return min((n+page-1)/page*page, size)
}
