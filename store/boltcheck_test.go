package store

import (
	"bytes"
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

// boltFile is a bbolt file of one bucket with a tree of two levels, and free pages.
func boltFile(t *testing.T) (path string, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "test.db")
	db, err := createBolt(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err = db.Update(func(tx *bbolt.Tx) error {
			tbl, err := openTable(tx, rowsTable)
			for i := range 500 {
				if err == nil {
					err = tbl.put([]byte(fmt.Sprintf("%05d", 2*i)), make([]byte, 50))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, data
}

// Each of these bbolt would follow, for ever or to the loss of entries.
func TestCheckBoltRefuses(t *testing.T) {
	path, whole := boltFile(t)
	native := binary.NativeEndian
	for _, tt := range []struct {
		name string
		kind uint16                              // of the page to change
		do   func(page []byte, id, pages uint64) // to a page in use
	}{
		{"a branch that points to itself", boltBranch, func(p []byte, id, _ uint64) { native.PutUint64(p[24:], id) }},
		{"a branch that points to the meta data", boltBranch, func(p []byte, _, _ uint64) { native.PutUint64(p[24:], 1) }},
		{"a branch that points past the end", boltBranch, func(p []byte, _, n uint64) { native.PutUint64(p[24:], n) }},
		{"a branch that points far away", boltBranch, func(p []byte, _, _ uint64) { native.PutUint64(p[24:], 1<<62) }},
		{"two entries for a child", boltBranch, func(p []byte, _, _ uint64) { copy(p[40:48], p[24:32]) }},
		{"a branch that names no child's first key", boltBranch, func(p []byte, _, _ uint64) {
			key := 32 + int(native.Uint32(p[32:])) // of the second element
			p[key+4]--                             // the last digit, of an even number: still in order
		}},
		{"an empty branch", boltBranch, func(p []byte, _, _ uint64) { native.PutUint16(p[10:], 0) }},
		{"a branch of fewer", boltBranch, func(p []byte, _, _ uint64) { p[10]-- }},
		{"another page's number", boltLeaf, func(p []byte, _, _ uint64) { p[0]++ }},
		{"no kind of page", boltLeaf, func(p []byte, _, _ uint64) { p[8] = 0x20 }},
		{"an empty leaf in a tree", boltLeaf, func(p []byte, _, _ uint64) { native.PutUint16(p[10:], 0) }},
		{"a leaf that runs on", boltLeaf, func(p []byte, _, _ uint64) { native.PutUint32(p[12:], 1) }},
		{"a leaf that runs on for ever", boltLeaf, func(p []byte, _, _ uint64) { native.PutUint32(p[12:], 1<<32-1) }},
		{"too many elements", boltLeaf, func(p []byte, _, _ uint64) { native.PutUint16(p[10:], 0xffff) }},
		{"an unknown flag", boltLeaf, func(p []byte, _, _ uint64) { p[16] = 2 }},
		{"a bucket in a bucket", boltLeaf, func(p []byte, _, _ uint64) { p[16] = 1 }},
		{"a key past its page", boltLeaf, func(p []byte, _, _ uint64) { native.PutUint32(p[20:], 1<<31) }},
		{"an endless key", boltLeaf, func(p []byte, _, _ uint64) { native.PutUint32(p[24:], 1<<32-1) }},
		{"a key without bytes", boltLeaf, func(p []byte, _, _ uint64) { native.PutUint32(p[24:], 0) }},
		{"an endless value", boltLeaf, func(p []byte, _, _ uint64) { native.PutUint32(p[28:], 1<<32-1) }},
		{"keys out of order", boltLeaf, func(p []byte, _, _ uint64) {
			key := 32 + int(native.Uint32(p[36:])) // of the second element
			p[key] = '9'
		}},
		{"a lost free page", boltFreelist, func(p []byte, _, _ uint64) { p[10]-- }},
		{"a page that is free twice", boltFreelist, func(p []byte, _, _ uint64) { copy(p[24:32], p[16:24]) }},
		{"a free page past the end", boltFreelist, func(p []byte, _, n uint64) { native.PutUint64(p[16:], n) }},
		{"an endless list of free pages", boltFreelist, func(p []byte, _, _ uint64) {
			native.PutUint16(p[10:], 0xffff)
			native.PutUint64(p[16:], 1<<60)
		}},
		{"a list of another kind", boltFreelist, func(p []byte, _, _ uint64) { p[8] = boltLeaf }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := append([]byte(nil), whole...)
			page, id := usedPage(t, data, tt.kind)
			tt.do(page, id, uint64(len(data)/os.Getpagesize()))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			wantDamage(t, checkBolt(path), path, -1)
		})
	}
}

// usedPage finds a page of the kind that is not free, and no outermost tree.
func usedPage(t *testing.T, data []byte, kind uint16) (page []byte, id uint64) {
	t.Helper()
	c := &boltCheck{file: bytes.NewReader(data), size: int64(len(data))}
	if err := c.all(); err != nil {
		t.Fatal(err)
	}
	m, err := c.meta()
	if err != nil {
		t.Fatal(err)
	}
	free := make(map[uint64]bool)
	list := data[int64(m.freelist)*c.pageSize:]
	for i := range int(binary.NativeEndian.Uint16(list[10:])) {
		free[binary.NativeEndian.Uint64(list[boltPageHead+8*i:])] = true
	}
	if len(free) < 2 {
		t.Fatal("the file has too few free pages")
	}
	for id = 2; id < m.pages; id++ {
		page = data[int64(id)*c.pageSize:][:c.pageSize]
		current := kind != boltFreelist || id == m.freelist
		if binary.NativeEndian.Uint16(page[8:]) == kind && !free[id] && id != m.root && current {
			return page, id
		}
	}
	t.Fatalf("the file has no page of kind %d", kind)
	return nil, 0
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
