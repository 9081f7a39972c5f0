package sitemap

import (
	"strings"
	"time"
)

// layouts are the forms in which lists write dates: those of W3C's note on ISO 8601, which sitemaps and Atom ask for, and
// those of RFC 822 and its heirs, which RSS does, with and without the day's name. Go reads years of two digits as
// 1969 to 2068.
var layouts = []string{
	time.RFC3339,
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02",
	"2006-01",
	"2006",
	"2 Jan 2006 15:04:05 -0700",
	"2 Jan 2006 15:04:05 MST",
	"2 Jan 2006 15:04 -0700",
	"2 Jan 2006 15:04 MST",
	"2 Jan 06 15:04:05 -0700",
	"2 Jan 06 15:04:05 MST",
	"2 Jan 06 15:04 -0700",
	"2 Jan 06 15:04 MST",
}

// maxDate is longer than any date that is one.
const maxDate = 64

// parseDate returns the time that a list means, or the zero time. A zone that has only a name counts if that is UTC or GMT;
// where there is none, UTC is meant.
func parseDate(text string) time.Time {
	text = strings.Trim(text, space)
	if len(text) > maxDate {
		return time.Time{}
	}
	if day, rest, ok := strings.Cut(text, ","); ok && len(day) <= len("Wednesday") {
		text = strings.Trim(rest, space)
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}
