package parse

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a browser loads for a style sheet, by CSS Syntax Level 3 and the rules of @import.
var cssCases = []struct {
	name, css string
	want      []string
}{
	{"plain", "a{background:url(x.png)}", []string{"x.png"}},
	{"quotes", `a{background:url("x.png")} b{background:url('y.png')}`, []string{"x.png", "y.png"}},
	{"white space", "a{background:url( \t\n x.png \r\n )} b{background:url(\n\"y.png\"\n)}", []string{"x.png", "y.png"}},
	{"in capitals", `a{background:URL(x.png)} b{background:Url("y.png")}`, []string{"x.png", "y.png"}},
	{"escapes in the name", `a{background:\75\72\6c(x.png)} b{background:u\72 l("y.png")}`, []string{"x.png", "y.png"}},
	{"escapes in a URL", `a{background:url(a\ b\)c\28 d.png)}`, []string{"a b)c(d.png"}},
	{"escapes in a string", `a{background:url("a\"b\000063 c\
d.png")}`, []string{`a"bccd.png`}},
	{"escape of six digits", `a{background:url(\0000411.png)}`, []string{"A1.png"}},
	{"escape of no character", `a{background:url(\0.png)} b{background:url("\110000x")} c{background:url(\d800 x)}`, []string{"\ufffd.png", "\ufffdx", "\ufffdx"}},
	{"escaped line end", "a{background:url(x\\\n.png)} b{background:url(y.png)}", []string{"y.png"}},
	{"characters", "a{background:url(ü.png)} b{background:url(\\ü.png)}", []string{"ü.png", "ü.png"}},
	{"comment around", "a{background:/* url(no.png) */url(x.png)/**/}", []string{"x.png"}},
	{"comment inside is none", "a{background:url(/*x*/y.png)}", []string{"/*x*/y.png"}},
	{"comment without end", "a{background:url(x.png)} /* b{background:url(no.png)}", []string{"x.png"}},
	{"in a string", `a::after{content:"url(no.png)"} b{background:url(x.png)}`, []string{"x.png"}},
	{"string with a comment", `a{content:"/*"} b{background:url(x.png)} c{content:"*/"}`, []string{"x.png"}},
	{"bad string", "a{content:\"no\nb{background:url(x.png)}", []string{"x.png"}},
	{"bad string in url", "a{background:url(\"no.png\n)} b{background:url(x.png)}", []string{"x.png"}},
	{"bad url: quote inside", `a{background:url(no"x.png)} b{background:url(x.png)}`, []string{"x.png"}},
	{"bad url: parenthesis inside", "a{background:url(no(x.png)} b{background:url(x.png)}", []string{"x.png"}},
	{"bad url: space inside", `a{background:url(no no.png\) } no)} b{background:url(x.png)}`, []string{"x.png"}},
	{"bad url: control character", "a{background:url(no\x01.png)} b{background:url(x.png)}", []string{"x.png"}},
	{"no end of a URL", "a{background:url(x.png", []string{"x.png"}},
	{"no end of a string", `a{background:url("x.png`, []string{"x.png"}},
	{"empty", `a{background:url()} b{background:url("")} c{background:url(`, []string{"", "", ""}},
	{"NUL", "a{background:url(\x00.png)} b{background:url('\x00')}", []string{"\ufffd.png", "\ufffd"}},
	{"data", "a{background:url(data:image/png;base64,AA==)}", []string{"data:image/png;base64,AA=="}},
	{"hash", "a{color:#url(no.png)} b{background:url(x.png)}", []string{"x.png"}},
	{"dimension", "a{width:1url(no.png)} b{background:url(x.png)}", []string{"x.png"}},
	{"longer name", "a{background:my-url(no.png) -url(no.png) url-x(no.png) --url(no.png)}", nil},
	{"space before the parenthesis", "a{background:url (no.png)}", nil},
	{"several", "a{background:url(x.png),url(y.png) no-repeat,linear-gradient(red,blue)}", []string{"x.png", "y.png"}},
	{"font", `@font-face{font-family:"F";src:local("F"),url("f.woff2")format("woff2"),url(f.eot?#iefix)format('embedded-opentype')}`, []string{"f.woff2", "f.eot?#iefix"}},
	{"src()", `a{background:src("x.png")} b{background:src(var(--no))}`, []string{"x.png"}},
	{"modifiers", `a{background:url("x.png" cross-origin("no"))}`, []string{"x.png"}},
	{"image-set", `a{background:image-set("x.png" 1x,url(y.png) 2x,"z.avif" type("image/avif"))}`, []string{"x.png", "y.png", "z.avif"}},
	{"image-set of old", `a{background:-webkit-image-set(url(x.png) 1x, "y.png" 2x)}`, []string{"x.png", "y.png"}},
	{"image-set without end", `a{background:image-set("x.png" 1x} b{content:"no.png"}`, []string{"x.png"}},
	{"custom property", "a{--x:url(x.png)}", []string{"x.png"}},
	{"nested", "@media (min-width:1px){a{b{background:url(x.png)}}} c{background:url(y.png)}", []string{"x.png", "y.png"}},
	{"condition", "@supports (background:url(no.png)){a{background:url(x.png)}}", []string{"x.png"}},
	{"document", "@-moz-document url(http://no.test/){a{background:url(x.png)}}", []string{"x.png"}},
	{"namespace", `@namespace url(http://www.w3.org/1999/xhtml);@namespace svg "http://www.w3.org/2000/svg";a{background:url(x.png)}`, []string{"x.png"}},
	{"charset", `@charset "utf-8";a{background:url(x.png)}`, []string{"x.png"}},
	{"selector", `a[href="no.png"],a[style*='url(no.png)']{background:url(x.png)}`, []string{"x.png"}},
	{"HTML comment", "<!-- a{background:url(x.png)} --> b{background:url(y.png)}", []string{"x.png", "y.png"}},
	{"too many ends", "}}a{background:url(x.png)}", []string{"x.png"}},
	{"no style sheet", "<html><a href='url(no.png)'>url(no.png)</a>", nil},

	{"import", `@import "x.css";@import 'y.css';@import url(z.css);@import url("w.css");@import src("v.css");`, []string{"x.css", "y.css", "z.css", "w.css", "v.css"}},
	{"import in capitals, close", `@IMPORT"x.css";@import/**/'y.css'print;`, []string{"x.css", "y.css"}},
	{"import, escaped", `@\69mport "x.css";`, []string{"x.css"}},
	{"import with conditions", `@import url(x.css) layer(base) supports(background:url(no.png)) screen and (min-width:1px);@import "y.css" "no.css";`, []string{"x.css", "y.css"}},
	{"import without end", `@import "x.css"`, []string{"x.css"}},
	{"import of nothing", "@import;@import screen;@import foo(\"no.css\");@import \"x.css\";", []string{"x.css"}},
	{"import after charset and layers", `@charset "utf-8";@layer a,b;@import "x.css";`, []string{"x.css"}},
	{"import after a rule", `a{color:red}@import "no.css";`, nil},
	{"import after a block", `@media print{}@import "no.css";`, nil},
	{"import after a namespace", `@namespace "n";@import "no.css";`, nil},
	{"import in a block", `@media print{@import "no.css";}`, nil},
	{"import in a selector", `foo @import "no.css";{}`, nil},
	{"import in a comment", `/*@import "no.css";*/<!--@import "x.css";-->`, []string{"x.css"}},
	{"import like", `@imports "no.css";@-import "no.css";@ import "no.css";`, nil},
}

func TestCSSLinks(t *testing.T) {
	for _, tt := range cssCases {
		t.Run(tt.name, func(t *testing.T) {
			if got := cssStrings(tt.css); !slices.Equal(got, tt.want) {
				t.Errorf("%q\nhas %q\nwant %q", tt.css, got, tt.want)
			}
		})
	}
}

func cssStrings(css string) (urls []string) {
	for url := range cssLinks([]byte(css)) {
		urls = append(urls, string(url))
	}
	return urls
}

// What of a page's styles is loaded, and where it leads from http://h/d/p.
func TestPageStyles(t *testing.T) {
	for _, tt := range []struct {
		name, mediaType, html string
		want                  []string
	}{
		{"attribute", "text/html", `<p style="background:url(x.png)">`, []string{"http://h/d/x.png"}},
		{"attribute, escaped", "text/html", `<p style="background:url(&quot;x.png?a&amp;b&quot;)">`, []string{"http://h/d/x.png?a&b"}},
		{"attribute of a link", "text/html", `<a style='background:url(x.png)'>`, []string{"http://h/d/x.png"}},
		{"attribute in capitals", "text/html", `<TD STYLE=background:url(x.png)>`, []string{"http://h/d/x.png"}},
		{"attribute imports nothing", "text/html", `<p style='@import "no.css";background:url(x.png)'>`, []string{"http://h/d/x.png"}},
		{"attribute of SVG", "text/html", `<svg><rect style="fill:url(x.svg#a)"/><rect style="fill:url(#own)"/></svg>`, []string{"http://h/d/x.svg"}},
		{"element", "text/html", `<style>@import "x.css"; a{background:url(/y.png)}</style>`, []string{"http://h/d/x.css", "http://h/y.png"}},
		{"element is no markup", "text/html", `<style>a{background:url(x.png?a&amp;b)}</style>`, []string{"http://h/d/x.png?a&amp;b"}},
		{"element of a type", "text/html", `<style type=TEXT/CSS>a{background:url(x.png)}</style><style type=text/less>a{background:url(no.png)}</style>`, []string{"http://h/d/x.png"}},
		{"element without end", "text/html", `<style>a{background:url(x.png)}`, []string{"http://h/d/x.png"}},
		{"base", "text/html", `<p style="background:url(x.png)"><base href=/b/>`, []string{"http://h/b/x.png"}},
		{"in a template", "text/html", `<template><p style="background:url(no.png)"><style>a{background:url(no.png)}</style></template><b style="background:url(x.png)">`, []string{"http://h/d/x.png"}},
		{"in a script and a comment", "text/html", `<script>"<p style='background:url(no.png)'>"</script><!--<p style="background:url(no.png)">-->`, nil},
		{"in a noscript", "text/html", `<noscript><style>a{background:url(x.png)}</style></noscript>`, []string{"http://h/d/x.png"}},
		{"query in UTF-8", "text/html; charset=iso-8859-1", "<p style='background:url(x.png?\xfc)'>", []string{"http://h/d/x.png?%C3%BC"}},
		{"style of SVG", "text/html", `<svg><style>a{fill:url(&quot;x.svg&quot;)}</style><style><![CDATA[@import "y.css";]]></style><style/>url(no)</svg>`, []string{"http://h/d/x.svg", "http://h/d/y.css"}},
		{"style of XHTML", "application/xhtml+xml", `<style><![CDATA[ @import "x.css"; a > b{background:url(y.png)} ]]></style>`, []string{"http://h/d/x.css", "http://h/d/y.png"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{URL: parseURL(t, "http://h/d/p"), Header: http.Header{"Content-Type": {tt.mediaType}}, Body: []byte(tt.html), Styles: true}
			if got := cssURLs(HTML(in)); !slices.Equal(got, tt.want) {
				t.Errorf("%s\nloads %q\nwant %q", tt.html, got, tt.want)
			}
			in.Styles = false
			if got := cssURLs(HTML(in)); len(got) > 0 {
				t.Errorf("%q, and styles were not asked for", got)
			}
		})
	}
}

func TestBackground(t *testing.T) {
	body := `<body background=a.png><table background=b.png><tr><td background=" c.png "><p background=no.png><template><td background=no.png></template>` +
		`<svg><td background=d.png>`
	in := Input{URL: parseURL(t, "http://h/"), Body: []byte(body), Header: http.Header{"Content-Type": {"text/html"}}, Styles: true}
	if got, want := linksOf(HTML(in), "img"), []string{"http://h/a.png", "http://h/b.png", "http://h/c.png"}; !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
}

func cssURLs(p *Page) (urls []string) {
	for _, l := range p.Links {
		if l.Source == SourceCSS {
			urls = append(urls, l.URL.String())
		}
	}
	return urls
}

func TestStyleSheet(t *testing.T) {
	utf16 := func(s string) string { return "\xff\xfe" + strings.Join(strings.Split(s, ""), "\x00") + "\x00" }
	for _, tt := range []struct {
		name, contentType, css, charset string
		want                            []string
	}{
		{"relative to the sheet", "text/css", "@import 'x.css';a{background:url(../y.png)}", "utf-8", []string{"http://h/d/x.css", "http://h/y.png"}},
		{"repeated", "text/css", "a{background:url(x.png)}b{background:url(x.png#b)}", "utf-8", []string{"http://h/d/x.png"}},
		{"itself", "text/css", "a{fill:url(#x)}b{background:url()}", "utf-8", nil},
		{"byte order mark", "text/css; charset=iso-8859-1", utf16("a{background:url(x.png)}"), "utf-16le", []string{"http://h/d/x.png"}},
		{"charset of the header", "text/css; charset=iso-8859-1", "@charset \"koi8-r\";a{background:url(\xfc.png?\xfc)}", "windows-1252", []string{"http://h/d/%C3%BC.png?%C3%BC"}},
		{"charset of the sheet", "text/css", "@charset \"iso-8859-1\";a{background:url(\xfc.png)}", "windows-1252", []string{"http://h/d/%C3%BC.png"}},
		{"charset that is none", "text/css", "@charset \"utf-16\";a{background:url(\xc3\xbc.png)}", "utf-8", []string{"http://h/d/%C3%BC.png"}},
		{"charset late", "text/css", " @charset \"iso-8859-1\";a{background:url(x.png)}", "utf-8", []string{"http://h/d/x.png"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p Parser
			var page Page
			p.StyleSheet(Input{URL: parseURL(t, "http://h/d/s.css"), Header: http.Header{"Content-Type": {tt.contentType}}, Body: []byte(tt.css)}, &page)
			if got := cssURLs(&page); !slices.Equal(got, tt.want) || page.Charset != tt.charset {
				t.Errorf("loads %q in %s, want %q in %s", got, page.Charset, tt.want, tt.charset)
			}
		})
	}
}

// Style sheets that are made to cost more than their size.
func TestHostileStyles(t *testing.T) {
	const size = 1 << 20
	for _, piece := range []string{
		"/*", "(", "url(", "url( ", "\"", "'\\", "\\", "@", "@import ", "{", "}", "a{", "-", "--", "#", "1e", "url(x)", "image-set(", "url('", "<!--", "\x00", "ü", ";",
	} {
		t.Run(piece, func(t *testing.T) {
			start := time.Now()
			for range cssLinks([]byte(strings.Repeat(piece, size/len(piece)))) {
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("1 MiB took %s", took)
			}
		})
	}
}

// FuzzCSS checks what holds for every style sheet: comments before it change nothing, a URL of a rule before it is found
// first, and all that it loads is a link or counted.
func FuzzCSS(f *testing.F) {
	for _, c := range cssCases {
		f.Add(c.css)
	}
	f.Fuzz(func(t *testing.T, css string) {
		got := cssStrings(css)
		if again := cssStrings("/**/ <!-- " + css); !slices.Equal(got, again) {
			t.Errorf("%q has %q, behind a comment %q", css, got, again)
		}
		before := cssStrings("a{background:url(first.png)}" + css)
		if len(before) == 0 || before[0] != "first.png" {
			t.Errorf("%q: what stands before it is %q", css, before)
		}
		var p Parser
		var page Page
		p.StyleSheet(Input{URL: parseURL(t, "http://h/d/s.css"), Body: []byte(css)}, &page)
		if n := len(page.Links) + page.Repeated + page.Malformed + page.Unsupported; n > len(got) {
			t.Errorf("%q: %d links of %d URLs", css, n, len(got))
		}
		checkPage(t, &page)
	})
}
