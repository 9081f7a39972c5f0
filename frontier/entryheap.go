package frontier

// entryHeap is tasks of which the first is known.
type entryHeap []entry

func (q *entryHeap) push(e entry) {
	*q = append(*q, e)
	entries := *q
	i := len(entries) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&entries[parent]) {
			break
		}
		entries[i] = entries[parent]
		i = parent
	}
	entries[i] = e
}

// pop removes the first.
func (q *entryHeap) pop() entry {
	entries := *q
	first, last := entries[0], len(entries)-1
	e := entries[last]
	entries[last] = entry{} // it keeps no text alive
	*q = entries[:last]
	q.sink(e)
	q.shrink()
	return first
}

// sink puts e where the first entry was taken from, and down from there.
func (q *entryHeap) sink(e entry) {
	entries := *q
	n := len(entries)
	if n == 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && entries[child+1].before(&entries[child]) {
			child++
		}
		if !entries[child].before(&e) {
			break
		}
		entries[i] = entries[child]
		i = child
	}
	entries[i] = e
}

// shrink gives memory back once three quarters of it are unused.
func (q *entryHeap) shrink() {
	switch n := len(*q); {
	case n == 0:
		*q = nil
	case cap(*q) > 16 && n <= cap(*q)/4:
		*q = append(make([]entry, 0, 2*n), *q...)
	}
}
