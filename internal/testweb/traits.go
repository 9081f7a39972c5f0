package testweb

import "strconv"

// trait is something that a share of the full pages has.
type trait uint8

// The first traits are decoys: links that are none, each at a place where a wrong parser finds one.
const (
	inComment   trait = iota
	inScript          // also after <!-- <script> inside the script, where </script> does not end it
	inStyle           // in a style sheet's comment
	inTextarea        // text of a form field
	inTitle           // text of the title
	inAttribute       // in the value of alt, and as data-href
	inSecond          // a second href on one element: the first counts
	inData            // a data: URL
	inCall            // the argument of a javascript: URL
	inFrame           // the content of an iframe is text
	inUnread          // in a body that is not HTML
	decoys            // how many they are

	withBase     trait = iota - 1 // <base href> on the same host
	withHostBase                  // <base href> on another host
	withRefresh                   // one of the links is a meta refresh
	inLatin1                      // ISO-8859-1 by the Content-Type; raw é in links is one byte
	isChunked                     // Transfer-Encoding: chunked
	withOutside                   // a link out of scope
	withImage                     // an image of its own, in two sizes
	traitCount
)

var decoyNames = [decoys]string{
	"comment", "script", "style", "textarea", "title", "attribute", "second", "data", "call", "frame", "unread",
}

// traitOdds says how rare a trait is: one page in 2^odds.
var traitOdds = [traitCount]uint{
	inComment: 1, inScript: 1, inStyle: 3, inTextarea: 2, inTitle: 3, inAttribute: 1, inSecond: 2, inData: 2, inCall: 2,
	inFrame:  3,
	withBase: 4, withHostBase: 5, withRefresh: 4, inLatin1: 4, isChunked: 3, withOutside: 1, withImage: 0,
}

type traits uint32

func (t traits) has(x trait) bool { return t>>x&1 == 1 }

// traitsOf returns the traits of a slot. The copy of a page has none of its own.
func (s *Site) traitsOf(p place) traits {
	k := s.kindOf(p)
	switch {
	case k == plainText || k == octets:
		return 1 << inUnread
	case !k.rich() || k == copyOf:
		return 0
	}
	d := s.dice(p, forTraits)
	var t traits
	for x, odds := range traitOdds {
		if d.oneIn(odds) {
			t |= 1 << x
		}
	}
	t &^= 1 << inUnread
	if k == original { // the same bytes must mean the same links at two places
		t &^= 1<<withBase | 1<<withHostBase
	}
	if t.has(withBase) || s.cfg.Hosts == 1 {
		t &^= 1 << withHostBase
	}
	return t
}

// appendDecoy appends the target that a decoy of page n names.
func appendDecoy(b []byte, x trait, n int) []byte {
	b = append(b, decoyPrefix...)
	b = append(b, decoyNames[x]...)
	b = append(b, '/')
	return strconv.AppendInt(b, int64(n), 10)
}

const decoyPrefix = "/decoy/"
