package canon

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

func mustParse(t testing.TB, s string) URL {
	t.Helper()
	u, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestParse(t *testing.T) {
	const base = "http://a.example/b/c/d;p?q"
	for _, tt := range []struct{ name, base, ref, want string }{
		// RFC 3986, section 5.4, without what the URL standard does otherwise.
		{"RFC 3986", base, "g", "http://a.example/b/c/g"},
		{"RFC 3986", base, "./g", "http://a.example/b/c/g"},
		{"RFC 3986", base, "g/", "http://a.example/b/c/g/"},
		{"RFC 3986", base, "/g", "http://a.example/g"},
		{"RFC 3986", base, "//g", "http://g/"},
		{"RFC 3986", base, "?y", "http://a.example/b/c/d;p?y"},
		{"RFC 3986", base, "g?y", "http://a.example/b/c/g?y"},
		{"RFC 3986", base, "#s", "http://a.example/b/c/d;p?q"},
		{"RFC 3986", base, "g?y#s", "http://a.example/b/c/g?y"},
		{"RFC 3986", base, ";x", "http://a.example/b/c/;x"},
		{"RFC 3986", base, "", "http://a.example/b/c/d;p?q"},
		{"RFC 3986", base, ".", "http://a.example/b/c/"},
		{"RFC 3986", base, "..", "http://a.example/b/"},
		{"RFC 3986", base, "../g", "http://a.example/b/g"},
		{"RFC 3986", base, "../..", "http://a.example/"},
		{"RFC 3986", base, "../../../g", "http://a.example/g"},
		{"RFC 3986", base, "/./g", "http://a.example/g"},
		{"RFC 3986", base, "/../g", "http://a.example/g"},
		{"RFC 3986", base, "g.", "http://a.example/b/c/g."},
		{"RFC 3986", base, "..g", "http://a.example/b/c/..g"},
		{"RFC 3986", base, "./g/.", "http://a.example/b/c/g/"},
		{"RFC 3986", base, "g;x=1/../y", "http://a.example/b/c/y"},
		{"RFC 3986", base, "g?y/./x", "http://a.example/b/c/g?y/./x"},
		{"RFC 3986", base, "g#s/../x", "http://a.example/b/c/g"},
		{"RFC 3986", base, "http:g", "http://a.example/b/c/g"},

		{"url-10", "http://example.com/shop/", "/100%-wool", "http://example.com/100%-wool"},
		{"empty query", base, "?", "http://a.example/b/c/d;p?"},
		{"empty query", base, "?#x", "http://a.example/b/c/d;p?"},
		{"blank reference", base, " \t\r\n", "http://a.example/b/c/d;p?q"},
		{"blanks around", base, "\x00 g \x1f", "http://a.example/b/c/g"},
		{"blanks inside", base, "ht\ntp://b.ex\tample/a\r\n b", "http://b.example/a%20b"},
		{"blank before the fragment", base, "g #s", "http://a.example/b/c/g%20"},
		{"no-break space stays", base, "\u00a0g", "http://a.example/b/c/%C2%A0g"},
		{"scheme in capitals", "", "HTTPS://b.example", "https://b.example/"},
		{"scheme of the base", base, "http:/x", "http://a.example/x"},
		{"scheme of the base", base, "http:?x", "http://a.example/b/c/d;p?x"},
		{"scheme of the base", base, "http:#x", "http://a.example/b/c/d;p?q"},
		{"scheme of the base", base, "http:", "http://a.example/b/c/d;p?q"},
		{"another scheme than the base", base, "https:b.example/x", "https://b.example/x"},
		{"another scheme than the base", base, "https:/b.example/x", "https://b.example/x"},
		{"scheme without slashes", "", "http:b.example", "http://b.example/"},
		{"many slashes", base, "http:////b.example//x", "http://b.example//x"},
		{"many slashes", base, "/////b.example/x", "http://b.example/x"},
		{"scheme relative", "https://a.example/", "//b.example?x", "https://b.example/?x"},
		{"scheme relative", "https://a.example/", "//b.example:443/x", "https://b.example/x"},
		{"scheme relative", "https://a.example/", "//b.example:80/x", "https://b.example:80/x"},
		{"backslashes", base, `\x\y`, "http://a.example/x/y"},
		{"backslashes", base, `\\b.example\x`, "http://b.example/x"},
		{"backslashes", base, `/\b.example`, "http://b.example/"},
		{"backslashes", base, `http:\\b.example\..\x?a\b`, `http://b.example/x?a\b`},
		{"backslashes", base, `..\x`, "http://a.example/b/x"},
		{"colon that is no scheme's", base, "./x:y", "http://a.example/b/c/x:y"},
		{"colon that is no scheme's", base, "1x:y", "http://a.example/b/c/1x:y"},
		{"colon that is no scheme's", base, "x/y:z", "http://a.example/b/c/x/y:z"},

		{"credentials", "", "http://user:pa@ss@b.example/x@y", "http://b.example/x@y"},
		{"credentials", base, "//user:pass@b.example", "http://b.example/"},
		{"credentials", "", "http://@b.example", "http://b.example/"},
		{"credentials in the base", "http://user:pass@b.example/x", "y", "http://b.example/y"},
		{"port", "", "http://b.example:", "http://b.example/"},
		{"port", "", "http://b.example:0080/", "http://b.example/"},
		{"port", "", "http://b.example:008080/", "http://b.example:8080/"},
		{"port", "", "http://b.example:0/", "http://b.example:0/"},
		{"port", "", "http://b.example:65535/", "http://b.example:65535/"},
		{"port", "", "http://b.example:443/", "http://b.example:443/"},
		{"port", "", "https://b.example:443/", "https://b.example/"},

		{"domain in capitals", "", "http://B.EXAMPLE/X", "http://b.example/X"},
		{"domain with a dot at its end", "", "http://b.example./x", "http://b.example./x"},
		{"domain with an underscore", "", "http://a_b.example/", "http://a_b.example/"},
		{"domain with triplets", "", "http://b%2Eexample%2e/", "http://b.example./"},
		{"IDNA", "", "http://BÜCHER.example/", "http://xn--bcher-kva.example/"},
		{"IDNA", "", "http://bu\u0308cher.example/", "http://xn--bcher-kva.example/"},
		{"IDNA", "", "http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"},
		{"IDNA", "", "http://faß.example/", "http://xn--fa-hia.example/"},
		{"IDNA", "", "http://FAẞ.example/", "http://xn--fa-hia.example/"},
		{"IDNA", "", "http://ｂ．ｅｘａｍｐｌｅ/", "http://b.example/"},
		{"IDNA", "", "http://日本語。jp/", "http://xn--wgv71a119e.jp/"},
		{"IDNA", "", "http://b\u00ad.example/", "http://b.example/"},
		{"IDNA", "", "http://☃.example/", "http://xn--n3h.example/"},
		{"IDNA", "", "http://r3---sn-x.example/", "http://r3---sn-x.example/"},
		{"IDNA", "", "http://xn--Bcher-KVA.example/", "http://xn--bcher-kva.example/"},
		{"IDNA", "", "http://xn--nonsense-zz.example/", "http://xn--nonsense-zz.example/"},
		{"IPv4", "", "http://0x7f.1/", "http://127.0.0.1/"},
		{"IPv4", "", "http://2130706433/", "http://127.0.0.1/"},
		{"IPv4", "", "http://0177.0.0.01/", "http://127.0.0.1/"},
		{"IPv4", "", "http://0X7F000001./", "http://127.0.0.1/"},
		{"IPv4", "", "http://１２７.0.0.1/", "http://127.0.0.1/"},
		{"IPv4", "", "http://%31%32%37.1/", "http://127.0.0.1/"},
		{"IPv4", "", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/"},
		{"no IPv4", "", "http://1.2.3.4.example/", "http://1.2.3.4.example/"},
		{"no IPv4", "", "http://0x7g/", "http://0x7g/"},
		{"no IPv4", "", "http://1.2.3.4../", "http://1.2.3.4../"},
		{"IPv6", "", "http://[2001:DB8:0:0:0:0:0:1]:80/", "http://[2001:db8::1]/"},
		{"IPv6", "", "http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"},
		{"IPv6", "", "http://[64:ff9b::1.2.3.4]/", "http://[64:ff9b::102:304]/"},
		{"IPv6", "", "http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"},
		{"IPv6", "", "http://[1:0:2:3:4:5:6:7]:8443", "http://[1:0:2:3:4:5:6:7]:8443/"},
		{"IPv6", "", "http://[::]/", "http://[::]/"},

		{"dots", base, "/x/%2e/y/.%2E/z/%2e.", "http://a.example/x/"},
		{"dots", base, "/x//../y", "http://a.example/x/y"},
		{"dots", base, "/x/.../y", "http://a.example/x/.../y"},
		{"dots", base, "/.well-known/x", "http://a.example/.well-known/x"},
		{"dots", base, "/..x/.y./", "http://a.example/..x/.y./"},
		{"dots", base, "/x/%252e%252e/y", "http://a.example/x/%252e%252e/y"},
		{"dots", base, "/..", "http://a.example/"},
		{"dots", base, "../?x", "http://a.example/b/?x"},
		{"dots", base, "..?x", "http://a.example/b/?x"},
		{"dots", base, "?x/../y", "http://a.example/b/c/d;p?x/../y"},
		{"path", base, "/ \"<>^`{}|[]'~", "http://a.example/%20%22%3C%3E%5E%60%7B%7D|[]'~"},
		{"query", base, "? \"<>'^`{}|[]\\~", "http://a.example/b/c/d;p?%20%22%3C%3E%27^`{}|[]\\~"},
		{"control characters", base, "/\x01\x7f?\x02\x7f", "http://a.example/%01%7F?%02%7F"},
		{"percent signs", base, "/%?%", "http://a.example/%?%"},
		{"percent signs", base, "/%%37%45/%u0041/%zz/%2", "http://a.example/%%37%45/%u0041/%zz/%2"},
		{"case of triplets", base, "/%e2%9C%93%7E", "http://a.example/%e2%9C%93%7E"},
		{"UTF-8", base, "/é?é#é", "http://a.example/%C3%A9?%C3%A9"},
		{"Latin-1", base, "/caf\xe9?q=\xe9", "http://a.example/caf%E9?q=%E9"},
		{"bytes that are no UTF-8", base, "/\xff\xc3\xed\xa0\x80", "http://a.example/%FF%C3%ED%A0%80"},
		{"U+FFFD", base, "/\ufffd", "http://a.example/%EF%BF%BD"},
		{"#!", "http://a.example/x#!/y", "z#!/y", "http://a.example/z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base := URL{}
			if tt.base != "" {
				base = mustParse(t, tt.base)
			}
			u, err := (*Rules)(nil).Parse(base, tt.ref)
			if err != nil || u.String() != tt.want {
				t.Fatalf("%q on %q: got %q, %v, want %q", tt.ref, tt.base, u, err, tt.want)
			}
			checkURL(t, u)
			checkKey(t, u)
		})
	}
}

func TestParseErrors(t *testing.T) {
	const onHTTP = "http://a.example/"
	for _, tt := range []struct {
		base, ref string
		want      Error
	}{
		{onHTTP, "mailto:a@b.example", Error{"mailto:a@b.example", UnsupportedScheme, "mailto"}},
		{onHTTP, "JavaScript:void(0)", Error{"JavaScript:void(0)", UnsupportedScheme, "javascript"}},
		{onHTTP, " java\nscript:x", Error{" java\nscript:x", UnsupportedScheme, "javascript"}},
		{onHTTP, "data:,x", Error{"data:,x", UnsupportedScheme, "data"}},
		{onHTTP, "ftp://u:p@b.example/", Error{"ftp://b.example/", UnsupportedScheme, "ftp"}},
		{onHTTP, "file:///x", Error{"file:///x", UnsupportedScheme, "file"}},
		{onHTTP, "b.example:80/x", Error{"b.example:80/x", UnsupportedScheme, "b.example"}},
		{onHTTP, "httpx://b.example", Error{"httpx://b.example", UnsupportedScheme, "httpx"}},
		{"", "b.example/x", Error{"b.example/x", Malformed, "no scheme, and no base URL to resolve it against"}},
		{"", "", Error{"", Malformed, "no scheme, and no base URL to resolve it against"}},
		{"", "http:", Error{"http:", Malformed, "no host"}},
		{"", "http://", Error{"http://", Malformed, "no host"}},
		{onHTTP, "//", Error{"//", Malformed, "no host"}},
		{onHTTP, `/\/`, Error{`/\/`, Malformed, "no host"}},
		{onHTTP, "https:?x", Error{"https:?x", Malformed, "no host"}},
		{"", "http://:80/", Error{"http://:80/", Malformed, "no host"}},
		{"", "http://u:p@/x", Error{"http:///x", Malformed, "no host"}},
		{"", "http://b.example:8x/", Error{"http://b.example:8x/", Malformed, "port is not a number"}},
		{"", "http://b.example:-1/", Error{"http://b.example:-1/", Malformed, "port is not a number"}},
		{"", "http://b.example:80:80/", Error{"http://b.example:80:80/", Malformed, "port is not a number"}},
		{"", "http://b.example:65536/", Error{"http://b.example:65536/", Malformed, "port is over 65535"}},
		{"", "http://a b/", Error{"http://a b/", Malformed, "host contains ' '"}},
		{"", "http://a%00b/", Error{"http://a%00b/", Malformed, `host contains '\x00'`}},
		{"", "http://a%2Fb/", Error{"http://a%2Fb/", Malformed, "host contains '/'"}},
		{"", "http://a%zz/", Error{"http://a%zz/", Malformed, "host contains '%'"}},
		{"", "http://b%C3.example/", Error{"http://b%C3.example/", Malformed, "host is not UTF-8"}},
		{"", "http://b\xfccher.example/", Error{"http://b\xfccher.example/", Malformed, "host is not UTF-8"}},
		{"", "http://\u00ad/", Error{"http://\u00ad/", Malformed, "host holds only characters that do not count"}},
		{"", "http://a\ufffd/", Error{"http://a\ufffd/", Malformed, "host is no domain name: disallowed rune U+FFFD"}},
		{"", "http://" + strings.Repeat("é", 600), Error{"http://" + strings.Repeat("é", 600), Malformed,
			"host is too long for a domain name"}},
		{"", "http://1.2.3.4.5/", Error{"http://1.2.3.4.5/", Malformed, "IPv4 address has more than four numbers"}},
		{"", "http://1.2.3.256/", Error{"http://1.2.3.256/", Malformed, "number in IPv4 address is too large"}},
		{"", "http://99999999999/", Error{"http://99999999999/", Malformed, "number in IPv4 address is too large"}},
		{"", "http://b.example.09/", Error{"http://b.example.09/", Malformed,
			"host ends in a number and is no IPv4 address"}},
		{"", "http://[::1/", Error{"http://[::1/", Malformed, "bracket is not closed"}},
		{"", "http://[::1]x/", Error{"http://[::1]x/", Malformed, "bracket is not closed"}},
		{"", "http://[1.2.3.4]/", Error{"http://[1.2.3.4]/", Malformed, "brackets hold no IPv6 address"}},
		{"", "http://[fe80::1%25eth0]/", Error{"http://[fe80::1%25eth0]/", Malformed, "brackets hold no IPv6 address"}},
		{"", "http://[::1%eth0]/", Error{"http://[::1%eth0]/", Malformed, "brackets hold no IPv6 address"}},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			base, _ := Parse(tt.base)
			u, err := (*Rules)(nil).Parse(base, tt.ref)
			e, ok := errors.AsType[*Error](err)
			if !ok || *e != tt.want || !u.IsZero() {
				t.Errorf("got %q, %#v, want %#v", u, err, tt.want)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	for _, tt := range []struct{ ref, want string }{
		{"mailto:x", `parse URL "mailto:x": unsupported scheme: mailto`},
		{"http://u:p@a b", `parse URL "http://a b": malformed: host contains ' '`},
		{strings.Repeat("é", 1000), `parse URL "` + strings.Repeat("é", 100) +
			`...": malformed: no scheme, and no base URL to resolve it against`},
		{"x" + strings.Repeat("é", 1000), `parse URL "x` + strings.Repeat("é", 99) +
			`...": malformed: no scheme, and no base URL to resolve it against`},
	} {
		if _, err := Parse(tt.ref); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

// TestPasswordsAreNotShown writes credentials in each way that the parser would find them.
func TestPasswordsAreNotShown(t *testing.T) {
	base := mustParse(t, "http://a.example/")
	for _, ref := range []string{
		"http://me:secret@a b/", "http:me:secret@a b/", "http:/me:secret@a b/", `http:\\me:secret@a b\`,
		"http://me:sec\tret@a b/", "ht\ntp://me:secret@a b/", " http://me:secret@a b/", "//me:secret@a b/",
		`/\me:secret@a b`, "////me:secret@a b", "https:me:secret@a b/x@y", "http://me:sec@ret@a b/",
		"http://me:secret@", "ftp://me:secret@a.example/", "sftp:me:secret@a.example", "me:secret@a.example/x",
	} {
		for _, base := range []URL{{}, base} {
			_, err := (*Rules)(nil).Parse(base, ref)
			if err == nil && strings.HasPrefix(ref, "http:") {
				continue // "http:me:secret@a b/" is a path on a base of the scheme
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || strings.Contains(e.In+e.Detail, "sec") || strings.Contains(e.In+e.Detail, "ret") {
				t.Errorf("%q on %q: %v", ref, base, err)
			}
		}
	}
}

func TestLongReferences(t *testing.T) {
	base := mustParse(t, "http://a.example/")
	long := strings.Repeat("a", 40_000)
	up := strings.Repeat("../", 40_000)
	down := strings.Repeat("a/", 20_000)
	for _, tt := range []struct{ ref, want string }{
		{"/" + long, "/" + long},
		{"/?" + long, "/?" + long},
		{long + "#" + long, "/" + long},
		{down + up + "x", "/x"},
		{strings.Repeat("é", 20_000), "/" + strings.Repeat("%C3%A9", 20_000)},
	} {
		u, err := (*Rules)(nil).Parse(base, tt.ref)
		if err != nil || u.Target() != tt.want {
			t.Errorf("a reference of %d bytes: got %d bytes, %v, want %d", len(tt.ref), len(u.Target()), err, len(tt.want))
		}
	}
}

// TestParseSharesNoMemory overwrites references after parsing: pages are parsed in buffers that are used again.
func TestParseSharesNoMemory(t *testing.T) {
	base := mustParse(t, "http://a.example/b?|")
	for _, ref := range append(refs, "http://a b", "ftp://a@b", "http://u@", "gopher:x", "a@b") {
		for _, base := range []URL{{}, base} {
			buf := []byte(ref)
			u, err := (*Rules)(nil).Parse(base, unsafe.String(unsafe.SliceData(buf), len(buf)))
			was := []string{u.String(), u.Key()}
			e, failed := errors.AsType[*Error](err)
			if failed {
				was = []string{e.In, e.Detail}
			}
			for i := range was {
				was[i] = strings.Clone(was[i])
			}
			clear(buf)
			if failed && (e.In != was[0] || e.Detail != was[1]) || !failed && (u.String() != was[0] || u.Key() != was[1]) {
				t.Errorf("%q on %q: memory is shared: %q, %v", ref, base, u, err)
			}
		}
	}
}

func TestKeep(t *testing.T) {
	for _, s := range refs {
		want, wantErr := Parse(s)
		got, err := Keep(s)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%q: kept as %q, %v; parsed as %q, %v", s, got, err, want, wantErr)
		}
	}
	whole := mustParse(t, "https://www.example.org/wiki/%D0%97?a=b").String()
	if n := testing.AllocsPerRun(100, func() { Keep(whole) }); n != 0 {
		t.Errorf("%v allocations for a URL that is as it should be", n)
	}
}

func TestParseAllocates(t *testing.T) {
	base := mustParse(t, "https://www.example.com/shop/women/index.html?page=2")
	for _, tt := range []struct {
		ref  string
		want float64
	}{
		{"/shop/men.html?color=blue", 1},
		{"running/shoes.html#top", 1},
		{"?page=3", 1},
		{"//www.example.org/", 1},
		{"https://www.example.org/wiki/%D0%97", 1},
		{"#top", 0},
		{"", 0},
	} {
		got := testing.AllocsPerRun(100, func() { (*Rules)(nil).Parse(base, tt.ref) })
		if got != tt.want {
			t.Errorf("%q: %v allocations, want %v", tt.ref, got, tt.want)
		}
	}
}

// TestFastPathAgrees joins pieces that meet in references, and holds the fast path against the full parser.
func TestFastPathAgrees(t *testing.T) {
	pieces := []string{
		"http:", "https:", "HTTP:", "mailto:", "/", "/", "/", "//", `\`, "?", "?", "#", ".", "..", "%2e", "%2E", "%", "%2F",
		"../", "../", "./", "%2f", "%C3%A9", "%41", "%7e", "|", "[", "]", "'", "&", "=", "+", ";", "@", ":", ":80", ":443", ":8080", ":080",
		":65536", "a.example", "A.example", "a", "b", "index", ".html", "1", "127.0.0.1", "0x7f", "1.example", "xn--a",
		"é", "\xe9", " ", "\t", "\x00", "~", "^", "{",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range rng.IntN(9) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	taken := 0
	for range 100_000 {
		base, _ := Parse("http://a.example/" + text())
		ref := text()
		clean, ok := parseClean(base, ref)
		if !ok {
			continue
		}
		taken++
		if full, err := parseFull(base, ref, nil); err != nil || clean != full {
			t.Fatalf("%q on %q: fast path %q key %q, full parser %q key %q, %v", ref, base, clean, clean.Key(), full, full.Key(), err)
		}
	}
	if taken < 10_000 {
		t.Errorf("the fast path took %d references of 100,000: too few to tell", taken)
	}
}

// bases and refs are what the fuzzers start from.
var (
	bases = []string{
		"", "http://a.example/b/c/d;p?q", "https://a.example/dir/", "https://a.example:8443/x//y/%2e%2e/z?|",
		"http://[2001:db8::1]/p|q/r?a=b?c", "http://a.example/%d0%b0/b?", "http://a.example/b%",
	}
	refs = []string{
		"", "#", "#a b", "?", "?#", "?q", "?a=b&c=d", "??", "? ", "/", "//", "///", "/x", "/x?y#z", "x", "x?", "x?#", "x/y", ":x",
		"x:y", "./", "../", ".", "..", "./x", "../x", ".x", "/.x/..y", "/x/./y/../z", "/%2e%2E/", `\x`, `\\b.example`, "//b.example",
		"//b.example:8080/x", "//b.example:443", "http:x", "http:/x", "http://b.example", "https://b.example/x?y#z", "HTTP://B.EXAMPLE",
		"http://user:pass@b.example:80/", "http://127.1", "http://0x7f.1/", "http://[::1]:81/", "http://bücher.example/", "/é?é",
		"/\xe9?\xe9", "/%41%7e%2f%2F%zz%", "/%%37%45", "/%u0041", "/a|b^c[d]e{f}", "?a|b^c[d]e{f}'\\", "/'", "/a+b%2Bc%20d", "/ж?ж★",
		"mailto:a@b.example", "javascript:x", "\thttp://b.ex\nample/ ", "/x%2E", "/x%2e/", "/x/%2E%2E%2E", "b%3Fc?d%3fe",
	}
)
