package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"crawl/canon"
)

const (
	namespace = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	fileURL   = "http://a.test/dir/sitemap.xml"
)

// found is what reading gave, in words: "url http://a.test/".
func found(t *testing.T, body io.Reader, contentType string) (entries []string, sum Summary, err error) {
	t.Helper()
	sum, err = Read(Input{URL: parse(t, fileURL), ContentType: contentType, Body: body}, func(e Entry) bool {
		entries = append(entries, e.Kind.String()+" "+e.URL.String())
		return true
	})
	if sum.Entries != len(entries) {
		t.Errorf("%d entries counted, %d given", sum.Entries, len(entries))
	}
	return entries, sum, err
}

func parse(t *testing.T, s string) canon.URL {
	t.Helper()
	u, err := canon.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestRead(t *testing.T) {
	const one = "url http://a.test/1"
	for _, tt := range []struct {
		name string
		in   string
		want []string
	}{
		{"sitemap", `<?xml version="1.0"?><urlset ` + namespace + `><url><loc>http://a.test/1</loc></url></urlset>`, []string{one}},
		{"no namespace", `<urlset><url><loc>http://a.test/1</loc></url></urlset>`, []string{one}},
		{"foreign namespace", `<urlset xmlns="urn:x"><url><loc>http://a.test/1</loc></url></urlset>`, []string{one}},
		{"prefix", `<s:urlset xmlns:s="urn:x"><s:url><s:loc>http://a.test/1</s:loc></s:url></s:urlset>`, []string{one}},
		{"upper case", `<URLSET><URL><LOC>http://a.test/1</LOC></URL></URLSET>`, []string{one}},
		{"relative", `<urlset><url><loc>/1</loc></url><url><loc>x</loc></url></urlset>`, []string{one, "url http://a.test/dir/x"}},
		{"white space", "<urlset><url><loc>\r\n\t http://a.test/1 \n</loc></url></urlset>", []string{one}},
		{"line break within", "<urlset><url><loc>http://a.test/\n1</loc></url></urlset>", []string{one}},
		{"not escaped", `<urlset><url><loc>http://a.test/?a=1&b=2&copy=3&amp;d=4</loc></url></urlset>`, []string{"url http://a.test/?a=1&b=2&copy=3&d=4"}},
		{"escaped once", `<urlset><url><loc>http://a.test/?a&amp;amp;b&#38;c&#x26;d</loc></url></urlset>`, []string{"url http://a.test/?a&amp;b&c&d"}},
		{"cdata in parts", `<urlset><url><loc>http://a.test/<![CDATA[1?a&amp;b]]>&amp;c</loc></url></urlset>`, []string{"url http://a.test/1?a&amp;b&c"}},
		{"comment within", `<urlset><url><loc>http://a.test/<!-- > -->1</loc></url></urlset>`, []string{one}},
		{"comment around", `<urlset><!-- <url><loc>http://a.test/x</loc></url> --><url><loc>http://a.test/1</loc></url></urlset>`, []string{one}},
		{"doctype", `<!DOCTYPE urlset [<!ENTITY x "y>"> <!ELEMENT loc ANY>]><urlset><url><loc>http://a.test/1</loc></url></urlset>`, []string{one}},
		{"empty", `<urlset></urlset>`, nil},
		{"empty loc", `<urlset><url><loc/></url><url><loc></loc></url><url/></urlset>`, nil},
		{"extension", `<urlset><url><loc>http://a.test/1</loc><image:image><image:loc>http://a.test/i</image:loc></image:image>` +
			`<video:video><video:content_loc>http://a.test/v</video:content_loc></video:video>` +
			`<xhtml:link rel="alternate" hreflang="de" href="http://a.test/de"/></url></urlset>`, []string{one}},
		{"extension first", `<urlset><url><image:image><image:loc>http://a.test/i</image:loc></image:image><loc>http://a.test/1</loc></url></urlset>`, []string{one}},
		{"extension by default namespace", `<urlset><url><image xmlns="urn:image"><loc>http://a.test/i</loc></image><loc>http://a.test/1</loc></url></urlset>`, []string{one}},
		{"loc never closed", `<urlset><url><loc>http://a.test/1<lastmod>2024</lastmod></url><url><loc>http://a.test/2</url></urlset>`, []string{one, "url http://a.test/2"}},
		{"url never closed", `<urlset><url><loc>http://a.test/1</loc><url><loc>http://a.test/2</loc></urlset>`, []string{one, "url http://a.test/2"}},
		{"foreign never closed", `<urlset><url><loc>http://a.test/1</loc><br></url><url><loc>http://a.test/2</loc></url></urlset>`, []string{one, "url http://a.test/2"}},
		{"cut within loc", `<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/2`, []string{one}},
		{"cut after loc", `<urlset><url><loc>http://a.test/1</loc>`, []string{one}},
		{"cut within a tag", `<urlset><url><loc>http://a.test/1</loc></ur`, []string{one}},
		{"two in one entry", `<urlset><url><loc>http://a.test/1</loc><loc>http://a.test/2</loc></url></urlset>`, []string{one, "url http://a.test/2"}},
		{"angle in an attribute", `<urlset a=">" b='<'><url c="/>"><loc>http://a.test/1</loc></url></urlset>`, []string{one}},
		{"bytes that are no UTF-8", "<urlset><url><loc>http://a.test/\xe9</loc></url></urlset>", []string{"url http://a.test/%E9"}},
		{"control characters", "<urlset>\x00\x0b<url><loc>http://a.test/1</loc></url></urlset>", []string{one}},
		{"blank lines first", "\n\n \n<urlset><url><loc>http://a.test/1</loc></url></urlset>", []string{one}},
		{"index", `<sitemapindex><sitemap><loc>http://a.test/s.xml</loc><lastmod>2024-02-30</lastmod></sitemap></sitemapindex>`, []string{"sitemap http://a.test/s.xml"}},
		{"address in the entry itself", `<sitemapindex><sitemap> http://a.test/s.xml?a&amp;b </sitemap><sitemap>nonsense</sitemap></sitemapindex>`, []string{"sitemap http://a.test/s.xml?a&b"}},
		{"both kinds", `<sitemapindex><sitemap><loc>http://a.test/s.xml</loc></sitemap><url><loc>http://a.test/1</loc></url></sitemapindex>`, []string{"sitemap http://a.test/s.xml", one}},

		{"text", "http://a.test/1\nhttps://b.test/2\n", []string{one, "url https://b.test/2"}},
		{"text, marked", "\xef\xbb\xbfhttp://a.test/1", []string{one}},
		{"text, all line ends", "http://a.test/1\r\nhttp://a.test/2\rhttp://a.test/3\n\n  http://a.test/4  ", []string{one, "url http://a.test/2", "url http://a.test/3", "url http://a.test/4"}},
		{"text with other lines", "# pages\nhttp://a.test/1\nnonsense\nftp://a.test/2", []string{one}},

		{"rss", `<rss version="2.0"><channel><link>http://a.test/1</link><item><title>x</title><link>http://a.test/2</link></item></channel></rss>`, []string{one, "url http://a.test/2"}},
		{"rss, image of the channel", `<rss><channel><image><url>http://a.test/i</url><link>http://a.test/x</link></image><item><link>http://a.test/1</link></item></channel></rss>`, []string{one}},
		{"rss, enclosure and content", `<rss><channel><item><link>http://a.test/1</link><enclosure url="http://a.test/e"/><content:encoded><![CDATA[<a href="http://a.test/c">]]></content:encoded></item></channel></rss>`, []string{one}},
		{"rss, guid alone", `<rss><channel><item><guid>http://a.test/1</guid></item><item><guid isPermaLink="false">tag:x</guid></item></channel></rss>`, []string{one}},
		{"rss, guid beside", `<rss><channel><item><guid>http://a.test/g</guid><link>http://a.test/1</link></item></channel></rss>`, []string{one}},
		{"rss, links of atom", `<rss><channel><atom:link rel="self" href="http://a.test/feed"/><atom:link rel="next" href="?page=2"/><item><atom:link href="/1"/></item></channel></rss>`, []string{"feed http://a.test/dir/sitemap.xml?page=2", one}},
		{"rss 1.0", `<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><items><rdf:Seq><rdf:li resource="http://a.test/r"/></rdf:Seq></items></channel><item rdf:about="http://a.test/1"><link>http://a.test/1</link></item></rdf:RDF>`, []string{one}},
		{"atom", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.test/1"/><link rel="self" href="/feed"/><entry><link rel="alternate" href='/2'/><link rel="edit" href="/e"/><link rel=enclosure href=/f /></entry></feed>`, []string{one, "url http://a.test/2"}},
		{"atom, bases", `<feed xml:base="http://b.test/x/"><entry xml:base="y/"><link href="z"/></entry><entry><link href="z"/></entry></feed>`, []string{"url http://b.test/x/y/z", "url http://b.test/x/z"}},
		{"atom, markup within", `<feed><entry><content type="xhtml"><div><link href="/no"/><a href="/no">x</a></div></content><source><link href="/no"/></source><link href="/1"></link></entry></feed>`, []string{one}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, body := range map[string]io.Reader{
				"": strings.NewReader(tt.in), " a byte at a time": iotest.OneByteReader(strings.NewReader(tt.in)), " gzipped": bytes.NewReader(gzipped(tt.in)),
			} {
				got, _, err := found(t, body, "")
				if err != nil || !slices.Equal(got, tt.want) {
					t.Errorf("read%s: %q, %v; want %q", name, got, err, tt.want)
				}
			}
		})
	}
}

func gzipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.Bytes()
}

func TestCounts(t *testing.T) {
	got, sum, err := found(t, strings.NewReader(`<urlset><url><loc>ftp://a.test/</loc></url><url><loc>http://[x</loc></url><url><loc>mailto:x</loc></url><url><loc>/1</loc></url></urlset>`), "")
	if want := (Summary{Entries: 1, Malformed: 1, Unsupported: 2}); err != nil || sum != want || len(got) != 1 {
		t.Errorf("%q, %+v, %v; want %+v", got, sum, err, want)
	}
}

// TestForeign: what is no list gives nothing, and says so.
func TestForeign(t *testing.T) {
	for _, in := range []string{
		"", "\n \n", "<html><body><a href=/>x</a></body></html>", "<!DOCTYPE html><html></html>", "not found", "<", "<?xml version='1.0'?>",
		"<svg/>", strings.Repeat("x", 3*maxLine), "\x00\x01\x02", "<urlse", "{\"a\": 1}",
	} {
		if got, _, err := found(t, strings.NewReader(in), ""); !errors.Is(err, ErrForeign) || len(got) > 0 {
			t.Errorf("read %.40q: %q, %v; want %v", in, got, err, ErrForeign)
		}
	}
}

// TestTooMany: 50,000 entries are read, and the rest is counted.
func TestTooMany(t *testing.T) {
	var b strings.Builder
	b.WriteString("<urlset>")
	for i := range MaxEntries + 7 {
		fmt.Fprintf(&b, "<url><loc>http://a.test/%d</loc></url>", i)
	}
	b.WriteString("</urlset>")
	got, sum, err := found(t, strings.NewReader(b.String()), "")
	if err != nil || len(got) != MaxEntries || sum.Beyond != 7 {
		t.Errorf("%d entries, %+v, %v", len(got), sum, err)
	}
}

// TestTooLong: what is before the limit counts.
func TestTooLong(t *testing.T) {
	head := "<urlset><url><loc>http://a.test/1</loc></url>"
	for name, filler := range map[string]string{"text": "x", "comment": "<!--", "tag": "<a ", "cdata": "<![CDATA[", "field": "<url><loc>",
		"attribute": `<a b="`, "declaration": "<!DOCTYPE [", "instruction": "<?"} {
		endless := io.MultiReader(strings.NewReader(head+filler), io.LimitReader(filling{}, MaxBytes))
		got, _, err := found(t, endless, "")
		if !errors.Is(err, ErrTooLong) || !slices.Equal(got, []string{"url http://a.test/1"}) {
			t.Errorf("%s: %d entries, %v", name, len(got), err)
		}
	}
}

// filling is text without end.
type filling struct{}

func (filling) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestStop: whoever has enough says so.
func TestStop(t *testing.T) {
	n := 0
	sum, err := Read(Input{URL: parse(t, fileURL), Body: strings.NewReader("http://a.test/1\nhttp://a.test/2\nhttp://a.test/3")}, func(Entry) bool {
		n++
		return n < 2
	})
	if n != 2 || sum.Entries != 2 || err != nil {
		t.Errorf("%d given, %+v, %v", n, sum, err)
	}
}

// TestBrokenTransport: what came before counts, and the cause is told.
func TestBrokenTransport(t *testing.T) {
	broken := errors.New("broken")
	got, _, err := found(t, io.MultiReader(strings.NewReader("<urlset><url><loc>/1</loc></url>"), iotest.ErrReader(broken)), "")
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
	whole := gzipped("<urlset>" + strings.Repeat("<url><loc>/1</loc></url>", 10_000) + "</urlset>")
	got, _, err = found(t, bytes.NewReader(whole[:len(whole)/2]), "")
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) < 100 {
		t.Errorf("half a gzip file: %d entries, %v", len(got), err)
	}
}

func TestCharsets(t *testing.T) {
	for _, tt := range []struct{ name, contentType, in, want string }{
		{"declared", "", "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>/\xe9</loc></url></urlset>", "/%C3%A9"},
		{"header", "text/xml; charset=windows-1251", "<urlset><url><loc>/\xe9</loc></url></urlset>", "/%D0%B9"},
		{"header over declaration", "text/xml; charset=utf-8", "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>/é</loc></url></urlset>", "/%C3%A9"},
		{"mark over header", "text/xml; charset=iso-8859-1", "\xef\xbb\xbf<urlset><url><loc>/é</loc></url></urlset>", "/%C3%A9"},
		{"utf-16", "", "\xff\xfe" + wide("<urlset><url><loc>/a</loc></url></urlset>"), "/a"},
		{"utf-16, no mark", "", wide("<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>/a</loc></url></urlset>"), "/a"},
		{"utf-16 that is none", "", "<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>/é</loc></url></urlset>", "/%C3%A9"},
		{"unknown", "text/xml; charset=nonsense", "<urlset><url><loc>/é</loc></url></urlset>", "/%C3%A9"},
	} {
		got, _, err := found(t, strings.NewReader(tt.in), tt.contentType)
		if want := []string{"url http://a.test" + tt.want}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, want)
		}
	}
}

// wide is UTF-16, little end first, of ASCII.
func wide(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteByte(c)
		b.WriteByte(0)
	}
	return b.String()
}

// TestLinearTime: no input costs more than its length.
func TestLinearTime(t *testing.T) {
	const n = 8 << 20
	for name, in := range map[string]string{
		"white space": strings.Repeat(" ", n), "quotes": "<urlset a= " + strings.Repeat(" ", maxValue) + strings.Repeat("x'", n/2),
		"references": "<urlset><url><loc>" + strings.Repeat("&", n), "tags": strings.Repeat("<a ", n/3), "open": "<urlset>" + strings.Repeat("<", n),
		"entries": "<urlset>" + strings.Repeat("<url>", n/5), "lines": strings.Repeat("x\n", n/2),
	} {
		began := time.Now()
		found(t, strings.NewReader(in), "")
		if took := time.Since(began); took > 20*time.Second { // usually a tenth of a second
			t.Errorf("%s: %v", name, took)
		}
	}
}

func TestDates(t *testing.T) {
	at := time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)
	for in, want := range map[string]time.Time{
		"2024-02-03T04:05:06Z":            at,
		"2024-02-03T05:05:06+01:00":       at,
		"2024-02-03T05:05:06.000+0100":    at,
		" 2024-02-03T04:05:06 ":           at,
		"Sat, 03 Feb 2024 04:05:06 GMT":   at,
		"Sat, 3 Feb 24 05:05:06 +0100":    at,
		"3 Feb 2024 04:05:06 +0000":       at,
		"2024-02-03":                      time.Date(2024, 2, 3, 0, 0, 0, 0, time.UTC),
		"2024":                            time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC),
		"2024-02-30":                      {},
		"sometime":                        {},
		"":                                {},
		strings.Repeat("2024-02-03", 100): {},
	} {
		if got := parseDate(in); !got.Equal(want) {
			t.Errorf("date %q is %v, want %v", in, got, want)
		}
	}
	var got []time.Time
	body := `<urlset><url><lastmod>2024-02-03T04:05:06Z</lastmod><loc>/1</loc></url><url><loc>/2</loc><lastmod>never</lastmod></url></urlset>`
	if _, err := Read(Input{URL: parse(t, fileURL), Body: strings.NewReader(body)}, func(e Entry) bool {
		got = append(got, e.LastMod)
		return true
	}); err != nil || len(got) != 2 || !got[0].Equal(at) || !got[1].IsZero() {
		t.Errorf("dates %v, %v", got, err)
	}
}
