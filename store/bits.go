package store

import "math/bits"

// Bits holds one bit for each sequence number. A Bits that the store made tells the numbers that are done: 1 where the
// last event in the done log is EventDone. It is for one goroutine at a time.
type Bits struct {
	pieces [][]uint64 // pieceWords words each, so that growing moves nothing
	length uint64
	ones   uint64
}

// pieceWords is 64 KiB of bits, half a million numbers: also what one checksum of the file covers.
const pieceWords = 8 << 10

// bitAt returns where the bit of a number is: the piece, the word in it, and the bit as a mask.
func bitAt(seq uint64) (piece, word int, mask uint64) {
	i := seq - 1
	return int(i / (64 * pieceWords)), int(i / 64 % pieceWords), 1 << (i % 64)
}

// Len returns the greatest number that there is a bit for: the greatest that was ever set.
func (b *Bits) Len() uint64 { return b.length }

// Count returns how many bits are set.
func (b *Bits) Count() uint64 { return b.ones }

// CountAfter returns how many bits are set of the numbers after seq.
func (b *Bits) CountAfter(seq uint64) uint64 {
	if seq >= b.length {
		return 0
	}
	piece, word, mask := bitAt(seq + 1)
	n := bits.OnesCount64(b.pieces[piece][word] &^ (mask - 1))
	for _, w := range b.pieces[piece][word+1:] {
		n += bits.OnesCount64(w)
	}
	for _, p := range b.pieces[piece+1:] {
		for _, w := range p {
			n += bits.OnesCount64(w)
		}
	}
	return uint64(n)
}

// Test returns the bit of a number. Past Len it is clear, and so it is of 0, which is no number.
func (b *Bits) Test(seq uint64) bool {
	if seq == 0 || seq > b.length {
		return false
	}
	piece, word, mask := bitAt(seq)
	return b.pieces[piece][word]&mask != 0
}

// Set sets the bit of a number, from 1, and makes room for it: 64 KiB for each half million numbers up to it.
func (b *Bits) Set(seq uint64) {
	piece, word, mask := bitAt(seq)
	if seq > b.length {
		b.grow(seq)
	}
	if w := &b.pieces[piece][word]; *w&mask == 0 {
		*w |= mask
		b.ones++
	}
}

// Clear clears the bit of a number.
func (b *Bits) Clear(seq uint64) {
	if !b.Test(seq) {
		return
	}
	piece, word, mask := bitAt(seq)
	b.pieces[piece][word] &^= mask
	b.ones--
}

// grow makes room for the numbers up to length.
func (b *Bits) grow(length uint64) {
	for uint64(len(b.pieces))*64*pieceWords < length {
		b.pieces = append(b.pieces, make([]uint64, pieceWords))
	}
	b.length = max(b.length, length)
}

// recount counts the set bits anew.
func (b *Bits) recount() {
	b.ones = 0
	for _, piece := range b.pieces {
		for _, w := range piece {
			b.ones += uint64(bits.OnesCount64(w))
		}
	}
}

// equal tells whether both have the same bits set.
func (b *Bits) equal(o *Bits) bool {
	if b.ones != o.ones {
		return false
	}
	for i := range min(len(b.pieces), len(o.pieces)) {
		for j, w := range b.pieces[i] {
			if w != o.pieces[i][j] {
				return false
			}
		}
	}
	return true // what one has more holds no set bit, or the counts would differ
}

// put changes the bit of an event's number.
func (b *Bits) put(seq uint64, event Event) {
	if event == EventDone {
		b.Set(seq)
	} else {
		b.Clear(seq)
	}
}

// Words calls fn with consecutive words of bits. The least bit of the first word is that of number first.
func (b *Bits) Words(fn func(first uint64, words []uint64)) {
	for i, piece := range b.pieces {
		fn(uint64(i)*64*pieceWords+1, piece)
	}
}
