//go:build !amd64

package seen

import (
	"sync/atomic"
	"unsafe"
)

// prefetchWords loads word at[i] of words for each i. See prefetch.
func prefetchWords(words unsafe.Pointer, at []uint64) {
	for _, i := range at {
		atomic.LoadUint64((*uint64)(unsafe.Add(words, 8*i)))
	}
}
