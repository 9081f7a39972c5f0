package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// setting describes one field of Settings. Files, variables, flags, rendering and documentation all follow the table
// of settings, so that each is listed once.
type setting struct {
	key     string // the word for file, variable and flag
	section string // heading in a rendered file
	usage   string // one line for help and file
	note    string // more for the file
	example string // lines for the file
	short   string // one-letter flag
	alias   string // another name of the flag
	bare    string // what the flag means without a value; empty when it needs one

	fileOnly bool // no variable and no flag has it
	live     bool // a crawl that runs can change it

	// fixed is set for what a crawl's state is built on, and says what to do instead of changing it.
	fixed string

	at    func(*Settings) slot
	check func(*Settings) (want string) // the range as text when the value is outside; nil accepts all
}

// wanted returns what the setting should be when it is not, and "" when it is fine. It takes no value for read: a
// program may have set it.
func (d *setting) wanted(s *Settings) string {
	if !d.fileOnly {
		scratch := d.at(new(Settings))
		for _, text := range d.at(s).texts() {
			if wrong, ok := errors.AsType[*badValue](scratch.put(text)); ok {
				return wrong.want
			}
		}
	}
	if d.check == nil {
		return ""
	}
	return d.check(s)
}

// problem makes the error for a value of s that was set at place.
func (d *setting) problem(place, want string, s *Settings) *Error {
	var got []string
	for _, text := range d.at(s).texts() {
		if !plainText.MatchString(text) {
			text = fmt.Sprintf("%.60q", text)
		}
		got = append(got, text)
	}
	return &Error{Key: d.key, Place: place, Problem: (&badValue{want: want, got: strings.Join(got, ", ")}).Error()}
}

// flag returns the long name of the setting's flag.
func (d *setting) flag() string { return strings.ReplaceAll(d.key, "_", "-") }

// variable returns the name of the setting's environment variable.
func (d *setting) variable() string { return envPrefix + strings.ToUpper(d.key) }

// inEnvironment reports whether a variable can set it.
func (d *setting) inEnvironment() bool { return !d.fileOnly }

// The headings of a rendered file.
const (
	limits     = "Limits: a crawl that reaches one stops, and goes on where it was when the limit is raised"
	scopes     = "Scope: what belongs to the crawl"
	traps      = "Traps: links that have no end. What is beyond a limit is counted by its rule; none lifts it; seeds are exempt"
	politeness = "Politeness"
	requests   = "Requests"
	filter     = "Seen: the filter that remembers which URLs were met"
	memory     = "Memory: what is beyond these waits on disk"
	output     = "State and output"
)

// The table of settings, in the order of a rendered file. Never written to.
var table = slices.Concat(
	limitSettings,
	scopeSettings,
	trapSettings,
	politenessSettings,
	identitySettings,
	answerSettings,
	retrySettings,
	connectionSettings,
	filterSettings,
	memorySettings,
	outputSettings,
)
