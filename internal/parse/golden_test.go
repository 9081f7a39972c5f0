package parse

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares all that is read from an ordinary page with testdata/page.golden.
func TestGolden(t *testing.T) {
	body, err := os.ReadFile("testdata/page.html")
	if err != nil {
		t.Fatal(err)
	}
	p := HTML(Input{
		URL: parseURL(t, "https://www.example.org/parks/?seite=1&ref=x"),
		Header: http.Header{
			"Content-Type": {"text/html"},
			"Link":         {`</img/logo.svg>; rel=preload; as=image, <https://www.example.org/en/parks/>; rel="alternate"; hreflang="en"`},
		},
		Body: body,
	})
	var b strings.Builder
	fmt.Fprintf(&b, "charset   %s\ntitle     %s\ncanonical %s\nbase      %s\nrobots    %s\nno follow %v\n", p.Charset, p.Title, p.Canonical, p.Base, p.Robots, p.NoFollow)
	fmt.Fprintf(&b, "described %s\nheading   %s\nlang      %s\nalternate %v\nplain     %d\n", p.Description, p.Heading, p.Lang, p.Alternates, p.PlainBytes)
	fmt.Fprintf(&b, "repeated  %d\nmalformed %d\nunsupported %d\n\n", p.Repeated, p.Malformed, p.Unsupported)
	for _, l := range p.Links {
		fmt.Fprintf(&b, "%-9s %-10s %s", l.Source, l.Kind, l.URL)
		if l.NoFollow {
			b.WriteString(" nofollow")
		}
		b.WriteByte('\n')
	}
	got := b.String()
	if *update {
		if err := os.WriteFile("testdata/page.golden", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/page.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
