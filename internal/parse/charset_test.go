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
		{"UTF-8 mark over the header", "text/html; charset=koi8-r", "\xef\xbb\xbf<title>ü</title>", "utf-8", "ü"},
		{"UTF-8 mark over an element", "text/html", "\xef\xbb\xbf<meta charset=koi8-r><title>ü</title>", "utf-8", "ü"},
		{"a mark behind a blank is none", "text/html; charset=utf-8", " \xef\xbb\xbf<title>x</title>", "utf-8", "x"},
		{"quoted label", `text/html; charset="koi8-r"`, "<title>\xc1</title>", "koi8-r", "а"},
		{"label in capitals, blanks around it", "TEXT/HTML ; CharSet = KOI8-R ", "<meta charset=koi8-r><title>\xc1</title>", "koi8-r", "а"},
		{"two labels", "text/html; charset=koi8-r; charset=utf-8", "<title>\xc1</title>", "koi8-r", "а"},
		{"label without a type", "charset=koi8-r", "<meta charset=windows-1251><title>\xe0</title>", "windows-1251", "а"},
		{"label and semicolons", "text/html;;charset=koi8-r;", "<title>\xc1</title>", "koi8-r", "а"},
		{"pragma in capitals", "text/html", "<META HTTP-EQUIV='Content-Type' CONTENT='TEXT/HTML; CHARSET=KOI8-R'><title>\xc1</title>", "koi8-r", "а"},
		{"pragma, quoted in it", "text/html", `<meta http-equiv=content-type content='charset="koi8-r"'><title>` + "\xc1</title>", "koi8-r", "а"},
		{"pragma, content first", "text/html", "<meta content='text/html;charset=koi8-r' http-equiv=Content-Type><title>\xc1</title>", "koi8-r", "а"},
		{"pragma without a value", "text/html", "<meta http-equiv=content-type content='charset'><meta charset=koi8-r><title>\xc1</title>", "koi8-r", "а"},
		{"pragma of another name", "text/html", "<meta http-equiv=refresh content='charset=koi8-r'><meta charset=windows-1251><title>\xe0</title>", "windows-1251", "а"},
		{"first element wins", "text/html", "<meta charset=koi8-r><meta charset=windows-1251><title>\xc1</title>", "koi8-r", "а"},
		{"element in a comment", "text/html", "<!-- <meta charset=koi8-r> --><meta charset=windows-1251><title>\xe0</title>", "windows-1251", "а"},
		{"element in an attribute", "text/html", "<a title='<meta charset=koi8-r>'><meta charset=windows-1251><title>\xe0</title>", "windows-1251", "а"},
		{"element across the first 1,024 bytes", "text/html", strings.Repeat(" ", prescanBytes-8) + "<meta charset=koi8-r><title>\xc1</title>", "koi8-r", "а"},
		{"late UTF-16", "text/html", "<title>\xc3\xbc</title>" + far + "<meta charset=utf-16be>", "utf-8", "ü"},
		{"late element after a guess", "text/html", "<title>\xcf\xf0\xe8\xe2\xe5\xf2</title>" + far + "<meta charset=koi8-r>", "koi8-r", "оПХБЕР"},
		{"late element in a comment", "text/html", "<title>\xfc</title>" + far + "<!--<meta charset=koi8-r>-->", "windows-1252", "ü"},
		{"XML declaration in single quotes, after a blank", "text/html", " <?xml version='1.0' encoding='koi8-r'?><title>\xfc</title>", "windows-1252", "ü"},
		{"XML declaration of UTF-16", "application/xhtml+xml", "<?xml version='1.0' encoding='utf-16'?><title>ü</title>", "utf-8", "ü"},
		{"XHTML, header over the declaration", "application/xhtml+xml; charset=koi8-r", "<?xml version='1.0' encoding='utf-8'?><title>\xc1</title>", "koi8-r", "а"},
		{"XHTML in UTF-16 without a mark", "application/xhtml+xml", "<\x00?\x00x\x00m\x00l\x00?\x00>\x00<\x00t\x00i\x00t\x00l\x00e\x00>\x00\xac\x20", "utf-16le", "€"},
		{"x-user-defined in the header", "text/html; charset=x-user-defined", "<title>\x80</title>", "x-user-defined", "\uf780"},
		{"ISO-2022-KR", "text/html; charset=iso-2022-kr", "<title>x</title>", "replacement", ""},
		{"ISO-2022-JP, not said", "text/html", "<title>\x1b$BF|K\\\x1b(B</title>", "iso-2022-jp", "日本"},
		{"an escape and no Japanese", "text/html", "<title>\x1b$B</title>", "windows-1252", "\x1b$B"},
		{"latin-1 is windows-1252", "text/html; charset=latin1", "<title>\x93x\x94</title>", "windows-1252", "“x”"},
		{"ASCII is windows-1252", "text/html; charset=us-ascii", "<title>\xfc</title>", "windows-1252", "ü"},
		{"GB 2312 is GBK", "text/html; charset=gb2312", "<title>\x80\xd6\xec\xe9F</title>", "gbk", "€朱镕"},
		{"windows-949 is EUC-KR", "text/html; charset=ks_c_5601-1987", "<title>\x8c\x63</title>", "euc-kr", "똠"},
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

// TestLabels holds every label of the Encoding standard against the encoding that it names there, in any case and with
// blanks around it.
func TestLabels(t *testing.T) {
	for want, labels := range map[string]string{
		"utf-8":          "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
		"ibm866":         "866 cp866 csibm866 ibm866",
		"iso-8859-2":     "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
		"iso-8859-3":     "csisolatin3 iso-8859-3 l3 latin3",
		"iso-8859-4":     "l4 latin4",
		"iso-8859-5":     "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
		"iso-8859-6":     "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127",
		"iso-8859-7":     "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 sun_eu_greek",
		"iso-8859-8":     "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e visual",
		"iso-8859-8-i":   "csiso88598i iso-8859-8-i logical",
		"iso-8859-10":    "l6 latin6 iso-ir-157",
		"iso-8859-13":    "iso-8859-13 iso8859-13",
		"iso-8859-14":    "iso-8859-14",
		"iso-8859-15":    "csisolatin9 iso-8859-15 l9",
		"iso-8859-16":    "iso-8859-16",
		"koi8-r":         "cskoi8r koi koi8 koi8-r koi8_r",
		"koi8-u":         "koi8-ru koi8-u",
		"macintosh":      "csmacintosh mac macintosh x-mac-roman",
		"windows-874":    "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
		"windows-1250":   "cp1250 windows-1250 x-cp1250",
		"windows-1251":   "cp1251 x-cp1251",
		"windows-1252":   "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
		"windows-1253":   "cp1253",
		"windows-1254":   "cp1254 csisolatin5 iso-8859-9 iso-ir-148 l5 latin5 windows-1254",
		"windows-1255":   "cp1255",
		"windows-1256":   "cp1256",
		"windows-1257":   "cp1257",
		"windows-1258":   "cp1258",
		"x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
		"gbk":            "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
		"gb18030":        "gb18030",
		"big5":           "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
		"euc-jp":         "cseucpkdfmtjapanese euc-jp x-euc-jp",
		"iso-2022-jp":    "csiso2022jp iso-2022-jp", "shift_jis": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
		"euc-kr":         "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
		"replacement":    "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement",
		"utf-16be":       "unicodefffe utf-16be",
		"utf-16le":       "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
		"x-user-defined": "x-user-defined",
	} {
		for label := range strings.FieldsSeq(labels) {
			for _, written := range []string{label, " \t" + strings.ToUpper(label) + "\f\r\n"} {
				if got := lookup(written).name; got != want {
					t.Errorf("%q: %q, want %s", written, got, want)
				}
			}
		}
	}
	for _, label := range []string{"", "utf-7", "utf-32", "x", "latin 1", "utf 8", "iso-8859-12"} {
		if got := lookup(label).name; got != "" {
			t.Errorf("%q names %s", label, got)
		}
	}
}
