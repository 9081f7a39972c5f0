package testweb

import (
	"bytes"
	"strconv"
	"strings"
)

// shape is how the target of a slot is written: head, the slot's number, tail. The number is the last run of digits, so
// a target leads back to its slot without a table.
type shape struct{ head, tail string }

// common holds the shapes of three pages in four, as browsers request them (WHATWG URL); the first counts double.
var common = []shape{
	{"/p/", ".html"}, {"/p/", ".html"}, {"/a/", ""}, {"/news/2031/", ""}, {"/docs/guide/part/", "/"}, {"/index.php/", "/"},
	{"/shop/item?lang=en&copy=a&id=", "&lt=x"}, {"/?p=", ""},
}

// odd holds the shapes of the other pages. Each is a way in which crawlers have merged, split or lost pages.
var odd = []shape{
	{"/~ann/", ".html"},
	{"/caf%C3%A9/", ""},
	{"/a%2Fb/", ""},
	{doubled + "double//", ""},
	{"/two%20words/", ".html"},
	{"/left|right/", ""},
	{"/100%-wool/", ""},
	{"/Mixed/CaSe/", ".HTML"},
	{"/search?q=1%2B1&page=", ""},
	{"/item;v=1,a/", ""},
	{"/what%3F%23/", ""},
	{"/p/", "/"}, // not the page that ends in .html
	{"/long/" + strings.Repeat("all-work-and-no-play-", 80), ""},
}

// doubled starts a path whose first segment is empty: as a path-absolute reference it would name a host.
const doubled = "//"

// special holds the shapes of the other kinds; a kind without one is written like a page.
var special = [toOutside + 1]shape{
	frameset: {"/frames/", ".html"}, nofollowed: {"/nofollow/", ".html"}, unlinked: {"/unlinked/", ".html"},
	empty: {"/empty/", ".html"}, plainText: {"/text/", ".txt"}, octets: {"/download/", ".bin"}, aliased: {"/~moved/", "/"},
	missing: {"/missing/", ".html"}, gone: {"/gone/", ".html"},
	archiveOpen: {"/archive/open/", ".html"}, archive: {"/archive/", ".html"}, private: {"/private/", ".html"},
	printView: {"/view/", "/print"}, session: {"/list?session=x&id=", ""}, hidden: {"/~hidden/", ""},
	secret:        {"/caf%C3%A9/secret/", ""},
	movedRelative: {"/moved/relative/", ""}, movedHost: {"/moved/host/", ""}, movedPath: {"/moved/path/", ""},
	movedSibling: {"/moved/sibling/", ""}, movedScheme: {"/moved/scheme/", ""},
	chain1: {"/chain/first/", ""}, chain2: {"/chain/second/", ""}, chain3: {"/chain/third/", ""},
	loop1: {"/loop/there/", ""}, loop2: {"/loop/back/", ""}, selfLoop: {"/loop/self/", ""},
	toPrivate: {"/moved/private/", ""}, toOutside: {"/moved/outside/", ""},
}

func (s *Site) shapeOf(p place) shape {
	if sh := special[s.kindOf(p)]; sh.head != "" {
		return sh
	}
	d := s.dice(p, forShape)
	shapes := common
	if d.oneIn(2) {
		shapes = odd
	}
	return shapes[d.below(len(shapes))]
}

// appendTarget appends path and query of a slot's URL as a browser requests them.
func (s *Site) appendTarget(dst []byte, p place) []byte {
	if p.n == 0 {
		return append(dst, '/')
	}
	sh := s.shapeOf(p)
	dst = append(dst, sh.head...)
	dst = strconv.AppendInt(dst, int64(p.n), 10)
	return append(dst, sh.tail...)
}

// slotAt finds the slot of a request target in normal form.
func (s *Site) slotAt(host int, normal []byte) (place, bool) {
	p := place{host, lastNumber(normal)}
	if p.n >= s.cfg.PagesPerHost {
		return place{}, false
	}
	var buf [2 * 128]byte
	own := s.appendTarget(buf[:0], p)
	if bytes.Equal(own, normal) {
		return p, true
	}
	return p, bytes.Equal(appendNormal(nil, own), normal)
}

// lastNumber reads the last run of digits outside percent triplets; 0 is none, or one that appendTarget would not write.
func lastNumber(normal []byte) int {
	end := len(normal)
	for end > 0 && !digitAt(normal, end-1) {
		end--
	}
	start := end
	for start > 0 && digitAt(normal, start-1) {
		start--
	}
	if start == end || normal[start] == '0' {
		return 0
	}
	n, err := strconv.Atoi(string(normal[start:end]))
	if err != nil {
		return 0
	}
	return n
}

// digitAt reports whether t[i] is a digit that stands for itself.
func digitAt(t []byte, i int) bool {
	return t[i] >= '0' && t[i] <= '9' && !bytes.Contains(t[max(0, i-2):i], percent)
}
