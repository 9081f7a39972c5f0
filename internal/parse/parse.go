// Package parse reads links and facts out of a page.
//
// HTML takes one pass over the body. It finds what a browser that runs no scripts would find there, by the rules of
// the HTML standard: character references decoded once, comments, scripts and raw text passed over, the first base
// element applied to the whole page, the page's encoding for its queries. Each URL stands once in Page.Links for every
// source it was found in, in the order of the page, and a reference that is repeated letter for letter is parsed once.
//
// The price is that no tree is built. What only a tree knows is decided by the tags as they come: unclosed templates
// stay open to the end, and elements count where a tree would have moved or dropped them. The body is read in place:
// memory follows the distinct references and the longest value with character references in it, never the nesting. Where
// the caller takes links in pieces (Input.Piece), it follows the size of a piece; a page that has more is read twice, since the
// base element that decides may come last.
// Selectors need a tree and bring their own (Extractor).
//
// What counts as a link:
//
//   - a and area href; the empty reference is a link to the page itself there, and nothing anywhere else
//   - iframe and frame src; srcdoc is not read
//   - img src, input type=image src and the image elements of SVG; img and source srcset, link imagesrcset
//   - source src; audio, video, track and embed src, video poster, object data and use of SVG, all called media
//   - script src; link href, called canonical with that rel, hreflang for an alternate with hreflang, otherwise link.
//     A link that is preconnect or dns-prefetch only names a host, and is none
//   - form action, where the form is sent by GET; formaction is not read
//   - the refresh that takes effect, from the Refresh header or a meta element
//   - the Link header (RFC 8288)
//   - where asked for (Input.Styles), what style elements and style attributes load, called css: url() and src(), image-set()
//     and @import; and the background attribute of body and of the parts of tables, called img. StyleSheet reads the same from a style sheet
//
// A noscript element is markup. A template is not, unless it is a shadow root that the parser opens (shadowrootmode).
package parse

import (
	"errors"
	"net/http"

	"crawl/canon"
)

// Input is a page as it was fetched.
type Input struct {
	URL    canon.URL    // the page's own
	Header http.Header  // Content-Type, Link, Refresh and X-Robots-Tag are read
	Body   []byte       // decoded of its content codings; may end anywhere
	Rules  *canon.Rules // nil: the safe rules
	Styles bool         // also what the page's own styles load: style elements and style attributes
	Agent  string       // product token whose own robots directives count beside those for all; empty: none

	// Piece, if set, is called with the page where it has so many links that they are handed over in pieces: Links, Repeated,
	// Malformed and Unsupported are those since the last piece, NoFollow is that of the whole page, and nothing else is sure
	// yet. What is left when the page has been read is in the page as ever.
	Piece func(*Page)
}

// Page is what a body says.
type Page struct {
	Charset     string      // name in the Encoding standard, lower case
	Title       string      // of the first title element, white space collapsed, at most 512 bytes
	Canonical   string      // first rel=canonical that is an http or https URL, an element before a header; may be empty
	Base        string      // what relative references were resolved against; as written where it is no http or https URL
	Description string      // of the first meta description that has one, white space collapsed, at most 1,024 bytes
	Heading     string      // text of the first h1 that has any, white space collapsed, at most 512 bytes
	Lang        string      // of the html element, at most 64 bytes
	Alternates  []Alternate // link elements that name the page in another language, in their order
	Robots      string      // meta robots elements, joined by ", ", at most 512 bytes
	NoFollow    bool        // nofollow or none, in a meta robots element or an X-Robots-Tag header
	PlainBytes  int         // of text outside of markup, scripts, styles and titles, white space included
	Scripts     int         // script elements

	Links []Link // unique by URL key and source, headers first, then in the order of the page

	// References that gave no Link.
	Repeated    int // said before by the same source
	Malformed   int // no URL
	Unsupported int // a scheme other than http and https
}

// HTML reads a page. A Parser does so with less garbage.
func HTML(in Input) *Page {
	var page Page
	new(Parser).HTML(in, &page)
	return &page
}

// Parser holds the buffers that pages can share. The zero Parser is ready. It serves one page at a time.
type Parser struct {
	in   Input
	page *Page

	charset charset
	certain bool   // no meta element may change charset any more
	xml     bool   // XHTML: a self-closing tag closes any element
	decoded []byte // scratch of decode

	place      place
	titleSeen  bool
	headingAt  int // where the content of an h1 that is open starts; 0: none is, or one was read
	alternates []alternate
	refreshed  bool // a refresh took effect
	base       []byte
	hasBase    bool

	long     bool // there are more references than one piece holds: those of this pass are not noted
	inPieces bool // references are handed over where they fill a piece

	headerCanonical string // first rel=canonical of the header

	refs      []ref
	arena     []byte // the bytes of refs, one after the other
	refTable  table  // finds a ref by its bytes
	linkTable table  // finds a link by its key
	element   element
	scanner   scanner

	inner        scanner // of the markup in a heading
	innerElement element
}

// HTML reads a page into page, whose Links it uses again. What was in page before is gone.
func (p *Parser) HTML(in Input, page *Page) {
	p.in, p.page = in, page
	mediaType, label := splitMediaType(ContentType(in.Header))
	p.xml = mediaType == "application/xhtml+xml"
	body := in.Body
	p.charset, p.certain, body = determine(label, body, p.xml, in.URL.Hostname())
	for again := true; again; {
		p.start()
		p.readHeader()
		var text []byte
		text, p.decoded = p.charset.decode(body, p.decoded)
		again = p.scan(text)
		if p.long && !again {
			p.scanInPieces(text)
		}
	}
	page.Charset = p.charset.name
	p.resolve()
	p.conclude()
	p.release()
}

// start forgets the page before, or the first part of a page that turned out to be in another encoding.
func (p *Parser) start() {
	*p.page = Page{Links: p.page.Links[:0]}
	p.place = place{frames: p.place.frames[:0], templates: p.place.templates[:0]}
	p.titleSeen, p.refreshed, p.hasBase = false, false, false
	p.headingAt, p.alternates = 0, p.alternates[:0]
	p.long, p.inPieces, p.headerCanonical = false, false, ""
	p.base, p.refs, p.arena = p.base[:0], p.refs[:0], p.arena[:0]
	p.refTable.reset()
	p.linkTable.reset()
}

// maxKept is how many bytes of each buffer are kept for the next page. A few huge pages must not set the memory of a
// whole crawl.
const maxKept = 1 << 20

// release lets go of the page and of buffers that grew beyond the ordinary.
func (p *Parser) release() {
	p.in, p.page, p.scanner, p.alternates = Input{}, nil, scanner{}, nil
	p.inner, p.innerElement = scanner{}, element{}
	p.element = element{decoded: p.element.decoded[:0]}
	if cap(p.element.decoded) > maxKept {
		p.element.decoded = nil
	}
	if cap(p.decoded) > maxKept {
		p.decoded = nil
	}
	if cap(p.arena)+cap(p.base) > maxKept {
		p.arena, p.base = nil, nil
	}
	if cap(p.refs)*refSize > maxKept {
		p.refs = nil
	}
	p.refTable.release()
	p.linkTable.release()
}

// resolve turns the references into links.
func (p *Parser) resolve() {
	base, foreign := p.resolveBase()
	encode := p.charset.encoder()
	text := string(p.arena)
	for _, r := range p.refs {
		s := text[r.start:r.end]
		from, query := base, encode
		switch {
		case r.header:
			from, query = p.in.URL, nil
		case r.source == SourceCSS && !foreign: // style sheets' URLs know no encoding
			query = nil
		case foreign && schemeOf(s) == noScheme:
			p.page.Unsupported++
			continue
		}
		u, err := p.in.Rules.ParseEncoded(from, s, query)
		if err != nil {
			p.reject(err)
			continue
		}
		if r.canonical {
			if r.header && p.headerCanonical == "" {
				p.headerCanonical = u.String()
			} else if !r.header && p.page.Canonical == "" {
				p.page.Canonical = u.String()
			}
		}
		p.admit(Link{URL: u, Source: r.source, Kind: r.kind, NoFollow: r.noFollow})
	}
}

// conclude enters what only the whole page tells.
func (p *Parser) conclude() {
	if p.page.Canonical == "" {
		p.page.Canonical = p.headerCanonical
	}
	if base, foreign := p.resolveBase(); !foreign {
		p.resolveAlternates(base, p.charset.encoder())
	}
}

// resolveBase returns the document's base URL (HTML standard, "set the frozen base URL"). A base that is no URL, or a
// data or javascript URL, leaves the page's own. One with another scheme is the base all the same: relative references
// then name nothing that could be fetched, and foreign is true.
func (p *Parser) resolveBase() (base canon.URL, foreign bool) {
	p.page.Base = p.in.URL.String()
	if !p.hasBase {
		return p.in.URL, false
	}
	s := string(p.base)
	u, err := p.in.Rules.ParseEncoded(p.in.URL, s, p.charset.encoder())
	if err == nil {
		p.page.Base = u.String()
		return u, false
	}
	e, ok := errors.AsType[*canon.Error](err)
	if !ok || e.Reason != canon.UnsupportedScheme || e.Detail == "data" || e.Detail == "javascript" {
		return p.in.URL, false
	}
	p.page.Base = s
	return canon.URL{}, true
}

func (p *Parser) reject(err error) {
	if e, ok := errors.AsType[*canon.Error](err); ok && e.Reason == canon.UnsupportedScheme {
		p.page.Unsupported++
	} else {
		p.page.Malformed++
	}
}
