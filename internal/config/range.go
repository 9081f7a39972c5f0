package config

import (
	"cmp"
	"fmt"
	"time"
)

// withinTime is the range of a time for one part of a request.
func withinTime(d Duration) string {
	return within(d, Duration(time.Millisecond), Duration(24*time.Hour))
}

// withinIf is within for a value that may be left out.
func withinIf[T cmp.Ordered](v *T, low, high T) string {
	if v == nil {
		return ""
	}
	return within(*v, low, high)
}

// enoughForBody: what is less could not hold one body, as sent and as decoded, with the windows of decoders.
func enoughForBody(memory, maxBody Size) string {
	const windows, most = 132 << 20, 1 << 46
	return within(memory, 2*maxBody+windows, most)
}

// limited returns what is wanted of a limit that is too low or too high. The highest one is often no more than what can be
// counted, which is no news to somebody who asked for too little.
func limited[T interface {
	value[T]
	~int64
}](limit Optional[T], low, high T) string {
	v, present := limit.Get()
	switch {
	case !present || v >= low && v <= high:
		return ""
	case v < low:
		return fmt.Sprintf("%v or more, or %s", low, unset)
	}
	return fmt.Sprintf("%v at most, or %s", high, unset)
}

// within returns the range as text when v is outside it, or is no number.
func within[T cmp.Ordered](v, low, high T) string {
	if v >= low && v <= high {
		return ""
	}
	return fmt.Sprintf("from %v to %v", low, high)
}
