package seen

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"
)

// A page holds ascending hashes in 4 KiB, so that one read of the disk answers for all of them. Hashes are as good as
// random, so of n of them log2(n) bits each need not be written: the code is that of Elias (Efficient storage and
// retrieval by content and address of static files, 1974) and Fano, about two bits a hash more than the differences need
// at least. A hash is found in a page without decoding the others.
//
//	 0  CRC-32C of all that follows, begun with the page's number, uint32
//	 4  hashes, uint16
//	 6  low<<10 | words, uint16
//	 8  the first hash, uint64
//	16  words*8 bytes: bit (d>>low)+j is set for d, the difference of hash j+1 and the first
//	    low bits of each of these differences, one after another, and zeros to the end
//
// All numbers are little endian.
const (
	pageBytes = 4096
	pageHead  = 16
	pageSlack = 8  // the last low bits are loaded with the eight bytes from where they begin
	maxLow    = 56 // low bits and the seven before them are within one load
	// fitsAlways is a number of hashes that one page takes whatever they are: they cost at most 58 bits each, and 320 more.
	fitsAlways = 500
)

// pageBuf is room for a page. What is behind it is never looked at, only loaded.
type pageBuf [pageBytes + pageSlack]byte

// What is wrong with a page.
var (
	errPageSum  = errors.New("wrong checksum")
	errPageForm = errors.New("impossible page")
)

// pageShape returns the code for n differences that ascend to the last one.
func pageShape(n int, last uint64) (low, words int) {
	if n == 0 {
		return 0, 0
	}
	low = min(max(bits.Len64(last/uint64(n))-1, 0), maxLow)
	return low, int((uint64(n) + last>>low + 63) / 64)
}

// pageFits reports whether a page takes n differences that ascend to the last one.
func pageFits(n int, last uint64) bool {
	low, words := pageShape(n, last)
	return pageHead+8*words+(n*low+7)/8 <= pageBytes
}

// encodePage writes hashes, which ascend, are at least one, and fit.
func encodePage(b *pageBuf, number uint64, hashes []uint64) {
	le := binary.LittleEndian
	first, rest := hashes[0], hashes[1:]
	low, words := pageShape(len(rest), hashes[len(hashes)-1]-first)
	*b = pageBuf{}
	le.PutUint16(b[4:], uint16(len(hashes)))
	le.PutUint16(b[6:], uint16(low<<10|words))
	le.PutUint64(b[8:], first)
	lows := b[pageHead+8*words:]
	mask := uint64(1)<<low - 1
	for j, h := range rest {
		d := h - first
		at := int(d>>low) + j
		b[pageHead+at>>3] |= 1 << (at & 7)
		at = j * low
		low8 := lows[at>>3 : at>>3+8]
		le.PutUint64(low8, le.Uint64(low8)|d&mask<<(at&7))
	}
	sealPage(b, number)
}

func sealPage(b *pageBuf, number uint64) { binary.LittleEndian.PutUint32(b[:], pageSum(b, number)) }

// pageSum begins with the number, so that a page in another's place is damage too.
func pageSum(b *pageBuf, number uint64) uint32 {
	return crc32.Update(uint32(number), castagnoli, b[4:pageBytes])
}

// page is a checked page.
type page struct {
	b     *pageBuf
	first uint64
	n     int // hashes after the first
	low   int
	words int
}

// openPage checks the page in b, which it stays in.
func openPage(b *pageBuf, number uint64) (page, error) {
	le := binary.LittleEndian
	if le.Uint32(b[:]) != pageSum(b, number) {
		return page{}, errPageSum
	}
	shape := int(le.Uint16(b[6:]))
	p := page{b: b, first: le.Uint64(b[8:]), n: int(le.Uint16(b[4:])) - 1, low: shape >> 10, words: shape & (1<<10 - 1)}
	if p.n < 0 || p.low > maxLow || pageHead+8*p.words+(p.n*p.low+7)/8 > pageBytes {
		return page{}, errPageForm
	}
	return p, nil
}

func (p *page) word(i int) uint64 { return binary.LittleEndian.Uint64(p.b[pageHead+8*i:]) }

// lowOf returns the low bits of difference j, which is below n.
func (p *page) lowOf(j int) uint64 {
	at := j * p.low
	return binary.LittleEndian.Uint64(p.b[pageHead+8*p.words+at>>3:]) >> (at & 7) & (1<<p.low - 1)
}

// has reports whether h is in the page.
func (p *page) has(h uint64) bool {
	if h <= p.first {
		return h == p.first
	}
	d := h - p.first
	high, low := d>>p.low, d&(1<<p.low-1)
	if high >= uint64(64*p.words) {
		return false
	}
	// The differences with these high bits are the ones that follow the zero of that number.
	at := p.afterZeros(int(high))
	for j := at - int(high); j < p.n && at < 64*p.words && p.word(at/64)>>(at%64)&1 == 1; j++ {
		if l := p.lowOf(j); l >= low {
			return l == low
		}
		at++
	}
	return false
}

// afterZeros returns the place that follows the given number of zeros; the end when there are fewer.
func (p *page) afterZeros(zeros int) int {
	if zeros == 0 {
		return 0
	}
	for i := range p.words {
		w := ^p.word(i)
		n := bits.OnesCount64(w)
		if n < zeros {
			zeros -= n
			continue
		}
		for range zeros - 1 {
			w &= w - 1
		}
		return 64*i + bits.TrailingZeros64(w) + 1
	}
	return 64 * p.words
}

// appendTo appends all hashes to dst. The error is errPageForm where they do not ascend or are not as many as the page
// says.
func (p *page) appendTo(dst []uint64) ([]uint64, error) {
	dst = append(dst, p.first)
	last, j := p.first, 0
	for i := range p.words {
		for w := p.word(i); w != 0; w &= w - 1 {
			if j == p.n {
				return nil, errPageForm
			}
			high := uint64(64*i + bits.TrailingZeros64(w) - j)
			h := p.first + (high<<p.low | p.lowOf(j))
			if h <= last {
				return nil, errPageForm
			}
			dst = append(dst, h)
			last = h
			j++
		}
	}
	if j != p.n {
		return nil, errPageForm
	}
	return dst, nil
}
