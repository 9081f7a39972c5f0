package config

import "strings"

// Error is one problem of one setting. Load and Validate join all they find; errors.AsType gets the first.
type Error struct {
	Key     string // of the setting; empty where a file as a whole is meant
	Place   string // where the value came from: crawl.yaml:3:13, CRAWL_HOST_DELAY, --host-delay; empty for a program
	Problem string // what is wanted and what was got
	Excerpt string // the line of the file, and a caret below its column; empty for other places
}

func (e *Error) Error() string {
	var parts []string
	if e.Place != "" {
		parts = append(parts, e.Place)
	}
	if e.Key != "" && e.Key != bareKey(e.Place) {
		parts = append(parts, e.Key)
	}
	text := strings.Join(append(parts, e.Problem), ": ")
	if e.Excerpt != "" {
		text += "\n" + e.Excerpt
	}
	return text
}

// bareKey turns the name of a flag or variable into the key it stands for.
func bareKey(place string) string {
	name, isFlag := strings.CutPrefix(place, "--")
	if isFlag {
		return plainKey(name)
	}
	return strings.ToLower(strings.TrimPrefix(place, envPrefix))
}
