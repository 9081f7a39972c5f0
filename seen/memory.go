package seen

import "runtime"

// mapFrom is the size, in bytes, from which a layer's words lie outside the Go heap, where the system allows it: that of
// a large page on most machines. On the heap a filter of 1 GiB would let the collector wait until a further one of
// garbage has gathered.
const mapFrom = 2 << 20

// memory is the words of a layer. Those outside the heap are given back some time after the memory can no longer be
// reached, or at once by free; words that somebody still holds do not keep them.
type memory struct {
	words []uint64

	mapping []byte // nil: on the heap
	cleanup runtime.Cleanup
}

// newMemory returns n words of zeros. Where the system has no more mappings to give, they are on the heap.
func newMemory(n int) *memory {
	if 8*n >= mapFrom {
		if mapping := mapBytes(8 * n); mapping != nil {
			m := &memory{words: wordsOf(mapping), mapping: mapping}
			m.cleanup = runtime.AddCleanup(m, unmap, mapping)
			return m
		}
	}
	return &memory{words: make([]uint64, n)}
}

// grown returns memory of n words that begins with those of m, which is freed.
func (m *memory) grown(n int) *memory {
	larger := newMemory(n)
	copy(larger.words, m.words)
	m.free()
	return larger
}

// free gives the words back at once.
func (m *memory) free() {
	if m.mapping != nil {
		m.cleanup.Stop()
		unmap(m.mapping)
	}
	m.words, m.mapping = nil, nil
}
