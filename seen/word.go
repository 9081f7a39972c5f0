//go:build !race

package seen

import (
	"math/bits"
	"sync/atomic"
)

// loadWord and storeWord load and store a word that one goroutine stores while others load it. A plain load and a plain
// store will do where each is one instruction: the memory model of Go has a load of a word return a value that was stored
// there and was not overwritten before, racing stores included (go.dev/ref/mem, Implementation Restrictions for Programs
// Containing Data Races), and whichever it returns has the bits of all stores that happened before the load, since no bit
// is ever cleared and a word has one writer at a time. An atomic store is an exchange on amd64: with one for each bit that
// a key sets, a new key in a batch costs twice as much. An atomic load is a load there, but its address is computed apart:
// an instruction more for each bit of a key. Under the race detector, which must take plain ones for an error, both are
// atomic.
func loadWord(line *[lineWords]uint64, i uint64) uint64 {
	if bits.UintSize < 64 {
		return atomic.LoadUint64(&line[i])
	}
	return line[i]
}

func storeWord(p *uint64, w uint64) {
	if bits.UintSize < 64 {
		atomic.StoreUint64(p, w)
		return
	}
	*p = w
}
