package parse

import "unicode/utf8"

// cssScanner makes tokens of a style sheet as CSS Syntax Level 3, section 4, does, as far as they decide where its URLs
// are. It reads the text in place, and copies only what has escapes in it. Each byte is looked at a few times at most.
type cssScanner struct {
	text  []byte
	at    int    // where what is not read yet starts
	value []byte // of a name, a string or a URL: escapes decoded; valid until the next token
	own   []byte // holds value where it is not in the text as it is
}

// cssToken is the kind of a token.
type cssToken uint8

const (
	cssEnd cssToken = iota
	cssSpace
	cssIdent
	cssFunction // a name and its parenthesis
	cssAtKeyword
	cssString
	cssURL // url(…) without quotes
	cssSemicolon
	cssOpenBrace
	cssCloseBrace
	cssOpenParen
	cssCloseParen
	cssComment   // <!-- and --> too, which are nothing in a style sheet
	cssOther     // numbers, hashes, delimiters
	cssBadString // a line ended in it
	cssBadURL
)

// next reads the next token.
func (z *cssScanner) next() cssToken {
	if z.at >= len(z.text) {
		return cssEnd
	}
	switch c := z.text[z.at]; {
	case isSpace(c):
		z.skipSpace()
		return cssSpace
	case c == '"' || c == '\'':
		return z.string(c)
	case z.skip("/*"):
		z.skipComment()
		return cssComment
	case z.skip("<!--"), z.skip("-->"):
		return cssComment
	case z.startsNumber():
		z.number()
		return cssOther
	case z.startsName(z.at):
		return z.identLike()
	case c == '#' && (isCSSName(z.byteAt(z.at+1)) || z.startsEscape(z.at+1)):
		z.at++
		z.name()
		return cssOther
	case c == '@' && z.startsName(z.at+1):
		z.at++
		z.name()
		return cssAtKeyword
	default:
		z.at++
		return cssMarks[c]
	}
}

// cssMarks are the tokens of one byte.
var cssMarks = func() (marks [256]cssToken) {
	for i := range marks {
		marks[i] = cssOther
	}
	marks[';'], marks['{'], marks['}'], marks['('], marks[')'] = cssSemicolon, cssOpenBrace, cssCloseBrace, cssOpenParen, cssCloseParen
	return marks
}()

// byteAt returns a byte of the text, or a blank behind its end.
func (z *cssScanner) byteAt(i int) byte {
	if i < len(z.text) {
		return z.text[i]
	}
	return ' '
}

// skip skips s if it stands here.
func (z *cssScanner) skip(s string) bool {
	if rest := z.text[z.at:]; len(rest) < len(s) || string(rest[:len(s)]) != s {
		return false
	}
	z.at += len(s)
	return true
}

func (z *cssScanner) skipSpace() {
	for z.at < len(z.text) && isSpace(z.text[z.at]) {
		z.at++
	}
}

func (z *cssScanner) skipComment() {
	for ; z.at < len(z.text); z.at++ {
		if z.text[z.at] == '*' && z.skip("*/") {
			return
		}
	}
}

// isCSSName reports whether a byte may stand in a name. NUL stands for U+FFFD, which may.
func isCSSName(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '-' || c >= utf8.RuneSelf || c == 0
}

func isCSSNewline(c byte) bool { return c == '\n' || c == '\r' || c == '\f' }

// startsEscape reports whether an escape stands at i: a backslash and anything but the end of a line.
func (z *cssScanner) startsEscape(i int) bool {
	return z.byteAt(i) == '\\' && (i+1 >= len(z.text) || !isCSSNewline(z.text[i+1]))
}

// startsName reports whether a name starts at i ("check if three code points would start an ident sequence").
func (z *cssScanner) startsName(i int) bool {
	if z.byteAt(i) == '-' {
		i++
		if z.byteAt(i) == '-' {
			return true
		}
	}
	c := z.byteAt(i)
	return isCSSName(c) && !isDigit(c) && c != '-' || i < len(z.text) && z.startsEscape(i)
}

func (z *cssScanner) startsNumber() bool {
	i := z.at
	if c := z.text[i]; c == '+' || c == '-' {
		i++
	}
	if z.byteAt(i) == '.' {
		i++
	}
	return isDigit(z.byteAt(i))
}

// number reads a number, with its unit if it has one.
func (z *cssScanner) number() {
	z.at++ // a sign, a dot or a digit
	for c := z.byteAt(z.at); isDigit(c) || c == '.' && isDigit(z.byteAt(z.at+1)); c = z.byteAt(z.at) {
		z.at++
	}
	if z.startsName(z.at) { // an exponent, too, reads as a unit
		z.name()
	}
}

// identLike reads a name and what may follow it ("consume an ident-like token").
func (z *cssScanner) identLike() cssToken {
	z.name()
	if z.byteAt(z.at) != '(' {
		return cssIdent
	}
	z.at++
	if !equalFold(z.value, "url") {
		return cssFunction
	}
	start := z.at
	z.skipSpace()
	if c := z.byteAt(z.at); z.at < len(z.text) && (c == '"' || c == '\'') {
		z.at = start
		return cssFunction
	}
	return z.url()
}

// name reads a name ("consume an ident sequence").
func (z *cssScanner) name() {
	start := z.at
	for isCSSName(z.byteAt(z.at)) && z.text[z.at] != 0 {
		z.at++
	}
	z.value = z.text[start:z.at]
	if z.at >= len(z.text) || z.text[z.at] != 0 && !z.startsEscape(z.at) {
		return
	}
	z.own = append(z.own[:0], z.value...)
	for z.at < len(z.text) {
		switch c := z.text[z.at]; {
		case isCSSName(c):
			z.keep(c)
		case z.startsEscape(z.at):
			z.escape()
		default:
			z.value = z.own
			return
		}
	}
	z.value = z.own
}

// keep appends a byte to own, and moves on.
func (z *cssScanner) keep(c byte) {
	z.at++
	if c == 0 {
		z.own = utf8.AppendRune(z.own, utf8.RuneError)
		return
	}
	z.own = append(z.own, c)
}

// string reads a string from its quote on ("consume a string token"). One that the text ends is whole.
func (z *cssScanner) string(quote byte) cssToken {
	z.at++
	start := z.at
	for z.at < len(z.text) {
		c := z.text[z.at]
		if c == '\\' || c == 0 || isCSSNewline(c) {
			return z.rareString(quote, start)
		}
		z.at++
		if c == quote {
			z.value = z.text[start : z.at-1]
			return cssString
		}
	}
	z.value = z.text[start:]
	return cssString
}

// rareString goes on with a string that is not in the text as it is.
func (z *cssScanner) rareString(quote byte, start int) cssToken {
	z.own = append(z.own[:0], z.text[start:z.at]...)
	for z.at < len(z.text) {
		switch c := z.text[z.at]; {
		case c == quote:
			z.at++
			z.value = z.own
			return cssString
		case isCSSNewline(c):
			return cssBadString
		case c != '\\':
			z.keep(c)
		case z.at+1 == len(z.text): // nothing is escaped
			z.at++
		case z.startsEscape(z.at):
			z.escape()
		case z.text[z.at+1] == '\r' && z.byteAt(z.at+2) == '\n':
			z.at += 3
		default: // the string goes on in the next line
			z.at += 2
		}
	}
	z.value = z.own
	return cssString
}

// escape reads an escape from its backslash on ("consume an escaped code point").
func (z *cssScanner) escape() {
	z.at++
	var c rune
	n := 0
	for n < 6 && digit(z.byteAt(z.at)) < 16 {
		c = 16*c + digit(z.text[z.at])
		z.at++
		n++
	}
	switch {
	case n > 0:
		if c == 0 {
			c = utf8.RuneError
		}
		z.own = utf8.AppendRune(z.own, c) // U+FFFD for what is no character
		if !z.skip("\r\n") && z.at < len(z.text) && isSpace(z.text[z.at]) {
			z.at++
		}
	case z.at == len(z.text):
		z.own = utf8.AppendRune(z.own, utf8.RuneError)
	default:
		z.keep(z.text[z.at]) // what follows of its character is kept likewise
	}
}

// url reads a URL without quotes ("consume a url token").
func (z *cssScanner) url() cssToken {
	start := z.at
	for z.at < len(z.text) && !endsCSSURL(z.text[z.at]) {
		z.at++
	}
	z.own = append(z.own[:0], z.text[start:z.at]...)
	for z.at < len(z.text) {
		switch c := z.text[z.at]; {
		case c == ')':
			z.at++
			z.value = z.own
			return cssURL
		case isSpace(c):
			z.skipSpace()
			if z.at < len(z.text) && z.text[z.at] != ')' {
				return z.badURL()
			}
		case c == '\\' && z.startsEscape(z.at):
			z.escape()
		case c != 0 && endsCSSURL(c):
			return z.badURL()
		default:
			z.keep(c)
		}
	}
	z.value = z.own
	return cssURL
}

// endsCSSURL reports whether a byte is no plain part of a URL without quotes.
func endsCSSURL(c byte) bool {
	return c <= ' ' || c == '"' || c == '\'' || c == '(' || c == ')' || c == '\\' || c == 0x7f
}

// badURL skips the rest of what is no URL after all ("consume the remnants of a bad url").
func (z *cssScanner) badURL() cssToken {
	for z.at < len(z.text) {
		switch z.text[z.at] {
		case ')':
			z.at++
			return cssBadURL
		case '\\':
			z.at++ // what it escapes is no end
		}
		z.at++
	}
	z.at = len(z.text)
	return cssBadURL
}
