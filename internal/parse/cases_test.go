package parse

import (
	"bufio"
	"encoding/json"
	"html"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"crawl/canon"
)

// testCase is one line of testdata/cases.jsonl: a fault that other crawlers had, as an input and the outcome that the
// standards ask for.
type testCase struct {
	ID    string
	Kind  string
	Input struct {
		Base        string
		HTML        string
		ContentType string `json:"content_type"`
		Body        []byte `json:"body_b64"`
		Sources     []string
		Cases       []struct {
			RawResponse string `json:"raw_response"`
		}
	}
	Want struct {
		Links    json.RawMessage
		Never    []string
		Variants map[string]*string
		Encoding string
		Title    string
	}
}

func readCases(t *testing.T, kind string) []testCase {
	f, err := os.Open("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []testCase
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Kind == kind {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		t.Fatalf("no cases of kind %s", kind)
	}
	return cases
}

func TestCasesLinks(t *testing.T) {
	for _, c := range readCases(t, "links") {
		t.Run(c.ID, func(t *testing.T) {
			body := c.Input.Body
			if body == nil {
				body = []byte(c.Input.HTML)
			}
			var want []string
			if err := json.Unmarshal(c.Want.Links, &want); err != nil {
				t.Fatal(err)
			}
			got := linksOf(page(t, c.Input.Base, c.Input.ContentType, body), c.Input.Sources...)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("links\n got %q\nwant %q", got, want)
			}
			for _, never := range c.Want.Never {
				if slices.Contains(got, never) {
					t.Errorf("found %s", never)
				}
			}
			for content, want := range c.Want.Variants {
				attr := html.EscapeString(html.UnescapeString(content))
				p := page(t, c.Input.Base, "text/html", []byte(`<meta http-equiv=refresh content="`+attr+`">`))
				if got := linksOf(p, "refresh"); want == nil && len(got) > 0 || want != nil && !slices.Equal(got, []string{*want}) {
					t.Errorf("refresh %q gives %q", content, got)
				}
			}
		})
	}
}

func TestCasesCharset(t *testing.T) {
	for _, c := range readCases(t, "charset") {
		t.Run(c.ID, func(t *testing.T) {
			p := page(t, "http://example.com/", c.Input.ContentType, c.Input.Body)
			if p.Charset != c.Want.Encoding || p.Title != c.Want.Title {
				t.Errorf("charset %q, title %q; want %q, %q", p.Charset, p.Title, c.Want.Encoding, c.Want.Title)
			}
		})
	}
}

func TestCasesMediaType(t *testing.T) {
	for _, c := range readCases(t, "http") {
		t.Run(c.ID, func(t *testing.T) {
			var want [][]string
			if err := json.Unmarshal(c.Want.Links, &want); err != nil {
				t.Fatal(err)
			}
			for i, r := range c.Input.Cases {
				head, body, _ := strings.Cut(r.RawResponse, "\r\n\r\n")
				contentType := ""
				for line := range strings.Lines(head) {
					if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && name == "Content-Type" {
						contentType = strings.TrimSpace(value)
					}
				}
				got := []string{}
				if IsHTML(MediaType(contentType, []byte(body))) {
					got = linksOf(page(t, "http://a.test/", contentType, []byte(body)))
				}
				if !slices.Equal(got, want[i]) {
					t.Errorf("response %d: links %q, want %q", i+1, got, want[i])
				}
			}
		})
	}
}

func parseURL(t testing.TB, s string) canon.URL {
	t.Helper()
	u, err := canon.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// page reads a page as it came from an address.
func page(t testing.TB, address, contentType string, body []byte) *Page {
	t.Helper()
	header := http.Header{}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	return HTML(Input{URL: parseURL(t, address), Header: header, Body: body})
}

// linksOf returns the URLs of the page's links from the sources, of all for none, sorted and each once.
func linksOf(p *Page, sources ...string) []string {
	urls := []string{}
	for _, l := range p.Links {
		if len(sources) == 0 || slices.Contains(sources, l.Source.String()) {
			urls = append(urls, l.URL.String())
		}
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

// conformance returns the path of a file of public test data, which is kept beside the repository.
func conformance(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("CRAWL_CONFORMANCE")
	if dir == "" {
		dir = "../../../shared/conformance"
	}
	path := dir + "/" + name
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no conformance data (CRAWL_CONFORMANCE names the folder): %v", err)
	}
	return path
}
