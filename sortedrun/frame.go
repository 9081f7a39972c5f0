package sortedrun

import (
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	kindPlain = 0
	kindZstd  = 1

	frameTail = 5 // kind and sum
	// overrun is the room behind the output that lets the decoder copy in whole words.
	overrun = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// packHeads and packRest pack blocks for every Writer, as many at a time as there are processors. Heads are short and get a
// fifth shorter at the default level; text gains a thirtieth, and takes half as long again (docs/decisions/bytes-of-a-url.md).
var (
	packHeads = encoder(zstd.SpeedDefault)
	packRest  = encoder(zstd.SpeedFastest)
)

// encoder returns one that makes no checksums: a block has one.
func encoder(level zstd.EncoderLevel) func() *zstd.Encoder {
	return sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false),
			zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true), zstd.WithSingleSegment(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	})
}

// decoder unpacks blocks for every Run. It writes no further than the room that it is given.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxPlain), zstd.WithDecodeAllCapLimit(true), zstd.IgnoreChecksum(true))
	if err != nil {
		panic(err)
	}
	return d
})

// frameSum is the checksum of a frame at offset: a block read from a wrong place does not match.
func frameSum(offset int64, body []byte) uint32 {
	return crc32.Update(uint32(offset)^uint32(offset>>32), castagnoli, body)
}

// appendFrame appends the form on disk of a plain block, which is heads and what follows them, where it will lie at offset.
// Each of the two is packed by itself: numbers and text have little in common.
func appendFrame(dst []byte, offset int64, heads, rest []byte, compress bool) []byte {
	start, kind := len(dst), byte(kindPlain)
	if compress {
		plain := len(heads) + len(rest)
		dst = packRest().EncodeAll(rest, packHeads().EncodeAll(heads, dst))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(plain))
		kind = kindZstd
		if len(dst)-start > plain-plain/8 { // too little to pay for the unpacking
			dst, kind = dst[:start], kindPlain
		}
	}
	if kind == kindPlain {
		dst = append(append(dst, heads...), rest...)
	}
	dst = append(dst, kind)
	return binary.LittleEndian.AppendUint32(dst, frameSum(offset, dst[start:]))
}

// openFrame returns the plain block of a frame that lies at offset: a part of it, or, if it is packed, scratch, which is
// grown where it is too small, and is returned for the next time.
func openFrame(frame []byte, offset int64, scratch []byte) (plain, newScratch []byte, err error) {
	if len(frame) < frameTail {
		return nil, scratch, damage(offset, "a block is too short")
	}
	body := frame[:len(frame)-4]
	if frameSum(offset, body) != binary.LittleEndian.Uint32(frame[len(body):]) {
		return nil, scratch, damage(offset, "checksum differs")
	}
	payload := body[:len(body)-1]
	switch body[len(payload)] {
	case kindPlain:
		return payload, scratch, nil
	case kindZstd:
		return unpack(payload, offset, scratch)
	default:
		return nil, scratch, damage(offset, "unknown kind of block")
	}
}

func unpack(payload []byte, offset int64, scratch []byte) (plain, newScratch []byte, err error) {
	if len(payload) < 4 {
		return nil, scratch, damage(offset, "a block is too short")
	}
	packed := payload[:len(payload)-4]
	size := binary.LittleEndian.Uint32(payload[len(packed):])
	if size > maxPlain {
		return nil, scratch, damage(offset, "a block is too long")
	}
	if cap(scratch) < int(size)+overrun {
		scratch = make([]byte, 0, int(size)+overrun)
	}
	plain, err = decoder().DecodeAll(packed, scratch[:0])
	if err != nil || len(plain) != int(size) {
		return nil, scratch, damage(offset, "a block cannot be unpacked")
	}
	return plain, scratch, nil
}
