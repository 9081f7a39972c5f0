package store

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// Rows are those of a map that gets the same changes, over deltas, folds and restarts.
func TestRowsAgreeWithAMap(t *testing.T) {
	for _, foldBytes := range []uint64{1, 500, 4000, 1 << 20} {
		t.Run(fmt.Sprint("folded at ", foldBytes), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(11, foldBytes))
			s, m := create(t, small), newModel()
			s.state.foldBytes = foldBytes
			folds := 0
			for i := range 20 {
				m.commit(t, s, m.change(rng, 1+rng.IntN(90)))
				if deltaBytes(t, s) == 0 {
					folds++
				}
				if i%7 == 6 {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = open(t, s.Dir(), small)
					s.state.foldBytes = foldBytes
				}
				m.check(t, s)
			}
			if none := folds == 0; none != (foldBytes > 4000) {
				t.Errorf("%d folds in 20 checkpoints", folds)
			}
			checkPrefixes(t, s, m)
		})
	}
}

func checkPrefixes(t *testing.T, s *Store, m *model) {
	t.Helper()
	for _, prefix := range []string{"host/1", "host/", "h", "none", "host/zzz"} {
		want, got := map[string]string{}, map[string]string{}
		for key, value := range m.rows {
			if strings.HasPrefix(key, prefix) {
				want[key] = value
			}
		}
		err := s.Rows(prefix, func(key string, value []byte) error {
			if _, twice := got[key]; twice {
				t.Errorf("row %s comes twice", key)
			}
			got[key] = string(value)
			return nil
		})
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("rows of %q: %d, %v, want %d", prefix, len(got), err, len(want))
		}
	}
}

func deltaBytes(t *testing.T, s *Store) (n uint64) {
	t.Helper()
	err := s.state.view(func(tx *bbolt.Tx) error {
		deltas, err := openTable(tx, deltaTable)
		n = deltas.ledger.bytes
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An empty value is a value; a nil one removes the row. Both hold in a delta and after a fold.
func TestEmptyAndRemovedRows(t *testing.T) {
	for _, foldBytes := range []uint64{0, 1 << 20} {
		s := create(t, small)
		s.state.foldBytes = foldBytes
		m := newModel()
		m.commit(t, s, []Row{{"empty", []byte{}}, {"gone", []byte("x")}, {"twice", []byte("1")}, {"twice", []byte("2")}})
		m.rows = map[string]string{"empty": "", "twice": "2"}
		m.commit(t, s, []Row{{"gone", nil}, {"never there", nil}})
		m.check(t, s)
	}
}

// Values outlive the call, the checkpoint and the file.
func TestRowValuesAreTheCallers(t *testing.T) {
	s, m := create(t, small), newModel()
	s.state.foldBytes = 0
	rows := []Row{{"folded", []byte("1")}}
	for i := range 200 { // a tree of its own
		rows = append(rows, Row{Key: fmt.Sprint("host/", i), Value: make([]byte, 100)})
	}
	m.commit(t, s, rows)
	s.state.foldBytes = 1 << 20
	m.commit(t, s, []Row{{"delta", []byte("2")}})
	kept := map[string][]byte{}
	if err := s.Rows("", func(key string, value []byte) error { kept[key] = value; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if string(kept["folded"]) != "1" || string(kept["delta"]) != "2" {
		t.Errorf("the values became %q", kept)
	}
}

// A panic of the function is the caller's, not damage.
func TestRowsLeavesPanicsAlone(t *testing.T) {
	s := create(t, small)
	newModel().commit(t, s, []Row{{"a", []byte("b")}})
	defer func() {
		if r := recover(); r != "mine" {
			t.Errorf("recovered %v, want the function's own panic", r)
		}
		if err := s.Close(); err != nil { // no transaction was left open
			t.Error(err)
		}
	}()
	err := s.Rows("", func(string, []byte) error { panic("mine") })
	t.Error("Rows returned ", err)
}

func FuzzRows(f *testing.F) {
	f.Add([]byte{})
	f.Add(encodeRows([]Row{{"a", []byte("b")}, {"empty", []byte{}}, {"gone", nil}}))
	f.Add([]byte{1, 'a', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var rows, again []Row
		if decodeRows(bytes.Clone(data), func(r Row) { rows = append(rows, r) }) != nil {
			return
		}
		if err := decodeRows(encodeRows(rows), func(r Row) { again = append(again, r) }); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(rows, again) {
			t.Errorf("%q became %q", rows, again)
		}
	})
}
