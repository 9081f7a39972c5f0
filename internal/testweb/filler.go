package testweb

import (
	"slices"
	"strconv"
	"strings"
)

// filler is the running text of all pages: one block of paragraphs with the markup real pages have around their words,
// made once. A page copies stretches of whole paragraphs from it. It is ASCII and holds no links.
type filler struct {
	block  []byte
	starts []int // where paragraphs start, and the block's end
}

const fillerBytes = 256 << 10

var words = strings.Fields(`time year people way day man thing woman life child world school state family student group
country problem hand part place case week company system program question work government number night point home water
room mother area money story fact month lot right study book eye job word business issue side kind head house service
friend father power hour game line end member law car city community name president team minute idea body information
back parent face others level office door health person art war history party result change morning reason research girl
guy moment air teacher force education foot boy age policy music market sense nation plan college interest death
experience effect use class control field development role effort rate heart drug show leader light voice wife`)

func newFiller(d dice) filler {
	var f filler
	for len(f.block) < fillerBytes {
		f.starts = append(f.starts, len(f.block))
		f.block = appendParagraph(f.block, &d)
	}
	f.starts = append(f.starts, len(f.block))
	return f
}

func appendParagraph(b []byte, d *dice) []byte {
	b = append(b, `<div class="box c`...)
	b = strconv.AppendInt(b, int64(d.below(40)), 10)
	b = append(b, "\">\n  <p>"...)
	for range 2 + d.below(4) {
		b = append(b, "<span class=\"s\">"...)
		b = appendWords(b, d, 3+d.below(9))
		b = append(b, "</span> "...)
		b = appendWords(b, d, 5+d.below(15))
		if d.oneIn(2) {
			b = append(b, " &amp; <em>"...)
			b = appendWords(b, d, 2)
			b = append(b, "</em>"...)
		}
		b = append(b, ".\n  "...)
	}
	return append(b, "</p>\n</div>\n"...)
}

func appendWords(b []byte, d *dice, n int) []byte {
	for i := range n {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, words[d.below(len(words))]...)
	}
	return b
}

// append adds whole paragraphs until b has at least size bytes, and at most one paragraph more.
func (f *filler) append(b []byte, size int, d *dice) []byte {
	for len(b) < size {
		from := f.starts[d.below(len(f.starts)-1)]
		i, _ := slices.BinarySearch(f.starts, from+size-len(b))
		b = append(b, f.block[from:f.starts[min(i, len(f.starts)-1)]]...)
	}
	return b
}
