package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// codec packs and unpacks the columns of blocks. Several goroutines may use it at once: the committer, a checkpoint that
// is being made durable, and background work.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (*codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
		zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false), // columns have sums of their own
		zstd.WithSingleSegment(true)) // so that each frame says how much it holds
	if err != nil {
		return nil, fmt.Errorf("zstd encoder: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxColumn))
	if err != nil {
		return nil, fmt.Errorf("zstd decoder: %w", err)
	}
	return &codec{enc: enc, dec: dec}, nil
}

// encode appends a block's form on disk to dst. The position of its first entry is first, from 0. Columns come in parts, each
// of which becomes a frame of its own.
func (c *codec) encode(dst []byte, kind blockKind, first uint64, entries int, raw []byte, columns ...[][]byte) []byte {
	start := len(dst)
	dst = append(dst, blockMagic...)
	dst = append(dst, byte(kind), blockVersion)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(columns)))
	dst = binary.LittleEndian.AppendUint64(dst, first)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(entries))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(raw)))
	sizes := len(dst)
	dst = append(dst, make([]byte, 8*len(columns)+sumBytes)...) // known once the columns are packed
	head := len(dst)
	dst = append(append(dst, raw...), make([]byte, sumBytes)...)
	for i, column := range columns {
		before, plain := len(dst), 0
		for _, part := range column {
			dst = c.enc.EncodeAll(part, dst)
			plain += len(part)
		}
		binary.LittleEndian.PutUint32(dst[sizes+8*i:], uint32(len(dst)-before))
		binary.LittleEndian.PutUint32(dst[sizes+8*i+4:], uint32(plain))
		dst = append(dst, make([]byte, sumBytes)...)
	}
	sum := crc32.Checksum(dst[start:head-sumBytes], castagnoli)
	binary.LittleEndian.PutUint32(dst[head-sumBytes:], sum)
	part := sealColumn(dst[head:], len(raw), sum)
	for i := range columns {
		part = sealColumn(part, int(binary.LittleEndian.Uint32(dst[sizes+8*i:])), sum)
	}
	return dst
}

// sealColumn writes the sum of a column behind it, and returns what follows. head is the head's sum.
func sealColumn(column []byte, length int, head uint32) (rest []byte) {
	binary.LittleEndian.PutUint32(column[length:], crc32.Update(head, castagnoli, column[:length]))
	return column[length+sumBytes:]
}

// column unpacks one packed column of a block, into dst's memory where that is enough.
func (c *codec) column(b block, i int, dst []byte) ([]byte, error) {
	size := b.columns[i].plain
	// Room is made for what an honest column takes; a wrong length grows no further than the column itself.
	plain, err := c.dec.DecodeAll(b.packed[i], slices.Grow(dst[:0], min(size, 1<<22)))
	if err != nil {
		return nil, fmt.Errorf("unpack column %d: %w", i, err)
	}
	if len(plain) != size {
		return nil, fmt.Errorf("column %d has %d bytes, want %d", i, len(plain), size)
	}
	return plain, nil
}

// unpack appends what a frame holds to dst.
func (c *codec) unpack(f frame, dst []byte) ([]byte, error) {
	before := len(dst)
	dst, err := c.dec.DecodeAll(f.packed, slices.Grow(dst, min(f.plain, 1<<22)))
	if err == nil && len(dst) != before+f.plain {
		err = errFrame
	}
	return dst, err
}

// close ends the decoder. The encoder holds nothing but memory.
func (c *codec) close() { c.dec.Close() }
