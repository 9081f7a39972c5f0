package sitemap

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// sitemapCase is a fault that another crawler has had.
type sitemapCase struct {
	ID    string
	Input struct {
		URL   string
		Cases []caseFile
		caseFile
	}
	Want struct{ URLs, Sitemaps, Never []string }
}

type caseFile struct {
	Name            string
	ContentType     string `json:"content_type"`
	ContentEncoding string `json:"content_encoding"`
	Body            string
	BodyB64         []byte `json:"body_b64"`
}

func TestCases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var c sitemapCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		files := c.Input.Cases
		if len(files) == 0 {
			files = []caseFile{c.Input.caseFile}
		}
		for _, f := range files {
			t.Run(c.ID+" "+f.Name, func(t *testing.T) { c.check(t, f) })
		}
	}
}

// check reads one file of a case. A content coding is the fetch package's to take off; a gzip layer more is read all the
// same.
func (c *sitemapCase) check(t *testing.T, f caseFile) {
	body := f.BodyB64
	if body == nil {
		body = []byte(f.Body)
	}
	var urls, sitemaps []string
	if _, err := Read(Input{URL: parse(t, c.Input.URL), ContentType: f.ContentType, Body: bytes.NewReader(body)}, func(e Entry) bool {
		if e.Kind == Sitemap {
			sitemaps = append(sitemaps, e.URL.String())
		} else {
			urls = append(urls, e.URL.String())
		}
		return true
	}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(urls, c.Want.URLs) || !slices.Equal(sitemaps, c.Want.Sitemaps) {
		t.Errorf("pages %q, sitemaps %q; want %q, %q", urls, sitemaps, c.Want.URLs, c.Want.Sitemaps)
	}
}

// TestConformance compares with the counts of plain XML parsing.
func TestConformance(t *testing.T) {
	dir := conformance(t)
	data, err := os.ReadFile(filepath.Join(dir, "sitemaps/expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Files []struct {
			File, Root, First string
			Entries           int
		}
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected.Files) < 15 {
		t.Fatalf("only %d files", len(expected.Files))
	}
	for _, want := range expected.Files {
		got := readFile(t, filepath.Join(dir, "sitemaps", want.File))
		n := want.Entries
		if want.Root == "feed" {
			n = 3 // of the entry two alternates, and that of the feed
		}
		if len(got) != n || want.First != "" && got[0] != "url "+want.First {
			t.Errorf("%s: %d entries %.300q, want %d, first %s", want.File, len(got), got, n, want.First)
		}
		if isIndex := want.Root == "sitemapindex"; strings.HasPrefix(got[0], "sitemap ") != isIndex {
			t.Errorf("%s: first is %q", want.File, got[0])
		}
	}
}

func TestFeedConformance(t *testing.T) {
	dir := conformance(t)
	want := []string{
		"url https://www.example.com/main.html", "url https://www.example.com/blog/post/1", "url https://www.example.com/guid.html",
		"url https://www.example.com/foo?q=a&l=en", "url https://www.example.com/foo?q=a&l=fr",
	}
	if got := readFile(t, filepath.Join(dir, "feeds/feed.rss")); !slices.Equal(got, want) {
		t.Errorf("feed.rss gives %q, want %q", got, want)
	}
	if got := readFile(t, filepath.Join(dir, "feeds/xmlRss_pubDate.xml")); len(got) < 6 || got[5] != "url http://www.example.com/article_5" {
		t.Errorf("xmlRss_pubDate.xml gives %q", got)
	}
}

func readFile(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, _, err := found(t, f, "")
	if err != nil || len(got) == 0 {
		t.Fatalf("%s: %d entries, %v", path, len(got), err)
	}
	return got
}

// conformance returns the folder of public test data, or skips.
func conformance(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("CRAWL_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	if _, err := os.Stat(filepath.Join(dir, "sitemaps")); err != nil {
		t.Skipf("no public test data: %v (set CRAWL_CONFORMANCE)", err)
	}
	return dir
}

// FuzzRead: no input panics, takes more than the limits, or gives what is no URL; and what is read does not depend on how it
// comes in.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`<urlset><url><loc>http://a.test/?a&amp;b</loc><lastmod>2024</lastmod></url></urlset>`, `<rss><channel><item><guid>http://a.test/</guid></item></channel></rss>`,
		`<feed xml:base="/x/"><entry><link href='a'/></entry></feed>`, "http://a.test/\r\nx", "<!DOCTYPE x [<!ENTITY a 'b'>]><s:sitemapindex><s:sitemap><s:loc><![CDATA[/a]]>",
		string(gzipped("<urlset><url><loc>/a")), "\xff\xfe<\x00a\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _, err := found(t, bytes.NewReader(data), "")
		for _, e := range got {
			kind, u, _ := strings.Cut(e, " ")
			if parse(t, u).String() != u {
				t.Errorf("%s %s is not in its final form", kind, u)
			}
		}
		again, _, errAgain := found(t, iotest.HalfReader(bytes.NewReader(data)), "")
		if !slices.Equal(got, again) || (err == nil) != (errAgain == nil) {
			t.Errorf("read whole: %q, %v; in pieces: %q, %v", got, err, again, errAgain)
		}
	})
}
