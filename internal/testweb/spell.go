package testweb

import (
	"bytes"
	"slices"
	"strings"
)

// spelling writes references: the same URL in the many ways that pages write it.
type spelling struct {
	site     *Site
	d        dice
	baseHost int    // what relative references are relative to
	basePath []byte // without query
	based    bool   // by a base element: then the page itself has no reference without a path
	anywhere bool   // references must mean the same wherever the page stands
	latin1   bool
	target   []byte // scratch
}

// form is how much of a URL a reference leaves out.
type form uint8

const (
	absolute form = iota
	schemeRelative
	pathAbsolute
	relative
	queryOnly
)

// append appends a reference to p.
func (sp *spelling) append(dst []byte, p place) []byte {
	sp.target = sp.site.appendTarget(sp.target[:0], p)
	f := sp.form(p)
	start := len(dst)
	switch f {
	case absolute:
		dst = sp.appendOrigin(dst, p.host)
	case schemeRelative:
		dst = append(append(dst, "//"...), sp.site.names[p.host]...)
	case relative:
		dst = sp.appendRelative(dst)
	case queryOnly:
		dst = append(dst, sp.target[bytes.IndexByte(sp.target, '?'):]...)
	}
	if f <= pathAbsolute {
		dst = append(sp.appendDots(dst), sp.target...)
	}
	dst = sp.respell(dst, start)
	if sp.d.oneIn(3) {
		dst = append(dst, fragments[sp.d.roll(2)]...)
	}
	return dst
}

var fragments = [4]string{"#top", "#s?a=b", "#/x/../y", "#"}

// form draws a form that can refer to sp.target. A path with an empty first segment is always written whole: clients
// differ in what they make of it after dot segments.
func (sp *spelling) form(p place) form {
	r := sp.d.roll(4)
	if p.host != sp.baseHost || strings.HasPrefix(string(sp.target), doubled) {
		if r < 12 {
			return absolute
		}
		return schemeRelative
	}
	if sp.sameButQuery() && r < 10 {
		return queryOnly
	}
	switch {
	case r < 4:
		return absolute
	case r < 6:
		return schemeRelative
	case r < 10 || sp.anywhere:
		return pathAbsolute
	}
	return relative
}

// sameButQuery reports whether sp.target differs from the page in its query alone.
func (sp *spelling) sameButQuery() bool {
	path, _, ok := bytes.Cut(sp.target, []byte{'?'})
	return ok && !sp.based && !sp.anywhere && bytes.Equal(path, sp.basePath)
}

// appendOrigin appends scheme and host; now and then in upper case, now and then with the port that is meant anyway.
func (sp *spelling) appendOrigin(dst []byte, host int) []byte {
	scheme, name, port := "http://", sp.site.names[host], ":80"
	if sp.site.cfg.HTTPS {
		scheme, port = "https://", ":443"
	}
	switch sp.d.roll(5) {
	case 0:
		return append(append(append(dst, scheme...), name...), port...)
	case 1:
		return append(append(dst, scheme...), strings.ToUpper(name)...)
	case 2:
		return append(append(dst, strings.ToUpper(scheme)...), name...)
	}
	return append(append(dst, scheme...), name...)
}

var dots = [4]string{"/.", "/x/..", "/x/y/../..", "/x/%2e%2E"}

// appendDots appends a detour that ends where it started.
func (sp *spelling) appendDots(dst []byte) []byte {
	if strings.HasPrefix(string(sp.target), doubled) || !sp.d.oneIn(5) {
		return dst
	}
	return append(dst, dots[sp.d.roll(2)]...)
}

// appendRelative appends sp.target as seen from the folder of the base path.
func (sp *spelling) appendRelative(dst []byte) []byte {
	folder := sp.basePath[:bytes.LastIndexByte(sp.basePath, '/')+1]
	rest, below := bytes.CutPrefix(sp.target, folder)
	if below {
		if len(rest) == 0 || rest[0] == '?' || sp.d.oneIn(3) {
			dst = append(dst, "./"...)
		}
		return append(dst, rest...)
	}
	for range bytes.Count(folder, []byte{'/'}) - 1 {
		dst = append(dst, "../"...)
	}
	return append(dst, sp.target[1:]...)
}

// respell changes the percent-encoding of the reference that starts at start, which stays the same URL.
func (sp *spelling) respell(dst []byte, start int) []byte {
	ref := dst[start:]
	if bytes.IndexByte(ref, '%') >= 0 {
		return sp.respellTriplets(dst, start)
	}
	i, rarity := bytes.IndexByte(ref, '~'), uint(1)
	if i < 0 {
		i, rarity = len(ref)-1, 5
	}
	if i < 0 || !isLetter(ref[i]) && ref[i] != '~' || !sp.d.oneIn(rarity) {
		return dst
	}
	digits := hexDigits[sp.d.roll(1)]
	return slices.Replace(dst, start+i, start+i+1, '%', digits[ref[i]>>4], digits[ref[i]&15])
}

var hexDigits = [2]string{upperHex, "0123456789abcdef"}

// respellTriplets writes é and the space as they are, or triplets in lower case.
func (sp *spelling) respellTriplets(dst []byte, start int) []byte {
	raw, lower := sp.d.oneIn(1), sp.d.oneIn(1)
	out := start
	for i := start; i < len(dst); i++ {
		rest := dst[i:]
		switch {
		case raw && bytes.HasPrefix(rest, []byte("%C3%A9")):
			out += copy(dst[out:], sp.eAcute())
			i += len("%C3%A9") - 1
			continue
		case raw && bytes.HasPrefix(rest, []byte("%20")):
			dst[out] = ' '
			i += len("%20") - 1
		case lower && len(rest) > 2 && rest[0] == '%' && isHex(rest[1]) && isHex(rest[2]):
			out += copy(dst[out:], bytes.ToLower(rest[:3]))
			i += 2
			continue
		default:
			dst[out] = rest[0]
		}
		out++
	}
	return dst[:out]
}

func (sp *spelling) eAcute() string {
	if sp.latin1 {
		return "\xE9"
	}
	return "\u00E9"
}
