//go:build unix

package parse

import (
	"bytes"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"

	"crawl/internal/testweb"
	"crawl/internal/versus"
)

// benchTexts returns what the benchmarks read: one page, pages of the web that the whole crawler is tested on,
// and 4 MiB of real ones if there are some.
func benchTexts(b *testing.B) map[string][][]byte {
	site, err := testweb.New(testweb.Config{Hosts: 2})
	if err != nil {
		b.Fatal(err)
	}
	var web [][]byte
	for e := range site.Expected() {
		if r := site.Get(e.URL); strings.HasPrefix(r.ContentType, "text/html") {
			web = append(web, r.Body)
		}
	}
	texts := map[string][][]byte{"page": {benchPage()}, "testweb": web}
	if *pages != "" {
		realPages(b, 4<<20, func(_ string, text []byte) { texts["real"] = append(texts["real"], text) })
	}
	return texts
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

// BenchmarkTokenizer is what the scanner stands in for.
func BenchmarkTokenizer(b *testing.B) { benchRead(b, tokenize) }

// tokenize reads each tag's name and attributes with the tokenizer of golang.org/x/net/html.
func tokenize(text []byte) {
	z := html.NewTokenizer(bytes.NewReader(text))
	for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
		if tt == html.StartTagToken || tt == html.SelfClosingTagToken {
			for _, more := z.TagName(); more; {
				_, _, more = z.TagAttr()
			}
		}
	}
}

// BenchmarkAgainstTokenizer lets the tokenizer, the scanner and the whole reading of a page take turns.
func BenchmarkAgainstTokenizer(b *testing.B) {
	in := Input{URL: parseURL(b, "https://example.org/category/index.html"), Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}}
	var p Parser
	var page Page
	for name, texts := range benchTexts(b) {
		each := func(read func(text []byte)) func() {
			return func() {
				for _, text := range texts {
					read(text)
				}
			}
		}
		b.Run(name, func(b *testing.B) {
			versus.Compare(b,
				versus.Subject{Name: "tokenizer", Do: each(tokenize)},
				versus.Subject{Name: "scanner", Do: each(func(text []byte) { scanTags(&p, text) })},
				versus.Subject{Name: "links", Do: each(func(text []byte) {
					in.Body = text
					p.HTML(in, &page)
				})})
		})
	}
}

// BenchmarkRepeatedLink is what a reference costs that the page has said before, beside xxHash64 of 72 bytes.
func BenchmarkRepeatedLink(b *testing.B) {
	var p Parser
	p.page = new(Page)
	p.start()
	text := bytes.Repeat([]byte("https://"), 9)
	href := []byte("/shop/women/shoes/running-38-blue.html?color=blue")
	from := ref{source: SourceA, kind: Navigation}
	p.add(href, from)
	var sum uint64
	versus.Compare(b,
		versus.Subject{Name: "xxhash", Do: func() { sum += xxhash.Sum64(text) }},
		versus.Subject{Name: "repeated", Do: func() { p.add(href, from) }})
	if sum == 0 || len(p.refs) != 1 {
		b.Error("nothing was hashed, or nothing repeated")
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
		if _, err := e.Extract("http://h/p", body, "utf-8"); err != nil {
			b.Fatal(err)
		}
	}
}
