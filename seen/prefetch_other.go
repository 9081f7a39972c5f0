//go:build !amd64

package seen

import (
	"math/bits"
	"sync/atomic"
)

// prefetch loads a word of each hash's line. The loads do not wait for each other, and none is left out for being unused:
// they are atomic.
func prefetch(table [][lineWords]uint64, hashes []uint64) {
	for _, h := range hashes {
		i, _ := bits.Mul64(h, uint64(len(table)))
		atomic.LoadUint64(&table[i][0])
	}
}
