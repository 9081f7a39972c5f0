package fetch

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns how long the Retry-After field asks to wait, counted from now (RFC 9110, section 10.2.3): a number
// of seconds, or a date that has not passed. Of several fields, as a server and what stands before it may send, the longest
// wait counts. ok is false when there is no such field or none can be read.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	for _, value := range h["Retry-After"] {
		if w, readable := retryAfter(value, now); readable {
			wait, ok = max(wait, w), true
		}
	}
	return wait, ok
}

func retryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.Trim(value, " \t")
	if value == "" {
		return 0, false
	}
	if strings.Trim(value, "0123456789") == "" {
		return secondsToWait(value), true
	}
	date, err := http.ParseTime(value)
	if err != nil || date.Before(now) {
		return 0, false
	}
	return date.Sub(now), true
}

// secondsToWait reads digits. What no Duration can hold is the longest one.
func secondsToWait(digits string) time.Duration {
	const most = math.MaxInt64 / int64(time.Second)
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || seconds > most {
		return math.MaxInt64
	}
	return time.Duration(seconds) * time.Second
}
