package parse

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func factsOf(t *testing.T, contentType, body string) *Page {
	t.Helper()
	return HTML(Input{URL: parseURL(t, "http://a.test/dir/"), Header: http.Header{"Content-Type": {contentType}}, Body: []byte(body)})
}

func TestHeading(t *testing.T) {
	for in, want := range map[string]string{
		"<h1>one</h1><h1>two</h1>":                                     "one",
		"<h1> \n</h1><H1 class=x>two":                                  "two",
		"<h1>H<b>el</b>lo<br>world<!-- x > --></h1>":                   "Hello world",
		"<h1><a href=/>a</a> &amp; <img src=x>b&nbsp;c</h1>":           "a & b\u00a0c",
		"<h1>a<script>var x='</h1>'</script>b</h1>":                    "ab",
		"<h1>a<style>h1{}</style> < b</h1>":                            "a < b",
		"<h2>no</h2>":                                                  "",
		"<template><h1>no</h1></template><h1>yes</h1>":                 "yes",
		"<svg><h1>breaks out</h1>":                                     "breaks out",
		"<!-- <h1>no</h1> --><script><h1>no</h1></script>":             "",
		"<h1>cut at the end":                                           "cut at the end",
		"<h1>a<p>b</p>c</h1>":                                          "a bc",
		"<h1>" + strings.Repeat("long ", 500) + "</h1>":                strings.TrimSpace(strings.Repeat("long ", 103))[:maxHeading],
		"<h1 title='>'>a</h1":                                          "a",
		"<title>t</title><h1>" + strings.Repeat("<i></i>", 5000) + "x": "",
	} {
		if got := factsOf(t, "text/html", in).Heading; got != strings.TrimSpace(want) {
			t.Errorf("%.60s: heading %q, want %q", in, got, want)
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, tt := range []struct{ contentType, in, want string }{
		{"text/html", "<html lang=de-AT>", "de-AT"},
		{"text/html", "<!doctype html><html class=x><html lang=en><html lang=fr>", "en"}, // a later one adds what the first lacks
		{"text/html", "<html xml:lang=de>", ""},
		{"application/xhtml+xml", "<html xml:lang='de'>", "de"},
		{"text/html", "<p lang=de>", ""},
	} {
		if got := factsOf(t, tt.contentType, tt.in).Lang; got != tt.want {
			t.Errorf("%s: language %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestDescription(t *testing.T) {
	for in, want := range map[string]string{
		"<meta name=description content=' a\n b '>":                                     "a b",
		"<meta NAME=Description content=''><meta name=description content=b>":           "b",
		"<meta property=og:description content=a>":                                      "",
		"<meta name=description>":                                                       "",
		"<meta name=description content='" + strings.Repeat("é", maxDescription) + "'>": strings.Repeat("é", maxDescription/2),
	} {
		if got := factsOf(t, "text/html; charset=utf-8", in).Description; got != want {
			t.Errorf("%.60s: description %q, want %q", in, got, want)
		}
	}
}

func TestAlternates(t *testing.T) {
	got := factsOf(t, "text/html", "<link rel=alternate hreflang=en href=en><base href=/b/><link rel='x Alternate' hreflang=de-AT href=' /de '>"+
		"<link rel=alternate hreflang=x-default href=en><link rel=alternate href=/feed><link rel=alternate hreflang=fr href='mailto:x'><link rel=stylesheet hreflang=fr href=/css>").Alternates
	want := []Alternate{{"en", "http://a.test/b/en"}, {"de-AT", "http://a.test/de"}, {"x-default", "http://a.test/b/en"}}
	if !slices.Equal(got, want) {
		t.Errorf("alternates %v, want %v", got, want)
	}
}

// TestPlainBytes: what a page says without its scripts.
func TestPlainBytes(t *testing.T) {
	for in, want := range map[string]int{
		"":          0,
		"<p>ab</p>": 2,
		"<title>title</title><script>var x</script><style>a{}</style><!-- c --><div id=root></div>": 0,
		"a<b>c": 2,
	} {
		if got := factsOf(t, "text/html", in).PlainBytes; got != want {
			t.Errorf("%s: %d bytes, want %d", in, got, want)
		}
	}
}
