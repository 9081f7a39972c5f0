package parse

import "iter"

// srcset yields the URLs of a srcset attribute (HTML standard, "parse a srcset attribute"). A comma inside a URL is
// part of it; a candidate whose descriptors are wrong is dropped, as a browser drops it.
func srcset(s []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for {
			for len(s) > 0 && (isSpace(s[0]) || s[0] == ',') {
				s = s[1:]
			}
			if len(s) == 0 {
				return
			}
			n := 0
			for n < len(s) && !isSpace(s[n]) {
				n++
			}
			url := s[:n]
			s = s[n:]
			valid := true
			if url[n-1] == ',' {
				for url[len(url)-1] == ',' {
					url = url[:len(url)-1]
				}
			} else {
				s, valid = readDescriptors(s)
			}
			if valid && !yield(url) {
				return
			}
		}
	}
}

// readDescriptors reads the descriptors of a candidate up to its comma and reports whether they are right.
func readDescriptors(s []byte) (rest []byte, valid bool) {
	var d descriptors
	for {
		s = skipSpace(s)
		if len(s) == 0 {
			return s, d.valid()
		}
		n, parens := 0, false
		for n < len(s) && (parens || !isSpace(s[n]) && s[n] != ',') {
			switch s[n] {
			case '(':
				parens = true
			case ')':
				parens = false
			}
			n++
		}
		if n > 0 {
			d.add(s[:n])
		}
		s = s[n:]
		if len(s) > 0 && s[0] == ',' {
			return s[1:], d.valid()
		}
	}
}

// descriptors says which descriptors a candidate has.
type descriptors struct {
	width, height, density, wrong bool
}

func (d *descriptors) add(s []byte) {
	number, unit := s[:len(s)-1], s[len(s)-1]
	switch {
	case unit == 'w' && isPositive(number) && !d.width && !d.density:
		d.width = true
	case unit == 'h' && isPositive(number) && !d.height && !d.density:
		d.height = true
	case unit == 'x' && isDensity(number) && !d.width && !d.height && !d.density:
		d.density = true
	default:
		d.wrong = true
	}
}

// valid reports whether the descriptors fit each other. A height describes nothing without a width.
func (d *descriptors) valid() bool { return !d.wrong && (!d.height || d.width) }

// isPositive reports whether s is a valid non-negative integer other than 0.
func isPositive(s []byte) bool {
	positive := false
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
		positive = positive || c != '0'
	}
	return positive
}

// isDensity reports whether s is a valid floating-point number that is not below 0.
func isDensity(s []byte) bool {
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	whole := leadingDigits(s)
	zero := isZero(s[:whole])
	s = s[whole:]
	digits := whole
	if len(s) > 0 && s[0] == '.' {
		fraction := leadingDigits(s[1:])
		if fraction == 0 {
			return false
		}
		zero = zero && isZero(s[1:1+fraction])
		s = s[1+fraction:]
		digits += fraction
	}
	if digits == 0 || negative && !zero {
		return false
	}
	return len(s) == 0 || isExponent(s)
}

// isExponent reports whether s is the exponent of a floating-point number.
func isExponent(s []byte) bool {
	if s[0]|0x20 != 'e' {
		return false
	}
	s = s[1:]
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return len(s) > 0 && leadingDigits(s) == len(s)
}

func leadingDigits(s []byte) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isZero(digits []byte) bool {
	for _, c := range digits {
		if c != '0' {
			return false
		}
	}
	return true
}
