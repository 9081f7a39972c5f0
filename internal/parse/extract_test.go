package parse

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func compile(t *testing.T, rules ...Rule) *Extractor {
	t.Helper()
	e, err := Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExtract(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		rule       Rule
		want       any // nil: no field
	}{
		{"text", "<h1> a\n <b>b</b>c </h1><h1>d</h1>", Rule{Selector: "h1"}, "a bc"},
		{"all", "<li>a<li>b", Rule{Selector: "li", All: true}, []string{"a", "b"}},
		{"attribute", `<a>x</a><a href=" /x?a&amp;b ">`, Rule{Selector: "a", Attr: "HREF"}, " /x?a&b "},
		{"all attributes", `<a href=1><a><a href=2>`, Rule{Selector: "a", Attr: "href", All: true}, []string{"1", "2"}},
		{"nothing found", `<p>`, Rule{Selector: "h1"}, nil},
		{"nothing found of all", `<p>`, Rule{Selector: "h1", All: true}, nil},
		{"no attribute", `<p>`, Rule{Selector: "p", Attr: "id"}, nil},
		{"empty", `<h1></h1>`, Rule{Selector: "h1"}, ""},
		{"several selectors", `<h2>b</h2><h1>a</h1>`, Rule{Selector: "h1, h2", All: true}, []string{"b", "a"}},
		{"lines apart", `<div>a<br>b<p>c</p>d<i>e</i></div>`, Rule{Selector: "div"}, "a b c de"},
		{"without scripts", `<div>a<script>b</script><style>c</style><template>d</template><!-- e -->f</div>`, Rule{Selector: "div"}, "af"},
		{"a script itself", `<script type="application/ld+json">{"a": 1}</script>`, Rule{Selector: "script[type*=json]"}, `{"a": 1}`},
		{"markup", `<div class=a> <b>x</b> &amp;<br><i data-y="z">y</div>`, Rule{Selector: ".a", HTML: true}, ` <b>x</b> &amp;<br/><i data-y="z">y</i>`},
		{"markup of all", `<p><b>x</b><p>y`, Rule{Selector: "p", HTML: true, All: true}, []string{"<b>x</b>", "y"}},
		{"a page of the pattern", `<p>x`, Rule{Selector: "p", Pages: `^http://h/`}, "x"},
		{"no page of the pattern", `<p>x`, Rule{Selector: "p", Pages: `^http://h/$`}, nil},
		{"noscript", `<p><noscript><img src=x></noscript>`, Rule{Selector: "noscript img", Attr: "src"}, "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.rule.Field = "f"
			fields, err := compile(t, tt.rule).Extract("http://h/p", []byte(tt.body), "utf-8")
			if err != nil || !reflect.DeepEqual(fields["f"], tt.want) {
				t.Errorf("got %q, %v; want %q", fields["f"], err, tt.want)
			}
		})
	}
}

func TestExtractCharset(t *testing.T) {
	e := compile(t, Rule{Field: "f", Selector: "p"})
	for _, tt := range []struct{ charset, body string }{
		{"windows-1251", "<p>\xe0</p>"},
		{"utf-8", "\xef\xbb\xbf<p>а</p>"},
		{"", "<p>а</p>"},
		{"utf-16le", "\xff\xfe<\x00p\x00>\x00\x30\x04"},
	} {
		if fields, err := e.Extract("http://h/p", []byte(tt.body), tt.charset); err != nil || fields["f"] != "а" {
			t.Errorf("%s: %v, %v", tt.charset, fields, err)
		}
	}
}

func TestExtractNoRules(t *testing.T) {
	if fields, err := compile(t).Extract("http://h/p", []byte("<p>x"), "utf-8"); fields != nil || err != nil {
		t.Errorf("%v, %v", fields, err)
	}
}

// TestExtractDeep reads pages that are too deep for the tree builder.
func TestExtractDeep(t *testing.T) {
	const depth = 10000
	e := compile(t, Rule{Field: "deep", Selector: "i"}, Rule{Field: "after", Selector: "h1"}, Rule{Field: "rows", Selector: "td", All: true})
	for _, tt := range []struct{ name, body string }{
		{"nested", strings.Repeat("<div>", depth) + "<noscript><i>x</i></noscript>" + strings.Repeat("</div>", depth)},
		{"unclosed", strings.Repeat("<b><i>", depth) + "x</i>" + strings.Repeat("</b>", depth)},
		{"paragraphs", strings.Repeat("<p>a", depth) + strings.Repeat("<span>", depth) + "</span><p><i>x</i>"},
		{"rows", "<table>" + strings.Repeat("<tr><td>a<td>b", 300) + "</table>" + strings.Repeat("<section>", depth) + strings.Repeat("</section>", depth) + "<i>x</i>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fields, err := e.Extract("http://h/p", []byte(tt.body+"<h1>after</h1>"), "utf-8")
			if err != nil || fields["after"] != "after" {
				t.Errorf("%.200v, %v", fields, err)
			}
			if rows, _ := fields["rows"].([]string); tt.name == "rows" && len(rows) != 600 {
				t.Errorf("%d rows", len(rows))
			}
			if s, _ := fields["deep"].(string); !strings.HasPrefix(s, "x") {
				t.Errorf("the deep element holds %.20q", s)
			}
		})
	}
	// Attributes that differ make the tree builder open a formatting element again and again.
	var b strings.Builder
	for i := range 3 * outerDepth {
		b.WriteString("<div><b id=" + strings.Repeat("x", i) + "></div>")
	}
	if fields, err := e.Extract("http://h/p", []byte(b.String()+"<i>x</i>"), "utf-8"); err == nil && fields["deep"] != "x" {
		t.Errorf("neither fields nor an error: %v", fields)
	}
}

func TestExtractLimit(t *testing.T) {
	body := strings.Repeat("<div>", 400) + strings.Repeat("word ", 1<<16)
	e := compile(t, Rule{Field: "first", Selector: "div"}, Rule{Field: "all", Selector: "div", All: true}, Rule{Field: "more", Selector: "div"})
	fields, err := e.Extract("http://h/p", []byte(body), "utf-8")
	if !errors.Is(err, ErrExtractLimit) {
		t.Errorf("error %v", err)
	}
	all, _ := fields["all"].([]string)
	if _, more := fields["more"]; len(fields["first"].(string)) < 1<<18 || len(all) == 0 || len(all) > 100 || more {
		t.Errorf("%d values, more: %v", len(all), more)
	}
}

// Markup counts against the limit as text does, and of a page that is too long nothing is taken.
func TestExtractMarkupLimit(t *testing.T) {
	e := compile(t, Rule{Field: "all", Selector: "div", HTML: true, All: true})
	_, err := e.Extract("http://h/p", []byte(strings.Repeat("<div>", 400)+strings.Repeat("word ", 1<<16)), "utf-8")
	if !errors.Is(err, ErrExtractLimit) {
		t.Errorf("error %v", err)
	}
	if fields, err := e.Extract("http://h/p", make([]byte, maxTree+1), "utf-8"); !errors.Is(err, ErrTooLong) || fields != nil {
		t.Errorf("%v, error %v", fields, err)
	}
}

func TestCompileErrors(t *testing.T) {
	_, err := Compile([]Rule{
		{Field: "ok", Selector: "a"}, {Field: "price", Selector: "span["}, {Field: "empty"}, {Selector: "b"},
		{Field: "ok", Selector: "c"}, {Field: "pseudo", Selector: "a:nosuch"},
		{Field: "where", Selector: "a", Pages: "("}, {Field: "both", Selector: "a", Attr: "href", HTML: true},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`extract price: selector "span[": `, `extract empty: selector "": `, `extract: selector "b": no field`,
		`extract ok: selector "c": the field has a rule already`, `extract pseudo: selector "a:nosuch": `,
		`extract where: pages: `, `extract both: want an attribute or the markup, got both`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q:\n%v", want, err)
		}
	}
}
