package hostile

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

const (
	sitemapPath = "/sitemap.xml"
	urlset      = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
	nextLoc     = "<url><loc>/next</loc></url>"
)

// sitemaps are lists of pages that hurt. Their host's robots.txt names them.
func sitemaps(l Limits) []Behaviour {
	most := int(l.BodyBytes)
	next := map[string]Want{"/next": okTitled("next")}
	return []Behaviour{
		listed("sitemap-self", "has a sitemap index that names itself", xmlType, func() string {
			return "<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap><sitemap><loc>http://sitemap-self.test/sitemap.xml</loc></sitemap></sitemapindex>"
		}, untitled, nil),
		listed("sitemap-elsewhere", "has a sitemap of pages that are not its own", xmlType, func() string {
			return urlset + "<url><loc>http://169.254.169.254/latest/</loc></url><url><loc>file:///etc/passwd</loc></url>" +
				"<url><loc>javascript:alert(1)</loc></url><url><loc>http://127.0.0.1:6379/</loc></url><url><loc>http://x.test/</loc></url>" + nextLoc
		}, untitled, next),
		listed("sitemap-many", "has a sitemap of as many URLs as fit, none of them its own", xmlType, func() string {
			return urlset + nextLoc + strings.Repeat("<url><loc>http://x.test/a</loc></url>", (most-1000)/37)
		}, untitled, next),
		listed("sitemap-nested", "has a sitemap that nests 100,000 elements", xmlType, func() string {
			return urlset + nextLoc + strings.Repeat("<url>", 100_000)
		}, untitled, next),
		listed("sitemap-loc-long", "has a sitemap with one URL as long as fits", xmlType, func() string {
			return urlset + nextLoc + "<url><loc>/" + strings.Repeat("a", most-1000) + "</loc></url>"
		}, untitled, next),
		listed("sitemap-tag-long", "has a sitemap with one tag as long as fits", xmlType, func() string {
			return urlset + nextLoc + "<url " + strings.Repeat("a='b' ", (most-1000)/6) + "><loc>/x"
		}, untitled, next),
		listed("sitemap-entities", "has a sitemap that defines entities by each other, a billion times", xmlType, func() string {
			return "<!DOCTYPE urlset [<!ENTITY a 'lol'>" + entityBomb() + "<!ENTITY file SYSTEM 'file:///etc/passwd'>]>" + urlset +
				nextLoc + "<url><loc>/&z;&file;</loc></url>"
		}, untitled, map[string]Want{"/next": okTitled("next"), "/&z;&file;": okTitled("next")}),
		listed("sitemap-comment", "has a sitemap that never closes a comment", xmlType, func() string {
			return urlset + nextLoc + "<!--" + strings.Repeat("-- >", (most-1000)/4)
		}, untitled, next),
		listed("sitemap-bomb", "has a sitemap that is a small file of very much", "application/gzip", func() string {
			return gzipped(urlset+nextLoc) + strings.Repeat(gzipped(strings.Repeat(" ", 1<<20)), 80)
		}, untitled, next),
		listed("sitemap-rubbish", "has a sitemap of rubbish", xmlType, func() string { return noise(10_000, 15) }, untitled, nil),
		listed("sitemap-gzip-cut", "has half a packed sitemap", "application/gzip", func() string {
			return half(gzipped(urlset + nextLoc + noise(10_000, 16)))
		}, untitled, next),
		listed("sitemap-image", "says that its sitemap is an image", "image/png", func() string { return urlset + nextLoc }, untitled, nil),
		{
			Name: "sitemap-endless", Does: "has a sitemap without end",
			serve: sitemapped(again("HTTP/1.1 200 OK\r\nContent-Type: "+xmlType+"\r\n\r\n"+urlset+nextLoc, strings.Repeat("<url></url>", 5000))),
			Want:  okTitled("home"), Also: map[string]Want{sitemapPath: cut("length"), "/next": okTitled("next")},
		}, Behaviour{
			Name: "sitemap-index-endless", Does: "has a sitemap index that leads to another one each time",
			serve: steps{
				robotsPath: say(sitemapRobots), "/": say(whole("<title>home</title>")),
				"*": func(p *peer, target string) bool {
					n, _ := strconv.Atoi(strings.TrimPrefix(target, "/"))
					return p.say(answer("Content-Type: "+xmlType+"\r\n", fmt.Sprintf(
						"<sitemapindex><sitemap><loc>/%d</loc></sitemap><sitemap><loc>/%d</loc></sitemap></sitemapindex>", 2*n+1, 2*n+2)))
				},
			}.serve, Want: okTitled("home"),
		}.trap(l.PagesPerHost),
		listed("feed-self", "has a feed whose next part is itself", "application/rss+xml", func() string {
			return "<rss><channel><atom:link rel='next' href='/sitemap.xml'/><item><link>/next</link></item></channel></rss>"
		}, untitled, next),
	}
}

const (
	xmlType       = "application/xml"
	sitemapRobots = "HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\nSitemap: /sitemap.xml\n"
)

// listed is a host with a sitemap, made when it is asked for.
func listed(name, does, contentType string, body func() string, want Want, also map[string]Want) Behaviour {
	wants := map[string]Want{sitemapPath: want}
	maps.Copy(wants, also)
	return Behaviour{Name: name, Does: does, Want: okTitled("home"), Also: wants, serve: sitemapped(func(p *peer, _ string) bool {
		return p.say(answer("Content-Type: "+contentType+"\r\n", body()))
	})}
}

func sitemapped(do step) serve {
	return steps{robotsPath: say(sitemapRobots), "/": say(whole("<title>home</title>")), sitemapPath: do, "*": say(nextPage)}.serve
}
