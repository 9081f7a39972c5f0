//go:build unix

package parse

import (
	"bytes"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/html"

	"crawl/internal/testweb"
)

// benchTexts returns what the benchmarks read: one page, and pages of the web that the whole crawler is tested on.
func benchTexts(b *testing.B) map[string][][]byte {
	site, err := testweb.New(testweb.Config{Hosts: 2})
	if err != nil {
		b.Fatal(err)
	}
	var pages [][]byte
	for e := range site.Expected() {
		if r := site.Get(e.URL); strings.HasPrefix(r.ContentType, "text/html") {
			pages = append(pages, r.Body)
		}
	}
	return map[string][][]byte{"page": {benchPage()}, "testweb": pages}
}

// benchRead measures read on each set of texts, by the clock and by the CPU time of all threads: machines are busy, and
// garbage is collected beside.
func benchRead(b *testing.B, read func(text []byte)) {
	for name, texts := range benchTexts(b) {
		b.Run(name, func(b *testing.B) {
			size := 0
			for _, text := range texts {
				size += len(text)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				for _, text := range texts {
					read(text)
				}
			}
			b.ReportMetric(float64(size)*float64(b.N)/1e6/(cpuTime(b)-before).Seconds(), "MB/cpu-s")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkHTML(b *testing.B) {
	in := Input{URL: parseURL(b, "https://example.org/category/index.html"), Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}
	var p Parser
	var page Page
	benchRead(b, func(text []byte) {
		in.Body = text
		p.HTML(in, &page)
	})
}

// BenchmarkScanner is the floor under BenchmarkHTML: the scanner alone, the attributes of links read.
func BenchmarkScanner(b *testing.B) {
	var p Parser
	benchRead(b, func(text []byte) { scanTags(&p, text) })
}

// BenchmarkTokenizer is what the scanner stands in for: the tokenizer of golang.org/x/net/html, each tag's name and
// attributes read.
func BenchmarkTokenizer(b *testing.B) {
	benchRead(b, func(text []byte) {
		z := html.NewTokenizer(bytes.NewReader(text))
		for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
			if tt == html.StartTagToken || tt == html.SelfClosingTagToken {
				for _, more := z.TagName(); more; {
					_, _, more = z.TagAttr()
				}
			}
		}
	})
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
