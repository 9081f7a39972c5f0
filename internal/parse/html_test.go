package parse

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestLinks holds pages at http://h/d/p?q, each with the links that must be found, as "source url" with the host of
// the page left out.
func TestLinks(t *testing.T) {
	for _, group := range [][]linkCase{
		elementCases, tagCases, rawTextCases, baseCases, referenceCases, refreshCases, foreignCases, templateCases,
	} {
		for _, tt := range group {
			t.Run(tt.name, func(t *testing.T) {
				p := page(t, "http://h/d/p?q", "text/html; charset=utf-8", []byte(tt.html))
				got := []string{}
				for _, l := range p.Links {
					got = append(got, l.Source.String()+" "+strings.TrimPrefix(l.URL.String(), "http://h"))
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("page %q\n got %q\nwant %q", tt.html, got, tt.want)
				}
			})
		}
	}
}

type linkCase struct {
	name, html string
	want       []string
}

func links(want ...string) []string { return append([]string{}, want...) }

var elementCases = []linkCase{
	{"a and area", `<a href=x>x</a><map><area href=y></map>`, links("a /d/x", "area /d/y")},
	{"a without href", `<a name=x><a href><a href="">`, links("a /d/p?q")},
	{"to itself", `<a href="#top">`, links("a /d/p?q")},
	{"frames", `<frameset><frame src=f></frameset><iframe src=i srcdoc="<a href=no>"></iframe>`, links("frame /d/f", "iframe /d/i")},
	{"iframe of nothing", `<iframe src=""></iframe><iframe src="about:blank"></iframe><iframe></iframe>`, links()},
	{"img", `<img src=i srcset="s1 1x, s2 2x" alt=x><image src=j><input type=IMAGE src=k><input type=text src=no>`,
		links("img /d/i", "srcset /d/s1", "srcset /d/s2", "img /d/j", "img /d/k")},
	{"picture", `<picture><source srcset="a.webp 1x, b.webp 2x"><img src=c.png></picture>`,
		links("srcset /d/a.webp", "srcset /d/b.webp", "img /d/c.png")},
	{"empty parts", `<img src><img src=" "><script src></script><link href="" rel=stylesheet><img src="#f"><embed src="">`, links()},
	{"media", `<video src=v poster=p><source src=s><track src=t></video><audio src=a></audio><embed src=e><object data=o></object>`,
		links("media /d/v", "media /d/p", "source /d/s", "media /d/t", "media /d/a", "media /d/e", "media /d/o")},
	{"script", `<script src=s.js></script><script async defer src='t.js'/></script>`, links("script /d/s.js", "script /d/t.js")},
	{"link", `<link rel=stylesheet href=s.css><link rel="shortcut icon" href=f.ico><link rel=next href=n><link href=o>`,
		links("link /d/s.css", "link /d/f.ico", "link /d/n", "link /d/o")},
	{"link to a host", `<link rel=preconnect href=//x/><link rel="dns-prefetch preconnect" href=//y/><link rel="preconnect preload" href=z>`,
		links("link /d/z")},
	{"canonical and hreflang", `<link rel=CANONICAL href=c><link rel=alternate hreflang=de href=de><link rel=alternate href=feed><link rel="alternate stylesheet" hreflang=en href=s>`,
		links("canonical /d/c", "hreflang /d/de", "link /d/feed", "link /d/s")},
	{"preloaded image", `<link rel=preload as=image href=i imagesrcset="i1 1x, i2 2x">`, links("srcset /d/i1", "srcset /d/i2", "link /d/i")},
	{"form", `<form action=a><form method=GET action=b><form method=post action=c><form method=Dialog action=d><form method=put action=e><form action=""><form>`,
		links("form /d/a", "form /d/b", "form /d/e")},
	{"no links", `<q cite=a><blockquote cite=b><div href=c><p src=d><button formaction=e><img longdesc=f><body background=g><a data-href=h><a xlink:href=i>`, links()},
	{"one URL of several sources", `<link rel=canonical href=x><a href=x><a href=/d/x><img src=x>`, links("canonical /d/x", "a /d/x", "img /d/x")},
}

var tagCases = []linkCase{
	{"case of names", `<A HREF=X>`, links("a /d/X")},
	{"quotes", `<a href="1"><a href='2'><a href=3><a href = "4" ><a href=5/><a href=>`, links("a /d/1", "a /d/2", "a /d/3", "a /d/4", "a /d/5/", "a /d/p?q")},
	{"slash for space", `<a/href=1><a / href=2><a/ class=x/href=no/>`, links("a /d/1", "a /d/2")},
	{"attributes without space", `<a class="x"href="1"><a title='x'href='2'rel=y>`, links("a /d/1", "a /d/2")},
	{"duplicate attribute", `<a href=1 href=2 HREF=3>`, links("a /d/1")},
	{"angle in a value", `<a title=">" href=1><a title="<a href=no>" href=2>`, links("a /d/1", "a /d/2")},
	{"unclosed quote", `<a href="1>x</a><a href="2">y</a>`, links("a /d/1%3Ex%3C/a%3E%3Ca%20href=")},
	{"equals before a name", `<a =href=no><a ==href=no href=1>`, links("a /d/1")},
	{"newline in a tag", "<a\nhref\n=\n1\n>", links("a /d/1")},
	{"end inside a tag", `<a href=1><a href=2`, links("a /d/1")},
	{"end inside a value", `<a href=1><a href="2`, links("a /d/1")},
	{"end inside a comment", `<a href=1><!-- <a href=2>`, links("a /d/1")},
	{"end tags have no attributes", `</a href=1><a href=2></a>`, links("a /d/2")},
	{"no tags", `< a href=1><1 href=2><_a href=3>a<b`, links()},
	{"markup in text", `a < b <a href=1>c > d</a>`, links("a /d/1")},
	{"processing instruction", `<?php <a href=1> ?><a href=2>`, links("a /d/2")},
	{"bogus comments", `<!a <a href=1><a href=2></ <a href=3><a href=4></><a href=5>`, links("a /d/2", "a /d/4", "a /d/5")},
	{"comment ends", `<!--><a href=1><!---><a href=2><!-- --!><a href=3><!-- -- ><a href=no> --><a href=4>`, links("a /d/1", "a /d/2", "a /d/3", "a /d/4")},
	{"comment in a comment", `<!-- <!-- --><a href=1> --><!-- <!-- --!><a href=2>`, links("a /d/1", "a /d/2")},
	{"conditional comments", `<!--[if IE]><a href=no><![endif]--><![if !IE]><a href=1><![endif]>`, links("a /d/1")},
	{"doctype", `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://w3/x.dtd"><a href=1>`, links("a /d/1")},
	{"NUL", "<a hr\x00ef=no><a\x00 href=no><a href=\x001\x00>", links("a /d/%EF%BF%BD1%EF%BF%BD")},
	{"no HTML", "\x00\x01\x02<\xff>\x80", links()},
	{"byte order mark", "\ufeff<a href=1>", links("a /d/1")},
}

var rawTextCases = []linkCase{
	{"script", `<script>"<a href=no>"</script><a href=1>`, links("a /d/1")},
	{"script with a comment", `<script><!-- <script> </script> <a href=no> --></script><a href=1>`, links("a /d/1")},
	{"script with an open comment", `<script><!-- x </script><a href=1>`, links("a /d/1")},
	{"script and an end tag in a string", `<script>"<\/script><a href=no>"</script ><a href=1>`, links("a /d/1")},
	{"script that is data", `<script type="text/template"><a href=no></script><a href=1>`, links("a /d/1")},
	{"style", `<style>a{} <a href=no></style><a href=1>`, links("a /d/1")},
	{"title and textarea", `<title><a href=no></title><textarea><a href=no></p></textarea><a href=1>`, links("a /d/1")},
	{"raw text", `<xmp><a href=no></xmp><noembed><a href=no></noembed><noframes><a href=no></noframes><iframe><a href=no></iframe><a href=1>`, links("a /d/1")},
	{"other end tag", `<style></styles><a href=no></stylex></style/><a href=1>`, links("a /d/1")},
	{"unclosed", `<a href=1><textarea><a href=no>`, links("a /d/1")},
	{"plaintext", `<a href=1><plaintext></plaintext><a href=no>`, links("a /d/1")},
	{"noscript", `<noscript><a href=1><img src=2></noscript><a href=3>`, links("a /d/1", "img /d/2", "a /d/3")},
	{"self-closing is no end", `<title/><a href=no></title><script/><a href=no></script><a href=1>`, links("a /d/1")},
}

var baseCases = []linkCase{
	{"late", `<a href=1><img src=2><base href=/b/>`, links("a /b/1", "img /b/2")},
	{"first of two", `<base target=_top><base href=/1/><base href=/2/><a href=x>`, links("a /1/x")},
	{"empty", `<base href=""><base href=/2/><a href=x>`, links("a /d/x")},
	{"white space", "<base href=' /b/\n'><a href=x>", links("a /b/x")},
	{"with query", `<base href="/b?z#f"><a href="?x"><a href="#y"><a href>`, links("a /b?x", "a /b?z")},
	{"other host", `<base href="https://o:8/b/"><a href=x><a href=/y><a href=//z/>`, links("a https://o:8/b/x", "a https://o:8/y", "a https://z/")},
	{"malformed", `<base href="http://[x/"><base href=/2/><a href=x>`, links("a /d/x")},
	{"javascript", `<base href="javascript:void(0)"><a href=x>`, links("a /d/x")},
	{"data", `<base href="data:text/html,x"><a href=x>`, links("a /d/x")},
	{"other scheme", `<base href="ftp://f/"><a href=x><a href=//y/><a href=http:z><a href=http://z/1>`, links("a http://z/", "a http://z/1")},
	{"in a template", `<template><base href=/no/></template><a href=x>`, links("a /d/x")},
	{"in a comment", `<!-- <base href=/no/> --><a href=x>`, links("a /d/x")},
	{"in SVG", `<svg><base href=/no/></svg><a href=x>`, links("a /d/x")},
	{"in the body", `<body><p><base href=/b/><a href=x>`, links("a /b/x")},
}

var referenceCases = []linkCase{
	{"white space around", "<a href=' 1\n'><a href=\"\t\x0c2\x1f\x01\">", links("a /d/1", "a /d/2")},
	{"white space within", "<a href='a\tb\nc d\r\ne'>", links("a /d/abc%20de")},
	{"character references", `<a href="?a&amp;b&#38;c&#x26;d"><a href="&#47;e&#102;"><a href="&#32;g">`, links("a /d/p?a&b&c&d", "a /ef", "a /d/g")},
	{"references decode once", `<a href="?a&amp;amp;b">`, links("a /d/p?a&amp;b")},
	{"references without semicolon", `<a href="?a&copy=2&reg&lt=3&para;m"><a href=?x&amp>`, links("a /d/p?a&copy=2%C2%AE&lt=3%C2%B6m", "a /d/p?x&")},
	{"control reference", `<a href="a&#0;b&#x80;c&#xD800;">`, links("a /d/a%EF%BF%BDb%E2%82%ACc%EF%BF%BD")},
	{"other schemes", `<a href=MAILTO:x><a href="java&#10;script:x"><a href=" javascript:x"><a href=data:,x><a href=tel:1><a href=ftp://x/><a href=x+y-z.1:o><a href=localhost:80>`, links()},
	{"no scheme", `<a href=1:x><a href=./a:b><a href=?c:d><a href=:e><a href=f_g:h>`, links("a /d/1:x", "a /d/a:b", "a /d/p?c:d", "a /d/:e", "a /d/f_g:h")},
	{"same scheme", `<a href=http:x><a href=HTTP:/y><a href=hTTps:z><a href="ht&#9;tp://v/">`, links("a /d/x", "a /y", "a https://z/", "a http://v/")},
	{"malformed", `<a href="http://"><a href="http://a b/"><a href="//x:99999/"><a href="http://[::1"><a href=1>`, links("a /d/1")},
	{"fragments", `<a href="x#1"><a href="x#2"><a href="y?#a?b"><a href="http://o#x">`, links("a /d/x", "a /d/y?", "a http://o/")},
	{"the same in other letters", `<a href=x><a href=./x><a href=/d/x><a href="//h/d/x"><a href="%78">`, links("a /d/x")},
	{"not the same", `<a href=x><a href=X><a href=x/><a href=x?y>`, links("a /d/x", "a /d/X", "a /d/x/", "a /d/x?y")},
	{"UTF-8", `<a href="/ü?ü">`, links("a /%C3%BC?%C3%BC")},
	{"invalid UTF-8", "<a href='/\xfc?\xe2\x82'>", links("a /%EF%BF%BD?%EF%BF%BD")},
	{"backslashes", `<a href="\a\b"><a href="\\o\c">`, links("a /a/b", "a http://o/c")},
	{"credentials", `<a href="http://user:pass@h/x">`, links("a /x")},
}

var refreshCases = []linkCase{
	{"plain", `<meta http-equiv=refresh content="0;url=1">`, links("refresh /d/1")},
	{"case and spaces", `<meta http-equiv="ReFresh" content=" 5 ; URL = 1 ">`, links("refresh /d/1")},
	{"no url", `<meta http-equiv=refresh content="5"><meta http-equiv=refresh content="5;"><meta http-equiv=refresh content=""><meta http-equiv=refresh>`, links()},
	{"itself", `<meta http-equiv=refresh content="5;url=">`, links()},
	{"quotes", `<meta http-equiv=refresh content="0;url='1' x"><p>`, links("refresh /d/1")},
	{"double quotes", `<meta http-equiv=refresh content='0;url="1"2'>`, links("refresh /d/1")},
	{"unclosed quote", `<meta http-equiv=refresh content="0;url='1">`, links("refresh /d/1")},
	{"quotes without url", `<meta http-equiv=refresh content="0;'1'">`, links("refresh /d/1")},
	{"without url", `<meta http-equiv=refresh content="0 1">`, links("refresh /d/1")},
	{"starts like url", `<meta http-equiv=refresh content="0;urn"><p>`, links("refresh /d/urn")},
	{"url without equals", `<meta http-equiv=refresh content="0;url 1">`, links("refresh /d/url%201")},
	{"comma", `<meta http-equiv=refresh content="0,1">`, links("refresh /d/1")},
	{"two separators", `<meta http-equiv=refresh content="0;;url=1">`, links("refresh /d/;url=1")},
	{"time", `<meta http-equiv=refresh content=".;url=1">`, links("refresh /d/1")},
	{"more dots", `<meta http-equiv=refresh content="1.5.2.;url=1">`, links("refresh /d/1")},
	{"negative", `<meta http-equiv=refresh content="-1;url=1">`, links()},
	{"other after the time", `<meta http-equiv=refresh content="1x;url=1"><meta http-equiv=refresh content="url=1">`, links()},
	{"javascript", `<meta http-equiv=refresh content="0;url=javascript:x"><meta http-equiv=refresh content="0;url=1">`, links("refresh /d/1")},
	{"first of two", `<meta http-equiv=refresh content="0;url=1"><meta http-equiv=refresh content="0;url=2">`, links("refresh /d/1")},
	{"noscript", `<noscript><meta http-equiv=refresh content="0;url=1"></noscript><meta http-equiv=refresh content="0;url=2"><noscript><meta http-equiv=refresh content="0;url=3">`,
		links("refresh /d/1", "refresh /d/2", "refresh /d/3")},
	{"base", `<meta http-equiv=refresh content="0;url=1"><base href=/b/>`, links("refresh /b/1")},
	{"other meta", `<meta name=refresh content="0;url=1"><meta property="og:url" content="http://h/1">`, links()},
}

var foreignCases = []linkCase{
	{"SVG", `<svg><a xlink:href=1><text/></a><a href=2 xlink:href=no></a><image xlink:href=3 /><use href="s.svg#i"/><use href="#i"/><script href=4></script></svg>`,
		links("a /d/1", "a /d/2", "img /d/3", "media /d/s.svg", "script /d/4")},
	{"SVG has no src", `<svg><image src=no /><script src=no></script><iframe src=no></iframe></svg>`, links()},
	{"self-closing raw text", `<svg><style/><a href=1></a><title/><a href=2></a><script/><a href=3></a></svg>`, links("a /d/1", "a /d/2", "a /d/3")},
	{"title is markup", `<svg><title><a href=1></title><a xlink:href=2></a></svg>`, links("a /d/1", "a /d/2")},
	{"textarea is markup", `<svg><textarea><a href=1></a></textarea></svg><textarea><a href=no></textarea>`, links("a /d/1")},
	{"script and style", `<svg><style><a href=no></style><script><a href=no></script></svg><a href=1>`, links("a /d/1")},
	{"CDATA", `<svg><![CDATA[<a href=no>]]><a href=1></a></svg><![CDATA[<a href=no>]]><a href=2>`, links("a /d/1", "a /d/2")},
	{"CDATA after markup", `<svg><![CDATA[><a href=no></a>]]><a href=1></a></svg><![CDATA[><a href=2></a>]]>`, links("a /d/1", "a /d/2")},
	{"foreignObject", `<svg><foreignObject><iframe src=1><a href=no></iframe><svg><a xlink:href=2></a></svg><a xlink:href=no></a></foreignObject><a xlink:href=3></a></svg>`,
		links("iframe /d/1", "a /d/2", "a /d/3")},
	{"unclosed", `<svg><path><p><textarea><a href=no></textarea><a xlink:href=no><a href=1>`, links("a /d/1")},
	{"closed by p", `<svg></p><img src=1><svg><font><img src=2><svg><font size=1><img src=3>`, links("img /d/1", "img /d/2", "img /d/3")},
	{"nested", `<svg><svg></svg><image href=1 /></svg><image href=no>`, links("img /d/1")},
	{"MathML", `<math><mi><a href=1></a></mi><style/><a href=2></a></math><a href=3>`, links("a /d/1", "a /d/2", "a /d/3")},
	{"empty SVG", `<svg/><style><a href=no></style><a href=1>`, links("a /d/1")},
}

var templateCases = []linkCase{
	{"inert", `<template><a href=no><img src=no></template><a href=1>`, links("a /d/1")},
	{"nested", `<template><template><a href=no></template><a href=no></template><a href=1></template><a href=2>`, links("a /d/1", "a /d/2")},
	{"unclosed", `<a href=1><template><a href=no>`, links("a /d/1")},
	{"raw text inside", `<template><script>"</template>"</script><a href=no></template><a href=1>`, links("a /d/1")},
	{"SVG inside", `<template><svg></template><style><a href=no></style><a href=1>`, links("a /d/1")},
	{"shadow root", `<div><template shadowrootmode=open><a href=1><template><a href=no></template></template></div><a href=2>`, links("a /d/1", "a /d/2")},
	{"shadow root inside", `<template><template shadowrootmode=closed><a href=no></template></template><a href=1>`, links("a /d/1")},
	{"template of SVG", `<svg><template><a href=1></a></template></svg>`, links("a /d/1")},
}

func TestKindAndNoFollow(t *testing.T) {
	p := page(t, "http://h/", "text/html", []byte(`
		<link rel=canonical href=c><link rel="alternate stylesheet" href=s><link rel=Icon href=i><link rel=next href=n>
		<link rel=preload href=p><a rel="noopener NoFollow" href=1><a rel=nofollowing href=2><a rel=nofollow href=3>
		<a href=3><a href=4><a href=./4 rel=nofollow><area rel=nofollow href=5><area href=6><form action=f rel=nofollow>
		<link rel=prev href=both><link rel=stylesheet href=both><img src=g><script src=j></script><iframe src=k></iframe>
		<meta http-equiv=refresh content="0;r">`))
	got := []string{}
	for _, l := range p.Links {
		s := fmt.Sprint(l.URL.Path(), " ", l.Kind)
		if l.NoFollow {
			s += " nofollow"
		}
		got = append(got, s)
	}
	want := []string{"/c other", "/s requisite", "/i requisite", "/n other", "/p requisite", "/1 navigation nofollow",
		"/2 navigation", "/3 navigation", "/4 navigation", "/5 navigation nofollow", "/6 navigation", "/f other nofollow",
		"/both requisite", "/g requisite", "/j requisite", "/k navigation", "/r navigation"}
	if !slices.Equal(got, want) {
		t.Errorf("links\n got %q\nwant %q", got, want)
	}
	if p.NoFollow {
		t.Error("rel=nofollow of a link made the whole page NoFollow")
	}
}

// TestAccounted checks that each reference is a link or is counted.
func TestAccounted(t *testing.T) {
	p := page(t, "http://h/", "text/html", []byte(`<a href=1><a href=1><a href=" 1#x"><a href=./1><a href=//h/1><img src=1>
		<a href=mailto:x><a href=mailto:x><a href="http://[/"><a href="http://["><img srcset="1 1x, 1 2x, 2 3x">
		<img src="data:,"><a name=x><img src="">`))
	if len(p.Links) != 4 || p.Repeated != 5 || p.Unsupported != 3 || p.Malformed != 2 {
		t.Errorf("%d links, %d repeated, %d unsupported, %d malformed; want 4, 5, 3, 2: %v",
			len(p.Links), p.Repeated, p.Unsupported, p.Malformed, p.Links)
	}
}

func TestFacts(t *testing.T) {
	for _, tt := range []struct {
		name, html string
		want       Page
	}{
		{"title", "<title> a\n\t b &amp; &eacute; <b>c</b> </title><title>no</title>", Page{Title: "a b & é <b>c</b>"}},
		{"empty title", `<title></title><title>no</title>`, Page{}},
		{"title of SVG", `<svg><title>no</title></svg><body><title>yes</title>`, Page{Title: "yes"}},
		{"title of a template", `<template><title>no</title></template><title>yes</title>`, Page{Title: "yes"}},
		{"unclosed title", `<title>a<p>b`, Page{Title: "a<p>b"}},
		{"long title", "<title>" + strings.Repeat("ü", 400) + "</title>", Page{Title: strings.Repeat("ü", 256)}},
		{"long title of words", "<title>" + strings.Repeat("ab \n", 400) + "</title>", Page{Title: strings.Repeat("ab ", 170) + "ab"}},
		{"canonical", `<link rel=canonical href="mailto:x"><link rel=canonical href="/c#x"><link rel=canonical href=/no>`, Page{Canonical: "http://h/c"}},
		{"base", `<base href="/b/#x">`, Page{Base: "http://h/b/"}},
		{"base of another scheme", `<base href=" ftp://f/ ">`, Page{Base: "ftp://f/"}},
		{"robots", `<meta name=Robots content=" noindex,\n max-image-preview:none"><meta name=robots content=all><meta name=robots><meta name=other content=nofollow>`,
			Page{Robots: `noindex,\n max-image-preview:none, all`}},
		{"nofollow", `<meta name=robots content="noindex, NoFollow">`, Page{Robots: "noindex, NoFollow", NoFollow: true}},
		{"none", `<meta name=robots content="none">`, Page{Robots: "none", NoFollow: true}},
		{"nofollow by spaces", `<meta name=robots content="noindex nofollow">`, Page{Robots: "noindex nofollow", NoFollow: true}},
		{"no nofollow", `<meta name=robots content="max-image-preview: none">`, Page{Robots: "max-image-preview: none"}},
		{"robots to us", `<meta name=ourbot content="nofollow">`, Page{Robots: "nofollow", NoFollow: true}},
		{"robots in a template", `<template><meta name=robots content="nofollow"></template>`, Page{}},
		{"long robots", "<meta name=robots content='" + strings.Repeat("a, ", 400) + "nofollow'>",
			Page{Robots: strings.Repeat("a, ", 170) + "a,", NoFollow: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
			p := HTML(Input{URL: parseURL(t, "http://h/"), Header: h, Body: []byte(tt.html), Agent: "OurBot"})
			if tt.want.Base == "" {
				tt.want.Base = "http://h/"
			}
			if p.Title != tt.want.Title || p.Canonical != tt.want.Canonical || p.Base != tt.want.Base ||
				p.Robots != tt.want.Robots || p.NoFollow != tt.want.NoFollow {
				t.Errorf("got %+v\nwant %+v", p, tt.want)
			}
		})
	}
}

func TestSourceWords(t *testing.T) {
	var got []string
	for s := range sources {
		got = append(got, s.String())
	}
	want := "a area link iframe frame img srcset source media script form refresh canonical hreflang header css"
	if words := strings.Join(got, " "); words != want {
		t.Errorf("sources %q, want %q", words, want)
	}
}
