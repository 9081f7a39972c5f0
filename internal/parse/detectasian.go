package parse

import (
	"slices"
	"unicode/utf8"
)

// eastAsian is an encoding with characters of several bytes. Tables of letters would say more; that these characters
// are the frequent ones of their standards, and that no others come, does for pages.
type eastAsian struct {
	name    string
	domains []string

	// step reads the character that s, which begins with a byte that is not ASCII, starts with. size is 0 for what is
	// none. worth is how much it speaks for the encoding: 3 for a kana, which few texts are without, 1 to 2 for what is
	// frequent, nothing for what is rare, less for what a text hardly has.
	step func(s []byte) (size int, worth float64)
}

var eastAsians = []eastAsian{
	{"euc-jp", []string{"jp"}, stepEUCJP},
	{"shift_jis", []string{"jp"}, stepShiftJIS},
	{"euc-kr", []string{"kr", "kp"}, stepEUCKR},
	{"gbk", []string{"cn", "sg"}, stepGBK},
	{"big5", []string{"tw", "hk", "mo"}, stepBig5},
}

const (
	eastAsianLeast    = 2    // characters below which nothing is said
	eastAsianWorth    = 0.75 // that characters must have on average
	eastAsianFaults   = 50   // characters for one that is none
	eastAsianDomain   = 0.4  // that the domain is worth
	latinNeighbour    = -1.5 // what a character is worth that may be a letter with an accent, in a word
	eastAsianBadTrail = -1
)

// detectEastAsian returns the encoding whose characters the sample has, or "".
func detectEastAsian(sample []byte, domain string) string {
	best, bestWorth := "", eastAsianWorth
	for i := range eastAsians {
		e := &eastAsians[i]
		worth, ok := e.judge(sample)
		if slices.Contains(e.domains, domain) {
			worth += eastAsianDomain
		}
		if ok && worth > bestWorth {
			best, bestWorth = e.name, worth
		}
	}
	return best
}

// judge returns what the characters of the sample are worth on average; ok is false where it has too few or too many
// faults.
func (e *eastAsian) judge(sample []byte) (worth float64, ok bool) {
	characters, faults := 0, 0
	for i := 0; i < len(sample); {
		if sample[i] < utf8.RuneSelf {
			i++
			continue
		}
		size, w := e.step(sample[i:])
		if size == 0 {
			if len(sample)-i >= 4 { // not only cut off
				faults++
			}
			i++
			continue
		}
		end := i + size
		if size == 2 && sample[i+1] < utf8.RuneSelf && end < len(sample) && isLetter(sample[end]) {
			w = latinNeighbour
		}
		characters++
		worth += w
		i = end
	}
	if characters < eastAsianLeast || faults*eastAsianFaults > characters {
		return 0, false
	}
	return worth / float64(characters), true
}

func within(c, low, high byte) bool { return c >= low && c <= high }

// double returns the bytes of a character of two, both at or above 0xA1 where high is set.
func double(s []byte, high bool) (lead, trail byte, ok bool) {
	if len(s) < 2 || s[0] == 0x80 || s[0] == 0xff || s[1] == 0x7f || s[1] == 0xff || s[1] < 0x40 {
		return 0, 0, false
	}
	return s[0], s[1], !high || s[0] >= 0xa1 && s[1] >= 0xa1
}

// stepEUCJP: kana are the rows A4 and A5, the kanji that are taught are B0 to CF.
func stepEUCJP(s []byte) (size int, worth float64) {
	switch {
	case len(s) >= 2 && s[0] == 0x8e && within(s[1], 0xa1, 0xdf):
		return 2, -0.5 // kana of half width
	case len(s) >= 3 && s[0] == 0x8f && s[1] >= 0xa1 && s[2] >= 0xa1 && s[1] != 0xff && s[2] != 0xff:
		return 3, -1
	}
	lead, trail, ok := double(s, true)
	switch {
	case !ok:
		return 0, 0
	case lead == 0xa4 && trail <= 0xf3, lead == 0xa5 && trail <= 0xf6:
		return 2, 3
	case lead == 0xa1, within(lead, 0xb0, 0xcf):
		return 2, 1
	case lead == 0xa3:
		return 2, 0.5
	case within(lead, 0xd0, 0xf4):
		return 2, 0
	}
	return 2, -1
}

// stepShiftJIS: hiragana are 82 9F to 82 F1, katakana 83 40 to 83 96, the kanji that are taught 88 9F to 97 FC.
func stepShiftJIS(s []byte) (size int, worth float64) {
	if within(s[0], 0xa1, 0xdf) {
		return 1, -0.5 // kana of half width
	}
	lead, trail, ok := double(s, false)
	switch {
	case !ok || lead == 0xa0 || lead > 0xfc || trail > 0xfc:
		return 0, 0
	case lead == 0x82 && within(trail, 0x9f, 0xf1):
		return 2, 3
	case lead == 0x83 && trail <= 0x96:
		return 2, 2.5
	case lead == 0x81, within(lead, 0x88, 0x97):
		return 2, 1
	case lead == 0x82:
		return 2, 0.5
	case within(lead, 0x98, 0x9f), within(lead, 0xe0, 0xea):
		return 2, 0
	}
	return 2, -1
}

// stepEUCKR: hangul are B0 to C8; what is before A1, or has a trail before it, is the extension of windows-949.
func stepEUCKR(s []byte) (size int, worth float64) {
	lead, trail, ok := double(s, false)
	switch {
	case !ok:
		return 0, 0
	case lead <= 0xc6 && trail < 0xa1 || lead < 0xa1:
		if !isLetter(trail) && trail < 0x81 {
			return 0, 0
		}
		return 2, -0.5
	case trail < 0xa1:
		return 0, 0
	case within(lead, 0xb0, 0xc8):
		return 2, 2
	case lead == 0xa1, lead == 0xa3:
		return 2, 0.5
	case within(lead, 0xca, 0xfd):
		return 2, -0.5
	case within(lead, 0xa2, 0xac):
		return 2, 0
	}
	return 2, -2
}

// stepGBK: the characters of the first level of GB 2312 are B0 to D7. Four bytes are GB 18030.
func stepGBK(s []byte) (size int, worth float64) {
	if len(s) >= 4 && within(s[1], '0', '9') && s[2] >= 0x81 && within(s[3], '0', '9') {
		return 4, -0.5
	}
	lead, trail, ok := double(s, false)
	switch {
	case !ok:
		return 0, 0
	case lead < 0xa1 || trail < 0xa1:
		return 2, -0.5
	case within(lead, 0xb0, 0xd7):
		return 2, 1.5
	case lead == 0xa1, lead == 0xa3:
		return 2, 0.5
	case lead == 0xa4, lead == 0xa5:
		return 2, -1.5 // kana
	case within(lead, 0xd8, 0xf7):
		return 2, 0
	}
	return 2, eastAsianBadTrail
}

// stepBig5: the frequent characters are A4 to C6.
func stepBig5(s []byte) (size int, worth float64) {
	lead, trail, ok := double(s, false)
	switch {
	case !ok || within(trail, 0x7f, 0xa0):
		return 0, 0
	case within(lead, 0xa4, 0xc6):
		return 2, 1.5
	case within(lead, 0xa1, 0xa3):
		return 2, 0.5
	case within(lead, 0xc9, 0xf9):
		return 2, 0
	}
	return 2, eastAsianBadTrail // of Hong Kong's set, or none
}
