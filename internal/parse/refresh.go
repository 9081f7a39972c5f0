package parse

import "bytes"

// refresh reads a Refresh header or a meta refresh. The first that names another page is the one that takes effect. A
// noscript element holds the refresh of those who run no scripts, beside that of all others.
func (p *Parser) refresh(content []byte, header bool) {
	if p.refreshed && !p.place.noscript {
		return
	}
	url := refreshURL(content)
	if len(url) == 0 {
		return // the page loads itself again
	}
	if p.add(url, ref{source: SourceRefresh, kind: Navigation, header: header}) && !p.place.noscript {
		p.refreshed = true
	}
}

// refreshURL returns the reference of a refresh, or nothing where it has none or does not parse (HTML standard,
// "shared declarative refresh steps").
func refreshURL(s []byte) []byte {
	s = skipSpace(s)
	digits := 0
	for digits < len(s) && isDigit(s[digits]) {
		digits++
	}
	if s = s[digits:]; digits == 0 && (len(s) == 0 || s[0] != '.') {
		return nil
	}
	for len(s) > 0 && (isDigit(s[0]) || s[0] == '.') {
		s = s[1:]
	}
	if len(s) == 0 || s[0] != ';' && s[0] != ',' && !isSpace(s[0]) {
		return nil
	}
	s = skipSpace(s)
	if len(s) > 0 && (s[0] == ';' || s[0] == ',') {
		s = s[1:]
	}
	s = skipSpace(s)
	if len(s) == 0 {
		return nil
	}
	if s[0]|0x20 == 'u' {
		rest, ok := cutURLEquals(s)
		if !ok {
			return s // a reference that starts with a u
		}
		s = rest
	}
	if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = bytes.Cut(s[1:], s[:1])
	}
	return s
}

// cutURLEquals cuts "url=" off.
func cutURLEquals(s []byte) (rest []byte, ok bool) {
	if len(s) < 3 || !equalFold(s[:3], "url") {
		return nil, false
	}
	s = skipSpace(s[3:])
	if len(s) == 0 || s[0] != '=' {
		return nil, false
	}
	return skipSpace(s[1:]), true
}
