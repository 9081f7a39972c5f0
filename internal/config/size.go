package config

import (
	"strconv"
	"strings"
)

// Size is a number of bytes, from 0 to 2^63-1: 512Mi (2^20), 10M (10^6), or plain bytes. A B may follow: 64MiB.
type Size int64

// A unit is a suffix and what it stands for.
type unit struct {
	suffix string
	factor int64
}

// The units of a Size, the largest first.
var sizeUnits = []unit{
	{"Ti", 1 << 40}, {"T", 1e12},
	{"Gi", 1 << 30}, {"G", 1e9},
	{"Mi", 1 << 20}, {"M", 1e6},
	{"Ki", 1 << 10}, {"k", 1e3}, {"K", 1e3},
}

func (Size) parse(text string) (Size, error) {
	number, factor := cutUnit(strings.TrimSuffix(text, "B"), sizeUnits)
	n, ok := wholeNumber(number, factor)
	if !ok {
		return 0, bad("a size such as 512Mi (2^20 bytes), 10M (10^6) or plain bytes", text)
	}
	return Size(n), nil
}

// cutUnit splits "512Mi" into "512" and 2^20. A text without a unit has the factor 1.
func cutUnit(text string, units []unit) (number string, factor int64) {
	for _, u := range units {
		if number, found := strings.CutSuffix(text, u.suffix); found {
			return number, u.factor
		}
	}
	return text, 1
}

// String writes the size in the largest binary unit that divides it, else the largest decimal one, else in bytes.
func (s Size) String() string {
	best := unit{"", 1}
	for _, u := range sizeUnits {
		binary := strings.HasSuffix(u.suffix, "i")
		if s != 0 && int64(s)%u.factor == 0 && (binary || best.factor == 1) {
			best = u
			if binary {
				break
			}
		}
	}
	return strconv.FormatInt(int64(s)/best.factor, 10) + best.suffix
}

// Type implements pflag.Value.
func (Size) Type() string { return "size" }

// Set implements pflag.Value.
func (s *Size) Set(text string) error { return set(s, text) }

// UnmarshalText implements encoding.TextUnmarshaler, by which YAML and JSON decoders read a Size.
func (s *Size) UnmarshalText(text []byte) error { return set(s, string(text)) }

// MarshalText implements encoding.TextMarshaler.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
