package store

import (
	"encoding/binary"
	"io"
)

// boltPage is one page of a bbolt file with the pages that it runs on over, or the page within a bucket's value.
type boltPage struct {
	file     io.ReaderAt
	at       int64 // in the file
	length   int64
	window   []byte // its first bytes
	id       uint64
	flags    uint16
	count    int
	overflow uint32
}

// page reads a page that an owner points to.
func (c *boltCheck) page(id uint64) (*boltPage, error) {
	if err := c.claim(id); err != nil {
		return nil, err
	}
	c.at = int64(id) * c.pageSize
	p := &boltPage{file: c.file, at: c.at, length: c.pageSize, window: make([]byte, min(c.pageSize, boltWindow))}
	if _, err := c.file.ReadAt(p.window, p.at); err != nil {
		return nil, err
	}
	p.readHead()
	if p.id != id {
		return nil, errBoltPage
	}
	for i := range uint64(p.overflow) {
		if err := c.claim(id + 1 + i); err != nil {
			return nil, err
		}
	}
	p.length += int64(p.overflow) * c.pageSize
	return p, nil
}

func (p *boltPage) readHead() {
	p.id = binary.NativeEndian.Uint64(p.window)
	p.flags = binary.NativeEndian.Uint16(p.window[8:])
	p.count = int(binary.NativeEndian.Uint16(p.window[10:]))
	p.overflow = binary.NativeEndian.Uint32(p.window[12:])
}

// elements returns what follows the head.
func (p *boltPage) elements() ([]byte, error) {
	return p.bytes(boltPageHead, boltElement*int64(p.count))
}

func (p *boltPage) key(at int64, length uint32) ([]byte, error) {
	if length == 0 || length > boltMaxKey {
		return nil, errBoltEnd
	}
	return p.bytes(at, int64(length))
}

// bytes returns n bytes of the page.
func (p *boltPage) bytes(at, n int64) ([]byte, error) {
	if at > p.length || n > p.length-at {
		return nil, errBoltEnd
	}
	if at+n <= int64(len(p.window)) {
		return p.window[at : at+n], nil
	}
	data := make([]byte, n)
	_, err := p.file.ReadAt(data, p.at+at)
	return data, err
}
