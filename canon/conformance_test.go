package canon

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

// conformance reads a file of the conformance data, which lies outside this repository.
func conformance(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("CRAWL_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "conformance")
	}
	data, err := os.ReadFile(filepath.Join(dir, "url", name))
	if err != nil {
		t.Skipf("no conformance data: %v", err)
	}
	return data
}

// objects returns the objects of a JSON array in which strings are comments.
func objects[T any](t *testing.T, data []byte) []T {
	t.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	var out []T
	for _, r := range raw {
		if r[0] != '{' {
			continue
		}
		var v T
		if err := json.Unmarshal(r, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		t.Fatal("no cases")
	}
	return out
}

// TestWPT holds the parser against web-platform-tests url/resources/urltestdata.json.
func TestWPT(t *testing.T) {
	type object struct {
		Input, Base, Href, Protocol, Username, Password, Hash string
		Host, Hostname, Pathname, Search, Origin              string
		Failure                                               bool
	}
	for _, file := range []string{"wpt-urltestdata.json", "wpt-urltestdata-javascript-only.json"} {
		t.Run(file, func(t *testing.T) {
			for _, tt := range objects[object](t, conformance(t, file)) {
				base, _ := Parse(tt.Base) // with a base of another scheme only absolute URLs concern us
				u, err := (*Rules)(nil).Parse(base, tt.Input)
				if tt.Failure || tt.Protocol != "http:" && tt.Protocol != "https:" {
					if err == nil {
						t.Errorf("%q on %q: got %s, want an error", tt.Input, tt.Base, u)
					}
					continue
				}
				// Credentials come last before the host, the fragment last of all.
				want, _, _ := strings.Cut(tt.Href, "#")
				if tt.Username+tt.Password != "" {
					want = tt.Protocol + "//" + want[strings.Index(want, "@")+1:]
				}
				if err != nil || u.String() != want {
					t.Errorf("%q on %q: got %q, %v, want %q", tt.Input, tt.Base, u, err, want)
					continue
				}
				if u.Scheme()+":" != tt.Protocol || u.Host() != tt.Host || u.Hostname() != strings.Trim(tt.Hostname, "[]") ||
					u.Path() != tt.Pathname || u.Query() != strings.TrimPrefix(tt.Search, "?") || u.Origin() != tt.Protocol+"//"+tt.Host {
					t.Errorf("%q on %q: parts of %q differ", tt.Input, tt.Base, u)
				}
			}
		})
	}
}

// TestWPTToASCII holds hosts against web-platform-tests url/resources/toascii.json.
func TestWPTToASCII(t *testing.T) {
	for _, tt := range objects[struct{ Input, Output string }](t, conformance(t, "wpt-toascii.json")) {
		u, err := Parse("https://" + tt.Input + "/x")
		if (err == nil) != (tt.Output != "") || u.Hostname() != tt.Output {
			t.Errorf("%q: got %q, %v, want %q", tt.Input, u.Hostname(), err, tt.Output)
		}
	}
}

// TestWPTPercentEncoding holds queries of legacy documents against web-platform-tests
// url/resources/percent-encoding.json.
func TestWPTPercentEncoding(t *testing.T) {
	known := map[string]string{
		"iso-2022-jp \x0eA":    "the encoder of x/text lets shift controls through",
		"iso-2022-jp \u203e\\": "the encoder of x/text has no Roman state",
		"shift_jis \u2212":     "the encoder of x/text does not take it for the full-width hyphen",
		"gb18030 \ue5e5":       "the encoder of x/text has four bytes for it",
	}
	type object struct {
		Input  string
		Output map[string]string
	}
	for _, tt := range objects[object](t, conformance(t, "wpt-percent-encoding.json")) {
		for label, want := range tt.Output {
			enc, err := htmlindex.Get(label)
			if err != nil {
				t.Fatal(err)
			}
			u, err := (*Rules)(nil).ParseEncoded(URL{}, "https://a.example/?"+tt.Input, encoderOf(enc))
			if reason, ok := known[label+" "+tt.Input]; ok {
				t.Logf("%q in %s: got %q, want %q: %s", tt.Input, label, u.Query(), want, reason)
			} else if err != nil || u.Query() != want {
				t.Errorf("%q in %s: got %q, %v, want %q", tt.Input, label, u.Query(), err, want)
			}
		}
	}
}

// entries reads a JSON object.
func entries[T any](t *testing.T, name string) (v T) {
	t.Helper()
	if err := json.Unmarshal(conformance(t, name), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestURLCanon holds the parser against the files of iipc/urlcanon that follow the URL standard, and keys against the
// property that urlcanon asks of its own.
func TestURLCanon(t *testing.T) {
	t.Run("whatwg", func(t *testing.T) {
		older := map[string]bool{ // the standard has changed: these are failures
			"http://09/": true, "http://%/": true, "http:%/": true, "http:/%/": true, "http://info@merseburger.de%20/": true,
		}
		for in, want := range entries[map[string]string](t, "urlcanon-supplemental_whatwg.json") {
			if !strings.HasPrefix(strings.TrimSpace(in), "http") || older[in] || strings.HasPrefix(want, "http://0.0.0.0/") {
				continue // of another scheme, or a host of dots, which is no IPv4 address any more
			}
			want, _, _ = strings.Cut(want, "#")
			scheme, rest, _ := strings.Cut(want, "://")
			want = scheme + "://" + rest[strings.Index(rest, "@")+1:]
			if u, err := Parse(latin1(in)); err != nil || u.String() != want {
				t.Errorf("%q: got %q, %v, want %q", in, u, err, want)
			}
		}
	})
	t.Run("paths", func(t *testing.T) {
		cases := entries[struct{ Special map[string]string }](t, "urlcanon-path_dots.json")
		for in, want := range cases.Special {
			want = strings.ReplaceAll(want, `\`, "/") // it keeps backslashes, where the standard does not
			if u, err := Parse("http://a.example" + in); err != nil || u.Path() != want {
				t.Errorf("%q: got %q, %v, want %q", in, u.Path(), err, want)
			}
		}
	})
	t.Run("IPv4", func(t *testing.T) {
		for in, want := range entries[map[string]string](t, "urlcanon-funky_ipv4.json") {
			if in == "0000xa" {
				want = in // it ends in no number, so it is a domain
			}
			u, err := Parse("http://" + in + "/")
			if (err == nil) != (want != "") || u.Host() != want {
				t.Errorf("%q: got %q, %v, want %q", in, u.Host(), err, want)
			}
		}
	})
	t.Run("idempotence", func(t *testing.T) {
		for _, in := range entries[[]string](t, "urlcanon-idempotence.json") {
			if u, err := Parse(in); err == nil {
				checkKey(t, u)
			}
		}
	})
}

// latin1 turns the characters of a string of urlcanon into the bytes that they stand for.
func latin1(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

// records reads a file of crawler-commons: CSV with comments, sloppily quoted.
func records(t *testing.T, name string) [][]string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(conformance(t, name)))
	r.Comment, r.LazyQuotes, r.TrimLeadingSpace, r.FieldsPerRecord = '#', true, true, -1
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCrawlerCommons holds resolving and keys against the test data of crawler-commons.
func TestCrawlerCommons(t *testing.T) {
	t.Run("resolve", func(t *testing.T) {
		known := map[string]string{
			"http://user:pass@foo:21/bar;par?b#c": "http://foo:21/bar;par?b", // credentials are dropped
			"//server/file":                       "",                        // on a file URL
		}
		for _, record := range records(t, "cc-url-resolve.csv") {
			ref, want := record[0], record[2]
			if other, ok := known[ref]; ok {
				want = other
			}
			want, _, _ = strings.Cut(want, "#")
			base, _ := Parse(record[1])
			u, err := (*Rules)(nil).Parse(base, ref)
			if (err == nil) != (want != "") || u.String() != want {
				t.Errorf("%q on %q: got %q, %v, want %q", ref, base, u, err, want)
			}
		}
	})
	t.Run("normalize", func(t *testing.T) {
		for _, record := range records(t, "cc-weirdToNormalizedUrls.csv") {
			in, want := record[0], record[1]
			u, err := Parse(in)
			if _, ok := unsafeMerges[in]; !ok && (err != nil || u.Key() != want) {
				t.Errorf("%q: got key %q, %v, want %q", in, u.Key(), err, want)
			} else if ok && err == nil && u.Key() == want {
				t.Errorf("%q: has the key after all", in)
			}
		}
	})
	t.Run("invalid", func(t *testing.T) {
		for _, record := range records(t, "cc-invalidUrls.csv") {
			if u, err := Parse(record[0]); err == nil {
				t.Errorf("%q: got %q, want an error", record[0], u)
			}
		}
	})
}

// unsafeMerges are the inputs that crawler-commons merges with others, and the safe rules do not.
var unsafeMerges = map[string]string{
	"file:///foo/bar.txt":                      "another scheme",
	"file:/path/index.html":                    "another scheme",
	"file:/var/www/html/////./bar/index.html":  "another scheme",
	"file:/var/www/html/foo/../bar/index.html": "another scheme",
	"ftp:/":                                  "another scheme",
	"ftp://foo.com/index.html":               "another scheme",
	"foo.com/index.html":                     "no scheme",
	"http:////":                              "no host",
	"http:///////":                           "no host",
	"https://www.example.org./":              "trailing dot of the host",
	"http://foo.com//aa/bb/foo.html":         "empty segments",
	"http://foo.com/aa//bb/foo.html":         "empty segments",
	"http://foo.com/aa/bb//foo.html":         "empty segments",
	"http://foo.com//aa//bb//foo.html":       "empty segments",
	"http://foo.com////aa////bb//foo.html":   "empty segments",
	"http://foo.com////aa////bb////foo.html": "empty segments",
	"http://example.com/?b=1&a=1":            "order of parameters",
	"http://foo.com/foo.html?b=1&a=1":        "order of parameters",
	"http://foo.com/index?b=2&a=1":           "order of parameters",
	"http://foo.com/index?b=2&a=1#c":         "order of parameters",
	"http://foo.com/index?b&a=1":             "order of parameters",
	"http://foo.com/index?a=1&b=":            "empty parameters",
	"http://foo.com/index?b=&a=1":            "empty parameters",
	"http://foo.com/index?b=1&a=1&":          "empty parameters",
	"http://foo.com/index?&b=1&a=1":          "empty parameters",
	"http://foo.com/index?&=1&a=1":           "empty parameters",
	"http://foo.com/index?=1&b=1&a=1":        "empty parameters",
}
