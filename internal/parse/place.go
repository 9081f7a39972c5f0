package parse

import "slices"

// place follows where in the document the tokens stand, as far as that decides what they mean: inside a template
// nothing is part of the page, inside SVG and MathML other elements are links and no tag holds raw text. It knows only
// the elements that decide. So where the end tag of an element around an unclosed SVG ends the SVG too, place finds
// out at the next start tag that stands in no SVG.
type place struct {
	frames    []frame        // the innermost last
	silent    int            // how many of frames are script or style
	templates []openTemplate // the innermost last
	inert     int            // how many of templates are inert
	deeper    int            // how many templates are open inside those
	noscript  bool
}

// frame is an open element that decides how its content is read.
type frame struct {
	kind  frameKind
	mixed bool // an integration point in which HTML elements were opened
}

type frameKind uint8

const (
	frameSVG frameKind = iota
	frameMath
	frameScript // of SVG or MathML: markup to the tokenizer, but no part of the page
	frameStyle
	frameTemplate // of SVG or MathML, where it is not inert
	frameForeignObject
	frameDesc
	frameTitle

	firstIntegrationPoint = frameForeignObject // the content is HTML from here on
)

var frameTags = [...]tag{tagSVG, tagMath, tagScript, tagStyle, tagTemplate, tagForeignObject, tagDesc, tagTitle}

type openTemplate struct {
	frames int // how many frames were open before it
	inert  bool
}

// foreign reports whether the next start tag stands in SVG or MathML.
func (p *place) foreign() bool {
	n := len(p.frames)
	return n > 0 && p.frames[n-1].kind < firstIntegrationPoint
}

// hidden reports whether what stands here is no part of the page.
func (p *place) hidden() bool { return p.inert > 0 || p.silent > 0 }

// plain reports whether end tags change nothing here.
func (p *place) plain() bool { return len(p.frames) == 0 && len(p.templates) == 0 && !p.noscript }

// open notes a start tag. Only in foreign content does a self-closing tag close what it opens.
func (p *place) open(t tag, e *element, selfClosing bool) {
	if p.foreign() {
		if kind, ok := p.innerFrame(t); ok && !selfClosing {
			p.push(kind)
		}
		return
	}
	if n := len(p.frames); n > 0 {
		p.frames[n-1].mixed = true
	}
	switch {
	case t == tagSVG && !selfClosing:
		p.push(frameSVG)
	case t == tagMath && !selfClosing:
		p.push(frameMath)
	case t == tagTemplate:
		p.openTemplate(e)
	case t == tagNoscript:
		p.noscript = true
	}
}

// innerFrame returns the frame that a start tag in foreign content opens.
func (p *place) innerFrame(t tag) (kind frameKind, ok bool) {
	i := slices.Index(frameTags[:], t)
	if i < 0 {
		return 0, false
	}
	switch kind = frameKind(i); kind {
	case frameScript, frameStyle, frameTemplate:
		return kind, true
	case frameSVG, frameMath:
		return kind, kind == p.namespace()
	}
	return kind, p.namespace() == frameSVG
}

// namespace returns the kind of the innermost svg or math element. Foreign content has one.
func (p *place) namespace() frameKind {
	i := len(p.frames) - 1
	for p.frames[i].kind > frameMath {
		i--
	}
	return p.frames[i].kind
}

// maxFrames is how many frames and templates are kept: an end tag may look at all of them. Deeper ones are taken for
// their parents.
const maxFrames = 128

func (p *place) push(kind frameKind) {
	if len(p.frames) == maxFrames {
		return
	}
	p.frames = append(p.frames, frame{kind: kind})
	if kind == frameScript || kind == frameStyle {
		p.silent++
	}
}

// pop closes all but the first n frames.
func (p *place) pop(n int) {
	for len(p.frames) > n {
		last := len(p.frames) - 1
		if kind := p.frames[last].kind; kind == frameScript || kind == frameStyle {
			p.silent--
		}
		p.frames = p.frames[:last]
	}
}

// openTemplate notes a template, whose content is inert unless the parser makes it a shadow root.
func (p *place) openTemplate(e *element) {
	if len(p.templates) == maxFrames {
		p.deeper++
		return
	}
	mode := e.value(attrShadowRootMode)
	inert := !equalFold(mode, "open") && !equalFold(mode, "closed")
	if inert {
		p.inert++
	}
	p.templates = append(p.templates, openTemplate{len(p.frames), inert})
}

// close notes an end tag. In foreign content it closes what is open inside, but nothing around HTML content.
func (p *place) close(t tag) {
	if t == tagNoscript && !p.foreign() {
		p.noscript = false
	}
	for i := len(p.frames) - 1; i >= p.floor(); i-- {
		if t == frameTags[p.frames[i].kind] {
			p.pop(i)
			return
		}
		if p.frames[i].mixed {
			break
		}
	}
	if t == tagTemplate && p.deeper > 0 {
		p.deeper--
	} else if n := len(p.templates) - 1; t == tagTemplate && n >= 0 {
		p.pop(p.templates[n].frames)
		if p.templates[n].inert {
			p.inert--
		}
		p.templates = p.templates[:n]
	}
}

// floor returns how many frames stand around the innermost template: its content closes none of them.
func (p *place) floor() int {
	if n := len(p.templates); n > 0 {
		return p.templates[n-1].frames
	}
	return 0
}

// breakOut ends foreign content up to the nearest HTML content around it.
func (p *place) breakOut() {
	n := len(p.frames)
	for n > 0 && p.frames[n-1].kind < firstIntegrationPoint {
		n--
	}
	p.pop(n)
}

// breaksOut reports whether a start tag ends foreign content: it must be the page's, which did not close its SVG (HTML
// standard, "the rules for parsing tokens in foreign content"). font does so with the attributes it has in HTML.
func breaksOut(name []byte, hasAttr bool) bool {
	switch string(name) {
	case "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
		"h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
		"ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var":
		return true
	case "font":
		return hasAttr
	}
	return false
}
