package parse

import (
	"bytes"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"crawl/canon"
)

// Likeness returns a number that two pages have in common if they say the same: their words and numbers outside of
// markup, scripts and styles, and the images they show. Numbers that stand in the page's own URL, and those next to them,
// do not count, nor do links: so the months of an empty calendar say the same, and so do a shop's item under two session
// ids, but not two pictures of a gallery. It is no digest that an adversary could not meet.
//
// It is a pass over the whole body, for pages that come under suspicion.
func Likeness(body []byte, own canon.URL) uint64 {
	l := likeness{own: numbers(own.Target()), piece: make([]byte, 0, pieceBytes)}
	l.sum.Reset()
	var e element
	z := scanner{text: body, element: &e}
	for z.at < len(body) {
		end := bytes.IndexByte(body[z.at:], '<')
		if end < 0 {
			end = len(body) - z.at
		}
		l.words(body[z.at : z.at+end])
		z.at += end + 1
		if z.at >= len(body) {
			break
		}
		if z.markup() != startTag {
			continue
		}
		z.rawText()
		if z.tag == tagImg {
			l.write(e.value(attrSrc))
		}
	}
	l.sum.Write(l.piece)
	return l.sum.Sum64()
}

type likeness struct {
	sum   xxhash.Digest
	piece []byte   // words that sum has not taken in: it is slow with few bytes at a time
	own   []uint64 // numbers in the URL
}

const pieceBytes = 2 << 10

func (l *likeness) write(word []byte) {
	if len(l.piece)+len(word) >= cap(l.piece) {
		l.sum.Write(l.piece)
		l.piece = l.piece[:0]
	}
	if len(word) >= cap(l.piece) {
		l.sum.Write(word)
		word = nil
	}
	l.piece = append(append(l.piece, word...), ' ')
}

// words takes in the words of a text. Where one piece ends and the next begins does not matter, nor does white space.
func (l *likeness) words(text []byte) {
	for len(text) > 0 {
		n := 0
		for n < len(text) && isWordByte(text[n]) {
			n++
		}
		if n == 0 {
			text = text[1:]
			continue
		}
		if !l.isOwn(text[:n]) {
			l.write(text[:n])
		}
		text = text[n:]
	}
}

// isWordByte reports whether c may be part of a word, in whatever encoding.
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c >= 0x80 }

// isOwn reports whether a word is a number of the URL, or one beside it, as links to the next and the last page say.
func (l *likeness) isOwn(word []byte) bool {
	if !isDigit(word[0]) || len(word) > longestNumber {
		return false
	}
	n, err := strconv.ParseUint(string(word), 10, 64)
	if err != nil {
		return false
	}
	for _, own := range l.own {
		if n == own || n+1 == own || n == own+1 {
			return true
		}
	}
	return false
}

const (
	longestNumber = 18 // digits
	mostNumbers   = 16 // of a URL
)

// numbers returns the numbers that stand in a text.
func numbers(text string) (all []uint64) {
	for len(text) > 0 && len(all) < mostNumbers {
		n := 0
		for n < len(text) && isDigit(text[n]) {
			n++
		}
		if value, err := strconv.ParseUint(text[:n], 10, 64); n <= longestNumber && err == nil {
			all = append(all, value)
		}
		text = text[max(n, 1):]
	}
	return all
}
