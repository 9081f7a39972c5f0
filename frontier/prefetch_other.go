//go:build !amd64

package frontier

import (
	"sync/atomic"
	"unsafe"
)

// prefetchLines loads a word of each line, all of which are in what p points to. They are atomic, or the compiler would leave
// them out.
func prefetchLines(p unsafe.Pointer, lines int) {
	for i := range lines {
		atomic.LoadUint64((*uint64)(unsafe.Add(p, 64*i)))
	}
}
