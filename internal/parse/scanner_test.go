package parse

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"crawl/internal/testweb"
)

// TestScannerAgrees reads the texts of the other tests with the scanner and with the tokenizer.
func TestScannerAgrees(t *testing.T) {
	for _, text := range scannerTexts(t) {
		agree(t, text, false)
		agree(t, text, true)
	}
}

// TestScannerAgreesWhereCut cuts texts at every byte: a tag is read to its end or is none.
func TestScannerAgreesWhereCut(t *testing.T) {
	for _, text := range scannerTexts(t) {
		for i := range min(len(text), 300) {
			agree(t, text[:i], true)
		}
	}
}

// TestScannerAgreesOnWeb reads the pages of the web that the whole crawler is tested on.
func TestScannerAgreesOnWeb(t *testing.T) {
	site, err := testweb.New(testweb.Config{Hosts: 4, MedianBytes: 8_000})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for e := range site.URLs(testweb.Plain, testweb.Nofollow, testweb.Decoy) {
		r := site.Get(e.URL)
		if strings.Contains(r.ContentType, "html") {
			agree(t, r.Body, false)
			size += len(r.Body)
		}
	}
	if size < 1_000_000 {
		t.Errorf("only %d bytes of pages", size)
	}
}

// scannerTexts returns the texts of the tests of links, and texts for the states that those do not reach.
func scannerTexts(t testing.TB) [][]byte {
	var texts [][]byte
	for _, group := range [][]linkCase{
		elementCases, tagCases, rawTextCases, baseCases, referenceCases, refreshCases, foreignCases, templateCases,
	} {
		for _, c := range group {
			texts = append(texts, []byte(c.html))
		}
	}
	golden, err := os.ReadFile("testdata/page.html")
	if err != nil {
		t.Fatal(err)
	}
	texts = append(texts, golden)
	for _, s := range stateTexts {
		texts = append(texts, []byte(s))
	}
	for _, c := range standardCases {
		texts = append(texts, []byte(c.html))
	}
	return texts
}

var stateTexts = []string{
	// Comments and other declarations.
	"<!---><a><!----><b><!-----><c><!----!><d><!--!><e>--><f><!---!><g>--><h>",
	"<!--a--!-><i>--!-->--><j><!--a--!!><k>--><l><!-- <!-- --><m><!--<!--><n><!--a--!",
	"<!--a--->x<o><!-- - -- --x> --\r\n><p>---><q>", "<!-<a><!-a-><b><!><c><!a><d>", "<!doctype><a><!DocType html PUBLIC '>' \"x\"><b>",
	"<![CDATA[<a>]]><b><![CDATA[]]]><c><![CDATA[]>]]x]]><d><![cdata[<e>]]>", "<![CDATA[ <a>", "<![CDATA[><a>]]><b>", "</><a></ ><b></1><c><?a?><d></", "<! DOCTYPE a>",
	// Names and attributes.
	"<a/><b /><c / ><d//><e/f/g=/><h i=/ ><j k=''/><l m= /><n o='/'/>", "<a =b =c==d / =e>", "<a b = c d= 'e'f g =\"h\"/i=j\"k'l<m=`>",
	"<a b='c d=\"e\">'><f>", "<a \"b>c\"><d e=f'g>h'>", "<A HREF='X' href=y Href=z><Verylongelementnamewithcapitals aVERYlongattributename=1>",
	"<a\x00b c\x00D=\x00\r\ne='\r\r\n\r'>", "<a Href=x hREF=y Rel=z>", "<a\rb\r=\rc\r\n>", "<\xffa><b\xff \xff=\xff>", "<a href='x'href=y><a href=''>", "<a href\n/=x><b =>",
	"</a b='>'></c d=\"></c>\"/>", "</a/></b >", "<a href=\"&", "<a href=&", "<a b=c", "<a b='c'", "<a b=", "<a b ", "<a ", "<a/", "<a",
	// Character references.
	"<a b='&amp;&amp&amp=&ampx&amp;=&AMP;&Amp;&lt&ltx&lt=&gt;&notit;&notin;&not;&not&not=&notin=&NotEqualTilde;&acE;'>",
	"<a b='&;&=&&&;&#;&#x;&#X;&#xg;&#a;&#1&#x1&#12&#x12 &#128;&#x9F;&#0;&#x110000;&#xD800;&#xDFFF;&#xFFFE;&#9999999999999;&#13;&#x0d;&#10'>",
	"<a b=&CounterClockwiseContourIntegral;&CounterClockwiseContourIntegralx;&CounterClockwiseContourIntegral&semi;&semi&b.&b.;&fjlig;>",
	"<title>&notit;&notin;&ampx&amp=&CounterClockwiseContourIntegral;&CounterClockwiseContourIntegralx;&noti&#38;&#x26amp; &nosuch; &</title>",
	"<textarea>&lt;\r\n\x00&eacute</textarea>", "<xmp>&lt;\r\n\x00</xmp>", "<iframe srcdoc='&lt;'>&lt;</iframe>",
	// Raw text and scripts.
	"<title></titl></titlex></TITLE \n>x<a>", "<title><</title/><a>", "<title></title", "<title></title x='</title>", "<style><!--</style>--><a>",
	"<script></script><a><script/><b></script/><c>", "<script><!--</script><a>", "<script><!--<script></script><a></script><b>",
	"<script><!--<script></script></script><a>", "<script><!--<script>--></script><a>", "<script><!--<script></script x--></script><a>",
	"<script><!--<SCRIPT/</Script\n</SCRIPT><a>", "<script><!--<scriptx></script><a>", "<script><!--<scrip></script><a>", "<script><!--><a></script>",
	"<script><!--><script></script><a>",
	"<script><!---><a></script><b>", "<script><!-<!--x--x><script></script>--></script>", "<script><!--<script>-<script></script>-></script>--></script><a>",
	"<script><!--</scriptx></script><a>", "<script><!--<script></scriptx></script>x</script><a>", "<script><!--<!--<script></script></script><a>",
	"<script><<!--<script></script></script><a>", "<script></<!--<script></script></script><a>", "<plaintext></plaintext><a>", "<PlainText/><a>",
	"<noscript><a></noscript><NOEMBED><a></noembed><noframes><b></NoFrames><noframes/><c></noframes ><iframe/><d></iframe>",
}

// TestStandard checks what the standard says where the tokenizer of golang.org/x/net/html says something else, so that
// no comparison can.
func TestStandard(t *testing.T) {
	for _, tt := range standardCases {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte(tt.html)
			if got := kindsAndNames(scannerMarks(t, text, false)); !slices.Equal(got, tt.want) {
				t.Errorf("%q: the scanner reads %q, want %q", tt.html, got, tt.want)
			}
			if oracle := kindsAndNames(tokenizerMarks(text, false)); slices.Equal(oracle, tt.want) {
				t.Errorf("%q: the tokenizer follows the standard by now; agree needs the exception no more", tt.html)
			}
		})
	}
}

func kindsAndNames(marks []mark) []string {
	var list []string
	for _, m := range marks {
		s := m.kind + " " + m.name
		if m.selfClosing {
			s += " /"
		}
		list = append(list, s)
	}
	return list
}

var standardCases = []struct {
	name, html string
	want       []string
}{
	// "Attribute value (unquoted) state": a slash is part of the value, whatever becomes of the attribute.
	{"slash that ends the value of a duplicate", "<a b=1 b=/>", []string{"start a"}},
	// "Script data escaped less-than sign state": anything else: reconsume in the script data escaped state.
	{"less-than sign in the comment of a script", "<script><!-- < <script></script> --></script><a>",
		[]string{"start script", "raw <!-- < <script></script> -->", "end script", "start a"}},
	{"digit after it", "<script><!--<1<script></script></script></script>",
		[]string{"start script", "raw <!--<1<script></script>", "end script", "end script"}},
}

// TestScannerCopiesNothing checks that the scanner needs no memory: not for ordinary pages, and not for long tokens.
func TestScannerCopiesNothing(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, text := range map[string]string{
		"page":      string(benchPage()),
		"text":      long,
		"comment":   "<!--" + long + "--><a>",
		"doctype":   "<!doctype" + long + "><a>",
		"script":    "<script><!--" + long + "--></script><a>",
		"title":     "<title>" + long + "</title><a>",
		"tag name":  "<A" + long + "><a>",
		"attribute": "<a B" + long + "=" + long + "><a>",
		"value":     "<a href='" + long + "'><a>",
		"cut value": "<a href='" + long,
	} {
		text := []byte(text)
		var p Parser
		allocs := testing.AllocsPerRun(5, func() { scanTags(&p, text) })
		if allocs > 0 || cap(p.element.decoded) > 1024 {
			t.Errorf("%s: %v allocations, %d bytes kept", name, allocs, cap(p.element.decoded))
		}
	}
}

// TestLongTitle checks that only as much of a title is decoded as is kept.
func TestLongTitle(t *testing.T) {
	for _, piece := range []string{"&amp; ", "&#x26;", "\x00", "a", "&a", "&eacute;", "&" + strings.Repeat("a", 1<<18)} {
		var p Parser
		var got Page
		p.HTML(Input{URL: parseURL(t, "http://h/"), Body: []byte("<title>" + strings.Repeat(piece, 1<<20/len(piece)+1))}, &got)
		if len(got.Title) < maxTitle-4 || cap(p.element.decoded) > 8*maxPiece {
			t.Errorf("%.9q: %d bytes of title, %d bytes kept", piece, len(got.Title), cap(p.element.decoded))
		}
	}
}

// scanTags does what scan does, but for what becomes of the tags.
func scanTags(p *Parser, text []byte) {
	p.scanner = scanner{text: text, element: &p.element}
	for f := p.scanner.next(); f != endOfText; f = p.scanner.next() {
		if f == startTag {
			p.scanner.rawText()
		}
	}
}

// benchPage returns a page of 40 KB with 65 links, six of them said twice.
func benchPage() []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A page</title><link rel=stylesheet href=/site.css>" +
		"<script>var x = '<a href=/no>';</script></head><body class='page main'>")
	for i := range 61 {
		fmt.Fprintf(&b, "\n<div class=\"item item-%d\" id=\"i%[1]d\" data-id=\"%[1]d\"><h3 class=title>Item %[1]d</h3><p class=\"text\">", i)
		for range 6 {
			b.WriteString("Some words that stand between the links of a page, <em>as they do</em> on most pages. ")
		}
		switch {
		case i%10 == 0:
			fmt.Fprintf(&b, "<a class=\"more\" href=\"https://example.org/item/%d?page=1&amp;sort=name\">more</a></p></div>", i)
		default:
			fmt.Fprintf(&b, "<a class=\"more\" href=\"/category/item-%d.html\" title=\"Item\">more</a></p></div>", i)
		}
	}
	b.WriteString("<img src=/logo.png alt=logo><a href=../up>up</a>")
	for i := range 6 {
		fmt.Fprintf(&b, "<a href=\"/category/item-%d.html#top\">again</a>", i+1)
	}
	b.WriteString("<iframe src=//other.example/x></iframe></body></html>")
	return b.Bytes()
}
