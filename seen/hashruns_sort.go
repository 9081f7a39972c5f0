package seen

// radixSort sorts hashes in place, a byte at a time from the last one: a sort by comparison takes five times as long for
// a million of them. spare is as long as hashes, and holds nothing of use afterwards.
func radixSort(hashes, spare []uint64) {
	var counts [8][256]int
	for _, h := range hashes {
		for i := range counts {
			counts[i][byte(h>>(8*i))]++
		}
	}
	from, to := hashes, spare[:len(hashes)]
	for i := range counts {
		shift := 8 * i
		if len(from) == 0 || counts[i][byte(from[0]>>shift)] == len(from) {
			continue // they all have this byte
		}
		at := 0
		for b, n := range counts[i] {
			counts[i][b] = at
			at += n
		}
		for _, h := range from {
			b := byte(h >> shift)
			to[counts[i][b]] = h
			counts[i][b]++
		}
		from, to = to, from
	}
	if len(hashes) > 0 && &from[0] != &hashes[0] {
		copy(hashes, from)
	}
}
