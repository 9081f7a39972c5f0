package parse

import (
	"bytes"

	"crawl/canon"
)

const (
	maxDescription = 1024
	maxHeading     = 512
	maxLang        = 64

	// maxHeadingMarkup is how much of an h1 is read: some are never closed.
	maxHeadingMarkup = 16 << 10

	// maxAlternates is more languages than any page is written in.
	maxAlternates = 512
)

// Alternate names the same page in another language (HTML standard, link type "alternate" with hreflang).
type Alternate struct {
	Lang string `json:"lang"` // as written, in most cases a BCP 47 tag or x-default
	URL  string `json:"url"`
}

// alternate is one whose URL is not resolved yet.
type alternate struct{ lang, ref string }

// language notes the language of the page: that of the first html element that says one. XHTML may say it by xml:lang.
func (p *Parser) language() {
	if p.page.Lang != "" {
		return
	}
	lang := p.element.value(attrLang)
	if len(lang) == 0 && p.xml {
		lang = p.element.value(attrXMLLang)
	}
	p.page.Lang = collapsed(lang, maxLang)
}

// alternate notes a link element that leads to the page in another language.
func (p *Parser) alternate(rel, href []byte) {
	lang := p.element.value(attrHreflang)
	if len(lang) == 0 || len(p.alternates) == maxAlternates || !hasToken(rel, "alternate") {
		return
	}
	p.alternates = append(p.alternates, alternate{collapsed(lang, maxLang), string(trimRef(href))})
}

func (p *Parser) resolveAlternates(base canon.URL, encode canon.Encoder) {
	for _, a := range p.alternates {
		if u, err := p.in.Rules.ParseEncoded(base, a.ref, encode); err == nil {
			p.page.Alternates = append(p.page.Alternates, Alternate{a.lang, u.String()})
		}
	}
}

// startHeading notes where the content of an h1 starts.
func (p *Parser) startHeading(at int) {
	if p.page.Heading == "" && p.headingAt == 0 {
		p.headingAt = at
	}
}

// endHeading reads the heading that is open.
func (p *Parser) endHeading(at int) {
	if p.headingAt == 0 {
		return
	}
	markup := p.scanner.text[p.headingAt:at]
	p.headingAt = 0
	p.page.Heading = p.plainText(markup[:min(len(markup), maxHeadingMarkup)], maxHeading)
}

// plainText returns the text of markup, white space collapsed, cut to limit bytes.
func (p *Parser) plainText(markup []byte, limit int) string {
	var c collapser
	var piece []byte
	z := &p.inner // a scanner of its own: the page's stands behind the heading
	*z = scanner{text: markup, cdata: p.xml, element: &p.innerElement}
	for z.at < len(markup) && len(c.text) <= limit {
		end := bytes.IndexByte(markup[z.at:], '<')
		if end < 0 {
			end = len(markup) - z.at
		}
		for text := markup[z.at : z.at+end]; len(text) > 0 && len(c.text) <= limit; {
			piece, text = appendPiece(piece[:0], text, false)
			c.write(piece)
		}
		z.at += end + 1
		if z.at >= len(markup) {
			break
		}
		switch from := z.at; {
		case z.markup() == startTag:
			z.rawText()
			if parts(z.name) {
				c.space()
			}
		case z.at == from: // no markup after all
			c.write([]byte("<"))
		}
	}
	return cut(string(c.text), limit)
}

// parts reports whether an element stands between two words, whatever is written around it.
func parts(name []byte) bool {
	switch string(name) {
	case "br", "p", "div", "hr", "li", "td", "img":
		return true
	}
	return false
}
