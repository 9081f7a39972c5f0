package parse

import (
	"bytes"
	"fmt"

	"golang.org/x/net/html"
)

// parseTree builds the tree of a page. The tree builder gives up on more than 512 open elements; such a page is built
// again without the tags in the middle of the deep nesting, their content kept.
func parseTree(text []byte) (*html.Node, error) {
	doc, err := buildTree(text)
	if err == nil {
		return doc, nil
	}
	if doc, err = buildTree(shallow(text)); err != nil {
		return nil, fmt.Errorf("build tree: %w", err)
	}
	return doc, nil
}

func buildTree(text []byte) (*html.Node, error) {
	return html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
}

// An element is kept that stands in fewer than outerDepth others or has fewer than innerDepth inside each other. Both
// together stay far below what the tree builder takes, because it opens elements of its own.
const (
	outerDepth = 150
	innerDepth = 100
)

// shallow copies a page without the tags of elements that stand deep inside others and hold deep nesting themselves.
func shallow(text []byte) []byte {
	measured := outline{count: make(map[string]int)}
	measured.walk(text, func([]byte, bool) {})
	kept := make([]byte, 0, len(text))
	o := outline{count: make(map[string]int), heights: measured.heights, measured: true}
	o.walk(text, func(raw []byte, keep bool) {
		if keep {
			kept = append(kept, raw...)
		}
	})
	return kept
}

// outline follows which elements are open as their tags come. It knows the commonest end tags that pages leave out.
type outline struct {
	open     []openElement  // the innermost last
	count    map[string]int // how many of open have the name
	started  int            // elements so far
	heights  []int          // by number of the element: how deep elements nest inside it
	measured bool           // heights are known before
}

type openElement struct {
	name   string
	number int
	height int
	keep   bool
}

// walk hands each token's bytes to visit, with what shallow does with them.
func (o *outline) walk(text []byte, visit func(raw []byte, keep bool)) {
	z := html.NewTokenizer(bytes.NewReader(text))
	var raw []byte
	for {
		tt := z.Next()
		if tt == html.ErrorToken {
			break
		}
		raw = append(raw[:0], z.Raw()...) // TagName may change it
		keep := true
		if tt == html.StartTagToken || tt == html.EndTagToken {
			name, _ := z.TagName()
			if tt == html.EndTagToken {
				keep = o.end(string(name))
			} else {
				keep = o.start(string(name))
			}
			if string(name) == "noscript" {
				z.NextIsNotRawText()
			}
		}
		visit(raw, keep)
	}
	for len(o.open) > 0 {
		o.pop()
	}
}

// start notes a start tag and reports whether it is kept.
func (o *outline) start(name string) (keep bool) {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr":
		return true
	}
	for len(o.open) > 0 && impliesEnd(name, o.open[len(o.open)-1].name) {
		o.pop()
	}
	number := o.started
	o.started++
	if o.measured {
		keep = len(o.open) < outerDepth || o.heights[number] < innerDepth
	} else {
		o.heights = append(o.heights, 0)
	}
	o.open = append(o.open, openElement{name: name, number: number, keep: keep})
	o.count[name]++
	return keep
}

// end notes an end tag and reports whether it is kept. It ends what is open inside, too.
func (o *outline) end(name string) (keep bool) {
	if o.count[name] == 0 {
		return true
	}
	for o.open[len(o.open)-1].name != name {
		o.pop()
	}
	keep = o.open[len(o.open)-1].keep
	o.pop()
	return keep
}

func (o *outline) pop() {
	last := len(o.open) - 1
	e := o.open[last]
	o.open = o.open[:last]
	o.count[e.name]--
	o.heights[e.number] = e.height
	if last > 0 {
		outer := &o.open[last-1]
		outer.height = max(outer.height, e.height+1)
	}
}

// impliesEnd reports whether the start tag ends the innermost element, whose end tag may be left out.
func impliesEnd(name, innermost string) bool {
	switch innermost {
	case "p", "li", "option":
		return name == innermost
	case "dd", "dt":
		return name == "dd" || name == "dt"
	case "td", "th":
		return name == "td" || name == "th" || name == "tr" || name == "tbody"
	case "tr":
		return name == "tr" || name == "tbody"
	}
	return false
}
