package parse

import (
	"net/http"
	"strings"
)

// ContentType returns what the Content-Type of an answer comes to. Servers and what stands before them send it more than
// once, in several fields or in one with commas: then the last media type that can be read counts, and where it says no
// charset, that of those before it that are the same type (Fetch standard, "extract a MIME type"). One that cannot be read at
// all is returned as it came first.
func ContentType(h http.Header) string {
	fields := h["Content-Type"]
	switch {
	case len(fields) == 0:
		return ""
	case len(fields) == 1 && strings.IndexByte(fields[0], ',') < 0:
		return fields[0]
	}
	var found, essence, charset string
	for value := range splitList(strings.Join(fields, ",")) {
		mediaType, label := splitMediaType(value)
		if mediaType == "" || mediaType == "*/*" {
			continue
		}
		if mediaType != essence {
			essence, charset = mediaType, ""
		}
		found = value
		if label != "" {
			charset = label
		} else if charset != "" {
			found = mediaType + "; charset=" + quoted(charset)
		}
	}
	if found == "" {
		return fields[0]
	}
	return found
}

// splitList yields the values of a field that stand between commas, but for those within a quoted string (Fetch standard,
// "get, decode, and split").
func splitList(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, within := 0, false
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case c == '"':
				within = !within
			case c == '\\' && within:
				i++
			case c == ',' && !within:
				if !yield(strings.Trim(s[start:i], httpSpace)) {
					return
				}
				start = i + 1
			}
		}
		yield(strings.Trim(s[start:], httpSpace))
	}
}

// quoted returns a parameter's value as one can stand in a field.
func quoted(value string) string {
	if isHTTPToken(value) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
