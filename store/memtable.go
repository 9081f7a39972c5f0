package store

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// memtable gathers entries of the queue until there are enough for a run. Notes and texts are encoded into chunks of
// memory, so that an entry costs no allocation and the garbage collector has nothing to look at. It is filled by one
// goroutine, and from the moment that it is sealed it belongs to whoever makes a run of it.
type memtable struct {
	slots        []slot
	chunks       [][]byte
	free         [][]byte // to be chunks, of chunkBytes each
	bytes        int      // of all chunks
	settled      int      // entries of commits that have ended
	settledAgain int      // of again
	again        []uint64 // numbers of entries that may have an older one in a run
	sorting      []slot   // room for sorting
	touched      byte     // what look has read
	from         Coverage // what was covered when it was begun
	upto         Coverage // what it covers, together with all before it
}

// slot is an entry: its key, and where note and text lie.
type slot struct {
	host uint64
	orderKey
	at location
}

// location is chunk 16 bits · offset in it 20 bits · length 28 bits: a greater one was added later.
type location uint64

const (
	chunkBytes   = 1 << 20
	lengthBits   = 28
	locationBits = lengthBits + 20
)

func (l location) chunk() int  { return int(l >> locationBits) }
func (l location) offset() int { return int(l>>lengthBits) & (chunkBytes - 1) }
func (l location) length() int { return int(l) & (1<<lengthBits - 1) }

func (m *memtable) len() int { return len(m.slots) }

// add encodes an entry. Nothing of p is kept.
func (m *memtable) add(p *Pending) {
	chunk := m.room(noteLength + pendingBytes(p))
	before := len(*chunk)
	*chunk = append(*chunk, make([]byte, noteLength)...)
	var note int
	*chunk, note = appendPending(*chunk, p)
	binary.LittleEndian.PutUint32((*chunk)[before:], uint32(note))
	m.put(HostKey(p.Host), orderOf(p.Class, p.Depth, p.Seq), before, len(*chunk)-before)
}

func (m *memtable) put(host uint64, o orderKey, offset, length int) {
	at := location(len(m.chunks)-1)<<locationBits | location(offset)<<lengthBits | location(length)
	m.slots = append(m.slots, slot{host, o, at})
}

// room returns the chunk that takes so many bytes more. What is longer than a chunk gets one of its own.
func (m *memtable) room(n int) *[]byte {
	last := len(m.chunks) - 1
	if last < 0 || min(cap(m.chunks[last]), chunkBytes)-len(m.chunks[last]) < n {
		chunk := m.chunk(n)
		m.chunks = append(m.chunks, chunk)
		m.bytes += cap(chunk)
		last++
	}
	return &m.chunks[last]
}

// chunk returns an empty chunk with room for n bytes.
func (m *memtable) chunk(n int) []byte {
	last := len(m.free) - 1
	if last < 0 || n > chunkBytes {
		return make([]byte, 0, max(n, chunkBytes))
	}
	chunk := m.free[last]
	m.free = m.free[:last]
	return chunk
}

// recycle returns an empty memtable with the memory of m: the slots, as far as so many entries need them, and half of the
// chunks. The others go: two memtables that are both full are what memory is meant for only while one of them is being
// written.
func (m *memtable) recycle(entries int) *memtable {
	next := &memtable{}
	if cap(m.slots) <= 2*entries {
		next.slots, next.sorting = m.slots[:0], m.sorting[:0]
	}
	for _, chunk := range m.chunks[:len(m.chunks)/2] {
		if cap(chunk) == chunkBytes {
			next.free = append(next.free, chunk[:0])
		}
	}
	return next
}

// noteLength is the length of a note, before it: 4 bytes.
const noteLength = 4

// encoded returns what lies in memory of an entry.
func (m *memtable) encoded(s slot) []byte {
	from := s.at.offset()
	return m.chunks[s.at.chunk()][from : from+s.at.length()]
}

// entry returns note and text of an entry.
func (m *memtable) entry(s slot) (note, text []byte) {
	b := m.encoded(s)
	end := noteLength + binary.LittleEndian.Uint32(b)
	return b[noteLength:end], b[end:]
}

// settle says that a commit has ended, and what is covered with it.
func (m *memtable) settle(upto Coverage) {
	m.settled, m.settledAgain, m.upto = len(m.slots), len(m.again), upto
}

// splitInto moves the entries of a commit that has not ended yet to next, which is empty and goes on where m ends.
func (m *memtable) splitInto(next *memtable) {
	next.from, next.upto = m.upto, m.upto
	for _, s := range m.slots[m.settled:] {
		encoded := m.encoded(s)
		chunk := next.room(len(encoded))
		before := len(*chunk)
		*chunk = append(*chunk, encoded...)
		next.put(s.host, s.orderKey, before, len(encoded))
	}
	m.slots = m.slots[:m.settled]
}

// sort brings the entries into the order in which a run holds them. Of equal keys the one that was added last is kept.
func (m *memtable) sort() {
	m.spread()
	kept := m.slots[:0]
	for i, s := range m.slots {
		if i+1 < len(m.slots) && m.slots[i+1].host == s.host && m.slots[i+1].orderKey == s.orderKey {
			continue
		}
		kept = append(kept, s)
	}
	m.slots = kept
}

// spread sorts by the first bits of the hosts' keys, which are hashes and so fall evenly, and then each part by itself.
func (m *memtable) spread() {
	const partBits = 12
	var ends [1<<partBits + 1]int
	for _, s := range m.slots {
		ends[s.host>>(hostKeyBits-partBits)+1]++
	}
	for i := range 1 << partBits {
		ends[i+1] += ends[i]
	}
	spread := slices.Grow(m.sorting[:0], len(m.slots))[:len(m.slots)]
	next := ends
	for _, s := range m.slots {
		part := &next[s.host>>(hostKeyBits-partBits)]
		spread[*part] = s
		*part++
	}
	for i := range 1 << partBits {
		slices.SortFunc(spread[ends[i]:ends[i+1]], compareSlots)
	}
	m.slots, m.sorting = spread, m.slots
}

func compareSlots(a, b slot) int {
	switch {
	case a.host != b.host:
		return cmp.Compare(a.host, b.host)
	case a.order != b.order:
		return cmp.Compare(a.order, b.order)
	case a.seq != b.seq:
		return cmp.Compare(a.seq, b.seq)
	}
	return cmp.Compare(a.at, b.at)
}
