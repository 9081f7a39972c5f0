//go:build !amd64 || race

package seen

// ask says which of hashes, at most batchKeys, the layer holds: a bit each, that of hashes[0] the lowest. It leaves those
// out that are known.
func (l *layer) ask(hashes []uint64, known uint64) (has uint64) { return l.askEach(hashes, known) }
