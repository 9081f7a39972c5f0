package parse

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"golang.org/x/net/html"
)

// benchPage returns a page of 40 KB with 65 links, six of them said twice.
func benchPage() []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A page</title><link rel=stylesheet href=/site.css>" +
		"<script>var x = '<a href=/no>';</script></head><body class='page main'>")
	for i := range 61 {
		fmt.Fprintf(&b, "\n<div class=\"item item-%d\" id=\"i%[1]d\" data-id=\"%[1]d\"><h3 class=title>Item %[1]d</h3><p class=\"text\">", i)
		for range 6 {
			b.WriteString("Some words that stand between the links of a page, <em>as they do</em> on most pages. ")
		}
		switch {
		case i%10 == 0:
			fmt.Fprintf(&b, "<a class=\"more\" href=\"https://example.org/item/%d?page=1&amp;sort=name\">more</a></p></div>", i)
		default:
			fmt.Fprintf(&b, "<a class=\"more\" href=\"/category/item-%d.html\" title=\"Item\">more</a></p></div>", i)
		}
	}
	b.WriteString("<img src=/logo.png alt=logo><a href=../up>up</a>")
	for i := range 6 {
		fmt.Fprintf(&b, "<a href=\"/category/item-%d.html#top\">again</a>", i+1)
	}
	b.WriteString("<iframe src=//other.example/x></iframe></body></html>")
	return b.Bytes()
}

func BenchmarkHTML(b *testing.B) {
	in := Input{URL: parseURL(b, "https://example.org/category/index.html"), Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: benchPage()}
	var p Parser
	var page Page
	b.SetBytes(int64(len(in.Body)))
	b.ReportAllocs()
	for b.Loop() {
		p.HTML(in, &page)
	}
	b.ReportMetric(float64(len(page.Links)), "links")
}

// BenchmarkTokenizer is the floor under BenchmarkHTML: the tokenizer alone, each tag's name and attributes read.
func BenchmarkTokenizer(b *testing.B) {
	body := benchPage()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		z := html.NewTokenizer(bytes.NewReader(body))
		for {
			tt := z.Next()
			if tt == html.ErrorToken {
				break
			}
			if tt == html.StartTagToken || tt == html.SelfClosingTagToken {
				for _, more := z.TagName(); more; {
					_, _, more = z.TagAttr()
				}
			}
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	e, err := Compile([]Rule{{Field: "title", Selector: "title"}, {Field: "more", Selector: "a.more", Attr: "href", All: true}})
	if err != nil {
		b.Fatal(err)
	}
	body := benchPage()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Extract(body, "utf-8"); err != nil {
			b.Fatal(err)
		}
	}
}
