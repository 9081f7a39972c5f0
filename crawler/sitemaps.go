package crawler

import (
	"bytes"
	"errors"
	"strings"

	"crawl/fetch"
	"crawl/frontier"
	"crawl/internal/sitemap"
)

// readsList reports whether a body may be a sitemap or a feed. XML says so itself. Text, and what is called something
// else, is taken for one only where the user or the site named it as a list.
func readsList(l *frontier.Lease, mediaType string) bool {
	switch {
	case mediaType == "image/svg+xml":
		return false
	case mediaType == "text/xml", mediaType == "application/xml", strings.HasSuffix(mediaType, "+xml"):
		return true
	}
	switch mediaType {
	case "text/plain", "application/gzip", "application/x-gzip", "application/octet-stream", "binary/octet-stream":
		return namesList(l)
	}
	return false
}

// namesList reports whether the user or the site named a URL, and may mean a list by it.
func namesList(l *frontier.Lease) bool {
	return l.Depth == 0 && (l.Class <= frontier.Added || l.Class == frontier.Sitemap)
}

// isXML reports whether a body says that it is XML, or a list.
func isXML(body []byte) bool {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	for _, start := range []string{"<?xml", "<urlset", "<sitemapindex", "<rss", "<feed"} {
		if bytes.HasPrefix(body, []byte(start)) {
			return true
		}
	}
	return false
}

// readList takes links from a sitemap or a feed. A list is no page: what it lists is one link away from whoever named it,
// and further lists are not. It reports whether the body is a list.
func (c *Crawler) readList(s *scratch, v *visit, r *fetch.Result) bool {
	in := sitemap.Input{URL: v.lease.URL, ContentType: v.page.ContentType, Body: bytes.NewReader(r.Body)}
	sum, err := sitemap.Read(in, func(e sitemap.Entry) bool {
		depth := v.lease.Depth
		if e.Kind == sitemap.Page {
			depth++
		}
		c.siftOne(s, v, c.link(e.URL, frontier.Sitemap, depth, 0), noFollow{})
		return true
	})
	if errors.Is(err, sitemap.ErrForeign) {
		return false // an XML document like any other
	}
	if err != nil { // what stood before the fault counts
		c.log.Debug("a list of URLs was not read to its end", "url", v.page.URL, "err", err)
	}
	v.page.LinkCount = sum.Entries + sum.Malformed + sum.Unsupported + sum.Beyond
	v.reasons[Malformed] += uint64(sum.Malformed)
	v.reasons[UnsupportedScheme] += uint64(sum.Unsupported)
	v.trapped(trapEntries, uint64(sum.Beyond))
	return true
}

// admitSitemaps takes in what a robots.txt names as the site's sitemaps. They are not kept with the host: where a kill
// comes before the next checkpoint, its robots.txt is read again.
func (c *Crawler) admitSitemaps(l frontier.Lease, refs []string) error {
	if !c.cfg.Sitemaps || len(refs) == 0 {
		return nil
	}
	s, v := newScratch(), &visit{lease: l}
	for _, ref := range refs {
		u, err := rules.Parse(l.URL, ref)
		if err != nil {
			v.reasons[reasonOf(err)]++
			continue
		}
		c.siftOne(s, v, c.link(u, frontier.Sitemap, 0, 0), noFollow{})
	}
	k := c.committer
	return k.whole(func() error {
		k.books.Counters.addLinks(v)
		if err := k.enterRefusals(v, origin{}); err != nil {
			return err
		}
		return k.admit(v.links, origin{})
	})
}
