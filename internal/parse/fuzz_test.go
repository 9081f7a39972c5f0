package parse

import (
	"net/http"
	"os"
	"reflect"
	"testing"
	"unicode/utf8"

	"crawl/canon"
)

// FuzzHTML checks what must hold for every body: no panic, links that are URLs and unique, and the same page again
// from a Parser that has read others before.
func FuzzHTML(f *testing.F) {
	for _, group := range [][]linkCase{
		elementCases, tagCases, rawTextCases, baseCases, referenceCases, refreshCases, foreignCases, templateCases,
	} {
		for _, c := range group {
			f.Add([]byte(c.html), "text/html; charset=utf-8", "")
		}
	}
	if golden, err := os.ReadFile("testdata/page.html"); err == nil {
		f.Add(golden, "", `<x>; rel="next, y", <z>`)
	}
	f.Add([]byte("<a href='?\xbc\xd2'><meta charset=gbk>"), "text/html; charset=x", "<a>;b=\"\\")
	f.Add([]byte("\xfe\xff\x00<\x00a"), "application/xhtml+xml", "<>")
	f.Fuzz(func(t *testing.T, body []byte, contentType, link string) {
		in := Input{
			URL:    parseURL(t, "http://h/d/p?q"),
			Header: http.Header{"Content-Type": {contentType}, "Link": {link}, "Refresh": {link}, "X-Robots-Tag": {link}},
			Body:   body,
			Styles: true,
			Agent:  "bot",
		}
		var p Parser
		var page, again Page
		p.HTML(in, &page)
		p.HTML(Input{URL: in.URL, Body: []byte("<svg><template><a href=x><title>y")}, &again)
		p.HTML(in, &again)
		if len(page.Links) == 0 && len(again.Links) == 0 {
			page.Links, again.Links = nil, nil
		}
		if !reflect.DeepEqual(page, again) {
			t.Fatalf("read again the page is\n%+v\nnot\n%+v", again, page)
		}
		checkPage(t, &page)
	})
}

// FuzzScannerAgrees checks that the scanner finds the tags, attributes and raw text that the tokenizer of
// golang.org/x/net/html finds, each in its place, but for the exceptions that agree lists.
func FuzzScannerAgrees(f *testing.F) {
	for _, text := range scannerTexts(f) {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, cdata bool) { agree(t, text, cdata) })
}

func checkPage(t *testing.T, p *Page) {
	type identity struct {
		key    string
		source Source
	}
	seen := make(map[identity]bool)
	for _, l := range p.Links {
		u, err := canon.Parse(l.URL.String())
		if err != nil || u != l.URL {
			t.Errorf("link %q parses to %q, %v", l.URL, u, err)
		}
		if id := (identity{l.URL.Key(), l.Source}); seen[id] {
			t.Errorf("link %v twice", id)
		} else {
			seen[id] = true
		}
	}
	if !utf8.ValidString(p.Title) || !utf8.ValidString(p.Robots) || len(p.Title) > maxTitle || len(p.Robots) > maxRobots {
		t.Errorf("title %q, robots %q", p.Title, p.Robots)
	}
	if lookup(p.Charset).name != p.Charset {
		t.Errorf("charset %q", p.Charset)
	}
}

// FuzzExtract checks that no selector and no page end in a panic.
func FuzzExtract(f *testing.F) {
	f.Add([]byte("<p><a href=x>y"), "p > a, :has(b) ~ c:nth-child(2n+1)", "href")
	f.Add([]byte("<svg><desc><template><table><a>"), "*", "")
	f.Add([]byte("<b><b><b>"), "b:not(b b)", "")
	f.Fuzz(func(t *testing.T, body []byte, selector, attr string) {
		e, err := Compile([]Rule{{Field: "f", Selector: selector, Attr: attr, All: true}})
		if err != nil {
			return
		}
		e.Extract("http://h/p", body, "utf-8")
	})
}
