package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The file of a bitmap, integers little-endian:
//
//	magic   8 bytes  "CRAWBIT" and the version, 1
//	upto    8 bytes  events of the done log that it contains
//	length  8 bytes  numbers that it has bits for
//	ones    8 bytes  how many of them are set
//	sum     4 bytes  CRC-32C of all before it
//	pieces of up to 8,192 words, 8 bytes each: the bit of number n is bit (n-1)%64 of word (n-1)/64
//
// Each piece is followed by a CRC-32C that goes on from the one before, so that pieces cannot change places.
const (
	bitsMagic     = "CRAWBIT\x01"
	bitsHeadBytes = 32 + sumBytes
	pieceBytes    = 8 * pieceWords
)

type bitsHead struct {
	upto, length, ones uint64
	sum                uint32
}

// words is the number of words of the file.
func (h bitsHead) words() uint64 { return (h.length + 63) / 64 }

// bytes is the length of the file.
func (h bitsHead) bytes() uint64 {
	pieces := (h.words() + pieceWords - 1) / pieceWords
	return bitsHeadBytes + 8*h.words() + sumBytes*pieces
}

// readBitsHead returns the head of a bitmap's file, once it agrees with what the checkpoint says of the file.
func readBitsHead(r *run) (bitsHead, error) {
	var data [bitsHeadBytes]byte
	if _, err := r.file.ReadAt(data[:], 0); err != nil {
		return bitsHead{}, r.tornAt(0, err)
	}
	h := bitsHead{
		upto: binary.LittleEndian.Uint64(data[8:]), length: binary.LittleEndian.Uint64(data[16:]),
		ones: binary.LittleEndian.Uint64(data[24:]), sum: crc32.Checksum(data[:32], castagnoli),
	}
	switch {
	case string(data[:8]) != bitsMagic:
		return bitsHead{}, r.harm(0, errors.New("it is no bitmap of this version"))
	case h.sum != binary.LittleEndian.Uint32(data[32:]):
		return bitsHead{}, r.harm(0, errBitsSum)
	case h.upto != r.RunInfo.Done.Upto || h.ones != r.Entries || h.length > 8*uint64(r.Bytes) ||
		h.bytes() != uint64(r.Bytes):
		return bitsHead{}, r.harm(0, fmt.Errorf("it has %d of %d bits set after %d events, want %d after %d in %d bytes",
			h.ones, h.length, h.upto, r.Entries, r.RunInfo.Done.Upto, r.Bytes))
	}
	return h, nil
}

var errBitsSum = errors.New("a checksum of the bitmap does not match")

// tornAt makes a file that ends too early damage.
func (r *run) tornAt(offset int64, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.harm(offset, errors.New("the file ends too early"))
	}
	return err
}

// readBits reads a bitmap.
func readBits(r *run) (*Bits, error) {
	h, err := readBitsHead(r)
	if err != nil {
		return nil, err
	}
	b := &Bits{}
	b.grow(h.length)
	buffer, offset, sum := make([]byte, pieceBytes+sumBytes), int64(bitsHeadBytes), h.sum
	for left := int(h.words()); left > 0; left -= pieceWords {
		words := b.pieces[(int(h.words())-left)/pieceWords][:min(left, pieceWords)]
		data := buffer[:8*len(words)+sumBytes]
		if _, err := r.file.ReadAt(data, offset); err != nil {
			return nil, r.tornAt(offset, err)
		}
		body := data[:8*len(words)]
		if sum = crc32.Update(sum, castagnoli, body); sum != binary.LittleEndian.Uint32(data[len(body):]) {
			return nil, r.harm(offset, errBitsSum)
		}
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(body[8*i:])
		}
		offset += int64(len(data))
	}
	if b.recount(); b.ones != h.ones {
		return nil, r.harm(-1, fmt.Errorf("it has %d bits set, its head says %d", b.ones, h.ones))
	}
	return b, nil
}

// writeBits writes the file of a bitmap that contains the first upto events of the done log.
func writeBits(w io.Writer, b *Bits, upto uint64) error {
	h := bitsHead{upto: upto, length: b.length, ones: b.ones}
	out := append(make([]byte, 0, pieceBytes+sumBytes), bitsMagic...)
	out = binary.LittleEndian.AppendUint64(out, h.upto)
	out = binary.LittleEndian.AppendUint64(out, h.length)
	out = binary.LittleEndian.AppendUint64(out, h.ones)
	sum := crc32.Checksum(out, castagnoli)
	if _, err := w.Write(binary.LittleEndian.AppendUint32(out, sum)); err != nil {
		return err
	}
	left := int(h.words())
	for _, piece := range b.pieces {
		out = out[:0]
		for _, word := range piece[:min(left, pieceWords)] {
			out = binary.LittleEndian.AppendUint64(out, word)
		}
		sum = crc32.Update(sum, castagnoli, out)
		if _, err := w.Write(binary.LittleEndian.AppendUint32(out, sum)); err != nil {
			return err
		}
		left -= min(left, pieceWords)
	}
	return nil
}
