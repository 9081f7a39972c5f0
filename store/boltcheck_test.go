package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// checkBolt finds nothing wrong with what bbolt writes: trees of several levels, inline buckets, large values, lists of
// free pages, files that shrink within.
func TestCheckBoltTakesWhatBoltWrites(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 21))
	for _, pageSize := range []int{1024, 4096, 16384} {
		path := filepath.Join(t.TempDir(), "test.db")
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: pageSize, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		for round := range 40 {
			if err := db.Update(func(tx *bbolt.Tx) error { return randomBolt(rng, tx, round) }); err != nil {
				t.Fatal(err)
			}
			if err := checkBolt(path); err != nil {
				t.Fatalf("page size %d, round %d: %v", pageSize, round, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func randomBolt(rng *rand.Rand, tx *bbolt.Tx, round int) error {
	name := []byte(fmt.Sprint("bucket ", rng.IntN(4)))
	b, err := tx.CreateBucketIfNotExists(name)
	if err != nil {
		return err
	}
	if round%13 == 12 {
		return tx.DeleteBucket(name)
	}
	size := []int{10, 300, 20000}[rng.IntN(3)]
	for range rng.IntN(200000 / (size + 500)) {
		key := []byte(fmt.Sprintf("%0*d", 1+rng.IntN(60), rng.IntN(1000)))
		if rng.IntN(3) == 0 {
			err = b.Delete(key)
		} else {
			err = b.Put(key, make([]byte, rng.IntN(size)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A branch that points back to itself, or to a page of another branch, would have bbolt walk for ever.
func TestCheckBoltFindsCycles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := createBolt(path)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		tbl, err := openTable(tx, rowsTable)
		for i := range 500 {
			if err == nil {
				err = tbl.put([]byte(fmt.Sprintf("%05d", i)), make([]byte, 50))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size, branches := os.Getpagesize(), 0
	for at := 2 * size; at+size <= len(whole); at += size {
		page := whole[at : at+size]
		if binary.NativeEndian.Uint16(page[8:]) != boltBranch {
			continue
		}
		branches++
		for _, target := range []int{at / size, 0, 1, len(whole) / size, 1 << 30} {
			data := append([]byte(nil), whole...)
			binary.NativeEndian.PutUint64(data[at+boltPageHead+8:], uint64(target))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := checkBolt(path); err == nil {
				t.Errorf("a branch at page %d that points to page %d is taken", at/size, target)
			}
		}
	}
	if branches == 0 {
		t.Error("the file has no branch")
	}
}

// What checkBolt lets through, bbolt and the tables can walk.
func FuzzBolt(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 1024, NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	for n := range 3 {
		err = db.Update(func(tx *bbolt.Tx) error {
			tbl, err := openTable(tx, rowsTable)
			for i := range 20 * n {
				if err == nil {
					err = tbl.put([]byte(fmt.Sprint(i)), make([]byte, 50))
				}
			}
			if err != nil {
				return err
			}
			return tbl.save()
		})
		if err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	if err := db.Close(); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "fuzz.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := openBolt(path, true)
		if err != nil {
			return
		}
		defer db.Close()
		_ = db.View(func(tx *bbolt.Tx) error {
			tbl, err := openTable(tx, rowsTable)
			if err != nil {
				return err
			}
			return tbl.each("", func(_, _ []byte) error { return nil })
		})
	})
}
