package store

import (
	"encoding/binary"
	"math"
)

// admissions are the columns of one block in memory. They are only appended to, until the block is full: a copy of the
// struct is a snapshot that stays valid, if next is told of it.
type admissions struct {
	hashes []byte // 8 bytes each, little-endian: the raw column
	meta   []byte // varints: depth, class, referrer, hop, seed label, length of the URL
	urls   []byte // one after the other
	starts []admissionStart
	from   uint64 // the last referrer
}

// frameURLs is how many URLs are packed together: one of them is found without unpacking all of its block.
const frameURLs = 512

// admissionFields is how many varints of meta an entry has. The length of its URL is the last.
const admissionFields = 6

// admissionStart is where an entry starts in the columns of variable width, and the last referrer before it. It is not
// written.
type admissionStart struct {
	meta, url int
	from      uint64
}

func (t *admissions) len() int { return len(t.starts) }

// next returns the empty columns of the next block. They take the memory of these, unless somebody has a snapshot of them;
// else they have room for as much.
func (t *admissions) next(shared bool) admissions {
	if !shared {
		return admissions{hashes: t.hashes[:0], meta: t.meta[:0], urls: t.urls[:0], starts: t.starts[:0]}
	}
	return admissions{
		hashes: make([]byte, 0, len(t.hashes)),
		meta:   make([]byte, 0, len(t.meta)+len(t.meta)/16),
		urls:   make([]byte, 0, len(t.urls)+len(t.urls)/16),
		starts: make([]admissionStart, 0, len(t.starts)),
	}
}

func (t *admissions) append(a Admission) {
	t.starts = append(t.starts, admissionStart{meta: len(t.meta), url: len(t.urls), from: t.from})
	t.hashes = binary.LittleEndian.AppendUint64(t.hashes, a.Hash)
	t.meta = binary.AppendUvarint(t.meta, uint64(a.Depth))
	t.meta = binary.AppendUvarint(t.meta, uint64(a.Class))
	from := uint64(0)
	if a.From != 0 {
		from = zigzag(int64(a.From-t.from)) + 1
		t.from = a.From
	}
	t.meta = binary.AppendUvarint(t.meta, from)
	t.meta = binary.AppendUvarint(t.meta, uint64(a.Hop))
	t.meta = binary.AppendUvarint(t.meta, uint64(a.Seed))
	t.meta = binary.AppendUvarint(t.meta, uint64(len(a.URL)))
	t.urls = append(t.urls, a.URL...)
}

// at returns entry i of the block, whose sequence number is seq.
func (t *admissions) at(i int, seq uint64) (Admission, error) {
	start := t.starts[i]
	r := admissionReader{hashes: t.hashes[8*i:], meta: varints{t.meta[start.meta:]}, urls: t.urls[start.url:], from: start.from}
	return r.next(seq)
}

// encode appends to dst the form on disk of what follows the first so many entries: of a block, or of a chunk of an open
// tail, which does not read alone. The position of the block's first entry is first, from 0.
func (t *admissions) encode(c *codec, dst []byte, first uint64, after int) []byte {
	from := admissionStart{meta: len(t.meta), url: len(t.urls)}
	if after < t.len() {
		from = t.starts[after]
	}
	var urls [BlockEntries/frameURLs + 1][]byte
	parts := urls[:0]
	for next := after; next < t.len(); {
		start, end := t.starts[next].url, len(t.urls)
		if next += frameURLs; next < t.len() {
			end = t.starts[next].url
		}
		parts = append(parts, t.urls[start:end])
	}
	return c.encode(dst, admissionBlock, first+uint64(after), t.len()-after, t.hashes[8*after:], [][]byte{t.meta[from.meta:]}, parts)
}

// decodeAdmissions appends the entries of a block to dst.
func decodeAdmissions(c *codec, b block, dst []Admission) ([]Admission, error) {
	meta, err := c.column(b, 0, nil)
	if err != nil {
		return nil, err
	}
	urls, err := c.column(b, 1, nil)
	if err != nil {
		return nil, err
	}
	return unpackAdmissions(columns{b.first, b.entries, b.rawColumn, [][]byte{meta, urls}}, dst)
}

// unpackAdmissions appends entries to dst.
func unpackAdmissions(c columns, dst []Admission) ([]Admission, error) {
	if len(c.raw) != 8*c.entries {
		return nil, errColumnEnds
	}
	r := admissionReader{hashes: c.raw, meta: varints{c.packed[0]}, urls: c.packed[1]}
	for i := range c.entries {
		a, err := r.next(c.first + uint64(i) + 1)
		if err != nil {
			return nil, err
		}
		dst = append(dst, a)
	}
	if len(r.meta.rest) != 0 || len(r.urls) != 0 {
		return nil, errColumnLong
	}
	return dst, nil
}

// admissionReader takes entries off the columns' starts.
type admissionReader struct {
	hashes []byte
	meta   varints
	urls   []byte
	from   uint64 // the last referrer
}

// next returns the entry whose sequence number is seq. Its URL is a string of its own: whoever keeps it keeps no block.
func (r *admissionReader) next(seq uint64) (Admission, error) {
	var field [admissionFields]uint64
	if err := r.meta.all(field[:]); err != nil {
		return Admission{}, err
	}
	depth, class, from, hop, seed, length := field[0], field[1], field[2], field[3], field[4], field[5]
	if depth > math.MaxUint32 || class > math.MaxUint8 || hop > math.MaxUint8 ||
		seed > math.MaxUint32 {
		return Admission{}, errFieldRange
	}
	if length > uint64(len(r.urls)) {
		return Admission{}, errColumnEnds
	}
	a := Admission{
		URL: string(r.urls[:length]), Hash: binary.LittleEndian.Uint64(r.hashes),
		Depth: uint32(depth), Class: uint8(class), Hop: uint8(hop), Seed: uint32(seed),
	}
	if from > 0 {
		r.from += uint64(unzigzag(from - 1))
		if a.From = r.from; a.From == 0 || a.From >= seq {
			return Admission{}, errFieldRange
		}
	}
	r.hashes, r.urls = r.hashes[8:], r.urls[length:]
	return a, nil
}
