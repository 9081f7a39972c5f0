package seen

// askAll says which of hashes, at most batchKeys, some layer holds: a bit each, that of hashes[0] the lowest. The newest
// layer is asked first, it has half of all keys.
func askAll(layers []*layer, hashes []uint64) (has uint64) {
	touchAll(layers, hashes)
	for i := len(layers) - 1; i >= 0; i-- {
		has |= layers[i].ask(hashes, has)
	}
	return has
}

// touchAll has the lines of hashes in all layers brought into the cache, in the order in which they are asked for.
func touchAll(layers []*layer, hashes []uint64) {
	for i := len(layers) - 1; i >= 0; i-- {
		layers[i].touch(hashes)
	}
}

// askEach is layer.ask one by one.
func (l *layer) askEach(hashes []uint64, known uint64) (has uint64) {
	for i, h := range hashes {
		if known>>i&1 == 0 && l.has(h) {
			has |= 1 << i
		}
	}
	return has
}
