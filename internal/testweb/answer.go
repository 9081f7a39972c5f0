package testweb

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// area is the part of the web an address lies in.
type area uint8

const (
	inSlot    area = iota
	inRobots       // robots.txt
	inSitemap      // n is the part; -1 the index
	inDecoy        // a target that pages hold and never link to
	inAsset        // style sheet, script, images
	inOutside      // on the host out of scope
	inNothing      // 404 and not mentioned anywhere
)

// address is what a request target names. Spellings of one URL have one address.
type address struct {
	area  area
	place // host and number
}

const (
	stylePath      = "/assets/site.css"
	scriptPath     = "/assets/app.js"
	dotPath        = "/assets/dot.png"
	imagePrefix    = "/assets/img/"
	bigImagePrefix = "/assets/big/"
	imageSuffix    = ".png"
)

// fixedAssets are the assets that each host has once.
var fixedAssets = []string{stylePath, scriptPath, dotPath}

// locate finds the address of a target, given without scheme and authority.
func (s *Site) locate(authority string, target []byte) address {
	host, ok := s.hostIndex(authority)
	if !ok {
		if hostOnly(authority) == outsideHost {
			return address{area: inOutside}
		}
		return address{area: inNothing, place: place{host: -1}}
	}
	var buf [2 * 128]byte
	normal := appendNormal(buf[:0], target)
	if p, ok := s.slotAt(host, normal); ok {
		return address{inSlot, p}
	}
	a, n := s.auxiliary(host, string(normal))
	return address{a, place{host, n}}
}

// auxiliary finds a target that is no slot's.
func (s *Site) auxiliary(host int, target string) (area, int) {
	if part, ok := s.sitemapPartOf(target); ok {
		return inSitemap, part
	}
	n := lastNumber([]byte(target))
	switch {
	case target == robotsPath:
		return inRobots, 0
	case target == sitemapPath:
		return inSitemap, -1
	case s.isAsset(host, target, n):
		return inAsset, n
	case s.isDecoy(host, target, n):
		return inDecoy, n
	}
	return inNothing, 0
}

// sitemapPartOf returns the part that a target names.
func (s *Site) sitemapPartOf(target string) (int, bool) {
	digits := strings.TrimSuffix(strings.TrimPrefix(target, sitemapPartPrefix), sitemapPartSuffix)
	part, err := strconv.Atoi(digits)
	if err != nil || part < 0 || part >= s.sitemapParts() {
		return 0, false
	}
	return part, target == string(appendSitemapPartPath(nil, part))
}

func (s *Site) isAsset(host int, target string, n int) bool {
	if slices.Contains(fixedAssets, target) {
		return true
	}
	name := strconv.Itoa(n) + imageSuffix
	return n < s.cfg.PagesPerHost && s.traitsOf(place{host, n}).has(withImage) &&
		(target == imagePrefix+name || target == bigImagePrefix+name)
}

func (s *Site) isDecoy(host int, target string, n int) bool {
	rest, ok := strings.CutPrefix(target, decoyPrefix)
	if !ok || n >= s.cfg.PagesPerHost {
		return false
	}
	t := s.traitsOf(place{host, n})
	for x, name := range decoyNames {
		if t.has(trait(x)) && rest == name+"/"+strconv.Itoa(n) {
			return true
		}
	}
	return false
}

// reply is an answer before it is put on the wire.
type reply struct {
	status      int
	contentType string
	location    string
	chunked     bool
	body        []byte // the composer's, until its next answer
}

const (
	htmlUTF8   = "text/html; charset=utf-8"
	htmlLatin1 = "text/html; charset=ISO-8859-1"
	textUTF8   = "text/plain; charset=utf-8"
	xmlType    = "application/xml"

	octetStream = "application/octet-stream"
)

// answer makes the reply to a GET of the target at a, as it was spelled.
func (c *composer) answer(a address, target []byte) reply {
	c.b = c.b[:0]
	var r reply
	switch a.area {
	case inSlot:
		r = c.slot(a.place, target)
	case inRobots:
		r = reply{status: 404, contentType: textUTF8}
		if hasRobots(a.host) {
			r.status, c.b = 200, append(c.b, c.site.robotsText(a.host)...)
		}
	case inSitemap:
		r = reply{status: 200, contentType: xmlType}
		if a.n < 0 {
			c.b = c.site.appendSitemapIndex(c.b, a.host)
		} else {
			c.b = c.site.appendSitemapPart(c.b, a.host, a.n)
		}
	case inAsset:
		r = c.asset(string(target))
	case inDecoy, inOutside:
		r = reply{status: 200, contentType: htmlUTF8}
		c.b = append(c.b, "<!DOCTYPE html><title>No way here</title>\n"...)
	default:
		r = reply{status: 404, contentType: textUTF8}
		c.b = append(c.b, "nothing here\n"...)
	}
	r.body = c.b
	return r
}

// slot makes the reply of a slot.
func (c *composer) slot(p place, target []byte) reply {
	k := c.site.kindOf(p)
	r := reply{status: k.status(), contentType: htmlUTF8}
	switch {
	case bounced(k, target):
		r.status, r.location = 301, string(c.site.appendTarget(nil, p))
	case k.redirects():
		r.location = c.site.location(p)
	case k.rich():
		c.full(p)
		r.chunked = c.traits.has(isChunked)
		if c.traits.has(inLatin1) {
			r.contentType = htmlLatin1
		}
	case k == frameset:
		c.frames(p)
	case k == plainText:
		r.contentType = textUTF8
		c.unread(p)
	case k == octets:
		r.contentType = octetStream
		c.unread(p)
	case k != empty:
		c.b = append(c.b, "<!DOCTYPE html><title>A page without links</title><p>Nothing more.\n"...)
	}
	return r
}

const minFrames = 2

// frames writes a page that leads on by frame elements alone.
func (c *composer) frames(p place) {
	c.start(p)
	c.plan.main = c.site.appendChildren(c.plan.main[:0], p)
	for d := c.site.dice(p, forPlan); len(c.plan.main) < minFrames; {
		c.plan.main = append(c.plan.main, link{to: c.site.somePage(p.host, &d)})
	}
	c.b = append(c.b, "<!DOCTYPE html>\n<html><head><title>Frames</title></head>\n<frameset cols=\"*,*\">\n"...)
	for _, l := range c.plan.main {
		c.b = append(c.b, "<frame name=f"...)
		c.appendReference(" src", l.to)
		c.b = append(c.b, ">\n"...)
	}
	c.b = append(c.b, "</frameset></html>\n"...)
}

// unread writes markup for a body that is not HTML.
func (c *composer) unread(p place) {
	c.start(p)
	c.appendDecoyMarkup(inUnread)
}

// asset writes a style sheet, a script or an image.
func (c *composer) asset(target string) reply {
	switch {
	case strings.HasSuffix(target, ".css"):
		c.b = append(c.b, "body { margin: 1em }\n"...)
		return reply{status: 200, contentType: "text/css"}
	case strings.HasSuffix(target, ".js"):
		c.b = append(c.b, "var none = 0\n"...)
		return reply{status: 200, contentType: "text/javascript"}
	}
	c.b = append(c.b, c.site.pixel...)
	return reply{status: 200, contentType: "image/png"}
}

// Response is what the site answers to a GET, all 503s done.
type Response struct {
	Status      int
	ContentType string
	Location    string // as sent
	Body        []byte
}

// Get answers without a server. A URL that the site does not have gets a 404.
func (s *Site) Get(url string) Response {
	authority, target := cutURL([]byte(url))
	c := composer{site: s}
	r := c.answer(s.locate(string(authority), target), target)
	return Response{Status: r.status, ContentType: r.contentType, Location: r.location, Body: r.body}
}

// cutURL splits an absolute http or https URL into authority and target. Any other text is all target.
func cutURL(url []byte) (authority, target []byte) {
	scheme, rest, ok := bytes.Cut(url, []byte("://"))
	if !ok || !bytes.EqualFold(scheme, []byte("http")) && !bytes.EqualFold(scheme, []byte("https")) {
		return nil, url
	}
	i := bytes.IndexAny(rest, "/?#")
	if i < 0 {
		return rest, []byte{'/'}
	}
	if rest[i] != '/' {
		return rest[:i], append([]byte{'/'}, rest[i:]...)
	}
	return rest[:i], rest[i:]
}
