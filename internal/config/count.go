package config

import "strconv"

// Count is a number of things, from 0 to 2^63-1: 500, 200k (10^3), 1.5M (10^6), 2G (10^9), 1e6.
type Count int64

// The units of a Count, the largest first.
var countUnits = []unit{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"K", 1e3}}

func (Count) parse(text string) (Count, error) {
	number, factor := cutUnit(text, countUnits)
	n, ok := wholeNumber(number, factor)
	if !ok {
		return 0, bad("a whole number such as 500, 200k or 1.5M", text)
	}
	return Count(n), nil
}

// String writes whole millions and thousands of millions with their suffix, all other counts in digits.
func (c Count) String() string {
	for _, u := range countUnits {
		if u.factor >= 1e6 && c != 0 && int64(c)%u.factor == 0 {
			return strconv.FormatInt(int64(c)/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(c), 10)
}

// Type implements pflag.Value.
func (Count) Type() string { return "count" }

// Set implements pflag.Value.
func (c *Count) Set(text string) error { return set(c, text) }

// UnmarshalText implements encoding.TextUnmarshaler, by which YAML and JSON decoders read a Count.
func (c *Count) UnmarshalText(text []byte) error { return set(c, string(text)) }

// MarshalText implements encoding.TextMarshaler.
func (c Count) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
