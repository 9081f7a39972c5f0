package parse

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Rule says what an Extractor takes from a page.
type Rule struct {
	Field    string // key in the result
	Selector string // CSS selector, or several with commas between them
	Attr     string // the attribute that is taken; empty: the text
	HTML     bool   // the markup inside is taken, not the text
	All      bool   // every match, as []string; otherwise the first, as string
	Pages    string // regular expression (RE2) that the page's URL must match; empty: all pages
}

// Extractor takes from pages what rules say. It may be used by several goroutines.
//
// Each page for which there are rules costs a tree: about three times the time of HTML, and memory of seven times the body,
// which has a limit therefore.
type Extractor struct {
	rules []compiledRule
}

type compiledRule struct {
	Rule
	selector cascadia.Selector
	pages    *regexp.Regexp // nil: all
}

// Compile reads rules and reports all that is wrong with them at once, each fault under its field.
func Compile(rules []Rule) (*Extractor, error) {
	var e Extractor
	var errs []error
	for _, r := range rules {
		selector, err := cascadia.Compile(r.Selector)
		pages, pagesErr := compilePages(r.Pages)
		switch {
		case r.Field == "":
			errs = append(errs, fmt.Errorf("extract: selector %q: no field to store it in", r.Selector))
		case slices.ContainsFunc(e.rules, func(c compiledRule) bool { return c.Field == r.Field }):
			errs = append(errs, fmt.Errorf("extract %s: selector %q: the field has a rule already", r.Field, r.Selector))
		case err != nil:
			errs = append(errs, fmt.Errorf("extract %s: selector %q: %w", r.Field, r.Selector, err))
		case pagesErr != nil:
			errs = append(errs, fmt.Errorf("extract %s: pages: %w", r.Field, pagesErr))
		case r.Attr != "" && r.HTML:
			errs = append(errs, fmt.Errorf("extract %s: want an attribute or the markup, got both", r.Field))
		default:
			e.rules = append(e.rules, compiledRule{r, selector, pages})
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &e, nil
}

func compilePages(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	return regexp.Compile(pattern)
}

// speaksOf reports whether the rule is for a page.
func (r *compiledRule) speaksOf(url string) bool { return r.pages == nil || r.pages.MatchString(url) }

// maxVisited is how many bytes of text and attributes, and nodes, one page may make us read for its fields. Matches
// inside each other repeat their text: without a limit a page could take its size times its depth.
const maxVisited = 8 << 20

// maxTree is the longest body that a tree is built of.
const maxTree = 16 << 20

// ErrTooLong says that a page was too long to take anything from it.
var ErrTooLong = fmt.Errorf("extract: the page is longer than %d bytes", maxTree)

// ErrExtractLimit says that a page matched more than it may give. What was found before is kept.
var ErrExtractLimit = errors.New("extract: matches hold too much text")

// Extract applies the rules for a page to its body, in the encoding that Page.Charset names. Text comes with white space
// collapsed and without scripts and style sheets, attributes come as they are, markup as a browser's innerHTML. A rule that
// finds nothing leaves no field. An error says that the fields are not all there.
func (e *Extractor) Extract(url string, body []byte, charset string) (map[string]any, error) {
	if !slices.ContainsFunc(e.rules, func(r compiledRule) bool { return r.speaksOf(url) }) {
		return nil, nil
	}
	if len(body) > maxTree {
		return nil, ErrTooLong
	}
	root, err := parseTree(inUTF8(body, charset))
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	doc := goquery.NewDocumentFromNode(root)
	fields := make(map[string]any, len(e.rules))
	left := maxVisited
	for _, r := range e.rules {
		if !r.speaksOf(url) {
			continue
		}
		values, complete := r.values(doc, &left)
		switch {
		case len(values) == 0:
		case r.All:
			fields[r.Field] = values
		default:
			fields[r.Field] = values[0]
		}
		if !complete {
			return fields, ErrExtractLimit
		}
	}
	return fields, nil
}

// inUTF8 decodes a body. An unknown charset is taken for UTF-8.
func inUTF8(body []byte, label string) []byte {
	c := lookup(label)
	if c.name == "" {
		c = lookup("utf-8")
	}
	if mark, size := byteOrderMark(body); mark.name == c.name {
		body = body[size:]
	}
	text, _ := c.decode(body, nil)
	return text
}

// values returns what the rule takes from the page: one value at most unless it takes all. It stops where left, what
// the page may still make us read, is used up.
func (r *compiledRule) values(doc *goquery.Document, left *int) (values []string, complete bool) {
	for _, n := range doc.FindMatcher(r.selector).Nodes {
		value, ok := r.value(n, left)
		if *left < 0 {
			return values, false
		}
		if !ok {
			continue
		}
		if values = append(values, value); !r.All {
			break
		}
	}
	return values, true
}

func (r *compiledRule) value(n *html.Node, left *int) (value string, ok bool) {
	switch {
	case r.HTML:
		return innerHTML(n, left), true
	case r.Attr == "":
		var b collapser
		for c := range n.ChildNodes() {
			appendText(&b, c, left)
		}
		return string(b.text), true
	}
	*left--
	for _, a := range n.Attr {
		if strings.EqualFold(a.Key, r.Attr) {
			*left -= len(a.Val)
			return a.Val, true
		}
	}
	return "", false
}

// innerHTML returns the markup inside n. It ends where left is used up.
func innerHTML(n *html.Node, left *int) string {
	w := limitedText{left: left}
	for c := range n.ChildNodes() {
		if html.Render(&w, c) != nil {
			break
		}
	}
	return w.text.String()
}

// limitedText holds a text as long as left allows.
type limitedText struct {
	text strings.Builder
	left *int
}

func (w *limitedText) Write(p []byte) (int, error) {
	if *w.left -= len(p); *w.left < 0 {
		return 0, ErrExtractLimit
	}
	return w.text.Write(p)
}

// appendText appends the text of n. Elements that start a line set their text apart: "<li>a</li><li>b</li>" is two
// words.
func appendText(b *collapser, n *html.Node, left *int) {
	if *left -= 1 + len(n.Data); *left < 0 {
		return
	}
	if n.Type == html.TextNode {
		b.write([]byte(n.Data))
		return
	}
	if n.Type != html.ElementNode {
		return
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template:
		return
	}
	apart := startsLine(n.DataAtom)
	if apart {
		b.space()
	}
	for c := range n.ChildNodes() {
		appendText(b, c, left)
	}
	if apart {
		b.space()
	}
}

func startsLine(element atom.Atom) bool {
	switch element {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Br, atom.Dd, atom.Div, atom.Dl, atom.Dt,
		atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Header, atom.Hr, atom.Li, atom.Main, atom.Nav, atom.Ol, atom.Option, atom.P, atom.Pre, atom.Section,
		atom.Table, atom.Td, atom.Th, atom.Tr, atom.Ul:
		return true
	}
	return false
}
