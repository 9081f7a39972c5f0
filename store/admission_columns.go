package store

import (
	"encoding/binary"
	"math"
)

// admissions are the columns of one block in memory. They are only appended to: a copy of the struct is a snapshot that
// stays valid.
type admissions struct {
	hashes []byte // 8 bytes each, little-endian: the raw column
	meta   []byte // varints: depth, class, distance to the referrer, hop, seed label, length of the URL
	urls   []byte // one after the other
	starts []admissionStart
}

// admissionFields is how many varints of meta an entry has. The length of its URL is the last.
const admissionFields = 6

// admissionStart is where an entry starts in the columns of variable width. It is not written.
type admissionStart struct{ meta, url int }

func (t *admissions) len() int { return len(t.starts) }

// next returns the empty columns of the next block, with room for what this one took.
func (t *admissions) next() admissions {
	return admissions{
		hashes: make([]byte, 0, len(t.hashes)),
		meta:   make([]byte, 0, len(t.meta)+len(t.meta)/16),
		urls:   make([]byte, 0, len(t.urls)+len(t.urls)/16),
		starts: make([]admissionStart, 0, len(t.starts)),
	}
}

func (t *admissions) append(a Admission, seq uint64) {
	t.starts = append(t.starts, admissionStart{meta: len(t.meta), url: len(t.urls)})
	t.hashes = binary.LittleEndian.AppendUint64(t.hashes, a.Hash)
	t.meta = binary.AppendUvarint(t.meta, uint64(a.Depth))
	t.meta = binary.AppendUvarint(t.meta, uint64(a.Class))
	distance := uint64(0)
	if a.From != 0 {
		distance = seq - a.From
	}
	t.meta = binary.AppendUvarint(t.meta, distance)
	t.meta = binary.AppendUvarint(t.meta, uint64(a.Hop))
	t.meta = binary.AppendUvarint(t.meta, uint64(a.Seed))
	t.meta = binary.AppendUvarint(t.meta, uint64(len(a.URL)))
	t.urls = append(t.urls, a.URL...)
}

// at returns entry i of the block, whose sequence number is seq.
func (t *admissions) at(i int, seq uint64) (Admission, error) {
	start := t.starts[i]
	r := admissionReader{hashes: t.hashes[8*i:], meta: varints{t.meta[start.meta:]}, urls: t.urls[start.url:]}
	return r.next(seq)
}

// encode returns the form on disk of what follows the first so many entries: of a block, or of a chunk of an open tail. The
// position of the block's first entry is first, from 0.
func (t *admissions) encode(c *codec, first uint64, after int) []byte {
	from := admissionStart{len(t.meta), len(t.urls)}
	if after < t.len() {
		from = t.starts[after]
	}
	return c.encode(admissionBlock, first+uint64(after), t.len()-after, t.hashes[8*after:], t.meta[from.meta:], t.urls[from.url:])
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
}

// next returns the entry whose sequence number is seq. Its URL is a string of its own: whoever keeps it keeps no block.
func (r *admissionReader) next(seq uint64) (Admission, error) {
	var field [admissionFields]uint64
	if err := r.meta.all(field[:]); err != nil {
		return Admission{}, err
	}
	depth, class, distance, hop, seed, length := field[0], field[1], field[2], field[3], field[4], field[5]
	if depth > math.MaxUint32 || class > math.MaxUint8 || distance >= seq || hop > math.MaxUint8 ||
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
	if distance > 0 {
		a.From = seq - distance
	}
	r.hashes, r.urls = r.hashes[8:], r.urls[length:]
	return a, nil
}
