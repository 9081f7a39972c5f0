package parse

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// mark is a tag of a text, or the raw text behind a start tag, with the place of its bytes: all that the scanner and
// the tokenizer of golang.org/x/net/html, its oracle, must agree on.
type mark struct {
	kind        string // "start", "end" or "raw"
	name        string // of a tag; the decoded text of raw
	attrs       []attribute
	selfClosing bool
	from, to    int
}

type attribute struct{ name, value string }

func (m mark) String() string {
	s := fmt.Sprintf("%s %q [%d:%d]", m.kind, m.name, m.from, m.to)
	for _, a := range m.attrs {
		s += fmt.Sprintf(" %q=%q", a.name, a.value)
	}
	if m.selfClosing {
		s += " /"
	}
	return s
}

func (m mark) equal(o mark) bool {
	return m.kind == o.kind && m.name == o.name && m.selfClosing == o.selfClosing && m.from == o.from && m.to == o.to &&
		slices.Equal(m.attrs, o.attrs)
}

// scannerMarks reads a text with the scanner.
func scannerMarks(t testing.TB, text []byte, cdata bool) []mark {
	t.Helper()
	var e element
	z := scanner{text: text, cdata: cdata, element: &e}
	var marks []mark
	for {
		f := z.next()
		if f == endOfText {
			return marks
		}
		m := mark{kind: "end", name: bareName(z.name), from: z.attrsAt - len(z.name) - len("</"), to: z.at}
		if f == startTag {
			m.kind, m.selfClosing = "start", z.selfClosing
			m.from++
			m.attrs = scannerAttributes(t, &z)
		}
		marks = append(marks, m)
		if f == endTag {
			continue
		}
		if raw := z.rawText(); len(raw) > 0 {
			marks = append(marks, mark{kind: "raw", name: rawName(z.tag, string(z.name), raw), from: z.at - len(raw), to: z.at})
		}
	}
}

// scannerAttributes reads all attributes of a tag again, and checks that its element holds those that matter.
func scannerAttributes(t testing.TB, z *scanner) (attrs []attribute) {
	t.Helper()
	again := scanner{text: z.text, at: z.attrsAt}
	names := make(map[string]bool)
	for {
		raw, value, _ := again.attribute()
		if raw == nil {
			break
		}
		if key := string(asciiLower(raw)); !names[key] { // before NUL is replaced, as the tokenizer does it
			names[key] = true
			decoded, _ := decodeValue(value, nil)
			attrs = append(attrs, attribute{bareName(raw), string(decoded)})
		}
	}
	if again.at != z.at || z.hasAttr != (len(attrs) > 0) {
		t.Fatalf("tag ends at %d, read again at %d; has attributes: %v, %d", z.at, again.at, z.hasAttr, len(attrs))
	}
	if z.tag != tagOther {
		checkElement(t, z.element, attrs)
	}
	return attrs
}

func checkElement(t testing.TB, e *element, list []attribute) {
	t.Helper()
	matter := 0
	for _, a := range list {
		id := lookupAttr([]byte(a.name))
		if id == attrOther {
			continue
		}
		matter++
		if value, ok := e.get(id); !ok || string(value) != a.value {
			t.Fatalf("attribute %s is %q, %v; want %q", a.name, value, ok, a.value)
		}
	}
	for id := range attrs {
		if _, ok := e.get(id); ok {
			matter--
		}
	}
	if matter != 0 {
		t.Fatalf("element holds attributes that the tag does not have: %v", list)
	}
}

// tokenizerMarks reads a text with the tokenizer, a noscript element as markup.
func tokenizerMarks(text []byte, cdata bool) []mark {
	z := html.NewTokenizer(bytes.NewReader(text))
	z.AllowCDATA(cdata)
	var marks []mark
	at, raw := 0, false
	for {
		tt := z.Next()
		m := mark{kind: "end", from: at, to: at + len(z.Raw())}
		at = m.to
		switch tt {
		case html.ErrorToken:
			return marks
		case html.TextToken:
			if raw {
				marks = append(marks, mark{kind: "raw", name: string(z.Text()), from: m.from, to: m.to})
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			m.kind, m.selfClosing = "start", tt == html.SelfClosingTagToken
			fallthrough
		case html.EndTagToken:
			name, more := z.TagName()
			m.name = string(name)
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				m.attrs = append(m.attrs, attribute{string(key), string(value)})
			}
			marks = append(marks, m)
		}
		raw = m.kind == "start" && rawTextElement(m.name)
		if m.kind == "start" && m.name == "noscript" {
			z.NextIsNotRawText()
		}
	}
}

func rawTextElement(name string) bool {
	switch lookupTag([]byte(name)) {
	case tagIframe, tagPlaintext, tagRawText, tagScript, tagStyle, tagTitle:
		return true
	}
	return false
}

// rawName returns what the tokenizer makes of raw text: it decodes character references in title and textarea only.
func rawName(t tag, name string, raw []byte) string {
	if t == tagTitle || name == "textarea" {
		return string(appendDecoded(nil, raw, false))
	}
	return bareText(raw)
}

func bareText(s []byte) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(string(s))
}

func bareName(s []byte) string { return strings.ReplaceAll(string(asciiLower(s)), "\x00", "\ufffd") }

func asciiLower(s []byte) []byte {
	s = bytes.Clone(s)
	for i, c := range s {
		if c >= 'A' && c <= 'Z' {
			s[i] += 'a' - 'A'
		}
	}
	return s
}

// agree reads a text both ways and reports the first difference that is none of the exceptions below.
func agree(t testing.TB, text []byte, cdata bool) {
	t.Helper()
	got, want := scannerMarks(t, text, cdata), tokenizerMarks(text, cdata)
	for i := range max(len(got), len(want)) {
		if i < len(got) && i < len(want) && (got[i].equal(want[i]) || slashOfDuplicate(got[i], want[i], text)) {
			continue
		}
		if leavesScriptComment(got, i, text) {
			return
		}
		t.Fatalf("text %q, CDATA %v: from mark %d on the scanner reads\n%s\nand the tokenizer\n%s", text, cdata, i,
			firstMarks(got, i), firstMarks(want, i))
	}
}

func firstMarks(marks []mark, from int) string {
	var b strings.Builder
	for _, m := range marks[min(from, len(marks)):min(from+3, len(marks))] {
		fmt.Fprintln(&b, m)
	}
	return b.String()
}

// What follows is where the tokenizer leaves the standard and the scanner does not. TestStandard has an example of
// each.

// slashOfDuplicate reports whether a tag differs only in that the tokenizer takes the slash that ends the unquoted
// value of a dropped duplicate attribute for that of a self-closing tag.
func slashOfDuplicate(got, want mark, text []byte) bool {
	if got.kind != "start" || got.selfClosing || !want.selfClosing {
		return false
	}
	want.selfClosing = false
	return got.equal(want) && text[got.to-2] == '/'
}

// scriptCommentLess matches a less-than sign in a script's comment after which the tokenizer takes the comment for
// ended. By the "script data escaped less-than sign state" it goes on, unless a slash or a letter follows.
var scriptCommentLess = regexp.MustCompile(`(?s)<!--.*<[^/a-zA-Z]`)

func leavesScriptComment(got []mark, i int, text []byte) bool {
	for _, m := range got[max(i-1, 0):min(i+1, len(got))] {
		if m.kind == "raw" && scriptCommentLess.Match(text[m.from:m.to]) {
			return true
		}
	}
	return false
}
