package parse

import "bytes"

// scanner finds the tags of a text by the states of the HTML standard's tokenizer (section 13.2.5), in place: it
// copies nothing of the text and leaves it as it is. It jumps from mark to mark and makes no tokens of what holds no
// links: text, comments and doctypes. A tag that the end of the text cuts is none.
//
// Like the standard's tokenizer it has to be told what only the parser knows: where CDATA sections may stand (cdata),
// and after which start tags the content is no markup (rawText).
type scanner struct {
	text  []byte
	at    int  // where what is not read yet starts
	plain int  // bytes of text that were skipped: outside of markup, scripts and the like
	style bool // style attributes matter, whatever the element
	cdata bool // the text stands in foreign content or XML, where CDATA sections are text and no comments

	// The tag that next found.
	name        []byte // in lower case where it is short enough to be one that matters
	tag         tag    // of a start tag
	selfClosing bool
	hasAttr     bool
	element     *element // the attributes of a start tag that matters
	attrsAt     int      // where the attributes start
	closed      bool     // the tag's ">" was read
	lower       [maxName]byte
}

// maxName is as long as the longest name of an element or attribute that matters, and a bit longer.
const maxName = 16

// found is what the scanner stands behind.
type found uint8

const (
	endOfText found = iota
	startTag
	endTag
	noTag // a comment and the like
)

// next finds the next tag, whose fields are valid until the one after it.
func (z *scanner) next() found {
	for {
		from := z.at
		if !z.skipTo('<') {
			z.plain += z.at - from
			return endOfText
		}
		z.plain += z.at - from - len("<")
		if z.at == len(z.text) {
			return endOfText
		}
		if f := z.markup(); f != noTag {
			return f
		}
	}
}

// markup reads what a "<" begins.
func (z *scanner) markup() found {
	switch c := z.text[z.at]; {
	case isLetter(c):
		return z.startTag()
	case c == '/':
		z.at++
		if z.at < len(z.text) && isLetter(z.text[z.at]) {
			return z.endTag()
		}
		z.skipTo('>') // "</>" is nothing, and any other a comment; "</" at the end is text
	case c == '!':
		z.at++
		z.markupDeclaration()
	case c == '?':
		z.skipTo('>')
	}
	return noTag
}

// skipTo skips all up to and with the next c. It returns false at the end of the text, where there is none.
func (z *scanner) skipTo(c byte) bool {
	i := bytes.IndexByte(z.text[z.at:], c)
	if i < 0 {
		z.at = len(z.text)
		return false
	}
	z.at += i + 1
	return true
}

// skipString skips all up to and with the next s.
func (z *scanner) skipString(s string) {
	if i := bytes.Index(z.text[z.at:], []byte(s)); i < 0 {
		z.at = len(z.text)
	} else {
		z.at += i + len(s)
	}
}

// skipPrefix skips s if it stands here.
func (z *scanner) skipPrefix(s string) bool {
	rest := z.text[z.at:]
	if len(rest) < len(s) || string(rest[:len(s)]) != s {
		return false
	}
	z.at += len(s)
	return true
}

// startTag reads a start tag from its name on, and keeps the attributes that matter of a tag that matters.
func (z *scanner) startTag() found {
	z.tagName()
	z.tag = lookupTag(z.name)
	if z.tag == tagOther && !z.style {
		z.skipAttributes()
	} else {
		z.element.read(z)
	}
	if !z.closed {
		return endOfText
	}
	return startTag
}

func (z *scanner) endTag() found {
	z.tagName()
	z.skipAttributes()
	if !z.closed {
		return endOfText
	}
	return endTag
}

// tagName reads the name of a tag ("tag name state").
func (z *scanner) tagName() {
	start, i := z.at, z.at
	var class byteClass
	for i < len(z.text) {
		c := classes[z.text[i]]
		if c&endsTagName != 0 {
			break
		}
		class |= c
		i++
	}
	z.name = z.text[start:i]
	if class&upperCase != 0 {
		z.name = lowered(z.name, &z.lower)
	}
	z.at, z.attrsAt = i, i
	z.selfClosing, z.hasAttr, z.closed = false, false, false
}

// lowered returns a name in lower case, in buf. One that is too long to matter comes as it is.
func lowered(name []byte, buf *[maxName]byte) []byte {
	if len(name) > len(buf) {
		return name
	}
	for i, c := range name {
		if classes[c]&upperCase != 0 {
			c |= 0x20
		}
		buf[i] = c
	}
	return buf[:len(name)]
}

// markupDeclaration skips what "<!" opens ("markup declaration open state"). A doctype, even in the middle of a quoted
// identifier, ends with the first ">", as a bogus comment does.
func (z *scanner) markupDeclaration() {
	switch {
	case z.skipPrefix("--"):
		z.comment()
	case z.cdata && z.skipPrefix("[CDATA["):
		z.skipString("]]>")
	default:
		z.skipTo('>')
	}
}

// comment skips the rest of a comment. It ends with "-->" or "--!>", or at once with ">" or "->".
func (z *scanner) comment() {
	if z.skipPrefix(">") || z.skipPrefix("->") {
		return
	}
	for z.at < len(z.text) {
		z.skipString("--")
		for z.skipPrefix("-") {
		}
		if z.skipPrefix(">") || z.skipPrefix("!>") {
			return
		}
	}
}
