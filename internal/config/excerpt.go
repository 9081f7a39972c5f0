package config

import (
	"fmt"
	"strings"
	"unicode"
)

// excerptWidth is how many characters of a long line an excerpt shows.
const excerptWidth = 100

// excerpt quotes a line, counted from 1, and puts a caret below the column, counted in characters from 1.
func excerpt(source string, line, column int) string {
	lines := strings.Split(source, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	text := []rune(strings.Map(visible, lines[line-1]))
	at := min(max(column-1, 0), len(text))
	if from := at - excerptWidth/2; from > 0 && len(text) > excerptWidth {
		text, at = text[from:], at-from
	}
	margin := fmt.Sprintf("%5d | ", line)
	below := strings.Repeat(" ", len(margin)-len("| ")) + "| " + strings.Repeat(" ", at) + "^"
	return margin + string(text[:min(len(text), excerptWidth)]) + "\n" + below
}

// visible keeps a character from moving the terminal's cursor, and so the caret below from its place.
func visible(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case !unicode.IsPrint(r):
		return unicode.ReplacementChar
	}
	return r
}
