package config

import (
	"slices"
	"strings"
)

// envPrefix begins the name of every variable.
const envPrefix = "CRAWL_"

// environment reads the CRAWL_ variables. An empty variable counts as not set. The elements of a list are separated by
// blanks, which no element can hold: a pattern has \s or \x20 for one. Header fields are separated by line ends.
func (l *loader) environment(env []string) {
	for i := range table {
		d := &table[i]
		text := lookup(env, d.variable())
		if text == "" || !d.inEnvironment() {
			continue
		}
		texts := []string{text}
		switch at := d.at(&l.settings); at.(type) {
		case pairs: // whose elements hold blanks
			texts = strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
		default:
			if at.isList() {
				texts = strings.Fields(text)
			}
		}
		var items []item
		for _, t := range texts {
			items = append(items, item{text: t, place: d.variable()})
		}
		l.apply(d, origin{place: d.variable()}, items)
	}
}

// lookup returns the last value of a variable, the one that os.Getenv would see in a child process.
func lookup(env []string, name string) string {
	for _, pair := range slices.Backward(env) {
		if n, text, _ := strings.Cut(pair, "="); n == name {
			return text
		}
	}
	return ""
}

// Unknown returns an *Error for each CRAWL_ variable that no setting reads, with the one that may have been meant. They
// are for a warning: the variables that secrets are taken from may well begin like this. also names variables that the
// program reads by itself.
func Unknown(env []string, also ...string) []error {
	var unknown []error
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		word, ours := strings.CutPrefix(name, envPrefix)
		if !ours || slices.Contains(also, name) {
			continue
		}
		near := envPrefix + strings.ToUpper(likely(strings.ToLower(word), (*setting).inEnvironment))
		problem := "no setting of this name"
		switch near {
		case name:
			continue
		case envPrefix:
		default:
			problem += "; the nearest is " + near
		}
		unknown = append(unknown, &Error{Place: name, Problem: problem})
	}
	return unknown
}
