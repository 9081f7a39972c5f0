package parse

import (
	"strings"
	"unicode/utf8"
)

// collapser gathers text with each run of ASCII white space as one space and none at its ends.
type collapser struct {
	text    []byte
	pending bool // white space came since the last character
}

func (c *collapser) space() { c.pending = true }

func (c *collapser) write(s []byte) {
	for len(s) > 0 {
		n := 0
		for n < len(s) && !isSpace(s[n]) {
			n++
		}
		if n == 0 {
			c.pending = true
			s = s[1:]
			continue
		}
		if c.pending && len(c.text) > 0 {
			c.text = append(c.text, ' ')
		}
		c.pending = false
		c.text = append(c.text, s[:n]...)
		s = s[n:]
	}
}

// collapsed returns s with its white space collapsed, cut at a character's border to limit bytes.
func collapsed(s []byte, limit int) string {
	var c collapser
	for len(s) > 0 && len(c.text) <= limit {
		n := min(len(s), 2*limit)
		c.write(s[:n])
		s = s[n:]
	}
	return cut(string(c.text), limit)
}

// cut cuts collapsed text to limit bytes or less, at a character's border.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.TrimSuffix(s[:limit], " ")
}
