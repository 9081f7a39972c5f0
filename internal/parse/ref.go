package parse

import (
	"bytes"
	"hash/maphash"
	"unsafe"
)

// ref is a reference of the page that is not resolved yet: the base element that decides may still come.
type ref struct {
	start, end int // of its bytes in the arena
	source     Source
	kind       Kind
	noFollow   bool
	header     bool // of the response, not of the document: other base, other encoding
	canonical  bool
}

const refSize = int(unsafe.Sizeof(ref{}))

// add notes a reference as it stands in an attribute, its character references decoded, and reports whether it may
// become a link. An empty one means the page itself, which only a and area lead to.
func (p *Parser) add(value []byte, r ref) bool {
	value = trimRef(value)
	if schemeOf(value) == otherScheme {
		p.page.Unsupported++
		return false
	}
	// The first number sign starts the fragment wherever it stands in an http or https URL.
	if i := bytes.IndexByte(value, '#'); i >= 0 {
		value = value[:i]
	}
	if len(value) == 0 && r.source != SourceA && r.source != SourceArea {
		return false
	}
	if !p.room(len(value)) {
		return true
	}
	if i, found := p.findRef(value, r); found {
		first := &p.refs[i]
		first.kind = max(first.kind, r.kind)
		first.noFollow = first.noFollow && r.noFollow
		first.canonical = first.canonical || r.canonical
		p.page.Repeated++
		return true
	}
	r.start = len(p.arena)
	p.arena = append(p.arena, value...)
	r.end = len(p.arena)
	p.refs = append(p.refs, r)
	return true
}

// findRef returns the place of a reference with the same bytes from the same source. If there is none, it takes the
// place after the last for it.
func (p *Parser) findRef(value []byte, r ref) (i int, found bool) {
	h := maphash.Bytes(p.refTable.seed, value) + uint64(r.source)
	return p.refTable.find(h, len(p.refs), func(i int) bool {
		have := &p.refs[i]
		return have.source == r.source && have.header == r.header && bytes.Equal(p.arena[have.start:have.end], value)
	})
}

// admit appends a link, or counts it as repeated: other references led to the same URL key.
func (p *Parser) admit(l Link) {
	key := l.URL.Key()
	h := maphash.String(p.linkTable.seed, key) + uint64(l.Source)
	i, found := p.linkTable.find(h, len(p.page.Links), func(i int) bool {
		have := &p.page.Links[i]
		return have.Source == l.Source && have.URL.Key() == key
	})
	if !found {
		p.page.Links = append(p.page.Links, l)
		return
	}
	first := &p.page.Links[i]
	first.Kind = max(first.Kind, l.Kind)
	first.NoFollow = first.NoFollow && l.NoFollow
	p.page.Repeated++
}

// trimRef strips the control characters and spaces that the URL parser strips.
func trimRef(s []byte) []byte {
	start, end := 0, len(s)
	for start < end && s[start] <= ' ' {
		start++
	}
	for end > start && s[end-1] <= ' ' {
		end--
	}
	return s[start:end]
}

// schemeClass tells the schemes of references apart.
type schemeClass uint8

const (
	noScheme schemeClass = iota
	webScheme
	otherScheme
)

// schemeOf returns the class of a trimmed reference's scheme (URL standard, "scheme start state" and "scheme state").
// It saves copying and parsing what can be no link, such as images of megabytes in data URLs.
func schemeOf[S string | []byte](s S) schemeClass {
	var name [len("https")]byte
	n := 0 // bytes of the scheme; tabs and newlines are not there for the URL parser
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\t' || c == '\n' || c == '\r':
		case c|0x20 >= 'a' && c|0x20 <= 'z', n > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
			if n < len(name) {
				name[n] = c | 0x20
			}
			n++
		case c != ':' || n == 0:
			return noScheme
		case n == len("http") && string(name[:n]) == "http", n == len("https") && string(name[:]) == "https":
			return webScheme
		default:
			return otherScheme
		}
	}
	return noScheme
}
