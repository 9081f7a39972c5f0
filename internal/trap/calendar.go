package trap

import "strings"

// yearLikely is where years end that no name says are years. Calendars go step by step and are stopped long before, while
// many things have a number such as 4512-05-11.
const yearLikely = 2199

// isAhead reports whether a date in the URL is after the year last. What has a date's form may be any number, so it is taken
// for one where words say so: below a name for calendars, or as the value of a parameter for years and days. Elsewhere only a
// whole day whose parts are kept apart counts: 2031-07-31, /2031/07/31.
func isAhead(path, query string, last int) bool {
	if !mayBeAhead(path, last) && !mayBeAhead(query, last) {
		return false
	}
	ahead, named := pathAhead(path, last)
	return ahead || queryAhead(query, last, named)
}

// mayBeAhead reports whether text has digits that could be a year after last, so that most URLs need no closer look: four,
// eight that begin with a year, six that do, ten for seconds.
func mayBeAhead(text string, last int) bool {
	for at := 0; at < len(text); at++ {
		from, year := at, 0
		for at < len(text) && isDigit(text[at]) {
			if at-from < 4 {
				year = 10*year + int(text[at]-'0')
			}
			at++
		}
		switch at - from {
		case 4, 6, 8:
			if year > last {
				return true
			}
		case 10:
			return true
		}
	}
	return false
}

// pathAhead judges the dates of a path, and reports whether a word for calendars is in it.
func pathAhead(path string, last int) (ahead, named bool) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i := range segments {
		segments[i] = plain(segments[i])
	}
	end := len(segments) - 1
	segments[end] = withoutExtension(segments[end])
	for i, segment := range segments {
		d, ok := readDate(segment)
		if ok && d.year > last && isDate(d, segments, i, named || d.named) {
			return true, named
		}
		named = named || namesCalendar(segment)
	}
	return false, named
}

// isDate reports whether the date at i of segments is one, and no other number.
func isDate(d date, segments []string, i int, named bool) bool {
	after := segments[i+1:]
	switch {
	case !named && d.year > yearLikely:
		return false
	case d.packed: // below events it may be the number of one
		return d.named || i > 0 && (isUnit(segments[i-1]) || shortWords[segments[i-1]] || isCalendar(segments[i-1]))
	case d.to == toDay:
		return true
	case d.to == toMonth:
		return named
	case named:
		return len(after) > 0 && isMonthPart(after[0]) || i > 0 && (isUnit(segments[i-1]) || isMonthWritten(segments[i-1]))
	}
	return len(after) > 1 && isMonthWritten(after[0]) && len(after[1]) == 2 && isDay(after[1])
}

// isMonthPart reports whether a segment beside a year is a month, a week, a quarter, or the word for one.
func isMonthPart(segment string) bool {
	return isMonth(segment) || isMonthName(segment) || isPeriod(segment) || isUnit(segment)
}

// isMonthWritten reports whether a segment is a month by name or by two digits.
func isMonthWritten(segment string) bool {
	return isMonthName(segment) || len(segment) == 2 && isMonth(segment)
}

// queryAhead judges the dates of a query below a path that is named for calendars, or is not.
func queryAhead(query string, last int, named bool) bool {
	dated := named || hasMonth(query)
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if mayBeAhead(value, last) && valueAhead(lastWord(name), plain(value), last, named, dated) {
			return true
		}
	}
	return false
}

// valueAhead judges one parameter. dated says that a year alone is the year of a calendar.
func valueAhead(name, value string, last int, named, dated bool) bool {
	switch {
	case isDigits(value, len("200601")) && packsMonth[name]:
		year, _ := number(value[:4])
		return year > last && isMonth(value[4:])
	case isDigits(value, len("1700000000")):
		return named && (namesDay(name) || datesNames[name]) && secondsAhead(value, last)
	}
	d, ok := readDate(value)
	switch {
	case !ok || d.year <= last:
		return false
	case d.to == toYear:
		return dated && namesYear(name)
	case d.packed:
		return namesDay(name) || named && datesNames[name]
	case namesDay(name) || packsMonth[name] || named:
		return true
	}
	return d.to == toDay && d.year <= yearLikely
}

// secondsAhead reports whether a count of seconds since 1970, in ten digits, is after the year last.
func secondsAhead(value string, last int) bool {
	const yearOfSeconds = 31_556_952 // in the mean, Gregorian calendar
	thousands, _ := number(value[:7])
	return 1970+thousands*1000/yearOfSeconds > last
}

// hasMonth reports whether a query says which month, week or day of a year is meant, and has no x: y is then no year, but a
// place on a map.
func hasMonth(query string) (found bool) {
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		word := lastWord(name)
		if word == "x" {
			return false
		}
		found = found || monthParts[word] || strings.HasSuffix(word, "month") || strings.HasSuffix(word, "week")
	}
	return found
}

// withoutExtension cuts what a file's name ends with: .html, .php.
func withoutExtension(segment string) string {
	i := strings.LastIndexByte(segment, '.')
	if i <= 0 || len(segment)-i > len(".xhtml") || isMonthName(segment[i+1:]) || strings.Trim(segment[i+1:], "abcdefghijklmnopqrstuvwxyz") != "" {
		return segment
	}
	return segment[:i]
}
