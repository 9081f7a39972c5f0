package parse

import (
	"bytes"

	"golang.org/x/net/html"
)

// scan reads the whole text, which is UTF-8, and notes its references and facts. It is all that knows the tokenizer:
// it hands tags on as an element, whose attributes it reads only where they matter. It stops early and returns true
// where the page turns out to be in another encoding.
func (p *Parser) scan(text []byte) (again bool) {
	z := html.NewTokenizer(bytes.NewReader(text))
	z.AllowCDATA(p.xml)
	inTitle := false
	for {
		switch tt := z.Next(); tt {
		case html.ErrorToken:
			return false
		case html.TextToken:
			if inTitle {
				p.page.Title = collapsed(z.Text(), maxTitle)
			}
			inTitle = false
		case html.StartTagToken, html.SelfClosingTagToken:
			inTitle, again = p.startTag(z, tt == html.SelfClosingTagToken)
			if again {
				return true
			}
		case html.EndTagToken:
			inTitle = false
			if !p.place.plain() {
				p.endTag(z)
			}
		}
	}
}

// maxTitle is how many bytes of a title are kept.
const maxTitle = 512

// startTag reads a start tag. It reports whether the text that follows is the page's title, and whether the page has
// to be read again.
func (p *Parser) startTag(z *html.Tokenizer, selfClosing bool) (title, again bool) {
	name, more := z.TagName()
	foreign := p.place.foreign()
	if foreign && breaksOut(name, more) {
		p.place.breakOut()
		foreign = false
	}
	t := lookupTag(name)
	if t != tagOther {
		p.element.read(z, more)
	}
	hidden := p.place.hidden()
	empty := p.xml && selfClosing
	if !empty {
		p.place.open(t, &p.element, selfClosing)
	}
	z.AllowCDATA(p.xml || p.place.foreign())
	if foreign || t == tagNoscript || empty {
		// What the tokenizer does not know: nothing holds raw text in foreign content, a noscript element is markup to
		// those who run no scripts, and a self-closing tag of XML has no content.
		z.NextIsNotRawText()
	}
	switch {
	case t == tagOther || hidden:
		return false, false
	case foreign:
		p.foreignElement(t)
		return false, false
	case t == tagTitle && !p.titleSeen:
		p.titleSeen = true
		return !empty, false
	}
	return false, p.htmlElement(t)
}

func (p *Parser) endTag(z *html.Tokenizer) {
	name, _ := z.TagName()
	if p.place.foreign() && (string(name) == "p" || string(name) == "br") {
		p.place.breakOut()
	} else if t := lookupTag(name); t != tagOther {
		p.place.close(t)
	}
	z.AllowCDATA(p.xml || p.place.foreign())
}

// read reads the attributes that matter of the tag at which the tokenizer stands. They are valid until its next token.
func (e *element) read(z *html.Tokenizer, more bool) {
	e.has = 0
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if a := lookupAttr(key); a != attrOther {
			e.values[a] = value
			e.has |= 1 << a
		}
	}
}
