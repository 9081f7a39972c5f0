package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// count writes a number with its thousands set apart.
func count(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// plural writes a number of things: 1 retry, 2 retries.
func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// size writes bytes in the unit that leaves one to three digits before the point.
func size(n uint64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", value, units[unit])
}

// clockTime writes seconds as 1:02:03, or 02:03 below an hour.
func clockTime(seconds float64) string {
	s := int(seconds)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

func duration(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
}

// counts lists named numbers, the greatest first. between stands between a number and its name.
func counts[K cmp.Ordered](numbers map[K]uint64, between string) string {
	if len(numbers) == 0 {
		return "none"
	}
	keys := slices.Sorted(maps.Keys(numbers))
	slices.SortStableFunc(keys, func(a, b K) int { return cmp.Compare(numbers[b], numbers[a]) })
	parts := make([]string, len(keys))
	for i, key := range keys {
		parts[i] = count(numbers[key]) + between + strings.ReplaceAll(fmt.Sprint(key), "_", " ")
	}
	return strings.Join(parts, ", ")
}

// percent writes a share so that small ones keep two digits that mean something.
func percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 2, 64) + "%" }
