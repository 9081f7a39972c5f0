package config

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern is a regular expression in the syntax of RE2.
type Pattern string

func (Pattern) parse(text string) (Pattern, error) {
	_, err := regexp.Compile(text)
	switch wrong, ok := errors.AsType[*syntax.Error](err); {
	case ok:
		return "", bad("a regular expression ("+wrong.Code.String()+" in it)", text)
	case err != nil || !printable(text):
		return "", bad(`a regular expression without control characters (write \t or \x{85})`, text)
	case text == "":
		return "", bad("a regular expression", text) // it would match everything: more likely a slip
	}
	return Pattern(text), nil
}

func (p Pattern) String() string { return string(p) }

// Type is the word that stands for a Pattern in a flag's help.
func (Pattern) Type() string { return "regexp" }

// printable reports whether text reads the same from a file as on a screen.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
