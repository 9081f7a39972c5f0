package trap

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// precision is how near a date comes to a day.
type precision uint8

const (
	toYear  precision = iota + 1 // 2031
	toMonth                      // or week, or quarter: 2031-07, november-2031, 2031-w05, 2031-q3
	toDay                        // 2031-07-31, 31.7.2031, 5-november-2031, 20310731
)

// date is what a part of a URL says of a day.
type date struct {
	year   int
	to     precision
	packed bool // digits with nothing between them: 20310731
	named  bool // a word for calendars stands before it: events-november-2031
}

const (
	yearLeast = 1000
	yearMost  = 9999 // where years end and other numbers begin: a calendar is stopped long before
)

const betweenParts = "-_."

// readDate returns the date that text is. text is plain.
func readDate(text string) (d date, ok bool) {
	if len(text) > len("2006-01-02") && strings.IndexByte("t +", text[len("2006-01-02")]) >= 0 {
		text = text[:len("2006-01-02")] // a time of day follows
	}
	if isDigits(text, len("20060102")) {
		year, _ := number(text[:4])
		return date{year: year, to: toDay, packed: true}, year >= yearLeast && isMonth(text[4:6]) && isDay(text[6:])
	}
	var seen dateParts
	pieces := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(betweenParts, r) })
	for len(pieces) > 1 && seen.year == 0 && (namesCalendar(pieces[0]) || isUnit(pieces[0])) {
		pieces, d.named = pieces[1:], true
	}
	for i, piece := range pieces {
		if !seen.take(piece, i == 0, i == len(pieces)-1) {
			return date{}, false
		}
	}
	d.year, d.to = seen.year, seen.precision()
	return d, d.year > 0 && d.to > 0
}

// dateParts counts what the pieces of a date are.
type dateParts struct {
	year             int
	yearLast         bool
	small            []int // numbers of months and days
	months, weekdays int   // by name
	periods          int   // weeks and quarters
}

// take takes a piece in. A year stands at an end.
func (p *dateParts) take(piece string, first, last bool) bool {
	n, isNumber := number(piece)
	switch {
	case isNumber && len(piece) == 4:
		if p.year > 0 || !first && !last || n < yearLeast {
			return false
		}
		p.year, p.yearLast = n, !first
	case isNumber && len(piece) <= 2 && 1 <= n && n <= 31:
		p.small = append(p.small, n)
	case isMonthName(piece):
		p.months++
	case isWeekday(piece):
		p.weekdays++
	case isPeriod(piece):
		p.periods++
	default:
		return false
	}
	return true
}

// precision returns how near the parts come to a day; 0: they are no date.
func (p *dateParts) precision() precision {
	switch n := len(p.small); {
	case p.months > 1 || p.periods > 1 || p.months+p.periods > 1 || n > 2:
		return 0
	case p.months+p.periods == 1:
		return toMonth + precision(min(n, 1))
	case n == 2 && (p.small[0] <= 12 || p.yearLast && p.small[1] <= 12):
		return toDay
	case n == 1 && p.small[0] <= 12:
		return toMonth
	case n == 0 && p.weekdays == 0:
		return toYear
	}
	return 0
}

// plain returns a part of a URL as people read it: decoded, in small letters, without accents.
func plain(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	for _, c := range []byte(text) {
		if c >= 0x80 {
			text = norm.NFC.String(strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Mn, r) {
					return -1
				}
				return r
			}, norm.NFD.String(text)))
			break
		}
	}
	return strings.ToLower(text)
}

// number returns the value of a text of digits alone, at most nine.
func number(text string) (n int, ok bool) {
	for _, c := range []byte(text) {
		if !isDigit(c) {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, 0 < len(text) && len(text) <= 9
}

func isDigits(text string, n int) bool {
	return len(text) == n && strings.Trim(text, "0123456789") == ""
}

func isMonth(text string) bool { return isNumber(text, 12) }

func isDay(text string) bool { return isNumber(text, 31) }

// isNumber reports whether text is one or two digits from 1 to most.
func isNumber(text string, most int) bool {
	n, ok := number(text)
	return ok && len(text) <= 2 && 1 <= n && n <= most
}

// isPeriod reports whether text is a week or a quarter of a year: w05, week5, kw5, q3.
func isPeriod(text string) bool {
	for _, unit := range []string{"week", "kw", "w"} {
		if rest, found := strings.CutPrefix(text, unit); found && isNumber(rest, 53) {
			return true
		}
	}
	rest, found := strings.CutPrefix(text, "q")
	return found && isNumber(rest, 4)
}
