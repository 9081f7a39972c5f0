//go:build !race

package seen

import (
	"math/bits"
	"sync/atomic"
)

// storeWord stores a word that others may be loading at the same moment. A plain store will do where it is one
// instruction: the memory model of Go has a load of a word return a value that was stored there and was not overwritten
// before, racing stores included (go.dev/ref/mem, Implementation Restrictions for Programs Containing Data Races), and
// whichever it returns has the bits of all stores that happened before the load, since no bit is ever cleared and a word
// has one writer at a time. An atomic store is an exchange on amd64: with one for each bit that a key sets, a new key in a
// batch costs twice as much. Under the race detector, which must take a plain store for an error, it is atomic.
func storeWord(p *uint64, w uint64) {
	if bits.UintSize < 64 {
		atomic.StoreUint64(p, w)
		return
	}
	*p = w
}
