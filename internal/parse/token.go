package parse

import (
	"bytes"
	"iter"
)

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func skipSpace(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

// tokens yields the tokens of an attribute that holds a set of them, separated by white space.
func tokens(s []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(s) > 0 {
			n := 0
			for n < len(s) && !isSpace(s[n]) {
				n++
			}
			if n > 0 && !yield(s[:n]) {
				return
			}
			s = s[min(n+1, len(s)):]
		}
	}
}

// hasToken reports whether one of the tokens of s is one of the words.
func hasToken(s []byte, words ...string) bool {
	for token := range tokens(s) {
		for _, word := range words {
			if equalFold(token, word) {
				return true
			}
		}
	}
	return false
}

// equalFold reports whether s is the ASCII word in any case.
func equalFold(s []byte, word string) bool {
	return len(s) == len(word) && bytes.EqualFold(s, []byte(word))
}
