package canon

import (
	"strings"
	"testing"
)

// TestDomainToASCII holds domains against UTS 46, revision 33 and later, where package idna needs help.
func TestDomainToASCII(t *testing.T) {
	for _, tt := range []struct {
		in, want string // want is empty for a failure
	}{
		{"a\u04c0", "xn--a-c2b"},
		{"a\u10a0", "xn--a-9us"},
		{"a\u10c5", "xn--a-exs"},
		{"a\u1e9e", "xn--a-qfa"},
		{"a\u2132", "xn--a-6yn"},
		{"a\u2183", "xn--a-91n"},
		{"a\U0002f868", "xn--a-c1w"},
		{"a\U0002f874", "xn--a-gw3b"},
		{"a\U0002f91f", "xn--a-pc6v"},
		{"a\U0002f95f", "xn--a-9f5c"},
		{"a\U0002f9bf", "xn--a-n82a"},
		{"a\u115f\u1160\u17b4\u17b5\u180e\u2061\u2062\u2063\u206a\u206f\u3164\uffa0\U0001d173\U0001d17ab", "ab"},

		{"\u2135", "xn--4db"}, // runs to the left, as the letter does
		{"a\u2135", ""},

		{"xn--bcher-kva.é", "xn--bcher-kva.xn--9ca"},
		{"XN--bcher-kva。é", "xn--bcher-kva.xn--9ca"},
		{"\u00adxn--bcher-kva\u00ad.é", "xn--bcher-kva.xn--9ca"},
		{"xn--bcher-ｋｖａ", "xn--bcher-kva"},
		{"xn--xn--℡", "xn--xn--tel"},
		{"xn--bcher-kvaé-", ""},
		{"xn--é", ""},
		{"xn--.é", ""},
		{"é.xn--", ""},
		{"é.xn--\u00ad", ""},
		{"é.xn--abc-", ""},
		{"é.xn--a", ""},
		{"xn--", "xn--"}, // browsers do not look into ASCII
		{"xn--abc-", "xn--abc-"},
		{"XN--A", "xn--a"},

		{"é.a--b", "xn--9ca.a--b"},
		{"é.-a-", "xn--9ca.-a-"},
		{"é..a", "xn--9ca..a"},
		{"é.a_b", "xn--9ca.a_b"},
		{"é.a b", ""},
		{"é.a%b", ""},
		{"é.a％b", ""},
		{"é.a⁄b", "xn--9ca.xn--ab-c6t"},
		{"é.a／b", ""},
		{"é.a＠b", ""},
		{"é.１", ""}, // ends in a number
		{"é.０ｘ", ""},
		{"א.a", "xn--4db.a"},
		{"אa", ""},
		{"1א", ""},
		{"\u200da", ""},
		{"क्\u200dष", "xn--11b2ezcw70k"},
		{"a\u0301\u200b", "xn--1ca"},
		{strings.Repeat("é", 300), "xn--9ca" + strings.Repeat("a", 299)},
	} {
		u, err := Parse("http://" + tt.in + "/")
		if (err == nil) != (tt.want != "") || u.Host() != tt.want {
			t.Errorf("%+q: got %q, %v, want %q", tt.in, u.Host(), err, tt.want)
			continue
		}
		if err == nil {
			checkURL(t, u)
			checkKey(t, u)
		}
	}
}
