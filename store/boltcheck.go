package store

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"os"
)

// checkBolt verifies the structure of a bbolt file, without bbolt. It is meant for what bbolt itself would follow
// blindly, into an endless loop, an allocation of any size or the loss of entries, none of which can be caught: each
// page below the high-water mark belongs to one tree or is free, a tree's keys are in order, and nothing points out of
// its page. Values are not looked at: they carry sums of their own.
//
// The format is that of bbolt's internal/common: pages of a 16-byte head {id, flags, count, overflow}, two pages of meta
// data with a checksum, of which the valid one with the greater transaction counts, a B+tree of buckets whose values are
// buckets, and a list of free pages. Integers are in the machine's order.
//
// An error about the content is a *DamageError, with the offset of the page where one can be told.
func checkBolt(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return cannotOpen(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	c := &boltCheck{file: f, size: info.Size()}
	if err := c.all(); err != nil {
		return &DamageError{File: path, Offset: c.at, Err: err}
	}
	return nil
}

// boltCheck is one check of one file.
type boltCheck struct {
	file     io.ReaderAt
	size     int64
	pageSize int64
	owned    []bool // by page: it belongs to a tree or is free
	at       int64  // where the page starts that is looked at; -1: none
}

const (
	boltMagic       = 0xED0CDAED
	boltVersion     = 2
	boltPageHead    = 16
	boltMetaBytes   = 64
	boltElement     = 16 // of a branch or a leaf
	boltBucketHead  = 16
	boltBranch      = 0x01
	boltLeaf        = 0x02
	boltFreelist    = 0x10
	boltBucketEntry = 0x01       // flag of a leaf's element
	boltNoFreelist  = ^uint64(0) // in the meta data: the list of free pages is not kept
	boltManyFree    = 0xFFFF     // a count that says: the first entry is the count
	boltMaxKey      = 1 << 15    // as bbolt.MaxKeySize
	boltWindow      = 64 << 10   // of a page is read at once
	boltMaxPageSize = 1024 << 14 // bbolt knows no larger one
	boltMinPageSize = 1024
)

var (
	errBoltMeta  = errors.New("no valid page of meta data")
	errBoltPage  = errors.New("a page is not what points to it says")
	errBoltTwice = errors.New("a page belongs to two owners")
	errBoltLost  = errors.New("a page belongs to no owner")
	errBoltEnd   = errors.New("an element points out of its page")
	errBoltOrder = errors.New("keys are out of order")
	errBoltFree  = errors.New("the list of free pages is not one")
)

// boltMeta is what a page of meta data says.
type boltMeta struct {
	pageSize, root, freelist, pages, tx uint64
}

func (c *boltCheck) all() error {
	c.at = -1
	m, err := c.meta()
	if err != nil {
		return err
	}
	c.pageSize = int64(m.pageSize)
	if m.pages < 3 || m.pages > uint64(c.size/c.pageSize) {
		return io.ErrUnexpectedEOF
	}
	c.owned = make([]bool, m.pages)
	c.owned[0], c.owned[1] = true, true
	if err := c.tree(m.root, nil, nil, true); err != nil {
		return err
	}
	if err := c.free(m.freelist); err != nil {
		return err
	}
	c.at = -1
	for _, owned := range c.owned {
		if !owned {
			return errBoltLost
		}
	}
	return nil
}

// meta returns the newest valid meta data. Without the first page the second's place is found by trying page sizes.
func (c *boltCheck) meta() (boltMeta, error) {
	newest, found := c.metaAt(0, 0)
	sizes := []int64{int64(newest.pageSize)}
	if !found {
		sizes = nil
		for size := int64(boltMinPageSize); size <= boltMaxPageSize; size *= 2 {
			sizes = append(sizes, size)
		}
	}
	for _, size := range sizes {
		if m, ok := c.metaAt(size, 1); ok && int64(m.pageSize) == size && (!found || m.tx > newest.tx) {
			newest, found = m, true
		}
	}
	if !found {
		return boltMeta{}, errBoltMeta
	}
	return newest, nil
}

// metaAt reads meta data off page id of a file with pages of the given size.
func (c *boltCheck) metaAt(pageSize int64, id uint64) (boltMeta, bool) {
	var page [boltPageHead + boltMetaBytes]byte
	if _, err := c.file.ReadAt(page[:], int64(id)*pageSize); err != nil {
		return boltMeta{}, false
	}
	// {magic 4, version 4, page size 4, flags 4, root 8, sequence 8, free list 8, pages 8, transaction 8, sum 8}
	text, native := page[boltPageHead:], binary.NativeEndian
	sum := fnv.New64a()
	sum.Write(text[:56])
	m := boltMeta{
		pageSize: uint64(native.Uint32(text[8:])), root: native.Uint64(text[16:]), freelist: native.Uint64(text[32:]),
		pages: native.Uint64(text[40:]), tx: native.Uint64(text[48:]),
	}
	valid := native.Uint32(text) == boltMagic && native.Uint32(text[4:]) == boltVersion &&
		native.Uint64(text[56:]) == sum.Sum64() && m.pageSize >= boltMinPageSize && m.pageSize <= boltMaxPageSize
	return m, valid
}

// free checks the list of free pages.
func (c *boltCheck) free(id uint64) error {
	if id == boltNoFreelist {
		return errBoltFree
	}
	p, err := c.page(id)
	if err != nil {
		return err
	}
	if p.flags != boltFreelist {
		return errBoltFree
	}
	start, count := int64(boltPageHead), uint64(p.count)
	if count == boltManyFree {
		first, err := p.bytes(start, 8)
		if err != nil {
			return err
		}
		start, count = start+8, binary.NativeEndian.Uint64(first)
	}
	if count > uint64(len(c.owned)) {
		return errBoltFree
	}
	ids, err := p.bytes(start, 8*int64(count))
	if err != nil {
		return err
	}
	for ; len(ids) > 0; ids = ids[8:] {
		if err := c.claim(binary.NativeEndian.Uint64(ids)); err != nil {
			return err
		}
	}
	return nil
}

// claim gives a page to an owner.
func (c *boltCheck) claim(id uint64) error {
	if id >= uint64(len(c.owned)) {
		return errBoltPage
	}
	if c.owned[id] {
		return errBoltTwice
	}
	c.owned[id] = true
	return nil
}
