package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
)

// state is state.db: the last checkpoint in bbolt. Rows that change are not written in place, which would dirty a page
// of the tree for each: a checkpoint's rows go into one delta value, and the deltas are folded into the rows, in key
// order, when they outgrow a quarter of them.
type state struct {
	dir       directory
	foldBytes uint64 // what deltas may take before they are folded, however few rows there are
	readOnly  bool   // the file is opened so
	db        *bbolt.DB
	path      string // of db
	fresh     freshRows
}

var (
	pointTable = []byte("point")
	rowsTable  = []byte("rows")
	deltaTable = []byte("deltas")
	pointKey   = []byte("point")
)

func newState(d directory) *state { return &state{dir: d, foldBytes: 4 << 20} }

// begin opens a new file under a name that is not yet a crawl's.
func (s *state) begin() (err error) {
	s.path = s.dir.newStateDB()
	if s.db, err = createBolt(s.path); err != nil {
		return &WriteError{File: s.path, Err: err}
	}
	return nil
}

// appear gives the new file its name, which makes the directory a crawl's.
func (s *state) appear() error {
	err := s.close()
	if err == nil {
		err = s.dir.fs.Rename(s.path, s.dir.stateDB())
	}
	if err == nil {
		err = s.dir.fs.SyncDir(s.dir.root)
	}
	if err != nil {
		return &WriteError{File: s.dir.stateDB(), Err: err}
	}
	s.path = s.dir.stateDB()
	s.db, err = openBolt(s.path, false)
	return err
}

// open returns the last checkpoint but for its rows, once every sum in the file was verified.
func (s *state) open() (p point, err error) {
	s.path = s.dir.stateDB()
	if s.db, err = openBolt(s.path, s.readOnly); err != nil {
		return point{}, err
	}
	if p, err = s.point(); err == nil {
		err = s.each("", func(string, []byte) error { return nil })
	}
	if err == nil {
		err = s.view(func(tx *bbolt.Tx) error {
			deltas, err := openTable(tx, deltaTable)
			if err != nil {
				return err
			}
			overlay, err := mergeDeltas(deltas)
			s.fresh.set(overlay)
			return err
		})
	}
	if err != nil {
		return point{}, errors.Join(err, s.close())
	}
	return p, nil
}

// view runs fn in a transaction that only reads.
func (s *state) view(fn func(tx *bbolt.Tx) error) error {
	tx, err := s.db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of a transaction that wrote nothing: it cannot fail
	return fn(tx)
}

func (s *state) point() (p point, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		t, err := openTable(tx, pointTable)
		if err != nil {
			return err
		}
		value, err := t.get(pointKey)
		if err != nil {
			return err
		}
		if p, err = decodePoint(value); err != nil {
			return t.damage(err)
		}
		return nil
	})
	return p, err
}

// each calls fn for every row: the deltas, newest last, lie over the rows.
func (s *state) each(prefix string, fn func(key string, value []byte) error) error {
	return s.view(func(tx *bbolt.Tx) error {
		deltas, err := openTable(tx, deltaTable)
		if err != nil {
			return err
		}
		overlay, err := mergeDeltas(deltas)
		if err != nil {
			return err
		}
		rows, err := openTable(tx, rowsTable)
		if err != nil {
			return err
		}
		err = rows.each(prefix, func(key, value []byte) error {
			if _, newer := overlay[string(key)]; newer {
				return nil
			}
			return fn(string(key), bytes.Clone(value))
		})
		if err != nil {
			return err
		}
		for key, value := range overlay {
			if value == nil || !strings.HasPrefix(key, prefix) {
				continue
			}
			if err := fn(key, value); err != nil {
				return err
			}
		}
		return nil
	})
}

// mergeDeltas returns the newest value of each row that the deltas name, nil for one that was removed.
func mergeDeltas(deltas *table) (map[string][]byte, error) {
	overlay := make(map[string][]byte)
	err := deltas.each("", func(_, delta []byte) error {
		err := decodeRows(bytes.Clone(delta), func(r Row) { overlay[r.Key] = r.Value })
		if err != nil {
			return deltas.damage(err)
		}
		return nil
	})
	return overlay, err
}

// write puts a checkpoint into state.db in one transaction and returns the bytes it took.
func (s *state) write(number uint64, encoded []byte, rows []Row) (written int, err error) {
	delta := encodeRows(rows)
	err = guard(s.path, func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			if err := putPoint(tx, encoded); err != nil {
				return err
			}
			if len(delta) == 0 {
				written = len(encoded)
				return nil
			}
			folded, err := s.putDelta(tx, number, delta)
			written = len(encoded) + len(delta) + folded
			return err
		})
	})
	if _, damaged := errors.AsType[*DamageError](err); damaged || err == nil {
		return written, err
	}
	return 0, &WriteError{File: s.path, Err: err}
}

func putPoint(tx *bbolt.Tx, encoded []byte) error {
	t, err := openTable(tx, pointTable)
	if err != nil {
		return err
	}
	if err := t.put(pointKey, encoded); err != nil {
		return err
	}
	return t.save()
}

// putDelta adds a delta, folds all of them when they are large enough, and returns the bytes that folding took.
func (s *state) putDelta(tx *bbolt.Tx, number uint64, delta []byte) (folded int, err error) {
	deltas, err := openTable(tx, deltaTable)
	if err != nil {
		return 0, err
	}
	key := binary.BigEndian.AppendUint64(nil, number) // big-endian, so that key order is age
	if err := deltas.put(key, delta); err != nil {
		return 0, err
	}
	rows, err := openTable(tx, rowsTable)
	if err != nil {
		return 0, err
	}
	if deltas.ledger.bytes > max(s.foldBytes, rows.ledger.bytes/4) {
		if folded, err = fold(deltas, rows); err != nil {
			return 0, err
		}
		deltas.tx.OnCommit(func() { s.fresh.set(nil) })
	}
	return folded, errors.Join(deltas.save(), rows.save())
}

// fold moves all deltas into the rows, in key order, and returns the bytes it wrote.
func fold(deltas, rows *table) (written int, err error) {
	overlay, err := mergeDeltas(deltas)
	if err != nil {
		return 0, err
	}
	for _, key := range slices.Sorted(maps.Keys(overlay)) {
		name, value := []byte(key), overlay[key]
		if value == nil {
			err = rows.remove(name)
		} else {
			err = rows.put(name, value)
			written += len(key) + len(value) + sumBytes
		}
		if err != nil {
			return 0, err
		}
	}
	return written, deltas.clear()
}

func (s *state) close() error {
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	return db.Close()
}
