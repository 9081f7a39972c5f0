package config

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Longer texts and larger exponents than these are no whole number of int64; the limits keep the exact arithmetic on
// them small.
const (
	maxWholeLength   = 64
	maxWholeExponent = 64
)

// wholeNumber returns text times unit, exactly: 1.5 and 1000 give 1500. ok is false when text is no decimal, and when
// the product is no whole number from 0 to math.MaxInt64.
func wholeNumber(text string, unit int64) (n int64, ok bool) {
	mantissa, exponent, ok := splitDecimal(text)
	if !ok || len(text) > maxWholeLength || max(exponent, -exponent) > maxWholeExponent {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, _ := new(big.Int).SetString(whole+fraction, 10)
	scale := exponent - len(fraction)
	product := digits.Mul(digits, big.NewInt(unit)).Mul(digits, tenTo(max(scale, 0)))
	quotient, rest := new(big.Int).QuoRem(product, tenTo(max(-scale, 0)), new(big.Int))
	if rest.Sign() != 0 || !quotient.IsInt64() {
		return 0, false
	}
	return quotient.Int64(), true
}

// splitDecimal splits a decimal, 12 or 1.5 or 2e9, before its exponent. A point has a digit on each side.
func splitDecimal(text string) (mantissa string, exponent int, ok bool) {
	mantissa = text
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		e, err := strconv.Atoi(text[i+1:])
		if err != nil || max(e, -e) > 1000 { // far past the range of a float64
			return "", 0, false
		}
		mantissa, exponent = text[:i], e
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	if !allDigits(whole) || point && !allDigits(fraction) {
		return "", 0, false
	}
	return mantissa, exponent, true
}

// realNumber reads a decimal as the float64 nearest to it, shifted by a power of ten before it is rounded.
func realNumber(text string, shift int) (float64, bool) {
	mantissa, exponent, ok := splitDecimal(text)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(exponent+shift), 64)
	return f, err == nil && !math.IsInf(f, 0)
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
