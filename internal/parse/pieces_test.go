package parse

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// inPieces reads a page whose links are handed over in pieces, and returns all of them and the sums of what is counted.
func inPieces(t *testing.T, in Input) (all Page, pieces int) {
	t.Helper()
	var links []Link
	var repeated, malformed, unsupported int
	take := func(p *Page) {
		links = append(links, p.Links...)
		repeated, malformed, unsupported = repeated+p.Repeated, malformed+p.Malformed, unsupported+p.Unsupported
	}
	in.Piece = func(p *Page) {
		if pieces++; len(p.Links) > pieceRefs {
			t.Errorf("a piece has %d links", len(p.Links))
		}
		take(p)
	}
	var parser Parser
	parser.HTML(in, &all)
	take(&all)
	all.Links, all.Repeated, all.Malformed, all.Unsupported = links, repeated, malformed, unsupported
	return all, pieces
}

// A page that is handed over in pieces says what it says as a whole: with its base, encoding and robots where they come last.
func TestPieces(t *testing.T) {
	const n = 3*pieceRefs + 100
	var b strings.Builder
	b.WriteString("<html lang=de><title>T</title><a href=mailto:x><a href=http://[>")
	for i := range n {
		fmt.Fprintf(&b, "<a href=%d?\xfc>", i)
	}
	links := b.String()
	for _, tt := range []struct{ name, html string }{
		{"plain", links},
		{"base first", "<base href=/b/>" + links},
		{"base last", links + "<base href=/b/><base href=/no/>"},
		{"base of another scheme", links + "<base href=ftp://x/>"},
		{"robots last", links + "<meta name=robots content=nofollow>"},
		{"charset last", links + "<meta charset=koi8-r>"},
		{"canonical last", links + "<link rel=canonical href=/c>"},
		{"alternates", "<link rel=alternate hreflang=de href=d>" + links + "<link rel=alternate hreflang=en href=e>"},
		{"refresh", links + "<meta http-equiv=refresh content='0;url=r'><meta http-equiv=refresh content='0;url=no'>"},
		{"one srcset", "<img srcset='" + strings.Repeat("a 1x,", 10) + strings.ReplaceAll(links[strings.Index(links, "0?"):], "<a href=", " 1x,") + "'>"},
		{"long ones", strings.Repeat("<a href='"+strings.Repeat("x", 1000)+"'>", 10) + links},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{
				URL: parseURL(t, "http://h/d/p"), Body: []byte(tt.html),
				Header: http.Header{"Content-Type": {"text/html"}, "Link": {"<hc>; rel=canonical"}, "X-Robots-Tag": {"noindex"}},
			}
			want := HTML(in)
			got, pieces := inPieces(t, in)
			if pieces < 3 {
				t.Errorf("%d pieces", pieces)
			}
			if !slices.Equal(got.Links, want.Links) {
				t.Errorf("%d links, want %d", len(got.Links), len(want.Links))
			}
			got.Links, want.Links = nil, nil
			if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", *want); a != b {
				t.Errorf("the page is\n%s\nwant\n%s", a, b)
			}
		})
	}
}

// An ordinary page comes at once.
func TestNoPieces(t *testing.T) {
	_, pieces := inPieces(t, Input{URL: parseURL(t, "http://h/"), Body: []byte(strings.Repeat("<a href=x>", 2*pieceRefs))})
	if pieces != 0 {
		t.Errorf("%d pieces", pieces)
	}
}
