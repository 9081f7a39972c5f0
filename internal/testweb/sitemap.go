package testweb

import (
	"strconv"
	"strings"
)

const (
	sitemapPath       = "/sitemap.xml" // an index of the parts
	sitemapPartPrefix = "/sitemap-"
	sitemapPartSuffix = ".xml"
	sitemapPart       = 20_000 // slots a part covers
	sitemapEvery      = 5      // one in so many pages that are linked anyway is listed as well
	sitemapNamespace  = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	xmlHead           = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
)

// sitemapParts returns how many parts the sitemap of a host has.
func (s *Site) sitemapParts() int { return (s.cfg.PagesPerHost + sitemapPart - 1) / sitemapPart }

// listed reports whether the sitemap names p.
func (s *Site) listed(p place) bool {
	k := s.kindOf(p)
	return k == unlinked || k == page && p.n%sitemapEvery == 0
}

func (s *Site) appendSitemapIndex(b []byte, host int) []byte {
	b = append(b, xmlHead+"<sitemapindex"+sitemapNamespace+">\n"...)
	for part := range s.sitemapParts() {
		b = append(b, "<sitemap><loc>"...)
		b = append(b, s.origin(host)...)
		b = append(appendSitemapPartPath(b, part), "</loc></sitemap>\n"...)
	}
	return append(b, "</sitemapindex>\n"...)
}

func appendSitemapPartPath(b []byte, part int) []byte {
	b = append(b, sitemapPartPrefix...)
	b = strconv.AppendInt(b, int64(part), 10)
	return append(b, sitemapPartSuffix...)
}

func (s *Site) appendSitemapPart(b []byte, host, part int) []byte {
	b = append(b, xmlHead+"<urlset"+sitemapNamespace+">\n"...)
	for n := part * sitemapPart; n < min((part+1)*sitemapPart, s.cfg.PagesPerHost); n++ {
		if p := (place{host, n}); s.listed(p) {
			b = append(b, "<url><loc>"...)
			b = append(b, strings.ReplaceAll(s.url(p), "&", "&amp;")...)
			b = append(b, "</loc></url>\n"...)
		}
	}
	return append(b, "</urlset>\n"...)
}
