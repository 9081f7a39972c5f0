package config

import (
	"strconv"
	"strings"
)

// Rate is a chance, more than 0 and less than 1, written as a percentage or as a fraction: 0.1% and 0.001 are the same.
type Rate float64

func (Rate) parse(text string) (Rate, error) {
	number, percent := strings.CutSuffix(text, "%")
	shift := 0
	if percent {
		shift = -2
	}
	f, ok := realNumber(number, shift)
	if !ok || f <= 0 || f >= 1 {
		return 0, bad("a rate between 0 and 1, such as 0.1% or 0.001", text)
	}
	return Rate(f), nil
}

// String writes a percentage. It moves the decimal point of the shortest fraction that reads back, since multiplying
// by 100 could round.
func (r Rate) String() string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(float64(r), 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	switch {
	case err != nil || r <= 0: // no rate: only an error shows it
		return strconv.FormatFloat(float64(r), 'g', -1, 64)
	case e < -8:
		return mantissa + "e" + strconv.Itoa(e+2) + "%"
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	return movePoint(whole+fraction, e+2) + "%"
}

// movePoint writes d.igits times ten to the power e as a plain decimal.
func movePoint(digits string, e int) string {
	switch whole := e + 1; {
	case whole <= 0:
		return "0." + strings.Repeat("0", -whole) + digits
	case whole >= len(digits):
		return digits + strings.Repeat("0", whole-len(digits))
	default:
		return digits[:whole] + "." + digits[whole:]
	}
}

// Type implements pflag.Value.
func (Rate) Type() string { return "rate" }

// Set implements pflag.Value.
func (r *Rate) Set(text string) error { return set(r, text) }

// UnmarshalText implements encoding.TextUnmarshaler, by which YAML and JSON decoders read a Rate.
func (r *Rate) UnmarshalText(text []byte) error { return set(r, string(text)) }

// MarshalText implements encoding.TextMarshaler.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Factor is a number by which something is multiplied, zero or more: 2, 0.5.
type Factor float64

func (Factor) parse(text string) (Factor, error) {
	f, ok := realNumber(text, 0)
	if !ok {
		return 0, bad("a number, zero or more, such as 2 or 0.5", text)
	}
	return Factor(f), nil
}

// String writes the shortest decimal that reads back.
func (f Factor) String() string { return strconv.FormatFloat(float64(f), 'g', -1, 64) }

// Type is the word that stands for a Factor in a flag's help.
func (Factor) Type() string { return "factor" }
