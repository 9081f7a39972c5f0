package parse

import "bytes"

// byteClass says what a byte means inside a tag. Several may hold.
type byteClass uint8

const (
	endsTagName byteClass = 1 << iota
	endsAttrName
	endsValue // without quotes
	upperCase

	spaceClass = endsTagName | endsAttrName | endsValue
)

var classes = [256]byteClass{
	'\t': spaceClass, '\n': spaceClass, '\f': spaceClass, '\r': spaceClass, ' ': spaceClass, '>': spaceClass,
	'/': endsTagName | endsAttrName, '=': endsAttrName,
	'A': upperCase, 'B': upperCase, 'C': upperCase, 'D': upperCase, 'E': upperCase, 'F': upperCase, 'G': upperCase,
	'H': upperCase, 'I': upperCase, 'J': upperCase, 'K': upperCase, 'L': upperCase, 'M': upperCase, 'N': upperCase,
	'O': upperCase, 'P': upperCase, 'Q': upperCase, 'R': upperCase, 'S': upperCase, 'T': upperCase, 'U': upperCase,
	'V': upperCase, 'W': upperCase, 'X': upperCase, 'Y': upperCase, 'Z': upperCase,
}

// read reads the attributes of the tag whose name the scanner has read, and keeps those that matter. They are valid
// until the next read. The first of several with one name counts.
func (e *element) read(z *scanner) {
	e.has, e.decoded = 0, e.decoded[:0]
	for {
		name, value, class := z.attribute()
		if name == nil {
			return
		}
		a := attrOther
		if class&upperCase == 0 {
			a = lookupAttr(name)
		} else {
			var buf [maxName]byte
			a = lookupAttr(lowered(name, &buf))
		}
		if a != attrOther && e.has&(1<<a) == 0 {
			e.values[a], e.decoded = decodeValue(value, e.decoded)
			e.has |= 1 << a
		}
	}
}

// skipAttributes reads on behind the tag.
func (z *scanner) skipAttributes() {
	for {
		if name, _, _ := z.attribute(); name == nil {
			return
		}
	}
}

// attribute reads the next attribute of a tag as it is written, and the classes of the bytes of its name. The name is
// nil where there is no more: behind the tag, which is closed then, or at the end of the text.
func (z *scanner) attribute() (name, value []byte, class byteClass) {
	text, i := z.text, z.at
	slash := false
	for ; ; i++ { // "before attribute name state", "self-closing start tag state"
		if i >= len(text) {
			z.at = i
			return nil, nil, 0
		}
		c := text[i]
		if c == '>' {
			z.at, z.closed, z.selfClosing = i+1, true, slash
			return nil, nil, 0
		}
		if slash = c == '/'; !slash && !isSpace(c) {
			break
		}
	}
	z.hasAttr = true
	start := i
	for i++; i < len(text); i++ { // "attribute name state"; an equals sign at its start is part of the name
		c := classes[text[i]]
		if c&endsAttrName != 0 {
			break
		}
		class |= c
	}
	class |= classes[text[start]]
	name = text[start:i]
	for i < len(text) && isSpace(text[i]) { // "after attribute name state"
		i++
	}
	z.at = i
	if i < len(text) && text[i] == '=' {
		z.at++
		value = z.value()
	}
	return name, value, class
}

// value reads the value of an attribute from behind the equals sign on.
func (z *scanner) value() []byte {
	text, i := z.text, z.at
	for i < len(text) && isSpace(text[i]) { // "before attribute value state"
		i++
	}
	if i >= len(text) {
		z.at = i
		return nil
	}
	if quote := text[i]; quote == '"' || quote == '\'' {
		start := i + 1
		n := bytes.IndexByte(text[start:], quote)
		if n < 0 {
			z.at = len(text)
			return text[start:]
		}
		z.at = start + n + 1
		return text[start : start+n]
	}
	start := i
	for i < len(text) && classes[text[i]]&endsValue == 0 { // "attribute value (unquoted) state"
		i++
	}
	z.at = i
	return text[start:i]
}
