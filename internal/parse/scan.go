package parse

// scan reads the whole text, which is UTF-8, and notes its references and facts. It stops early and returns true where
// the page turns out to be in another encoding.
func (p *Parser) scan(text []byte) (again bool) {
	p.scanner = scanner{text: text, cdata: p.xml, style: p.in.Styles, element: &p.element}
	z := &p.scanner
	for {
		switch z.next() {
		case startTag:
			if p.startTag(z) {
				return true
			}
		case endTag:
			if !p.place.plain() {
				p.endTag(z)
			}
			if p.headingAt > 0 && string(z.name) == "h1" {
				p.endHeading(z.at)
			}
		case endOfText:
			p.endHeading(z.at)
			p.page.PlainBytes = z.plain
			return false
		}
	}
}

// maxTitle is how many bytes of a title are kept.
const maxTitle = 512

// startTag reads a start tag. It returns true where the page has to be read again.
func (p *Parser) startTag(z *scanner) (again bool) {
	foreign := p.place.foreign()
	if foreign && breaksOut(z.name, z.hasAttr) {
		p.place.breakOut()
		foreign = false
	}
	hidden := p.place.hidden()
	empty := p.xml && z.selfClosing
	if !empty {
		p.place.open(z.tag, &p.element, z.selfClosing)
	}
	z.cdata = p.xml || p.place.foreign()
	var text []byte
	if !foreign && !empty {
		// Nothing holds raw text in foreign content, and a self-closing tag of XML has no content.
		text = z.rawText()
	}
	if p.in.Styles && !hidden {
		p.styles(z.tag, text, foreign)
	}
	switch {
	case z.tag == tagOther || hidden:
		return false
	case foreign:
		p.foreignElement(z.tag)
		return false
	case z.tag == tagTitle:
		p.title(text)
		return false
	case z.tag == tagH1:
		p.startHeading(z.at)
		return false
	}
	return p.htmlElement(z.tag)
}

func (p *Parser) endTag(z *scanner) {
	if name := string(z.name); p.place.foreign() && (name == "p" || name == "br") {
		p.place.breakOut()
	} else if t := lookupTag(z.name); t != tagOther {
		p.place.close(t)
	}
	z.cdata = p.xml || p.place.foreign()
}

// title notes the content of a title element. The first counts.
func (p *Parser) title(text []byte) {
	if p.titleSeen {
		return
	}
	p.titleSeen = true
	var c collapser
	piece := &p.element.decoded
	for len(text) > 0 && len(c.text) <= maxTitle {
		*piece, text = appendPiece((*piece)[:0], text, false)
		c.write(*piece)
	}
	p.page.Title = cut(string(c.text), maxTitle)
}
