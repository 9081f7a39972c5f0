//go:build unix

package crawler

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"

	"crawl/canon"
	"crawl/internal/parse"
	"crawl/internal/versus"
	"crawl/seen"
)

// BenchmarkLink is what one link costs from its text to its hash, in hashes of 72 bytes by xxHash64: resolved against
// its page, brought into canonical form, hashed.
func BenchmarkLink(b *testing.B) {
	filter, err := seen.NewScalable(seen.Config{FalsePositiveRate: 0.001, MaxBytes: 1 << 30, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	base := pageURL(b, "https://www.example.com/shop/women/shoes/index.html?page=2")
	text := bytes.Repeat([]byte("https://"), 9)
	var sum uint64
	subjects := []versus.Subject{{Name: "xxhash", Do: func() { sum += xxhash.Sum64(text) }}}
	for _, ref := range []struct{ name, text string }{
		{"root", "/shop/women/shoes/running-38-blue.html?color=blue"},
		{"folder", "running-shoes-for-women-38-blue.html"},
		{"whole", "https://www.example.com/shop/women/shoes/running-38.html?c=1"},
		{"up", "../../about/contact-and-imprint/index.html"},
		{"key", "/shop/women%2dshoes/list.html?filter[color]=blue"},
		{"case", "https://WWW.Example.com/shop/women/shoes/running-38.html"},
	} {
		subjects = append(subjects, versus.Subject{Name: ref.name, Do: func() {
			u, err := (*canon.Rules)(nil).Parse(base, ref.text)
			if err != nil {
				b.Fatal(err)
			}
			sum += filter.HashString(u.Key())
		}})
	}
	versus.Compare(b, subjects...)
	if sum == 0 {
		b.Error("nothing was hashed")
	}
}

// BenchmarkPageToHashes is what a page costs from its decoded body to the hashes of its links, in passes of the
// tokenizer of golang.org/x/net/html over the same body, each tag's name and attributes read.
func BenchmarkPageToHashes(b *testing.B) {
	filter, err := seen.NewScalable(seen.Config{FalsePositiveRate: 0.001, MaxBytes: 1 << 30, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	body := pageOfLinks()
	in := parse.Input{URL: pageURL(b, "https://www.example.com/shop/women/shoes/index.html"), Body: body}
	var parser parse.Parser
	var page parse.Page
	var sum uint64
	versus.Compare(b,
		versus.Subject{Name: "tokenizer", Do: func() { tokenize(body) }},
		versus.Subject{Name: "hashes", Do: func() {
			parser.HTML(in, &page)
			for _, l := range page.Links {
				sum += filter.HashString(l.URL.Key())
			}
		}})
	if len(page.Links) != 65 {
		b.Errorf("the page has %d links", len(page.Links))
	}
}

func pageURL(b *testing.B, text string) canon.URL {
	u, err := canon.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	return u
}

// pageOfLinks returns a page of 34 KB with 65 links, in one of the common forms each.
func pageOfLinks() []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A page</title><link rel=stylesheet href=/site.css>" +
		"</head><body class='page main'>")
	for i := range 64 {
		fmt.Fprintf(&b, "\n<div class=\"item item-%d\" id=\"i%[1]d\" data-id=\"%[1]d\"><h3 class=title>Item %[1]d</h3><p class=\"text\">", i)
		for range 4 {
			b.WriteString("Some words that stand between the links of a page, <em>as they do</em> on most pages. ")
		}
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "<a class=\"more\" href=\"https://example.org/item/%d?page=1&amp;sort=name\">more</a></p></div>", i)
		case 1:
			fmt.Fprintf(&b, "<a class=\"more\" href=\"../item-%d.html\" title=\"Item\">more</a></p></div>", i)
		case 2:
			fmt.Fprintf(&b, "<a class=\"more\" href=\"item-%d.html\" title=\"Item\">more</a></p></div>", i)
		default:
			fmt.Fprintf(&b, "<a class=\"more\" href=\"/category/item-%d.html\" title=\"Item\">more</a></p></div>", i)
		}
	}
	b.WriteString("</body></html>")
	return b.Bytes()
}

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
