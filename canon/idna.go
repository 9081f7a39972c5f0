package canon

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// domains maps domains as UTS 46 does, with the settings of the standard's "domain to ASCII" (beStrict is false).
var domains = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.CheckHyphens(false),
	idna.CheckJoiners(true),
	idna.BidiRule(),
	idna.StrictDomainName(false),
	idna.VerifyDNSLength(false),
)

// maxUnicodeDomain bounds the work on a domain, in bytes of UTF-8: Punycode takes time by the square of a label. No
// domain that DNS can hold is longer: it has at most 253 characters.
const maxUnicodeDomain = 1024

// toASCII leaves a domain in ASCII alone but for its case, as browsers do: labels in Punycode are not looked into.
func toASCII(domain string) (string, error) {
	switch {
	case isASCII(domain):
		return strings.ToLower(domain), nil
	case !utf8.ValidString(domain):
		return "", flaw("host is not UTF-8")
	case len(domain) > maxUnicodeDomain:
		return "", flaw("host is too long for a domain name")
	}
	domain = strings.Map(premap, domain)
	for label := range strings.FieldsFuncSeq(domain, isDot) {
		if err := checkPunycode(label); err != nil {
			return "", err
		}
	}
	ascii, err := domains.ToASCII(domain)
	switch {
	case err != nil:
		return "", flaw("host is no domain name: " + strings.TrimPrefix(err.Error(), "idna: "))
	case ascii == "":
		return "", flaw("host holds only characters that do not count")
	}
	return ascii, nil
}

// isDot reports whether UTS 46 takes r for a label separator.
func isDot(r rune) bool { return r == '.' || r == 0x3002 || r == 0xff0e || r == 0xff61 }

// checkPunycode refuses what package idna lets pass in labels that start with "xn--": characters beyond ASCII, and
// Punycode that stands for nothing or for ASCII alone.
func checkPunycode(label string) error {
	if len(label) < 4 || !strings.EqualFold(label[:4], "xn--") {
		return nil
	}
	const mark = "0" // Punycode of its own, which is what becomes of characters beyond ASCII, starts otherwise
	mapped, err := domains.ToASCII(mark + label[4:])
	if err != nil || mapped == mark || !strings.HasPrefix(mapped, mark) || strings.HasSuffix(mapped, "-") {
		return flaw("host is no domain name: invalid Punycode")
	}
	return nil
}

// premap maps what package idna maps otherwise than UTS 46 does now. Its tables are those of Unicode 15 up to Go 1.26
// and of Unicode 17 since; what was mapped anew in Unicode 15.1 and 16 is here. Characters that are newer than the
// tables are refused. The commonest of the ignored characters are removed for checkPunycode, too.
func premap(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case 0x10a0 <= r && r <= 0x10c5: // Georgian capitals
		return r - 0x10a0 + 0x2d00
	case 0x2135 <= r && r <= 0x2138: // Hebrew letters as symbols, of which the package forgets that they run to the left
		return r - 0x2135 + 0x05d0
	case 0x206a <= r && r <= 0x206f, 0x1d173 <= r && r <= 0x1d17a:
		return -1
	}
	switch r {
	case 0x04c0: // palochka
		return 0x04cf
	case 0x2132: // turned F
		return 0x214e
	case 0x2183: // reversed C
		return 0x2184
	case 0x1e9e: // capital sharp s
		return 0x00df
	case 0x00ad, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x200b, 0x2060, 0x2061, 0x2062, 0x2063, 0x3164, 0xfeff, 0xffa0:
		return -1
	case 0x2f868: // CJK compatibility ideographs
		return 0x36fc
	case 0x2f874:
		return 0x5f53
	case 0x2f91f:
		return 0x243ab
	case 0x2f95f:
		return 0x7aee
	case 0x2f9bf:
		return 0x45d7
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
