package testweb

import (
	"iter"
	"slices"
	"strconv"
)

// Class says what a right crawl does with a URL.
type Class uint8

// The classes. A crawl from Seeds fetches what is Plain and, by what it is told to follow, some of the next three.
const (
	Plain      Class = iota // linked or redirected to, and allowed
	Sitemap                 // named by a sitemap and by nothing else
	Nofollow                // linked with rel=nofollow and in no other way
	Requisite               // style sheets, scripts, images
	Service                 // robots.txt and the sitemaps themselves
	Disallowed              // forbidden by robots.txt
	Decoy                   // looks like a link to a wrong parser
	Outside                 // on a host out of scope
	Unknown                 // no URL of this web: a mistake of the client's
	classCount
)

func (c Class) String() string {
	return [classCount]string{
		"plain", "sitemap", "nofollow", "requisite", "service", "disallowed", "decoy", "outside", "unknown",
	}[c]
}

// Expect is a URL of the web and what is known of it.
type Expect struct {
	URL      string // in normal form: triplets of unreserved characters decoded, all that needs one encoded, in upper case
	Host     string
	Class    Class
	Status   int    // of the answer that is not a 503, to the normal form
	Location string // where a redirect leads, in normal form; else empty
	CopyOf   string // the URL that answers with the same bytes; else empty
	Fails    bool   // answers Config.FailFirst requests with 503 before
}

// Expected yields, each once, the URLs that a right crawl from Seeds fetches when it follows navigation links, obeys
// robots.txt and stays on the site's hosts: the class Plain. It reads the plan of the web, never a page.
func (s *Site) Expected() iter.Seq[Expect] { return s.URLs(Plain) }

// Forbidden yields the URLs that no right crawl ever asks for: Disallowed, Decoy and Outside.
func (s *Site) Forbidden() iter.Seq[Expect] { return s.URLs(Disallowed, Decoy, Outside) }

// URLs yields every URL of the given classes, each once, host by host. Class Unknown has none.
func (s *Site) URLs(classes ...Class) iter.Seq[Expect] {
	return func(yield func(Expect) bool) {
		for e := range s.all() {
			if slices.Contains(classes, e.Class) && !yield(e) {
				return
			}
		}
	}
}

// all yields every URL of the web.
func (s *Site) all() iter.Seq[Expect] {
	return func(yield func(Expect) bool) {
		for h := range s.cfg.Hosts {
			if !s.yieldServices(h, yield) {
				return
			}
			for n := range s.cfg.PagesPerHost {
				p := place{h, n}
				if !yield(s.expect(p)) || !s.yieldMentioned(p, yield) {
					return
				}
			}
		}
	}
}

// yieldServices yields what a host has once, apart from slots.
func (s *Site) yieldServices(host int, yield func(Expect) bool) bool {
	e := Expect{Host: s.names[host], Class: Service, Status: 200}
	if !hasRobots(host) {
		e.Status = 404
	}
	e.URL = s.origin(host) + robotsPath
	if !yield(e) {
		return false
	}
	e.Status, e.URL = 200, s.origin(host)+sitemapPath
	if !yield(e) {
		return false
	}
	for part := range s.sitemapParts() {
		e.URL = string(appendSitemapPartPath([]byte(s.origin(host)), part))
		if !yield(e) {
			return false
		}
	}
	e.Class = Requisite
	for _, path := range fixedAssets {
		e.URL = s.origin(host) + path
		if !yield(e) {
			return false
		}
	}
	return true
}

// yieldMentioned yields what the page at p mentions and no other page does, apart from slots.
func (s *Site) yieldMentioned(p place, yield func(Expect) bool) bool {
	e := Expect{Host: s.names[p.host], Status: 200}
	t := s.traitsOf(p)
	e.Class = Requisite
	for _, prefix := range []string{imagePrefix, bigImagePrefix} {
		e.URL = s.origin(p.host) + prefix + strconv.Itoa(p.n) + imageSuffix
		if t.has(withImage) && !yield(e) {
			return false
		}
	}
	e.Class = Decoy
	for x := range decoys {
		e.URL = string(appendDecoy([]byte(s.origin(p.host)), x, p.n))
		if t.has(x) && !yield(e) {
			return false
		}
	}
	e.Class, e.Host, e.URL = Outside, outsideHost, string(s.appendOutside(nil, p))
	return !t.has(withOutside) && s.kindOf(p) != toOutside || yield(e)
}

// expect says what is known of a slot.
func (s *Site) expect(p place) Expect {
	k := s.kindOf(p)
	e := Expect{URL: s.key(p), Host: s.names[p.host], Class: s.classOf(p), Status: k.status(), Fails: s.fails(p)}
	switch {
	case k == toOutside:
		e.Location = string(s.appendOutside(nil, p))
	case k.redirects():
		e.Location = s.key(s.destination(p))
	case k == copyOf:
		e.CopyOf = s.key(s.source(p))
	}
	return e
}

func (s *Site) classOf(p place) Class {
	switch k := s.kindOf(p); {
	case k == unlinked:
		return Sitemap
	case k == nofollowed:
		return Nofollow
	case k.disallowed() && hasRobots(p.host):
		return Disallowed
	}
	return Plain
}

// class returns the class of an address.
func (s *Site) class(a address) Class {
	if a.area == inSlot {
		return s.classOf(a.place)
	}
	return [...]Class{
		inRobots: Service, inSitemap: Service, inDecoy: Decoy, inAsset: Requisite, inOutside: Outside, inNothing: Unknown,
	}[a.area]
}
