package trap

import (
	"slices"
	"strings"

	"crawl/canon"
)

// Pattern returns what a URL has in common with those of pages like its own, as a text for people: host and path with
// numbers as #, names of months and days as numbers, what looks made up by a program as *, and the names of its parameters
// in order. All pages of a calendar have one pattern, and so have all items of a shop.
func Pattern(u canon.URL) string {
	var b strings.Builder
	b.WriteString(u.Host())
	for segment := range strings.SplitSeq(u.Path()[1:], "/") {
		b.WriteByte('/')
		writeSegment(&b, segment)
	}
	names := parameterNames(u.Query())
	if len(names) > 0 {
		b.WriteByte('?')
		b.WriteString(strings.Join(names, "&"))
	}
	return b.String()
}

// IsDated reports whether a pattern is that of a calendar: dates are what its URLs differ by.
func IsDated(u canon.URL) bool {
	for segment := range strings.SplitSeq(u.Path()[1:], "/") {
		if namesCalendar(plain(segment)) {
			return true
		}
	}
	year := false
	for pair := range strings.SplitSeq(u.Query(), "&") {
		name, _, _ := strings.Cut(pair, "=")
		year = year || namesYear(lastWord(name))
	}
	return year && hasMonth(u.Query())
}

// writeSegment writes a segment of a path without what tells it from others like it.
func writeSegment(b *strings.Builder, segment string) {
	if looksRandom(segment) || isUUID(segment) {
		b.WriteByte('*')
		return
	}
	dated := isDateOnly(segment)
	for segment != "" {
		end := strings.IndexAny(segment, betweenParts)
		if end < 0 {
			end = len(segment)
		}
		switch piece := segment[:end]; {
		case looksRandom(piece):
			b.WriteByte('*')
		case dated && (isMonthName(plain(piece)) || isWeekday(plain(piece))):
			b.WriteByte('#')
		default:
			writeNumberless(b, piece)
		}
		if segment = segment[end:]; segment != "" {
			b.WriteByte(segment[0])
			segment = segment[1:]
		}
	}
}

// isDateOnly reports whether a segment is a date, or the name of a month or day alone: november, 5-november,
// events-november-2031.html.
func isDateOnly(segment string) bool {
	if len(segment) > longestDate {
		return false
	}
	text := withoutExtension(plain(segment))
	named := false
	for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(betweenParts, r) }) {
		_, isNumber := number(piece)
		switch {
		case isMonthName(piece), isWeekday(piece):
			named = true
		case !isNumber && !isPeriod(piece) && !namesCalendar(piece) && !isUnit(piece):
			return false
		}
	}
	return named
}

// longestDate is more than any date has bytes, percent-encoded letters included.
const longestDate = 120

// isUUID reports whether a segment has the form of RFC 9562: 01234567-89ab-cdef-0123-456789abcdef, whatever stands after a dot.
func isUUID(segment string) bool {
	name, _, _ := strings.Cut(segment, ".")
	if len(name) != len("01234567-89ab-cdef-0123-456789abcdef") {
		return false
	}
	for i := range len(name) {
		if hyphen := i == 8 || i == 13 || i == 18 || i == 23; hyphen != (name[i] == '-') || !hyphen && !isHex(name[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// parameterNames returns the names of a query's parameters, each once, sorted.
func parameterNames(query string) []string {
	if query == "" {
		return nil
	}
	var names []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		var b strings.Builder
		writeNumberless(&b, name)
		names = append(names, b.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// writeNumberless writes s with each run of digits as one #. The digits of an escape, as in %E4, are part of a letter.
func writeNumberless(b *strings.Builder, s string) {
	within := false
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			b.WriteString(s[i : i+3])
			i, within = i+2, false
			continue
		}
		digit := isDigit(s[i])
		if !digit {
			b.WriteByte(s[i])
		} else if !within {
			b.WriteByte('#')
		}
		within = digit
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

const (
	randomLeast  = 12 // characters of what a program made up: a shorter one may be a word with a number
	randomDigits = 3
)

// looksRandom reports whether a segment looks like a session id, a digest or a token: a long run of letters and digits in
// no order that a person would write, as 0a1b2c3d4e5f or Xk3dP9fQ2mZ7.
func looksRandom(segment string) bool {
	name, _, _ := strings.Cut(segment, ".")
	if len(name) < randomLeast {
		return false
	}
	digits, letters, turns := 0, 0, 0
	for i := range len(name) {
		switch c := name[i]; {
		case isDigit(c):
			digits++
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		default:
			return false
		}
		if i > 0 && isDigit(name[i]) != isDigit(name[i-1]) {
			turns++
		}
	}
	return digits >= randomDigits && letters > 0 && turns >= 4
}
