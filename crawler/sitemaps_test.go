package crawler_test

import "testing"

// A sitemap is one by its content, whatever the server calls it, and a page that starts like XML is a page.
func TestSitemapAsASeed(t *testing.T) {
	t.Parallel()
	const list = "<urlset><url><loc>http://a.test/listed</loc></url></urlset>"
	for _, tt := range []struct{ name, mediaType, body string }{
		{"application/xml", "application/xml", list},
		{"called HTML", "text/html", list},
		{"called HTML, with a declaration", "text/html; charset=utf-8", "\xef\xbb\xbf<?xml version='1.0'?>\n" + list},
		{"feed called HTML", "text/html", "<rss><channel><item><link>http://a.test/listed</link></item></channel></rss>"},
		{"text", "text/plain", "http://a.test/listed\n"},
		{"page that is XML", "text/html", "<?xml version='1.0'?><html><a href=/listed>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, map[string]answer{
				"http://a.test/seed":   {header: map[string]string{"Content-Type": tt.mediaType}, body: tt.body},
				"http://a.test/listed": {},
			})
			if pages, s := crawl(t, w.quick(), "http://a.test/seed"); pages["http://a.test/listed"] == nil || s.Pages != 2 {
				t.Errorf("%d pages, reasons %v", s.Pages, s.ByReason)
			}
		})
	}
}

// What the header says to robots stands in the record of every type of body.
func TestRobotsTagOfAnyType(t *testing.T) {
	t.Parallel()
	w := serve(t, map[string]answer{
		"http://a.test/a.pdf": {header: map[string]string{"Content-Type": "application/pdf", "X-Robots-Tag": "noindex"}, body: "%PDF"},
	})
	if pages, _ := crawl(t, w.quick(), "http://a.test/a.pdf"); pages["http://a.test/a.pdf"].XRobotsTag != "noindex" {
		t.Errorf("record %+v", pages["http://a.test/a.pdf"])
	}
}
