package seen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// joint is what stands between a table's filter and its hashes, in a head of kind KindTable and zeros up to where pages
// begin: it says which filter and which hashes belong together.
type joint struct {
	filterSum uint32 // of the filter's head
	hashesSum uint32 // of the trailer of the hashes
	keys      uint64
}

func jointOf(filterHead []byte, hashes *run) joint {
	return joint{
		filterSum: binary.LittleEndian.Uint32(filterHead[len(filterHead)-sumBytes:]),
		hashesSum: hashes.sum,
		keys:      hashes.keys,
	}
}

// append appends the joint to a file that has so many bytes.
func (j joint) append(file int64) ([]byte, error) {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, j.filterSum)
	b = le.AppendUint32(b, j.hashesSum)
	b = le.AppendUint64(b, j.keys)
	head, err := sealHead(KindTable, b)
	if err != nil {
		return nil, err
	}
	return append(head, make([]byte, padding(file+int64(len(head))))...), nil
}

// padding returns how many bytes are missing up to a page's beginning.
func padding(at int64) int { return int(-at & (pageBytes - 1)) }

// readJoint reads the joint that follows in r, up to where pages begin.
func readJoint(r *io.SectionReader) (joint, error) {
	s, err := open(r)
	if err != nil {
		return joint{}, err
	}
	if s.kind != KindTable {
		return joint{}, fmt.Errorf("%w: want kind %q, got %q", ErrFormat, KindTable, s.kind)
	}
	j := joint{filterSum: s.fields.uint32(), hashesSum: s.fields.uint32(), keys: s.fields.uint64()}
	if err := s.fields.end(); err != nil {
		return joint{}, err
	}
	at, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return joint{}, err
	}
	pad := make([]byte, padding(at))
	if err := readFull(r, pad, "the zeros before its hashes"); err != nil {
		return joint{}, err
	}
	if len(bytes.Trim(pad, "\x00")) > 0 {
		return joint{}, fmt.Errorf("%w: no zeros before its hashes", ErrDamaged)
	}
	return j, nil
}
