package parse

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestDeepNesting reads 100,000 elements inside each other.
func TestDeepNesting(t *testing.T) {
	const depth = 100_000
	for _, tag := range []string{"div", "b", "svg", "template", "template shadowrootmode=open", "form", "noscript"} {
		name, _, _ := strings.Cut(tag, " ")
		body := strings.Repeat("<"+tag+">", depth) + "<a href=deep>" + strings.Repeat("</"+name+">", depth) + "<a href=after>"
		got := linksOf(page(t, "http://h/", "text/html", []byte(body)))
		if want := "http://h/after"; len(got) == 0 || got[0] != want {
			t.Errorf("%s: links %q", tag, got)
		}
	}
}

// TestHostilePages reads pages that are made to cost more than their size. Each must cost about the same for a byte.
func TestHostilePages(t *testing.T) {
	const size = 1 << 20
	fill := func(s string) []byte { return []byte(strings.Repeat(s, size/len(s))) }
	for name, body := range map[string][]byte{
		"end tags of open SVG":  []byte(strings.Repeat("<svg><script><desc>", 1000) + strings.Repeat("</math>", size/7)),
		"nested SVG":            fill("<svg>"),
		"nested templates":      fill("<template>"),
		"comments without end":  fill("<!--"),
		"CDATA without end":     append([]byte("<svg>"), fill("<![CDATA[")...),
		"scripts without end":   fill("<script><!--"),
		"titles":                fill("<title>"),
		"meta robots":           fill("<meta name=robots content=x>"),
		"meta charset":          fill("<meta charset=x>"),
		"one attribute":         []byte(`<a href="` + strings.Repeat("x", size) + `">`),
		"commas":                []byte(`<img srcset="` + strings.Repeat(", ", size/2) + `">`),
		"candidates":            []byte(`<img srcset="` + strings.Repeat("a 1x,", size/5) + `">`),
		"descriptors":           []byte(`<img srcset="a ` + strings.Repeat("( ", size/2) + `">`),
		"rel tokens":            []byte(`<link href=x rel="` + strings.Repeat("x ", size/2) + `">`),
		"character references":  []byte(`<a href="` + strings.Repeat("&amp;", size/5) + `">`),
		"white space":           []byte(`<title>` + strings.Repeat(" ", size) + `</title>`),
		"less-than signs":       fill("<"),
		"quotes without end":    fill("<a b='><a b=\"> "),
		"equals signs":          []byte("<a " + strings.Repeat("=", size) + ">"),
		"slashes":               []byte("<a " + strings.Repeat("/", size) + ">"),
		"many attributes":       []byte("<a " + strings.Repeat("b=c ", size/4) + ">"),
		"dashes":                []byte("<!-- " + strings.Repeat("-", size)),
		"dashes apart":          append([]byte("<!--"), fill("--!-")...),
		"end tags in a script":  append([]byte("<script>"), fill("</scrip")...),
		"comments in a script":  append([]byte("<script>"), fill("<!--<script>--></script")...),
		"end tags in a title":   append([]byte("<title>"), fill("</titl")...),
		"letters of a name":     []byte("<title>&" + strings.Repeat("a", size) + "</title>"),
		"ampersands":            []byte(`<a href="` + strings.Repeat("&", size) + `">`),
		"digits":                []byte(`<a href="&#` + strings.Repeat("1", size) + `">`),
		"prescan without end":   fill("<meta charset"),
		"schemes without colon": fill("<a href=h>"),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			page(t, "http://h/", "text/html", body)
			if took := time.Since(start); took > 5*time.Second { // ordinary pages take 20 ms, and machines are busy
				t.Errorf("1 MiB took %s", took)
			}
		})
	}
}

// TestMemory reads a page of 50 MB that says the same links again and again. What is held grows with the distinct
// links.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("50 MB take a second")
	}
	const size, distinct = 50 << 20, 1000
	image := "<img src='data:image/png;base64," + strings.Repeat("A", 1000) + "'>"
	body := make([]byte, 0, size+len(image)+100)
	for i := 0; len(body) < size; i++ {
		body = fmt.Appendf(body, "<p>text</p><a href=/page/%d>x</a>%s", i%distinct, image)
	}
	var got Page
	p := Parser{page: &got, charset: lookup("utf-8")}
	p.start()
	p.scan(body)
	if len(p.refs) != distinct || len(p.arena) > 10*distinct || got.Repeated < distinct || got.Unsupported < distinct {
		t.Errorf("%d references in %d bytes, %d repeated, %d unsupported", len(p.refs), len(p.arena), got.Repeated, got.Unsupported)
	}
}

// TestRelease checks that a huge page does not set the memory that a Parser keeps.
func TestRelease(t *testing.T) {
	var body []byte
	for i := range 40_000 {
		body = fmt.Appendf(body, "<a href='/a/rather/long/path/%d\xe4'><template>", i)
		body = append(body, "</template>"...)
	}
	var p Parser
	var got Page
	p.HTML(Input{URL: parseURL(t, "http://h/"), Header: http.Header{"Content-Type": {"text/html; charset=koi8-r"}}, Body: body}, &got)
	if len(got.Links) != 40_000 {
		t.Fatalf("%d links", len(got.Links))
	}
	if held := cap(p.decoded) + cap(p.arena) + cap(p.refs)*refSize + 8*len(p.refTable.slots) + 8*len(p.linkTable.slots); held > 4*maxKept {
		t.Errorf("%d bytes kept", held)
	}
	if p.page != nil || p.in.Body != nil || p.element.values[attrHref] != nil {
		t.Error("the page is kept")
	}
}
