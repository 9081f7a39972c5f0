package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// BlockEntries is the number of entries of a full block of either log.
const BlockEntries = 4096

// A block on disk is a head, a raw column and packed columns:
//
//	magic    4 bytes  "CRAW"
//	kind     1 byte   which log
//	version  1 byte
//	columns  2 bytes  number of packed columns
//	first    8 bytes  position in the log of the first entry, from 0
//	entries  4 bytes
//	rawLen   4 bytes  length of the raw column
//	sizes    8 bytes a packed column: its packed and its plain length, 4 bytes each
//	sum      4 bytes  CRC-32C of all before it
//	raw      the raw column, and its sum
//	packed   each column, compressed with zstd (RFC 8878) on its own, and its sum
//
// Integers are little-endian. Each column has a sum of its own, so that one can be read without the others; it goes on
// from the head's, so that a column of another block does not pass.
const (
	blockMagic   = "CRAW"
	blockVersion = 2
	blockColumns = 2  // packed ones, of either log
	fixedBytes   = 24 // of the head, before the sizes
	sumBytes     = 4
	headBytes    = fixedBytes + 8*blockColumns + sumBytes
	maxColumn    = 1 << 30 // plain or packed
)

// blockKind tells the logs apart.
type blockKind byte

const (
	admissionBlock blockKind = 1
	doneBlock      blockKind = 2
)

// entriesNamed says in words which entries of the log these are.
func (k blockKind) entriesNamed(first, last uint64) string {
	if k == admissionBlock {
		return fmt.Sprintf("URLs %d to %d", first, last)
	}
	return fmt.Sprintf("events %d to %d", first, last)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockHead says what a block holds and where.
type blockHead struct {
	kind    blockKind
	first   uint64
	entries int
	raw     int // bytes of the raw column
	columns []columnSize
	sum     uint32
}

type columnSize struct{ packed, plain int }

// block is one block with its packed columns still packed.
type block struct {
	blockHead
	rawColumn []byte
	packed    [][]byte
}

var (
	errTornBlock = errors.New("the block is cut short")
	errBlockSum  = errors.New("a checksum of the block does not match")
)

// parseHead reads the head at the start of data.
func parseHead(data []byte, kind blockKind) (blockHead, error) {
	if len(data) < headBytes {
		return blockHead{}, errTornBlock
	}
	data = data[:headBytes]
	if string(data[:4]) != blockMagic || data[4] != byte(kind) {
		return blockHead{}, errors.New("no block starts here")
	}
	if data[5] != blockVersion {
		return blockHead{}, fmt.Errorf("block version %d is unknown", data[5])
	}
	body := data[:len(data)-sumBytes]
	h := blockHead{
		kind:    kind,
		first:   binary.LittleEndian.Uint64(data[8:]),
		entries: int(binary.LittleEndian.Uint32(data[16:])),
		raw:     int(binary.LittleEndian.Uint32(data[20:])),
		sum:     crc32.Checksum(body, castagnoli),
	}
	if h.sum != binary.LittleEndian.Uint32(data[len(body):]) {
		return blockHead{}, errBlockSum
	}
	for sizes := body[fixedBytes:]; len(sizes) > 0; sizes = sizes[8:] {
		h.columns = append(h.columns, columnSize{
			packed: int(binary.LittleEndian.Uint32(sizes)),
			plain:  int(binary.LittleEndian.Uint32(sizes[4:])),
		})
	}
	return h, h.check(int(binary.LittleEndian.Uint16(data[6:])))
}

// check keeps a head that is wrong, although its sum is right, from making anyone allocate.
func (h blockHead) check(columns int) error {
	if columns != blockColumns {
		return fmt.Errorf("a block of this log cannot have %d columns", columns)
	}
	if uint(h.entries) > BlockEntries || uint(h.raw) > 8*BlockEntries {
		return fmt.Errorf("a block cannot have %d entries and %d raw bytes", h.entries, h.raw)
	}
	for _, c := range h.columns {
		if uint(c.packed) > maxColumn || uint(c.plain) > maxColumn {
			return errors.New("a column's length is out of range")
		}
	}
	return nil
}

// expect tells whether this is full block i of its log.
func (h blockHead) expect(i int) error {
	if h.entries != BlockEntries || h.first != uint64(i)*BlockEntries {
		return fmt.Errorf("want block %d, found %d entries from number %d on", i, h.entries, h.first+1)
	}
	return nil
}

// rawEnd is where the raw column ends in the block, its sum included.
func (h blockHead) rawEnd() int { return headBytes + h.raw + sumBytes }

// length is the block's length on disk.
func (h blockHead) length() int64 {
	length := int64(h.rawEnd())
	for _, c := range h.columns {
		length += int64(c.packed + sumBytes)
	}
	return length
}

// rawOf returns the raw column of the block that data starts with.
func (h blockHead) rawOf(data []byte) ([]byte, error) {
	if len(data) < h.rawEnd() {
		return nil, errTornBlock
	}
	return h.summed(data[headBytes:h.rawEnd()])
}

// summed strips a column of its sum.
func (h blockHead) summed(column []byte) ([]byte, error) {
	body := column[:len(column)-sumBytes]
	if crc32.Update(h.sum, castagnoli, body) != binary.LittleEndian.Uint32(column[len(body):]) {
		return nil, errBlockSum
	}
	return body, nil
}

// parseBlock reads data, which is one block and nothing else. The result shares its memory.
func parseBlock(data []byte, kind blockKind) (block, error) {
	head, err := parseHead(data, kind)
	if err != nil {
		return block{}, err
	}
	if int64(len(data)) != head.length() {
		return block{}, errTornBlock
	}
	b := block{blockHead: head}
	if b.rawColumn, err = head.rawOf(data); err != nil {
		return block{}, err
	}
	rest := data[head.rawEnd():]
	for _, c := range head.columns {
		packed, err := head.summed(rest[:c.packed+sumBytes])
		if err != nil {
			return block{}, err
		}
		b.packed = append(b.packed, packed)
		rest = rest[c.packed+sumBytes:]
	}
	return b, nil
}
