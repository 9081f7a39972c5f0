package store

import (
	"encoding/binary"
	"errors"
)

var (
	errColumnEnds = errors.New("a column ends too early")
	errColumnLong = errors.New("a column goes on past the last entry")
	errFieldRange = errors.New("a field is out of range")
)

// varints reads a column of unsigned varints.
type varints struct{ rest []byte }

func (v *varints) next() (uint64, error) {
	if len(v.rest) > 0 && v.rest[0] < 0x80 { // most are short
		x := uint64(v.rest[0])
		v.rest = v.rest[1:]
		return x, nil
	}
	x, n := binary.Uvarint(v.rest)
	if n <= 0 {
		return 0, errColumnEnds
	}
	v.rest = v.rest[n:]
	return x, nil
}

// skip passes over n fields.
func (v *varints) skip(n int) error {
	for i, b := range v.rest {
		if b >= 0x80 {
			continue
		}
		if n--; n == 0 {
			v.rest = v.rest[i+1:]
			return nil
		}
	}
	return errColumnEnds
}

// all reads one field after the other.
func (v *varints) all(fields []uint64) error {
	for i := range fields {
		var err error
		if fields[i], err = v.next(); err != nil {
			return err
		}
	}
	return nil
}

// zigzag maps small differences of either sign to small numbers.
func zigzag(d int64) uint64   { return uint64(d)<<1 ^ uint64(d>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
