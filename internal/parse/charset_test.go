package parse

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestEncodingConformance runs the html5lib tests of the encoding: each names what a browser reads the whole page as.
// Left out are scripted/, which needs scripts to run, and chardet/, which needs an encoding guessed from letter
// frequencies.
func TestEncodingConformance(t *testing.T) {
	for _, name := range []string{"tests1.dat", "tests2.dat", "test-yahoo-jp.dat"} {
		data, err := os.ReadFile(conformance(t, "html5lib/encoding/"+name))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for test := range bytes.SplitSeq(data, []byte("#data\n")) {
			body, label, ok := bytes.Cut(test, []byte("\n#encoding\n"))
			if !ok {
				continue
			}
			n++
			want := lookup(strings.TrimSpace(string(label))).name
			if got := page(t, "http://example.com/", "", body).Charset; got != want {
				t.Errorf("%s, test %d: charset %q, want %q\n%q", name, n, got, want, body)
			}
		}
		if n == 0 {
			t.Errorf("%s: no tests", name)
		}
	}
}

func TestCharset(t *testing.T) {
	far := strings.Repeat(" ", 2*prescanBytes)
	for _, tt := range []struct {
		name, contentType, body string
		charset, title          string
	}{
		{"nothing said, ASCII", "text/html", "<title>x</title>", "windows-1252", "x"},
		{"nothing said, UTF-8", "text/html", "<title>ü</title>", "utf-8", "ü"},
		{"nothing said, UTF-8 late", "text/html", far + "<title>ü</title>", "utf-8", "ü"},
		{"nothing said, UTF-8 cut off", "text/html", "<title>ü</title>\xe2\x82", "utf-8", "ü"},
		{"nothing said, no UTF-8", "text/html", "<title>\xfc\x80</title>", "windows-1252", "ü€"},
		{"header", "text/html; charset=koi8-r", "<title>\xc1</title><meta charset=utf-8>", "koi8-r", "а"},
		{"unknown header", "text/html; charset=x", "<meta charset=koi8-r><title>\xc1</title>", "koi8-r", "а"},
		{"label", "text/html; charset=ISO-8859-1", "<title>\x80</title>", "windows-1252", "€"},
		{"UTF-8 label of what is none", "text/html; charset=utf-8", "<title>\xfc\xe2\x82x</title>", "utf-8", "\ufffd\ufffdx"},
		{"UTF-16 mark", "text/html; charset=utf-8", "\xfe\xff\x00<\x00t\x00i\x00t\x00l\x00e\x00>\x20\xac", "utf-16be", "€"},
		{"UTF-16 little-endian mark", "text/html", "\xff\xfe<\x00t\x00i\x00t\x00l\x00e\x00>\x00\xac\x20", "utf-16le", "€"},
		{"UTF-16 in the header", "text/html; charset=utf-16", "<\x00t\x00i\x00t\x00l\x00e\x00>\x00\xac\x20", "utf-16le", "€"},
		{"UTF-16 in a meta element", "text/html", "<meta charset=utf-16><title>ü</title>", "utf-8", "ü"},
		{"late meta", "text/html", "<title>\xc1</title>" + far + "<meta charset=koi8-r>", "koi8-r", "а"},
		{"late pragma", "text/html", "<title>\xc1</title>" + far + "<meta http-equiv=content-type content='text/html; charset=koi8-r'>", "koi8-r", "а"},
		{"late content without pragma", "text/html", "<title>\xc1</title>" + far + "<meta content='text/html; charset=koi8-r'>", "windows-1252", "Á"},
		{"late meta in a script", "text/html", "<title>\xc1</title>" + far + "<script>'<meta charset=koi8-r>'</script>", "windows-1252", "Á"},
		{"late unknown meta", "text/html", "<title>\xc1</title>" + far + "<meta charset=x><meta charset=koi8-r><meta charset=utf-8>", "koi8-r", "а"},
		{"prescan finds it in a script", "text/html", "<script>'<meta charset=koi8-r>'</script><title>\xc1</title>", "koi8-r", "а"},
		{"the element has the last word", "text/html", "<script>'<meta charset=koi8-r>'</script><meta charset=windows-1251><title>\xe0</title>", "windows-1251", "а"},
		{"x-user-defined", "text/html", "<meta charset=x-user-defined><title>\x80</title>", "windows-1252", "€"},
		{"ISO-2022-JP", "text/html; charset=iso-2022-jp", "<title>\x1b$BF|\x1b(B</title>", "iso-2022-jp", "日"},
		{"replacement", "text/html; charset=hz-gb-2312", "<title>x</title><a href=y>", "replacement", ""},
		{"XML declaration", "text/html", "<?xml version='1.0' encoding = \"koi8-r\"?><title>\xc1</title>", "koi8-r", "а"},
		{"XHTML", "application/xhtml+xml", "<html><title>ü</title><meta charset='koi8-r'/></html>", "utf-8", "ü"},
		{"XHTML with a declaration", "application/xhtml+xml", "<?xml version='1.0' encoding='koi8-r'?><title>\xc1</title>", "koi8-r", "а"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := page(t, "http://h/", tt.contentType, []byte(tt.body))
			if p.Charset != tt.charset || p.Title != tt.title {
				t.Errorf("charset %q, title %q; want %q, %q", p.Charset, p.Title, tt.charset, tt.title)
			}
		})
	}
}

// TestQueryEncoding checks that queries, and only they, are written in the page's encoding.
func TestQueryEncoding(t *testing.T) {
	for _, tt := range []struct{ charset, href, want string }{
		{"utf-8", "/ä?ä", "/%C3%A4?%C3%A4"},
		{"windows-1252", "/\xe4?\xe4\x80", "/%C3%A4?%E4%80"},
		{"windows-1252", "/&#1103;?a&#1103;b", "/%D1%8F?a%26%231103%3Bb"},
		{"gb2312", "/\xbc\xd2?\xbc\xd2&euro;", "/%E5%AE%B6?%BC%D2%80"},
		{"gb18030", "/?\xbc\xd2&#x1F600;", "/?%BC%D2%949%FC6"},
		{"shift_jis", "/?\x93\xfa", "/?%93%FA"},
		{"iso-2022-jp", "/?\x1b$BF|\x1b(B", "/?%1B$BF|%1B(B"},
		{"utf-16le", "", ""},
		{"replacement", "", ""},
	} {
		if tt.href == "" {
			if lookup(tt.charset).encoder() != nil {
				t.Errorf("%s is written as such", tt.charset)
			}
			continue
		}
		p := page(t, "http://h/", "text/html; charset="+tt.charset, []byte(`<a href="`+tt.href+`">`))
		if got := p.Links[0].URL.Target(); got != tt.want {
			t.Errorf("%s: %q gives %s, want %s", tt.charset, tt.href, got, tt.want)
		}
	}
}

func TestXHTML(t *testing.T) {
	p := page(t, "http://h/", "application/xhtml+xml", []byte(`<?xml version="1.0"?><![CDATA[><a href="no">]]><html><head><title/>x<script src="s"/><style/><template/></head>
		<body><a href="1"/><textarea/><iframe src="i"/><a href="2"/><![CDATA[><a href="no">]]><svg></svg><![CDATA[><a href="no">]]></body></html>`))
	want := []string{"http://h/1", "http://h/2", "http://h/i", "http://h/s"}
	if got := linksOf(p); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("links %q, want %q", got, want)
	}
	if p.Title != "" {
		t.Errorf("title %q", p.Title)
	}
}
