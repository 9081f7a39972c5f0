package crawler

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"crawl/canon"
	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/parse"
	"crawl/internal/scope"
	"crawl/store"
)

// scratch is what one fetcher uses again for each page.
type scratch struct {
	parser parse.Parser
	page   parse.Page
	hashes map[uint64]struct{} // of the links of one page
}

func newScratch() *scratch { return &scratch{hashes: make(map[uint64]struct{})} }

// maxKeptLinks is how many links a fetcher keeps room for between two pages. A huge page must neither set the memory of
// the whole crawl nor make each later page clear as large a table.
const maxKeptLinks = 1 << 14

// reset makes s ready for the next page, and lets go of the last one.
func (s *scratch) reset() {
	links := s.page.Links
	if cap(links) > maxKeptLinks {
		links, s.hashes = nil, make(map[uint64]struct{})
	}
	clear(links)
	clear(s.hashes)
	s.page = parse.Page{Links: links[:0]}
}

// maxURLBytes is the longest URL that is admitted. Servers take 8 to 32 KiB; a crawl must not end by a link of megabytes,
// which no log and no row of the state would hold.
const maxURLBytes = 16 << 10

var errTooLong = fmt.Errorf("the URL is longer than %d bytes", maxURLBytes)

func tooLong(u canon.URL) bool { return len(u.String()) > maxURLBytes }

// read takes links and facts from a body.
func (c *Crawler) read(s *scratch, v *visit, r *fetch.Result) {
	defer s.reset()
	enterRobotsTag(&v.page, r.Header)
	switch mediaType := parse.MediaType(v.page.ContentType, r.Body); {
	case parse.IsHTML(mediaType):
		if !namesList(&v.lease) || !isXML(r.Body) || !c.readList(s, v, r) { // many sitemaps are called HTML
			c.readPage(s, v, r)
		}
	case c.cfg.Requisites && isSheet(v, mediaType):
		c.readSheet(s, v, r)
	case readsList(&v.lease, mediaType):
		c.readList(s, v, r)
	}
}

// readPage takes links, facts and what is to be extracted from markup.
func (c *Crawler) readPage(s *scratch, v *visit, r *fetch.Result) {
	s.parser.HTML(c.inputOf(s, v, r), &s.page)
	enterFacts(&v.page, &s.page)
	v.page.NeedsScripts = v.page.NeedsScripts && !v.inPieces
	c.judge(v, &s.page, r.Body)
	c.sift(s, v)
	if c.extractor == nil {
		return
	}
	var err error
	if v.page.Extract, err = c.extractor.Extract(v.page.URL, r.Body, v.page.Charset); err != nil {
		v.page.Error = &store.PageError{Code: "extract", Phase: "parse", Message: err.Error()}
	}
}

func (c *Crawler) inputOf(s *scratch, v *visit, r *fetch.Result) parse.Input {
	return parse.Input{
		URL: v.lease.URL, Header: r.Header, Body: r.Body, Styles: c.cfg.Requisites, Agent: c.product,
		Piece: func(*parse.Page) { c.siftPiece(s, v) },
	}
}

// siftPiece admits links of a page before the page is done: millions of them would not fit into memory. Killed meanwhile, the
// crawl fetches the page again, and has met what was admitted.
func (c *Crawler) siftPiece(s *scratch, v *visit) {
	v.inPieces = true
	c.sift(s, v)
	if v.broken == nil { // else the visit comes to nothing
		c.committer.commitPiece(v) // where it fails, so does the commit of the visit
	}
	clear(v.links)
	clear(v.refusals)
	clear(s.hashes) // what was met is the filter's to know from now on
	v.links, v.reasons, v.traps, v.denied, v.noFollow = v.links[:0], reasonCounts{}, nil, nil, NoFollowView{}
	v.rules, v.refusals = v.rules[:0], v.refusals[:0]
}

// isSheet reports whether a body is a style sheet: it says so, or is loaded by a page and says nothing but its name.
func isSheet(v *visit, mediaType string) bool {
	if parse.IsStyleSheet(mediaType) {
		return true
	}
	return mediaType == "text/plain" && v.lease.Class == frontier.Requisite && strings.HasSuffix(v.lease.URL.Path(), ".css")
}

// readSheet takes from a style sheet what it loads.
func (c *Crawler) readSheet(s *scratch, v *visit, r *fetch.Result) {
	s.parser.StyleSheet(c.inputOf(s, v, r), &s.page)
	v.page.Charset = s.page.Charset
	c.sift(s, v)
}

// sift gives each link of the page its reason, or keeps it for the filter. A page's links end here or in the commit.
func (c *Crawler) sift(s *scratch, v *visit) {
	page := &s.page
	v.page.LinkCount += len(page.Links) + page.Repeated + page.Malformed + page.Unsupported
	v.reasons[Repeated] += uint64(page.Repeated)
	v.reasons[Malformed] += uint64(page.Malformed)
	v.reasons[UnsupportedScheme] += uint64(page.Unsupported)
	v.links = slices.Grow(v.links, len(page.Links))
	for _, l := range page.Links {
		if l.NoFollow {
			v.page.RelNoFollow++
		}
		class, followed := c.classOf(l)
		if !followed {
			v.reasons[NotFollowed]++
			continue
		}
		depth := v.lease.Depth
		if class == frontier.Navigation || v.lease.Class == frontier.Requisite {
			// What a page is made of belongs to its own depth. What that loads is deeper: sheets that import each other have
			// an end.
			depth++
		}
		c.siftOne(s, v, c.link(l.URL, class, depth, 0), c.saidOf(page, l))
	}
}

func (c *Crawler) siftOne(s *scratch, v *visit, next link, said noFollow) {
	if _, again := s.hashes[next.hash]; again {
		v.reasons[Repeated]++
		return
	}
	s.hashes[next.hash] = struct{}{}
	reason, rule, refused := c.refuses(next, said)
	v.countNoFollow(said, refused && reason == NoFollow)
	if refused {
		switch {
		case reason == OutOfScope && c.toCheck(next):
			if !c.deniedLink(v, next) {
				v.links = append(v.links, c.asCheck(next))
			}
		case reason == Malformed:
			v.reasons[Malformed]++
		default:
			v.turnAway(reason, rule, next)
		}
		return
	}
	if rule := c.trapOf(v, next); rule != "" {
		v.trap(rule, next)
		return
	}
	if c.deniedLink(v, next) {
		return
	}
	v.links = append(v.links, next)
}

// classOf says whether a link is followed, and as what.
func (c *Crawler) classOf(l parse.Link) (frontier.Class, bool) {
	switch l.Kind {
	case parse.Navigation:
		return frontier.Navigation, true
	case parse.Requisite:
		return frontier.Requisite, c.cfg.Requisites
	}
	return 0, false
}

// refuses applies the tests that need no memory, and names the rule that refuses. Seen comes after them: a URL first met
// too deep must stay new for the day it is met nearer.
func (c *Crawler) refuses(l link, said noFollow) (reason Reason, rule string, refused bool) {
	switch {
	case tooLong(l.url):
		return Malformed, "", true
	case c.forbids(said) && said.page:
		return NoFollow, ruleNoFollow, true
	case c.forbids(said):
		return NoFollow, ruleRelNoFollow, true
	}
	if verdict := c.scope.Test(l.url, l.place()); !verdict.Admitted {
		return OutOfScope, verdict.Rule, true
	}
	if tooDeep(l.class, l.depth, c.live.Load().maxDepth) {
		return TooDeep, ruleMaxDepth, true
	}
	return 0, "", false
}

// place is what the scope may ask of a link besides its URL.
func (l *link) place() scope.Place { return scope.Place{Depth: l.depth, Class: l.class.String()} }

// maxNested is how far what is loaded by parts of a page, as by sheets that a sheet imports, may lie beyond max_depth: more
// than sites need.
const maxNested = 16

// tooDeep reports whether a depth is more than the most that is allowed; nil is no limit. Of requisites only those lie deeper
// than their page that other requisites load.
func tooDeep(class frontier.Class, depth int, most *int) bool {
	if most == nil {
		return false
	}
	if class == frontier.Requisite {
		depth -= maxNested
	}
	return depth > *most
}

func (c *Crawler) link(u canon.URL, class frontier.Class, depth, hop int) link {
	key, by := c.names.Apply(u)
	return link{url: u, hash: c.hasher.HashString(nameAs(key, class)), named: by, class: class, depth: depth, hop: hop}
}

func (c *Crawler) hash(u canon.URL) uint64 { return c.hasher.HashString(c.names.Key(u)) }

// reasonOf tells a reference that is no URL from one of another scheme.
func reasonOf(err error) Reason {
	if e, ok := errors.AsType[*canon.Error](err); ok && e.Reason == canon.UnsupportedScheme {
		return UnsupportedScheme
	}
	return Malformed
}
