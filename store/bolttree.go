package store

import (
	"bytes"
	"encoding/binary"
)

// tree checks the page id and all below it: its first key is low, as the branch above says, and the others are less than
// high. bbolt looks for a child in its branch by the child's first key; with another one there it would enter the child
// twice. Only the outermost tree holds buckets, and nothing else.
func (c *boltCheck) tree(id uint64, low, high []byte, outermost bool) error {
	p, err := c.page(id)
	if err != nil {
		return err
	}
	switch p.flags {
	case boltBranch:
		return c.branch(p, low, high, outermost)
	case boltLeaf:
		return c.leaf(p, low, high, outermost)
	}
	return errBoltPage
}

func (c *boltCheck) branch(p *boltPage, low, high []byte, outermost bool) error {
	elements, err := p.elements()
	if err != nil {
		return err
	}
	if p.count == 0 {
		return errBoltPage
	}
	bounds := make([][]byte, 0, p.count+1) // child i has the keys from bound i to bound i+1
	children := make([]uint64, 0, p.count)
	for i := range int64(p.count) {
		// {position of the key relative to the element 4, its length 4, page 8}
		e := elements[boltElement*i:]
		at := boltPageHead + boltElement*i + int64(binary.NativeEndian.Uint32(e))
		key, err := p.key(at, binary.NativeEndian.Uint32(e[4:]))
		if err != nil {
			return err
		}
		if !inOrder(bounds, key, low, high) {
			return errBoltOrder
		}
		bounds, children = append(bounds, key), append(children, binary.NativeEndian.Uint64(e[8:]))
	}
	bounds = append(bounds, high)
	for i, child := range children {
		if err := c.tree(child, bounds[i], bounds[i+1], outermost); err != nil {
			return err
		}
	}
	return nil
}

func (c *boltCheck) leaf(p *boltPage, low, high []byte, outermost bool) error {
	elements, err := p.elements()
	if err != nil {
		return err
	}
	if p.count == 0 && low != nil { // only a whole tree may be empty
		return errBoltPage
	}
	var last [][]byte // the key before this one
	for i := range int64(p.count) {
		// {flags 4, position of the key relative to the element 4, its length 4, the value's 4}
		e := elements[boltElement*i:]
		at := boltPageHead + boltElement*i + int64(binary.NativeEndian.Uint32(e[4:]))
		key, err := p.key(at, binary.NativeEndian.Uint32(e[8:]))
		if err != nil {
			return err
		}
		if !inOrder(last, key, low, high) {
			return errBoltOrder
		}
		last = append(last[:0], key)
		value, length := at+int64(len(key)), int64(binary.NativeEndian.Uint32(e[12:]))
		switch flags := binary.NativeEndian.Uint32(e); {
		case length > p.length-value:
			return errBoltEnd
		case outermost && flags == boltBucketEntry:
			if err := c.bucket(p, value, length); err != nil {
				return err
			}
		case outermost || flags != 0:
			return errBoltPage
		}
	}
	return nil
}

// inOrder tells whether key follows the last of the keys before it, or is low when it is the first, and comes before
// high. Bounds that are nil do not bind.
func inOrder(before [][]byte, key, low, high []byte) bool {
	if high != nil && bytes.Compare(key, high) >= 0 {
		return false
	}
	if n := len(before); n > 0 {
		return bytes.Compare(before[n-1], key) < 0
	}
	return low == nil || bytes.Equal(low, key)
}

// bucket checks the tree of one bucket. That of a small one lies in the value itself.
func (c *boltCheck) bucket(p *boltPage, at, length int64) error {
	if length < boltBucketHead || length > c.pageSize {
		return errBoltPage
	}
	value, err := p.bytes(at, length)
	if err != nil {
		return err
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		if err := c.tree(root, nil, nil, false); err != nil {
			return err
		}
		c.at = p.at
		return nil
	}
	if length < boltBucketHead+boltPageHead {
		return errBoltPage
	}
	inline := boltPage{window: value[boltBucketHead:], length: length - boltBucketHead}
	inline.readHead()
	if inline.flags != boltLeaf {
		return errBoltPage
	}
	return c.leaf(&inline, nil, nil, false)
}
