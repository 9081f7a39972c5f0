package parse

import (
	"net/http"
	"slices"
	"testing"
)

func pageWithHeader(t *testing.T, h http.Header, agent, body string) *Page {
	t.Helper()
	return HTML(Input{URL: parseURL(t, "http://h/d/p"), Header: h, Body: []byte(body), Agent: agent})
}

func TestLinkHeader(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []string
		want   []string
	}{
		{"one", []string{`<1>; rel=next`}, links("/d/1")},
		{"several", []string{`<1>; rel="next prev", <2>`, `</3>;rel=x,<4>`}, links("/d/1", "/d/2", "/3", "/d/4")},
		{"commas and semicolons in quotes", []string{`<1>; title="a, <no>; \"b, <no>"; rel=next, <2>`}, links("/d/1", "/d/2")},
		{"comma in a target", []string{`<1,2;3>; rel=next`}, links("/d/1,2;3")},
		{"spaces", []string{" , < 1 > ; rel = next ;; , ,<2>\t;\trel=x"}, links("/d/1", "/d/2")},
		{"no links", []string{"", "x", "<unclosed", `rel=next`}, links()},
		{"rubbish before a link", []string{`x; rel=y, <1>`}, links("/d/1")},
		{"unclosed quote", []string{`<1>; title="x, <no>`}, links("/d/1")},
		{"parameter without value", []string{`<1>; crossorigin; rel=preload, <2>; x`}, links("/d/1", "/d/2")},
		{"empty and other schemes", []string{`<>; rel=self, <#x>, <mailto:x>`}, links()},
		{"only a host", []string{`<//x>; rel=preconnect, <//y/>; rel="dns-prefetch"`}, links()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pageWithHeader(t, http.Header{"Link": tt.values}, "", `<base href=/no/>`)
			got := []string{}
			for _, l := range p.Links {
				got = append(got, l.URL.Path())
				if l.Source != SourceHeader {
					t.Errorf("source of %s is %s", l.URL, l.Source)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Link %q: got %q, want %q", tt.values, got, tt.want)
			}
		})
	}
}

func TestLinkHeaderMeaning(t *testing.T) {
	h := http.Header{"Link": {`<s>; rel=stylesheet, <n>; rel="next NOFOLLOW"; rel=stylesheet, <c0>; rel=canonical; anchor="/x", <c1>; rel="canonical"`}}
	p := pageWithHeader(t, h, "", "")
	if l := p.Links[0]; l.Kind != Requisite || l.NoFollow {
		t.Errorf("style sheet %+v", l)
	}
	if l := p.Links[1]; l.Kind != Other || !l.NoFollow { // of several rel the first counts
		t.Errorf("next %+v", l)
	}
	if p.Canonical != "http://h/d/c1" {
		t.Errorf("canonical %q", p.Canonical)
	}
	if p := pageWithHeader(t, h, "", `<link rel=canonical href=e>`); p.Canonical != "http://h/d/e" {
		t.Errorf("canonical %q, not the element's", p.Canonical)
	}
}

func TestRefreshHeader(t *testing.T) {
	h := http.Header{"Refresh": {"0; url=1"}}
	p := pageWithHeader(t, h, "", `<base href=/b/><meta http-equiv=refresh content="0;url=2">`)
	if got := linksOf(p, "refresh"); !slices.Equal(got, []string{"http://h/d/1"}) {
		t.Errorf("refresh %q: the header's comes first, and has the page's address as base", got)
	}
}

func TestRobotsTag(t *testing.T) {
	for _, tt := range []struct {
		value string
		want  bool
	}{
		{"nofollow", true},
		{"noindex, NoFollow", true},
		{"none", true},
		{"noindex", false},
		{"all, follow", false},
		{"otherbot: nofollow", false},
		{"otherbot: noindex, nofollow", false},
		{"ourbot: nofollow", true},
		{"OurBot: noindex, nofollow", true},
		{"otherbot: noindex, ourbot: nofollow", true},
		{"nofollow, otherbot: noindex", true},
		{"unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow", true},
		{"unavailable_after: Fri, 25 Jun 2010 15:00:00 PST, nofollow", true},
		{"max-image-preview: none", false},
		{"ourbot: max-image-preview:none", false},
		{"max-snippet:20, nofollow", true},
	} {
		p := pageWithHeader(t, http.Header{"X-Robots-Tag": {"noarchive", tt.value}}, "ourbot", "")
		if p.NoFollow != tt.want {
			t.Errorf("X-Robots-Tag: %s: NoFollow %v", tt.value, p.NoFollow)
		}
	}
	if pageWithHeader(t, http.Header{"X-Robots-Tag": {": nofollow", "x: nofollow"}}, "", "").NoFollow {
		t.Error("without an agent, another's directives counted")
	}
}

func TestMediaType(t *testing.T) {
	const page = "\n <!DOCTYPE html><p>"
	for _, tt := range []struct{ contentType, body, want string }{
		{"text/html", "x", "text/html"},
		{"Text/HTML; charset=x", "x", "text/html"},
		{" text/html ;", "x", "text/html"},
		{"text/plain", page, "text/plain"},
		{"application/octet-stream", page, "application/octet-stream"},
		{"application/xhtml+xml", "", "application/xhtml+xml"},
		{"", page, "text/html"},
		{"", "<a href=x>", "text/html"},
		{"", "<a\thref=x>", "text/plain"}, // the standard has only a space or > here
		{"", "<abbr>", "text/plain"},
		{"", "<?xml version='1.0'?>", "text/xml"},
		{"", "plain", "text/plain"},
		{"", "%PDF-1", "application/pdf"},
		{"", "\x00\x01", "application/octet-stream"},
		{"", "", "text/plain"},
		{"html", page, "text/html"},
		{"text/", page, "text/html"},
		{"text html/x", page, "text/html"},
		{"*/*", page, "text/html"},
	} {
		got := MediaType(tt.contentType, []byte(tt.body))
		if got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.contentType, tt.body, got, tt.want)
		}
		if html := tt.want == "text/html" || tt.want == "application/xhtml+xml"; IsHTML(got) != html {
			t.Errorf("IsHTML(%q) is %v", got, !html)
		}
	}
}

func TestCharsetParameter(t *testing.T) {
	for _, tt := range []struct{ contentType, want string }{
		{"text/html; charset=UTF-8", "UTF-8"},
		{`text/html;charset="utf-8"`, "utf-8"},
		{`text/html; a="b;charset=no\"c"; charset=x; charset=y`, "x"},
		{"text/html; charset=x;", "x"},
		{"text/html; CHARSET=x ;y", "x"},
		{"text/html; charset", ""},
		{"text/html; charset=", ""},
		{"text/html; a; charset=x", "x"},
		{"text/html; a charset=x", ""},
		{`text/html; charset="x`, "x"},
		{"charset=x", ""},
	} {
		if _, got := splitMediaType(tt.contentType); got != tt.want {
			t.Errorf("charset of %q is %q, want %q", tt.contentType, got, tt.want)
		}
	}
}
