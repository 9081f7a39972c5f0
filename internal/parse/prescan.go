package parse

import "bytes"

// prescanBytes is how much of a body is searched for a charset before it is read.
const prescanBytes = 1024

// prescan searches the start of a body for the charset that it declares (HTML standard, "prescan a byte stream to
// determine its encoding", and "get an XML encoding", which is all that XML knows).
func prescan(body []byte, xml bool) charset {
	s := body[:min(len(body), prescanBytes)]
	if bytes.HasPrefix(s, []byte("<\x00?\x00x\x00")) {
		return lookup("utf-16le")
	}
	if bytes.HasPrefix(s, []byte("\x00<\x00?\x00x")) {
		return lookup("utf-16be")
	}
	if !xml {
		if c := prescanMarkup(s); c.name != "" {
			return c
		}
	}
	return xmlCharset(s)
}

func prescanMarkup(s []byte) charset {
	for {
		i := bytes.IndexByte(s, '<')
		if i < 0 {
			return charset{}
		}
		s = s[i:]
		switch {
		case bytes.HasPrefix(s, []byte("<!--")):
			end := bytes.Index(s[len("<!"):], []byte("-->")) // its hyphens may be those that open the comment
			if end < 0 {
				return charset{}
			}
			s = s[len("<!")+end+len("-->"):]
		case len(s) > 5 && equalFold(s[:5], "<meta") && (isSpace(s[5]) || s[5] == '/'):
			c, rest := prescanMeta(s[5:])
			if c.name != "" {
				return c
			}
			s = rest
		case len(s) > 1 && isLetter(s[1]), len(s) > 2 && s[1] == '/' && isLetter(s[2]):
			s = skipTag(s)
		case len(s) > 1 && (s[1] == '!' || s[1] == '/' || s[1] == '?'):
			end := bytes.IndexByte(s, '>')
			if end < 0 {
				return charset{}
			}
			s = s[end+1:]
		default:
			s = s[1:]
		}
	}
}

// prescanMeta reads the attributes of a meta element. Where they say no charset, the search goes on in rest.
func prescanMeta(s []byte) (c charset, rest []byte) {
	var m metaCharset
	for {
		name, value, rest, ok := prescanAttr(s)
		switch {
		case rest == nil: // cut off: what came before does not count
			return charset{}, nil
		case !ok:
			return m.charset(), rest
		}
		switch string(name) {
		case "http-equiv":
			m.httpEquiv(value)
		case "content":
			m.content(value)
		case "charset":
			m.label(value)
		}
		s = rest
	}
}

// metaCharset gathers what the attributes of one meta element say of the charset. The first of each name counts.
type metaCharset struct {
	found                             charset
	pragma                            bool // http-equiv says content-type
	hasPragma, hasContent, hasCharset bool
}

func (m *metaCharset) httpEquiv(value []byte) {
	if !m.hasPragma {
		m.hasPragma, m.pragma = true, equalFold(value, "content-type")
	}
}

func (m *metaCharset) content(value []byte) {
	if !m.hasContent && !m.hasCharset {
		m.found = contentCharset(value)
	}
	m.hasContent = true
}

func (m *metaCharset) label(value []byte) {
	if !m.hasCharset {
		m.hasCharset, m.found = true, lookupMeta(value)
	}
}

// charset returns what was found. Only a charset attribute counts without the pragma.
func (m *metaCharset) charset() charset {
	if m.hasCharset || m.pragma {
		return m.found
	}
	return charset{}
}

// skipTag skips a tag with its attributes.
func skipTag(s []byte) []byte {
	for len(s) > 0 && !isSpace(s[0]) && s[0] != '>' {
		s = s[1:]
	}
	for {
		_, _, rest, ok := prescanAttr(s)
		if !ok {
			return rest
		}
		s = rest
	}
}

// prescanAttr reads one attribute (HTML standard, "get an attribute", less the change to lower case of values). At the
// end of the tag ok is false; rest is nil where the bytes end first.
func prescanAttr(s []byte) (name, value, rest []byte, ok bool) {
	for len(s) > 0 && (isSpace(s[0]) || s[0] == '/') {
		s = s[1:]
	}
	if len(s) == 0 {
		return nil, nil, nil, false
	}
	if s[0] == '>' {
		return nil, nil, s[1:], false
	}
	n := 0
	for n < len(s) && !isSpace(s[n]) && s[n] != '/' && s[n] != '>' && (s[n] != '=' || n == 0) {
		n++
	}
	name = bytes.ToLower(s[:n])
	s = s[n:]
	if len(s) > 0 && isSpace(s[0]) {
		s = skipSpace(s)
	}
	if len(s) == 0 {
		return nil, nil, nil, false
	}
	if s[0] != '=' {
		return name, nil, s, true
	}
	value, rest, ok = prescanValue(skipSpace(s[1:]))
	return name, value, rest, ok
}

func prescanValue(s []byte) (value, rest []byte, ok bool) {
	if len(s) == 0 {
		return nil, nil, false
	}
	if s[0] == '"' || s[0] == '\'' {
		end := bytes.IndexByte(s[1:], s[0])
		if end < 0 {
			return nil, nil, false
		}
		return s[1 : 1+end], s[1+end+1:], true
	}
	n := 0
	for n < len(s) && !isSpace(s[n]) && s[n] != '>' {
		n++
	}
	if n == len(s) {
		return nil, nil, false
	}
	return s[:n], s[n:], true
}

// contentCharset returns the charset that the content attribute of a meta element names (HTML standard, "extracting a
// character encoding from a meta element").
func contentCharset(s []byte) charset {
	for {
		i := indexFold(s, "charset")
		if i < 0 {
			return charset{}
		}
		s = skipSpace(s[i+len("charset"):])
		if len(s) > 0 && s[0] == '=' {
			s = skipSpace(s[1:])
			break
		}
	}
	if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
		label, _, closed := bytes.Cut(s[1:], s[:1])
		if !closed {
			return charset{}
		}
		return lookupMeta(label)
	}
	n := 0
	for n < len(s) && !isSpace(s[n]) && s[n] != ';' {
		n++
	}
	return lookupMeta(s[:n])
}

// indexFold finds the ASCII word in any case.
func indexFold(s []byte, word string) int {
	for i := range len(s) - len(word) + 1 {
		if equalFold(s[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}

// xmlCharset reads the encoding of an XML declaration.
func xmlCharset(s []byte) charset {
	if !bytes.HasPrefix(s, []byte("<?xml")) {
		return charset{}
	}
	end := bytes.IndexByte(s, '>')
	if end < 0 {
		return charset{}
	}
	_, s, ok := bytes.Cut(s[:end], []byte("encoding"))
	if !ok {
		return charset{}
	}
	s = skipControls(s)
	if len(s) == 0 || s[0] != '=' {
		return charset{}
	}
	s = skipControls(s[1:])
	if len(s) == 0 || s[0] != '"' && s[0] != '\'' {
		return charset{}
	}
	label, _, ok := bytes.Cut(s[1:], s[:1])
	if !ok || bytes.ContainsFunc(label, func(r rune) bool { return r <= ' ' }) {
		return charset{}
	}
	return lookupMeta(label)
}

func skipControls(s []byte) []byte {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	return s
}
