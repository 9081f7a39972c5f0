package parse

import (
	"net/http"
	"testing"

	"crawl/canon"
)

func TestContentType(t *testing.T) {
	for _, tt := range []struct {
		name            string
		fields          []string
		mediaType, text string // text: what charset the type names
	}{
		{"one", []string{"text/html; charset=utf-8"}, "text/html", "utf-8"},
		{"none", nil, "", ""},
		{"empty", []string{""}, "", ""},
		{"the same twice", []string{"text/html", "text/html"}, "text/html", ""},
		{"the same twice in one", []string{"text/html, text/html"}, "text/html", ""},
		{"the last counts", []string{"text/plain", "text/html"}, "text/html", ""},
		{"the last counts, in one", []string{"text/html;charset=gbk, text/plain"}, "text/plain", ""},
		{"a charset is inherited", []string{"text/html; charset=gbk", "text/html"}, "text/html", "gbk"},
		{"not from another type", []string{"text/html; charset=gbk", "x/x", "text/html"}, "text/html", ""},
		{"the last charset", []string{"text/html;charset=gbk, text/html;charset=big5, text/html"}, "text/html", "big5"},
		{"one that cannot be read is passed over", []string{"text/html; charset=gbk", "gzip"}, "text/html", "gbk"},
		{"so is an empty one", []string{"text/html", ""}, "text/html", ""},
		{"so is any type", []string{"text/html", "*/*"}, "text/html", ""},
		{"one that can behind one that cannot", []string{"html, text/html"}, "text/html", ""},
		{"comma behind a parameter", []string{"text/html; charset=utf-8,"}, "text/html", "utf-8"},
		{"comma in quotes", []string{`text/html; x="a, text/plain"; charset=utf-8`}, "text/html", "utf-8"},
		{"escaped quote", []string{`text/html; x="\", text/plain"`}, "text/html", ""},
		{"quotes without end", []string{`text/html; charset="utf-8`, "text/plain"}, "text/html", "utf-8,text/plain"},
		{"a charset that needs quotes", []string{`text/html; charset="a b\"c"`, "text/html"}, "text/html", `a b"c`},
		{"nothing can be read", []string{"html", "x"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mediaType, text := splitMediaType(ContentType(http.Header{"Content-Type": tt.fields}))
			if mediaType != tt.mediaType || text != tt.text {
				t.Errorf("%q is %q in %q, want %q in %q", tt.fields, mediaType, text, tt.mediaType, tt.text)
			}
		})
	}
}

// TestSeveralContentTypes: a page is read in the charset that its types come to.
func TestSeveralContentTypes(t *testing.T) {
	u, err := canon.Parse("http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("<title>\xcf\xf0\xe8</title>")
	h := http.Header{"Content-Type": {"text/plain", "text/html; charset=windows-1251", "text/html"}}
	if got := MediaType(ContentType(h), body); got != "text/html" {
		t.Errorf("media type %q", got)
	}
	if p := HTML(Input{URL: u, Header: h, Body: body}); p.Title != "При" || p.Charset != "windows-1251" {
		t.Errorf("title %q in %s, want При in windows-1251", p.Title, p.Charset)
	}
}
