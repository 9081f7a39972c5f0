package trap

import "strings"

// yearMost is where years end and other numbers begin: a calendar is stopped long before.
const yearMost = 9999

// isAhead reports whether a date in the URL is after the year last. A number alone may be anything: it is a year where a
// parameter's name says so, or where it begins a date. Of a path, /2031/07 is a month only below a name for calendars, and
// /2031/07/31 a day anywhere.
func isAhead(path, query string, last int) bool {
	for rest := path[1:]; rest != ""; {
		segment, after, _ := strings.Cut(rest, "/")
		if year, ok := yearOf(segment); ok && year > last {
			before := path[:len(path)-len(rest)]
			if len(segment) > len("2006") || startsWithDate(after, inCalendar(before)) {
				return true
			}
		}
		rest = after
	}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		if year, ok := yearOf(value); ok && year > last && (len(value) > len("2006") || namesYear(name)) {
			return true
		}
	}
	return false
}

// yearOf returns the year of text that is a year, or a date that begins with one: 2006, 2006-01, 2006-01-02, 20060102, and
// either followed by a time of day.
func yearOf(text string) (year int, ok bool) {
	if len(text) < 4 {
		return 0, false
	}
	for _, c := range []byte(text[:4]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		year = 10*year + int(c-'0')
	}
	rest := text[4:]
	switch {
	case rest == "":
	case rest[0] == '-':
		if !isMonth(rest[1:min(len(rest), 3)]) || len(rest) > 3 && rest[3] != '-' {
			return 0, false
		}
	case len(text) == len("20060102"):
		if !isMonth(rest[:2]) || !isDay(rest[2:]) {
			return 0, false
		}
	default:
		return 0, false
	}
	return year, year >= 1000 && year <= yearMost
}

// startsWithDate reports whether path begins with the number of a month, and that of a day unless the month will do.
func startsWithDate(path string, monthWillDo bool) bool {
	month, rest, _ := strings.Cut(path, "/")
	day, _, _ := strings.Cut(rest, "/")
	return isMonth(month) && (monthWillDo || isDay(day))
}

// inCalendar reports whether a segment of path is a word for what has dates to come.
func inCalendar(path string) bool {
	path = strings.ToLower(path)
	for _, word := range []string{"cal", "event", "agenda", "kalend", "termin", "month", "schedule", "veranstaltung", "evenement"} {
		if strings.Contains(path, "/"+word) {
			return true
		}
	}
	return false
}

func isMonth(s string) bool { return isNumber(s, 12) }

func isDay(s string) bool { return isNumber(s, 31) }

// isNumber reports whether s is one or two digits from 1 to most.
func isNumber(s string, most int) bool {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
		n = 10*n + int(c-'0')
	}
	return len(s) > 0 && len(s) <= 2 && 1 <= n && n <= most
}

// namesYear reports whether a parameter of this name holds a year: y, year, yyyy, in languages in which calendars are
// written, alone or as the end of a longer name (cal_year).
func namesYear(name string) bool {
	if i := strings.LastIndexAny(name, "_-.["); i >= 0 {
		name = strings.TrimRight(name[i+1:], "]")
	}
	switch strings.ToLower(name) {
	case "y", "yr", "yy", "yyyy", "year", "annee", "ano", "anno", "jahr", "jaar", "rok", "god":
		return true
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "year")
}
