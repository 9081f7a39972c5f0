package fetch

import (
	"strings"
	"time"
)

// cookieDate reads a date as cookies have it (RFC 6265, section 5.1.1): a time, a day, a month and a year in any order,
// each the first token that looks like one, with anything between them.
func cookieDate(text string) (at time.Time, ok bool) {
	var d dateParts
	for token := range strings.FieldsFuncSeq(text, isDateDelimiter) {
		d.take(token)
	}
	if !d.hasTime || d.day == 0 || d.month == 0 || !d.hasYear {
		return time.Time{}, false
	}
	switch {
	case d.year >= 70 && d.year <= 99:
		d.year += 1900
	case d.year <= 69:
		d.year += 2000
	}
	if d.day > 31 || d.year < 1601 || d.clock[0] > 23 || d.clock[1] > 59 || d.clock[2] > 59 {
		return time.Time{}, false
	}
	at = time.Date(d.year, time.Month(d.month), d.day, d.clock[0], d.clock[1], d.clock[2], 0, time.UTC)
	return at, at.Day() == d.day
}

func isDateDelimiter(c rune) bool {
	return c == '\t' || c >= 0x20 && c <= 0x2f || c >= 0x3b && c <= 0x40 || c >= 0x5b && c <= 0x60 || c >= 0x7b && c <= 0x7e
}

// dateParts are what was found of a date.
type dateParts struct {
	clock            [3]int
	day, month, year int // month from 1
	hasTime, hasYear bool
}

const monthNames = "janfebmaraprmayjunjulaugsepoctnovdec"

// take fits a token into the first part that it can be.
func (d *dateParts) take(token string) {
	if !d.hasTime && d.takeTime(token) {
		return
	}
	n, digits := leadingNumber(token)
	month := -1
	if len(token) >= 3 {
		month = strings.Index(monthNames, strings.ToLower(token[:3]))
	}
	switch {
	case d.day == 0 && (digits == 1 || digits == 2):
		d.day = n
	case d.month == 0 && month >= 0 && month%3 == 0:
		d.month = month/3 + 1
	case !d.hasYear && digits >= 2 && digits <= 4:
		d.year, d.hasYear = n, true
	}
}

// takeTime reads hours, minutes and seconds of one or two digits each.
func (d *dateParts) takeTime(token string) bool {
	var clock [3]int
	for i := range clock {
		n, digits := leadingNumber(token)
		if digits < 1 || digits > 2 {
			return false
		}
		clock[i], token = n, token[digits:]
		if i < 2 {
			var colon bool
			if token, colon = strings.CutPrefix(token, ":"); !colon {
				return false
			}
		}
	}
	d.clock, d.hasTime = clock, true
	return true
}

// leadingNumber reads the digits that a token begins with, five at most: no part of a date has as many.
func leadingNumber(token string) (n, digits int) {
	for digits < len(token) && digits < 5 && token[digits] >= '0' && token[digits] <= '9' {
		n = n*10 + int(token[digits]-'0')
		digits++
	}
	return n, digits
}
