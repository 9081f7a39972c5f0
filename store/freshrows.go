package store

import (
	"bytes"
	"maps"
	"sync"

	"go.etcd.io/bbolt"
)

// freshRows are the rows that lie over those in state.db's table of rows: of the deltas, and of the checkpoint that is
// being written. They are as many as deltas may hold before they are folded.
type freshRows struct {
	mu     sync.Mutex
	values map[string][]byte // nil: the row was removed
}

func (f *freshRows) add(rows []Row) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.values == nil {
		f.values = make(map[string][]byte)
	}
	for _, r := range rows {
		f.values[r.Key] = r.Value
	}
}

func (f *freshRows) set(values map[string][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.values = maps.Clone(values)
}

func (f *freshRows) get(key string) (value []byte, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	value, found = f.values[key]
	return value, found
}

// Row returns the value of a row as of the newest checkpoint that was prepared; nil where there is none. It may be called
// at any time, from any goroutine. An error is a *DamageError.
func (s *Store) Row(key string) ([]byte, error) {
	if value, found := s.state.fresh.get(key); found {
		return bytes.Clone(value), nil
	}
	return s.state.row(key)
}

// row reads a folded row.
func (s *state) row(key string) (value []byte, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		return guard(s.path, func() error {
			rows := tx.Bucket(rowsTable)
			if rows == nil {
				return nil
			}
			sealed := rows.Get([]byte(key))
			if sealed == nil {
				return nil
			}
			opened, err := openValue([]byte(key), sealed)
			if err != nil {
				return &DamageError{File: s.path, Offset: -1, Err: err}
			}
			value = bytes.Clone(opened)
			return nil
		})
	})
	return value, err
}
