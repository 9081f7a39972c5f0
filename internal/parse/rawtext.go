package parse

// rawText returns the content of the element whose start tag the scanner stands behind, if it is one whose content is
// text and no markup, and moves on to its end tag. Other elements have none. A noscript element is markup to those who
// run no scripts.
func (z *scanner) rawText() []byte {
	start := z.at
	switch z.tag {
	case tagIframe, tagStyle, tagTitle, tagRawText:
		z.skipRawText()
	case tagScript:
		z.skipScript()
	case tagPlaintext:
		z.at = len(z.text)
	}
	return z.text[start:z.at]
}

// skipRawText moves on to the element's end tag ("RCDATA state", "RAWTEXT state").
func (z *scanner) skipRawText() {
	for z.skipTo('<') {
		if z.endsElement(string(z.name)) {
			z.at--
			return
		}
	}
}

// endsElement reports whether an end tag with the name stands here, from its slash on.
func (z *scanner) endsElement(name string) bool {
	rest := z.text[z.at:]
	return len(rest) > 0 && rest[0] == '/' && startsWithName(rest[1:], name)
}

// startsWithName reports whether s starts with a name, in any case, and what may follow one in a tag.
func startsWithName(s []byte, name string) bool {
	n := len(name)
	return len(s) > n && classes[s[n]]&endsTagName != 0 && equalFold(s[:n], name)
}

// skipScript moves on to the end tag of a script ("script data state"). In a comment inside a script, another script
// element hides end tags.
func (z *scanner) skipScript() {
	for z.skipTo('<') {
		if z.endsElement("script") {
			z.at--
			return
		}
		if z.skipPrefix("!--") && z.skipEscapedScript() {
			return
		}
	}
}

// skipEscapedScript skips a comment inside a script and reports whether it found the script's end tag there ("script
// data escaped state", "script data double escaped state"). The two dashes that open the comment may also end it.
func (z *scanner) skipEscapedScript() (ended bool) {
	dashes, double := 2, false
	for z.at < len(z.text) {
		c := z.text[z.at]
		z.at++
		switch {
		case c == '-':
			dashes++
			continue
		case c == '>' && dashes >= 2:
			return false
		case c == '<' && z.endsElement("script"):
			if !double {
				z.at--
				return true
			}
			double = false
		case c == '<' && startsWithName(z.text[z.at:], "script"):
			double = true
		}
		dashes = 0
	}
	return false
}
