package parse

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

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
	return likenessOf(body, likeness{own: numbers(own.Target())})
}

// Gist is Likeness where the words of the page's own URL do not count either, in whatever case: so two pages that say what
// was asked for, and that it is not there, say the same.
func Gist(body []byte, own canon.URL) uint64 {
	return likenessOf(body, likeness{own: numbers(own.Target()), words: ownWords(own.String())})
}

func likenessOf(body []byte, l likeness) uint64 {
	l.sum.Reset()
	l.piece = make([]byte, 0, pieceBytes)
	l.read(body)
	l.sum.Write(l.piece)
	return l.sum.Sum64()
}

// Simhash returns 64 bits of which two pages have the more in common, the more of their words are the same: by Charikar's
// hash of the words that Likeness takes in (Similarity estimation techniques from rounding algorithms, 2002). Pages of which
// one word in some two hundred differs have all but about three in common, as Manku, Jain and Das Sarma found of near-duplicates
// (Detecting near-duplicates for web crawling, 2007).
func Simhash(body []byte, own canon.URL) (bits uint64) {
	l := likeness{own: numbers(own.Target()), votes: new([64]int)}
	l.read(body)
	for i, votes := range l.votes {
		if votes > 0 {
			bits |= 1 << i
		}
	}
	return bits
}

// read takes in what a page says.
func (l *likeness) read(body []byte) {
	var e element
	z := scanner{text: body, element: &e}
	for z.at < len(body) {
		end := bytes.IndexByte(body[z.at:], '<')
		if end < 0 {
			end = len(body) - z.at
		}
		l.text(body[z.at : z.at+end])
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
}

type likeness struct {
	votes *[64]int // for each bit of a Simhash; nil for the sum of all words in their order
	sum   xxhash.Digest
	piece []byte   // words that sum has not taken in: it is slow with few bytes at a time
	own   []uint64 // numbers in the URL
	words []string // of it
}

const pieceBytes = 2 << 10

func (l *likeness) write(word []byte) {
	if l.votes != nil {
		l.vote(xxhash.Sum64(word))
		return
	}
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

func (l *likeness) vote(hash uint64) {
	for i := range l.votes {
		l.votes[i] += int(hash>>i&1)*2 - 1
	}
}

// text takes in the words of a text. Where one piece ends and the next begins does not matter, nor does white space.
func (l *likeness) text(text []byte) {
	for len(text) > 0 {
		n := 0
		for n < len(text) && isWordByte(text[n]) {
			n++
		}
		if n == 0 {
			text = text[1:]
			continue
		}
		if !l.isOwn(text[:n]) && !l.isOwnWord(text[:n]) {
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

func (l *likeness) isOwnWord(word []byte) bool {
	for _, own := range l.words {
		if len(own) == len(word) && strings.EqualFold(own, string(word)) {
			return true
		}
	}
	return false
}

// ownWords returns the words that stand in a URL, each once.
func ownWords(url string) (all []string) {
	for len(url) > 0 && len(all) < mostNumbers {
		n := 0
		for n < len(url) && isWordByte(url[n]) {
			n++
		}
		if word := url[:n]; n > 0 && !slices.Contains(all, word) {
			all = append(all, word)
		}
		url = url[max(n, 1):]
	}
	return all
}

const (
	longestNumber = 18 // digits
	mostNumbers   = 16 // of a URL, and words
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
