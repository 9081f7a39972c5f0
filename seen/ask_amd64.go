//go:build !race

package seen

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// wide: the machine has vectors of a whole line, of the sort that askLines takes.
var wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ

// lanes is how many bits of a key one vector has.
const lanes = 8

// powers are mix, mix^2 and so on: the hash times each of them places a bit.
var powers = func() (p [maxK]uint64) {
	product := uint64(1)
	for i := range p {
		product *= mix
		p[i] = product
	}
	return p
}()

// ask says which of hashes, at most batchKeys, the layer holds: a bit each, that of hashes[0] the lowest. It may leave those
// out that are known.
//
// Here all bits of a key are taken at once, whether it is known or not, and no branch depends on them. One by one, half the keys
// of a chain have the processor guess wrong which layer they are in, and a wrong guess costs more than this does.
func (l *layer) ask(hashes []uint64, known uint64) (has uint64) {
	if !wide {
		return l.askEach(hashes, known)
	}
	has = 1<<len(hashes) - 1
	table, lines := unsafe.Pointer(unsafe.SliceData(l.table)), uint64(len(l.table))
	for from := 0; from < l.k; from += lanes {
		has &= askLines(table, lines, (*[lanes]uint64)(powers[from:]), min(lanes, l.k-from), hashes)
	}
	runtime.KeepAlive(l)
	return has
}

// askLines says of which hashes, at most 64, all bits are set that the first of powers, used in number, place in its line.
// The line may be loaded in parts while it is written: each has the bits of all additions before, since bits are only set.
//
//go:noescape
func askLines(table unsafe.Pointer, lines uint64, powers *[lanes]uint64, used int, hashes []uint64) (has uint64)
