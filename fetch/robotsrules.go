package fetch

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"
)

// rules are the Allow and Disallow lines of a robots.txt, the one that wins first. A crawl holds those of all hosts that
// it is at, so they take 24 bytes a rule and their texts once, in two pieces of memory.
type rules struct {
	all     []rule
	texts   string
	starred int // of all
}

// rule is an Allow or Disallow line. Its texts are in rules.texts.
type rule struct {
	pattern, text span // in the form that fold gives, and as it stands in the file
	line          int32
	allow         bool
	starred       bool // the pattern has a "*"
}

// span is a piece of rules.texts. No robots.txt has as much as 4 GiB.
type span struct{ from, n uint32 }

func (s span) of(texts string) string { return texts[s.from:][:s.n] }

// rulesOf returns lines as rules: the longest pattern first, of equal length an Allow, then as they stand in the file. Of
// those that say the same only the first is kept.
func rulesOf(lines []ruleLine) rules {
	slices.SortFunc(lines, func(a, b ruleLine) int {
		return cmp.Or(byRank(a, b), strings.Compare(a.pattern, b.pattern), cmp.Compare(a.line, b.line))
	})
	lines = slices.CompactFunc(lines, func(a, b ruleLine) bool { return a.allow == b.allow && a.pattern == b.pattern })
	slices.SortFunc(lines, func(a, b ruleLine) int { return cmp.Or(byRank(a, b), cmp.Compare(a.line, b.line)) })
	size := 0
	for i := range lines {
		size += len(lines[i].pattern)
		if lines[i].text != lines[i].pattern {
			size += len(lines[i].text)
		}
	}
	var texts strings.Builder
	texts.Grow(size)
	add := func(s string) span {
		texts.WriteString(s)
		return span{uint32(texts.Len() - len(s)), uint32(len(s))}
	}
	r := rules{all: make([]rule, len(lines))}
	for i, l := range lines {
		one := rule{pattern: add(l.pattern), line: int32(l.line), allow: l.allow, starred: strings.Contains(l.pattern, "*")}
		if one.text = one.pattern; l.text != l.pattern {
			one.text = add(l.text)
		}
		if one.starred {
			r.starred++
		}
		r.all[i] = one
	}
	r.texts = texts.String()
	return r
}

// byRank has the rule come first that decides where both match (RFC 9309, section 2.2.2).
func byRank(a, b ruleLine) int {
	switch c := cmp.Compare(len(b.pattern), len(a.pattern)); {
	case c != 0 || a.allow == b.allow:
		return c
	case a.allow:
		return -1
	}
	return 1
}

// size returns how many bytes of memory r takes.
func (r *rules) size() int { return len(r.all)*int(unsafe.Sizeof(rule{})) + len(r.texts) }

// maxMatchBytes bounds what one URL costs: so much of it, in sum, is held against rules with a "*". Only those count that have
// no two neighbouring octets which the URL has not, so it is a limit for sites that are out for our time, with tens of
// thousands of rules and URLs of many KiB made for each other. A rule without a "*" costs no more than its own length.
const maxMatchBytes = 32 << 20

// tooMuch is the Decision.Rule where maxMatchBytes does not suffice.
const tooMuch = "robots.txt has too many rules with * for a URL of this length"

// decide returns the decision of the first rule that matches target, which is in the form that fold gives.
func (r *rules) decide(target string) Decision {
	var has *octetPairs
	if r.starred*len(target) > worthPairs {
		has = pairsOf(target)
	}
	left := maxMatchBytes
	for i := range r.all {
		one := &r.all[i]
		pattern := one.pattern.of(r.texts)
		if one.starred {
			if has != nil && !has.allOf(pattern) {
				continue
			}
			if left -= len(target); left < 0 {
				return Decision{Rule: tooMuch}
			}
		}
		if matches(pattern, target) {
			return r.decision(one)
		}
	}
	return Decision{Allowed: true}
}

func (r *rules) decision(one *rule) Decision {
	verb := "Disallow: "
	if one.allow {
		verb = "Allow: "
	}
	return Decision{Allowed: one.allow, Line: int(one.line), Rule: verb + one.text.of(r.texts)}
}

// matches reports whether pattern matches a prefix of target, or all of it when pattern ends in "$". A "*" is any run of
// octets, also none. Each piece between stars is taken where it first fits, which is never worse than later: so no octet
// of target is matched anew.
func matches(pattern, target string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	piece, rest, starred := strings.Cut(pattern, "*")
	target, ok := strings.CutPrefix(target, piece)
	if !ok {
		return false
	}
	for starred {
		piece, rest, starred = strings.Cut(rest, "*")
		if anchored && !starred {
			return strings.HasSuffix(target, piece)
		}
		if _, target, ok = strings.Cut(target, piece); !ok {
			return false
		}
	}
	return !anchored || target == ""
}
