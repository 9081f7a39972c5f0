package frontier

import "unsafe"

// The processor is asked to bring from memory what is about to be used, and goes on without waiting: hosts and tasks lie
// anywhere, and hundreds of thousands of them are more than its caches hold. A load, the best that Go can say, keeps what
// follows from retiring until it has come (docs/decisions/few-looks-at-a-host.md).

// cacheLine is the unit in which memory comes.
const cacheLine = 64

// hostLines is how much of a host leases and their ends look at.
const hostLines = int(unsafe.Sizeof(host{})) / cacheLine

// prefetch asks for h, which may be nil.
func (h *host) prefetch() {
	if h != nil {
		prefetchLines(unsafe.Pointer(h), hostLines)
	}
}

// prefetchNext asks for what the next leases look at: of the host after h, which was asked for already, the first task and
// its origin, and of the one after that the host itself.
func prefetchNext(h *host) {
	next := h.next
	if next == nil {
		return
	}
	if t := next.queue.peek(); t != nil {
		prefetchLines(unsafe.Pointer(t), 2) // one may end in the line after it
	}
	if o := next.origins[1]; o != nil && o != &next.only {
		prefetchLines(unsafe.Pointer(o), 2)
	}
	next.next.prefetch()
}
