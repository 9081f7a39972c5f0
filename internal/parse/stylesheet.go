package parse

import "bytes"

// IsStyleSheet reports whether a body of this media type is a style sheet.
func IsStyleSheet(mediaType string) bool { return mediaType == "text/css" }

// StyleSheet reads what a style sheet loads into page, whose Links it uses again. URLs are relative to the sheet.
func (p *Parser) StyleSheet(in Input, page *Page) {
	p.in, p.page = in, page
	p.start()
	p.inPieces = in.Piece != nil // the base is known
	_, label := splitMediaType(ContentType(in.Header))
	body := p.sheetCharset(label)
	for _, value := range in.Header.Values("X-Robots-Tag") {
		if robotsTag(value, in.Agent) {
			page.NoFollow = true
		}
	}
	var text []byte
	text, p.decoded = p.charset.decode(body, p.decoded)
	for url := range cssLinks(text) {
		p.addStyle(url)
	}
	page.Charset = p.charset.name
	p.resolve()
	p.conclude()
	p.release()
}

// sheetCharset settles the sheet's charset, and returns it without its byte order mark (CSS Syntax, section 3.2).
func (p *Parser) sheetCharset(label string) []byte {
	if c, size := byteOrderMark(p.in.Body); size > 0 {
		p.charset = c
		return p.in.Body[size:]
	}
	p.charset = lookup(label)
	if p.charset.name == "" {
		p.charset = cssCharset(p.in.Body)
	}
	if p.charset.name == "" {
		p.charset = lookup("utf-8")
	}
	return p.in.Body
}

func (p *Parser) addStyle(url []byte) {
	p.add(url, ref{source: SourceCSS, kind: SourceCSS.kind()})
}

// styles notes what the start tag before the scanner brings in styles: its style attribute, the background attribute that
// older pages have in its place, and the content of a style element. content is that of an element of HTML.
func (p *Parser) styles(t tag, content []byte, foreign bool) {
	if !foreign && hasBackground(p.scanner.name) {
		p.addAttr(attrBackground, SourceImg)
	}
	if value, ok := p.element.get(attrStyle); ok {
		for url := range cssDeclarations(value) {
			p.addStyle(url)
		}
	}
	if t != tagStyle || !p.isCSS() || foreign && p.scanner.selfClosing {
		return
	}
	if section, ok := cdataSection(content); p.xml && ok {
		content = section
	}
	if foreign {
		content = p.foreignStyle()
	}
	for url := range cssLinks(content) {
		p.addStyle(url)
	}
}

// hasBackground reports whether an element of that name shows the image of its background attribute (HTML standard, sections
// 15.3.2 and 15.3.11).
func hasBackground(name []byte) bool {
	switch string(name) {
	case "body", "table", "thead", "tbody", "tfoot", "tr", "td", "th":
		return true
	}
	return false
}

// isCSS reports whether a style element holds CSS (HTML standard, "update a style block").
func (p *Parser) isCSS() bool {
	value := p.element.value(attrType)
	return len(value) == 0 || equalFold(value, "text/css")
}

// foreignStyle returns the content of a style element of SVG, which is markup to the tokenizer: its text up to the next tag,
// or its first CDATA section.
func (p *Parser) foreignStyle() []byte {
	text := p.scanner.text[p.scanner.at:]
	if section, ok := cdataSection(text); ok {
		return section
	}
	before, _, _ := bytes.Cut(text, []byte("<"))
	return appendDecoded(nil, before, false)
}

// cdataSection returns the content of the CDATA section that text begins with, if it does.
func cdataSection(text []byte) (content []byte, ok bool) {
	content, ok = bytes.CutPrefix(skipSpace(text), []byte("<![CDATA["))
	if ok {
		content, _, _ = bytes.Cut(content, []byte("]]>"))
	}
	return content, ok
}
