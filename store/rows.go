package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// A Row is a small piece of state that changes on its own: a host, a label, a seed's scope. A nil Value removes it.
type Row struct {
	Key   string
	Value []byte
}

// checkRows refuses keys that bbolt would, before they are part of a delta.
func checkRows(rows []Row) error {
	for _, r := range rows {
		if r.Key == "" || len(r.Key) > bbolt.MaxKeySize {
			return fmt.Errorf("a row's key of %d bytes: want 1 to %d", len(r.Key), bbolt.MaxKeySize)
		}
	}
	return nil
}

// encodeRows writes the rows of one checkpoint as one value: for each its key, then 0 for a removal or the value's
// length plus one and the value. It is what a replica would be sent.
func encodeRows(rows []Row) []byte {
	var out []byte
	for _, r := range rows {
		out = binary.AppendUvarint(out, uint64(len(r.Key)))
		out = append(out, r.Key...)
		if r.Value == nil {
			out = append(out, 0)
			continue
		}
		out = binary.AppendUvarint(out, uint64(len(r.Value))+1)
		out = append(out, r.Value...)
	}
	return out
}

var errRowsEnd = errors.New("a delta ends too early")

// decodeRows calls fn with each row. The values share data's memory.
func decodeRows(data []byte, fn func(Row)) error {
	fields := varints{data}
	take := func(n uint64) ([]byte, error) {
		if n > uint64(len(fields.rest)) {
			return nil, errRowsEnd
		}
		part := fields.rest[:n:n]
		fields.rest = fields.rest[n:]
		return part, nil
	}
	for len(fields.rest) > 0 {
		n, err := fields.next()
		if err != nil {
			return errRowsEnd
		}
		key, err := take(n)
		if err != nil {
			return err
		}
		if n, err = fields.next(); err != nil {
			return errRowsEnd
		}
		row := Row{Key: string(key)}
		if n > 0 {
			if row.Value, err = take(n - 1); err != nil {
				return err
			}
		}
		fn(row)
	}
	return nil
}
