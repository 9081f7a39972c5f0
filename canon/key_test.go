package canon

import "testing"

func TestKey(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		same     []string // have the key of in
		others   []string // have other keys
	}{
		{"url-01", "http://example.com/a%2fb/c%3fd",
			[]string{"http://example.com/a%2Fb/c%3Fd"},
			[]string{"http://example.com/a/b/c?d", "http://example.com/a/b/c%3Fd", "http://example.com/a%2Fb/c?d"}},
		{"url-02", "http://example.com/p%2D1/%7Eann/p%2d2/?q=f",
			[]string{"http://example.com/p-1/~ann/p-2/?q=f"},
			[]string{"http://example.com/p-1/~ann/p-2/"}},
		{"url-03", "http://example.com/item%20%237#top",
			[]string{"http://example.com/item%20%237", "http://example.com/item %237"},
			[]string{"http://example.com/item%20", "http://example.com/item%20#7"}},
		{"url-04", "http://example.com/calc?q=1%2B1",
			[]string{"http://example.com/calc?q=1%2b1"},
			[]string{"http://example.com/calc?q=1+1", "http://example.com/calc?q=1%201"}},
		{"url-05", "HTTP://EXAMPLE.com/Docs/A?Key=V",
			[]string{"http://example.com/Docs/A?Key=V"},
			[]string{"http://example.com/docs/a?Key=V", "http://example.com/Docs/A?key=v"}},
		{"url-06", "http://example.com:80",
			[]string{"http://example.com/", "http://example.com:/", "http://example.com"},
			[]string{"http://example.com:8080/", "http://example.com:443/", "https://example.com/"}},
		{"url-07", "http://example.com/./a/b/.././c/%2e%2E/d",
			[]string{"http://example.com/a/d"},
			[]string{"http://example.com/a/c/d", "http://example.com/a/b/c/d"}},
		{"url-08", "http://example.com/a//b",
			[]string{"http://example.com/a//b"},
			[]string{"http://example.com/a/b"}},
		{"url-09", `http://example.com\docs\x`,
			[]string{"http://example.com/docs/x"},
			[]string{"http://example.com/%5Cdocs%5Cx"}},
		{"url-11", "http://BÜCHER.example/straße?q=é",
			[]string{"http://xn--bcher-kva.example/stra%C3%9Fe?q=%C3%A9", "http://bücher.example/stra%c3%9fe?q=é"},
			[]string{"http://bucher.example/strasse?q=e"}},
		{"url-13", "http://example.com/lesson study?q=a b",
			[]string{"http://example.com/lesson%20study?q=a%20b"},
			[]string{"http://example.com/lesson+study?q=a+b", "http://example.com/lessonstudy?q=ab"}},

		{"lone percent signs", "http://a.example/100%-wool?%",
			[]string{"http://a.example/100%25-wool?%25"},
			[]string{"http://a.example/100-wool?%", "http://a.example/100%2525-wool?%"}},
		{"triplets in pieces", "http://a.example/%%37%45",
			[]string{"http://a.example/%257E", "http://a.example/%25%37E"},
			[]string{"http://a.example/~", "http://a.example/%7E"}},
		{"triplets of triplets", "http://a.example/%252e%252E/",
			[]string{"http://a.example/%25%32e%252%45/"},
			[]string{"http://a.example/", "http://a.example/%2e%2E/", "http://a.example/%252e%252e/"}},
		{"%u escapes", "http://a.example/%u0041",
			[]string{"http://a.example/%25u0041"},
			[]string{"http://a.example/A", "http://a.example/u0041"}},
		{"not allowed in a path", "http://a.example/a|[b]^{c}`\"<>",
			[]string{"http://a.example/a%7C%5Bb%5D%5E%7Bc%7D%60%22%3C%3E"},
			[]string{"http://a.example/abc"}},
		{"not allowed in a query", "http://a.example/?a|[b]^{c}`\"<>\\",
			[]string{"http://a.example/?a%7c%5bb%5d%5e%7bc%7d%60%22%3c%3e%5c"},
			[]string{"http://a.example/?a|[b]^{c}`\"<>/"}},
		{"apostrophe in a query", "http://a.example/?it's", // the request has the triplet in both
			[]string{"http://a.example/?it%27s"},
			[]string{"http://a.example/?its"}},
		{"apostrophe in a path", "http://a.example/it's",
			nil,
			[]string{"http://a.example/it%27s"}},
		{"reserved characters", "http://a.example/!$&'()*+,;=:@",
			nil,
			[]string{"http://a.example/%21$&'()*+,;=:@", "http://a.example/!$%26'()*+,;=:@", "http://a.example/!$&'()*%2B,;=:@",
				"http://a.example/!$&'()*+,%3B=:@", "http://a.example/!$&'()*+,;=%3A@", "http://a.example/!$&'()*+,;=:%40"}},
		{"empty query", "http://a.example/x",
			[]string{"http://a.example/x?", "http://a.example/x?#y"},
			[]string{"http://a.example/x??", "http://a.example/x?&", "http://a.example/x%3F", "http://a.example/x/"}},
		{"query that ends with a question mark", "http://a.example/x?y?",
			nil,
			[]string{"http://a.example/x?y"}},
		{"order of parameters", "http://a.example/?a=1&b=2",
			nil,
			[]string{"http://a.example/?b=2&a=1", "http://a.example/?a=1&b=2&", "http://a.example/?a=1;b=2"}},
		{"bytes that are no UTF-8", "http://a.example/caf%E9",
			[]string{"http://a.example/caf\xe9", "http://a.example/caf%e9"},
			[]string{"http://a.example/café", "http://a.example/caf\ufffd"}},
		{"normalisation forms of a path", "http://a.example/\u00e9", // servers tell them apart
			nil,
			[]string{"http://a.example/e\u0301"}},
		{"host", "http://a.example/",
			[]string{"http://A.EXAMPLE/", "http://user:pass@a.example/", "http://a%2Eexample", "http://a\u3002example/", "\thttp:a.example"},
			[]string{"http://a.example./", "http://www.a.example/", "http://a..example/"}},
		{"IPv4", "http://127.0.0.1/",
			[]string{"http://127.1", "http://0x7f000001/", "http://017700000001/", "http://2130706433/"},
			[]string{"http://[::ffff:127.0.0.1]/", "http://localhost/"}},
		{"IPv6", "http://[::1]/",
			[]string{"http://[0:0:0:0:0:0:0:1]/", "http://[0000::0.0.0.1]:80/"},
			[]string{"http://[::1]:8080/"}},
		{"host with characters that RFC 3986 forbids", "http://a\"{}`/",
			[]string{"http://a%22%7b%7d%60/"},
			[]string{"http://a/"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := mustParse(t, tt.in)
			checkKey(t, u)
			for _, s := range tt.same {
				v := mustParse(t, s)
				checkKey(t, v)
				if v.Key() != u.Key() {
					t.Errorf("%q has key %q, %q has key %q, want the same", tt.in, u.Key(), s, v.Key())
				}
			}
			for _, s := range tt.others {
				v := mustParse(t, s)
				checkKey(t, v)
				if v.Key() == u.Key() {
					t.Errorf("%q and %q both have key %q", tt.in, s, u.Key())
				}
			}
		})
	}
}

func TestKeyIsStoredOnlyWhereItDiffers(t *testing.T) {
	for in, want := range map[string]string{
		"http://a.example/x?y":         "",
		"http://a.example/%C3%A9?it's": "",
		"http://a.example/a'b%2F":      "",
		"http://a\"b/":                 "",
		"http://a.example/?":           "http://a.example/",
		"http://a.example/x?y|":        "http://a.example/x?y%7C",
		"http://a.example/%c3%a9":      "http://a.example/%C3%A9",
	} {
		if u := mustParse(t, in); u.key != want {
			t.Errorf("%q: key stored is %q, want %q", in, u.key, want)
		}
	}
}

func TestVersion(t *testing.T) {
	if got := (*Rules)(nil).Version(); got != new(Rules).Version() || got == "" {
		t.Errorf("version %q", got)
	}
}
