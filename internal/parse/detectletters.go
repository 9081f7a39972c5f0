package parse

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// language is a way to write with letters that are not ASCII: the encodings that pages in it have, and these letters, the
// most frequent first.
type language struct {
	encodings []string
	domains   string // with blanks between them
	letters   string
	latin     bool // words have ASCII letters beside these
}

// The languages. Where two encodings of a language would read a sample alike, the first counts.
var languages = []language{
	{[]string{"windows-1252"}, "de at ch li", "üäößé", true},
	{[]string{"windows-1252"}, "fr be ca ch lu", "éèàêçôîûùâïëœ", true},
	{[]string{"windows-1252"}, "es mx ar co cl pe ve", "óíáéñúü¿¡", true},
	{[]string{"windows-1252"}, "pt br", "ãçáéíóêúõàâô", true},
	{[]string{"windows-1252"}, "it", "àèùòìé", true},
	{[]string{"windows-1252"}, "se fi ax ee", "äöåõüé", true},
	{[]string{"windows-1252"}, "dk no", "øåæé", true},
	{[]string{"windows-1252"}, "is fo", "áíðéöþóúæý", true},
	{[]string{"windows-1252"}, "nl uk us au ie", "éëèïöüóá", true},
	{[]string{"windows-1250", "iso-8859-2"}, "pl", "łąężśćóńź", true},
	{[]string{"windows-1250", "iso-8859-2"}, "cz sk", "íáéěýřčžůšúťóňďäľôĺŕ", true},
	{[]string{"windows-1250", "iso-8859-2"}, "hu", "áéóöőíüúű", true},
	{[]string{"windows-1250", "iso-8859-2"}, "ro md", "ăîâşţ", true},
	{[]string{"windows-1250", "iso-8859-2"}, "hr si rs ba me", "čšžćđ", true},
	{[]string{"windows-1254"}, "tr", "ıüşğöçİâî", true},
	{[]string{"windows-1257"}, "lt", "ėšįųžčūąę", true},
	{[]string{"windows-1257"}, "lv", "āīēšūņļžķģč", true},
	{[]string{"windows-1251", "koi8-u", "iso-8859-5", "ibm866"}, "ru su by kz", "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", false},
	{[]string{"windows-1251", "koi8-u", "iso-8859-5"}, "ua", "оанивіертслкумдпзяьбгйчхжюцїшєщфґ", false},
	{[]string{"windows-1251", "iso-8859-5"}, "bg", "аиоетнрсвлкдпмзяубъгчщжцйхшюфь", false},
	{[]string{"windows-1251", "iso-8859-5"}, "rs mk me", "аоиентрсјкувмдпзлгбшчћжњљцхђфџѓќѕ", false},
	{[]string{"windows-1253", "iso-8859-7"}, "gr cy", "αοιετσνηρπκμλςυωάίγόδέήθβχύφξώζψϊΐϋΰ", false},
	{[]string{"windows-1255"}, "il", "יוהלאתרמשבנדחקפכעםגצסטזןךףץ", false},
	{[]string{"windows-1256"}, "eg sa ae iq jo kw lb ly ma om qa sy tn ye dz", "الينمرتبودعهسفكقحجةىشطصخذءئأزضثغإؤظآ", false},
	{[]string{"windows-1256"}, "ir af", "اینردمهوتبسشکفزگخقعجپحصلطضآغچذظثژئي", false},
	{[]string{"windows-874"}, "th", "านรอกเงม่ยล้วดิทส็ตะปัีบคหแจพชขใไ์โุูื์ึำผธศณษซถฟฎญฐๆ", false},
}

// What counts beside the letters, in bits.
const (
	strange     = -6.0 // a letter that the language has not, or a control character
	symbol      = -3.0 // a character that hardly stands in a text
	capitalBits = -0.5 // a capital
	innerBits   = -3.0 // a capital behind a small letter
	latinBits   = -3.0 // an ASCII letter beside a letter of another script
	crowdBits   = -2.0 // a third letter with an accent in a row
	othersBits  = -4.0 // once, for all that is not windows-1252
	domainBits  = 8.0  // once, where the domain is one of the language's
	enoughBits  = 2.0  // that a guess must have, all together
	aloneBits   = -2.0 // a capital with no letter beside it
	fewLetters  = 3    // different letters that a guess other than windows-1252 must have; one less in a domain of the language,
	// and another where words have ASCII letters too
)

// reading is a language in one of its encodings.
type reading struct {
	encoding string
	language *language
	bits     [128]float64 // for each byte that is not ASCII, how much it speaks for this reading
	kind     [128]letterKind
}

type letterKind uint8

const (
	noLetter letterKind = iota
	smallLetter
	capitalLetter
)

// readings makes the tables at their first use.
var readings = sync.OnceValue(func() (all []*reading) {
	for i := range languages {
		for _, encoding := range languages[i].encodings {
			all = append(all, newReading(encoding, &languages[i]))
		}
	}
	return all
})

var charmaps = map[string]*charmap.Charmap{
	"windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251, "windows-1252": charmap.Windows1252,
	"windows-1253": charmap.Windows1253, "windows-1254": charmap.Windows1254, "windows-1255": charmap.Windows1255,
	"windows-1256": charmap.Windows1256, "windows-1257": charmap.Windows1257, "windows-874": charmap.Windows874,
	"iso-8859-2": charmap.ISO8859_2, "iso-8859-5": charmap.ISO8859_5, "iso-8859-7": charmap.ISO8859_7,
	"koi8-u": charmap.KOI8U, "ibm866": charmap.CodePage866,
}

func newReading(encoding string, l *language) *reading {
	r := &reading{encoding: encoding, language: l}
	letters := []rune(l.letters)
	for i := range r.bits {
		c := charmaps[encoding].DecodeByte(byte(i + utf8.RuneSelf))
		r.kind[i] = kindOf(c)
		r.bits[i] = bitsOf(c, letters)
	}
	return r
}

func kindOf(c rune) letterKind {
	switch {
	case unicode.IsUpper(c):
		return capitalLetter
	case unicode.IsLetter(c), unicode.IsMark(c):
		return smallLetter
	}
	return noLetter
}

// bitsOf is how much more often a character stands in a text of the letters than any byte does, as a logarithm. The
// letters are taken to be the less frequent the further back they stand, evenly.
func bitsOf(c rune, letters []rune) float64 {
	n := len(letters)
	rank := slices.Index(letters, c)
	if rank < 0 {
		rank = slices.Index(letters, unicode.ToLower(c))
	}
	switch {
	case rank >= 0:
		p := float64(n-rank) / (float64(n) * float64(n+1) / 2)
		bits := math.Log2(128 * p)
		if unicode.IsUpper(c) {
			bits += capitalBits
		}
		return bits
	case strings.ContainsRune("\u00a0«»“”„‘’‚‹›–—…•·©®™°§№€£\u200e\u200f؟،؛", c):
		return 0
	case c == utf8.RuneError, unicode.IsControl(c), unicode.IsLetter(c), unicode.IsMark(c):
		return strange
	}
	return symbol
}

// detectLetters returns the encoding in which the sample reads most like one of the languages.
func detectLetters(sample []byte, domain string) string {
	best, bestBits := "windows-1252", enoughBits
	for _, r := range readings() {
		if bits := r.judge(sample, domain); bits > bestBits {
			best, bestBits = r.encoding, bits
		}
	}
	return best
}

// judge adds up what speaks for the reading.
func (r *reading) judge(sample []byte, domain string) (bits float64) {
	few := fewLetters
	if r.language.latin {
		few--
	}
	if domain != "" && slices.Contains(strings.Fields(r.language.domains), domain) {
		bits += domainBits
		few--
	}
	if r.encoding != "windows-1252" {
		bits += othersBits
		if r.variety(sample) < few {
			return math.Inf(-1)
		}
	}
	row, before := 0, noLetter // letters of the reading up to here, and the kind of the last one
	for i, c := range sample {
		if c < utf8.RuneSelf {
			row, before = 0, noLetter
			continue
		}
		kind := r.kind[c-utf8.RuneSelf]
		bits += r.bits[c-utf8.RuneSelf]
		if kind == noLetter {
			row, before = 0, noLetter
			continue
		}
		if row++; r.language.latin && row > 2 {
			bits += crowdBits
		}
		if !r.language.latin && besideASCII(sample, i) {
			bits += latinBits
		}
		switch {
		case kind == capitalLetter && before == smallLetter:
			bits += innerBits
		case kind == capitalLetter && row == 1 && !r.letterAt(sample, i+1):
			bits += aloneBits
		}
		before = kind
	}
	return bits
}

// variety returns how many different letters of the reading the sample has.
func (r *reading) variety(sample []byte) (n int) {
	var met [128]bool
	for _, c := range sample {
		if c >= utf8.RuneSelf && r.kind[c-utf8.RuneSelf] != noLetter && !met[c-utf8.RuneSelf] {
			met[c-utf8.RuneSelf] = true
			n++
		}
	}
	return n
}

// letterAt reports whether a letter stands at i, ASCII or not.
func (r *reading) letterAt(s []byte, i int) bool {
	return i < len(s) && (isLetter(s[i]) || s[i] >= utf8.RuneSelf && r.kind[s[i]-utf8.RuneSelf] != noLetter)
}

// besideASCII reports whether an ASCII letter stands right before or behind the byte at i.
func besideASCII(s []byte, i int) bool {
	return i > 0 && isLetter(s[i-1]) || i+1 < len(s) && isLetter(s[i+1])
}
