package config

import (
	"strings"
	"time"
)

// Duration is a length of time, zero or more: 10s, 1m30s, 250ms, 36h, or a plain 0.
type Duration time.Duration

func (Duration) parse(text string) (Duration, error) {
	const want = "a time with its unit, such as 1s, 1m30s or 250ms"
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, bad(want, text)
	}
	return Duration(d), nil
}

// String writes 1m30s, and 5m where time.Duration writes 5m0s.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Type implements pflag.Value.
func (Duration) Type() string { return "time" }

// Set implements pflag.Value.
func (d *Duration) Set(text string) error { return set(d, text) }

// UnmarshalText implements encoding.TextUnmarshaler, by which YAML and JSON decoders read a Duration.
func (d *Duration) UnmarshalText(text []byte) error { return set(d, string(text)) }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
