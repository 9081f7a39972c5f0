package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// scanner cuts a document into tags and text. It knows no fault: what is not markup is text, and what is never closed ends
// with the document. Values longer than maxValue are cut there.
type scanner struct {
	r     *bufio.Reader
	value []byte // of the token under way
}

// maxValue is the most that is kept of a tag, or of the text between two of them, in bytes.
const maxValue = 64 << 10

// kind is what a token is.
type kind uint8

const (
	text kind = iota
	start
	end
	empty // a start tag that closes itself
)

// token is a tag or a run of text.
type token struct {
	kind   kind
	prefix string // of a tag: what stands before the colon of its name
	name   string // of a tag: the rest, in lower case
	attrs  string // of a start tag: as written
	text   string // of text: with character references decoded, unless it is a CDATA section
}

// next returns the next token; io.EOF says that there is none. The text of a long element comes in one piece.
func (s *scanner) next() (token, error) {
	for {
		head, err := s.r.Peek(1)
		switch {
		case err != nil:
			return token{}, err
		case head[0] != '<':
			err := s.until("<", 0)
			return token{kind: text, text: unescape(string(s.value))}, ignoreEnd(err)
		}
		t, found, err := s.markup()
		if found || err != nil {
			return t, err
		}
	}
}

// markup reads what begins with "<". found is false for what says nothing: comments, declarations, instructions.
func (s *scanner) markup() (t token, found bool, err error) {
	const cdata = "<![CDATA["
	head, _ := s.r.Peek(len(cdata))
	switch {
	case bytes.Equal(head, []byte(cdata)):
		s.r.Discard(len(cdata))
		err = s.until("]]>", len("]]>"))
		return token{kind: text, text: string(s.value)}, true, ignoreEnd(err)
	case bytes.HasPrefix(head, []byte("<!--")):
		s.r.Discard(len("<!--"))
		return t, false, ignoreEnd(s.until("-->", len("-->")))
	case bytes.HasPrefix(head, []byte("<?")):
		return t, false, ignoreEnd(s.until("?>", len("?>")))
	case bytes.HasPrefix(head, []byte("<!")):
		return t, false, s.declaration()
	case len(head) < 2 || !opensTag(head[1]):
		s.r.Discard(1)
		err = s.until("<", 0)
		return token{kind: text, text: unescape("<" + string(s.value))}, true, ignoreEnd(err)
	}
	if err := s.tag(); err != nil {
		return t, false, err
	}
	return parseTag(string(s.value)), true, nil
}

// opensTag reports whether c may follow the "<" of a tag.
func opensTag(c byte) bool {
	return c == '/' || c == '_' || c == ':' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// ignoreEnd: what the end of the document cuts is there all the same. The next read finds the end again.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// until reads up to mark into value, and passes over the first skip bytes of mark.
func (s *scanner) until(mark string, skip int) error {
	s.value = s.value[:0]
	for {
		piece, err := s.r.Peek(max(1, s.r.Buffered()))
		if len(piece) == 0 {
			return err
		}
		i := bytes.Index(piece, []byte(mark))
		if i >= 0 {
			s.keep(piece[:i])
			s.r.Discard(i + skip)
			return nil
		}
		// The end of the piece may be the beginning of the mark.
		n := len(piece) - (len(mark) - 1)
		if n <= 0 {
			if more, err := s.r.Peek(len(piece) + 1); len(more) > len(piece) {
				continue
			} else if err != nil {
				s.keep(piece)
				s.r.Discard(len(piece))
				return err
			}
		}
		s.keep(piece[:n])
		s.r.Discard(n)
	}
}

// keep adds to value what has room there.
func (s *scanner) keep(piece []byte) {
	s.value = append(s.value, piece[:min(len(piece), maxValue-len(s.value))]...)
}

// tag reads a tag into value, without its brackets. A ">" in a quoted attribute does not end it.
func (s *scanner) tag() error {
	s.value = s.value[:0]
	s.r.Discard(1)
	var quote byte
	awaited := false // a value: an equals sign came last, but for white space
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return err // a tag that is cut is none
		}
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return nil
		case awaited && (c == '"' || c == '\''):
			quote = c
		}
		awaited = quote == 0 && (c == '=' || awaited && strings.IndexByte(space, c) >= 0)
		if len(s.value) < maxValue {
			s.value = append(s.value, c)
		}
	}
}

// declaration passes over a document type, with its internal subset.
func (s *scanner) declaration() error {
	depth := 0
	for {
		c, err := s.r.ReadByte()
		switch {
		case err != nil:
			return ignoreEnd(err)
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '>' && depth <= 0:
			return nil
		}
	}
}

// parseTag reads what stands between the brackets.
func parseTag(inner string) token {
	t := token{kind: start}
	if rest, ok := strings.CutPrefix(inner, "/"); ok {
		t.kind, inner = end, rest
	} else if rest, ok := strings.CutSuffix(inner, "/"); ok {
		t.kind, inner = empty, rest
	}
	name := inner
	if i := strings.IndexAny(inner, space+"/"); i >= 0 {
		name, t.attrs = inner[:i], inner[i:]
	}
	if prefix, local, ok := strings.Cut(name, ":"); ok {
		t.prefix, name = prefix, local
	}
	t.name = strings.ToLower(name)
	return t
}

// attr returns the value of an attribute, by its name as written.
func (t token) attr(name string) (value string, ok bool) {
	rest := t.attrs
	for {
		rest = strings.TrimLeft(rest, space+"/")
		if rest == "" {
			return "", false
		}
		key := rest
		if i := strings.IndexAny(rest, space+"="); i >= 0 {
			key = rest[:i]
		}
		rest = strings.TrimLeft(rest[len(key):], space)
		value = ""
		if after, has := strings.CutPrefix(rest, "="); has {
			value, rest = cutValue(strings.TrimLeft(after, space))
		}
		if key == name {
			return unescape(value), true
		}
	}
}

// has reports whether there is an attribute of that name.
func (t token) has(name string) bool {
	_, ok := t.attr(name)
	return ok
}

// cutValue cuts an attribute's value off: quoted, or, as XML forbids, up to the next white space.
func cutValue(s string) (value, rest string) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		value, rest, _ = strings.Cut(s[1:], s[:1])
		return value, rest
	}
	if i := strings.IndexAny(s, space); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// maxReference is the longest name between "&" and ";" that is looked up, in bytes.
const maxReference = 32

// unescape decodes character references once. An "&" that begins none is itself: many lists do not escape it.
func unescape(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "&")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		s = rest
		name := rest[:min(len(rest), maxReference+1)]
		if i := strings.IndexByte(name, ';'); i > 0 {
			if text, ok := character(name[:i]); ok {
				b.WriteString(text)
				s = rest[i+1:]
				continue
			}
		}
		b.WriteByte('&')
	}
}

// character returns what the reference &name; stands for: a number, or any name that HTML knows.
func character(name string) (text string, ok bool) {
	if strings.ContainsFunc(name, func(c rune) bool {
		return c != '#' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	}) {
		return "", false
	}
	whole := "&" + name + ";"
	text = html.UnescapeString(whole)
	// A name that only begins with a known one is decoded in part there, and keeps its end.
	return text, text != whole && (len(text) == 1 || !strings.HasSuffix(text, ";"))
}
