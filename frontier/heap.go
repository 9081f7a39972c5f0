package frontier

// hostHeap orders hosts by their due moment, soonest first. Each host knows its index in it.
type hostHeap []*host

func (q *hostHeap) push(h *host) {
	*q = append(*q, h)
	q.up(h, len(*q)-1)
}

// remove takes h out, which must be in q.
func (q *hostHeap) remove(h *host) {
	i, last := int(h.index), len(*q)-1
	moved := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	if i == last {
		return
	}
	if i > 0 && moved.due < (*q)[(i-1)/2].due {
		q.up(moved, i)
	} else {
		q.down(moved, i)
	}
}

// up puts h at index i or above.
func (q *hostHeap) up(h *host, i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if (*q)[parent].due <= h.due {
			break
		}
		q.set((*q)[parent], i)
		i = parent
	}
	q.set(h, i)
}

// down puts h at index i or below.
func (q *hostHeap) down(h *host, i int) {
	for {
		child := 2*i + 1
		if child >= len(*q) {
			break
		}
		if child+1 < len(*q) && (*q)[child+1].due < (*q)[child].due {
			child++
		}
		if h.due <= (*q)[child].due {
			break
		}
		q.set((*q)[child], i)
		i = child
	}
	q.set(h, i)
}

func (q *hostHeap) set(h *host, i int) {
	(*q)[i] = h
	h.index = int32(i)
}
