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
		zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false)) // columns have sums of their own
	if err != nil {
		return nil, fmt.Errorf("zstd encoder: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxColumn))
	if err != nil {
		return nil, fmt.Errorf("zstd decoder: %w", err)
	}
	return &codec{enc: enc, dec: dec}, nil
}

// encode returns a block's form on disk. The position of its first entry is first, from 0.
func (c *codec) encode(kind blockKind, first uint64, entries int, raw []byte, columns ...[]byte) []byte {
	parts := [][]byte{raw}
	size := kind.headBytes() + len(raw) + sumBytes
	for _, column := range columns {
		packed := c.enc.EncodeAll(column, nil)
		parts = append(parts, packed)
		size += len(packed) + sumBytes
	}
	out := make([]byte, 0, size)
	out = append(out, blockMagic...)
	out = append(out, byte(kind), blockVersion)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(columns)))
	out = binary.LittleEndian.AppendUint64(out, first)
	out = binary.LittleEndian.AppendUint32(out, uint32(entries))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(raw)))
	for i, column := range columns {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(parts[i+1])))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(column)))
	}
	sum := crc32.Checksum(out, castagnoli)
	out = binary.LittleEndian.AppendUint32(out, sum)
	for _, part := range parts {
		out = append(out, part...)
		out = binary.LittleEndian.AppendUint32(out, crc32.Update(sum, castagnoli, part))
	}
	return out
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

// close ends the decoder. The encoder holds nothing but memory.
func (c *codec) close() { c.dec.Close() }
