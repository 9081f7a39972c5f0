package scope

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"crawl/canon"
)

// verdicts tests URLs in a scope with the given seeds. want maps a URL to the rule that decides; a leading ! stands for
// a refusal.
func verdicts(t *testing.T, cfg Config, seeds []string, want map[string]string) {
	t.Helper()
	s := open(t, cfg, seeds...)
	for text, rule := range want {
		rule, refused := strings.CutPrefix(rule, "!")
		if got := s.Test(parse(t, text), Place{}); got.Admitted == refused || got.Rule != rule {
			t.Errorf("%s: got %v, want %v, %q", text, got, !refused, rule)
		}
	}
}

func open(t *testing.T, cfg Config, seeds ...string) *Scope {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range seeds {
		s.AddSeed(parse(t, seed))
	}
	return s
}

func TestHost(t *testing.T) {
	const no = "!not a seed's host"
	for _, tt := range []struct {
		name  string
		seeds []string
		want  map[string]string
	}{
		{"no seed", nil, map[string]string{"http://a.test/": no}},
		{"plain", []string{"http://a.test/x"}, map[string]string{
			"http://a.test/":                "host a.test",
			"https://a.test/y?z":            "host a.test",
			"https://www.a.test/":           "host a.test",
			"http://A.TEST:80/":             "host a.test",
			"https://a.test:443/":           "host a.test",
			"http://b.a.test/":              no,
			"http://www.www.a.test/":        no,
			"http://www2.a.test/":           no,
			"http://a.test.b.test/":         no,
			"http://xa.test/":               no,
			"http://test/":                  no,
			"http://a.test./":               no,
			"http://a.test@b.test/":         no,
			"http://b.test/?http://a.test/": no,
		}},
		{"www", []string{"https://www.a.test/"}, map[string]string{
			"http://a.test/":         "host www.a.test",
			"http://www.a.test/":     "host www.a.test",
			"http://www.www.a.test/": no,
		}},
		{"www of www", []string{"https://www.www.a.test/"}, map[string]string{
			"http://www.a.test/": no, // its bare form is a.test, that of the seed www.a.test
			"http://a.test/":     no,
		}},
		{"first of two", []string{"https://www.a.test/", "http://a.test/"}, map[string]string{
			"http://a.test/": "host www.a.test",
		}},
		{"port", []string{"http://a.test:8080/"}, map[string]string{
			"http://a.test:8080/x":    "host a.test:8080",
			"https://a.test:8080/":    "host a.test:8080",
			"http://www.a.test:8080/": "host a.test:8080",
			"http://a.test/":          no,
			"http://a.test:8081/":     no,
			"https://a.test/":         no,
		}},
		{"default port of the other scheme", []string{"https://a.test:80/"}, map[string]string{
			"https://a.test:80/": "host a.test:80",
			"http://a.test/":     no,
		}},
		{"address", []string{"http://127.0.0.1:8080/", "http://[::1]/"}, map[string]string{
			"http://127.0.0.1:8080/": "host 127.0.0.1:8080",
			"http://127.1:8080/":     "host 127.0.0.1:8080",
			"http://127.0.0.1/":      no,
			"http://127.0.0.2:8080/": no,
			"https://[0:0::1]/":      "host [::1]",
			"http://[::2]/":          no,
		}},
		{"single label", []string{"http://localhost/", "http://www.lan/"}, map[string]string{
			"https://localhost/":    "host localhost",
			"http://www.localhost/": no,
			"http://www.lan/":       "host www.lan",
			"http://lan/":           no,
		}},
		{"international", []string{"http://B\u00dcCHER.example/"}, map[string]string{
			"http://xn--bcher-kva.example/":     "host xn--bcher-kva.example",
			"https://www.b\u00fccher.example/a": "host xn--bcher-kva.example",
			"http://bucher.example/":            no,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { verdicts(t, Config{}, tt.seeds, tt.want) })
	}
}

func TestDomain(t *testing.T) {
	const no = "!not in a seed's domain"
	for _, tt := range []struct {
		name  string
		seeds []string
		want  map[string]string
	}{
		{"plain", []string{"http://www.a.test/"}, map[string]string{
			"http://a.test/":           "domain a.test",
			"https://x.y.a.test:8443/": "domain a.test",
			"http://b.test/":           no,
			"http://xa.test/":          no,
			"http://test/":             no,
			"http://a.test./":          no,
		}},
		{"suffix of two levels", []string{"http://shop.a.co.uk/"}, map[string]string{
			"http://a.co.uk/":     "domain a.co.uk",
			"http://www.a.co.uk/": "domain a.co.uk",
			"http://b.co.uk/":     no,
			"http://co.uk/":       no,
			"http://a.uk/":        no,
		}},
		{"private suffix", []string{"http://me.github.io/"}, map[string]string{
			"http://me.github.io/x":  "domain me.github.io",
			"http://a.me.github.io/": "domain me.github.io",
			"http://you.github.io/":  no,
			"http://github.io/":      no,
			"http://www.github.io/":  no,
		}},
		{"a suffix itself", []string{"http://github.io/"}, map[string]string{
			"http://github.io/":    "host github.io",
			"http://me.github.io/": no,
		}},
		{"suffixes below a domain", []string{"http://amazonaws.com/"}, map[string]string{
			"http://docs.amazonaws.com/":      "domain amazonaws.com",
			"http://bucket.s3.amazonaws.com/": no,
		}},
		{"address", []string{"http://127.0.0.1:8080/", "http://[::1]/"}, map[string]string{
			"http://127.0.0.1:8080/x": "host 127.0.0.1:8080",
			"http://127.0.0.1/":       no,
			"http://1.127.0.1:8080/":  no,
			"https://[::1]/":          "host [::1]",
			"https://[::1]:8080/":     no,
		}},
		{"single label", []string{"http://localhost:8080/"}, map[string]string{
			"http://localhost:8080/":   "host localhost:8080",
			"http://localhost/":        no,
			"http://a.localhost:8080/": no,
		}},
		{"international", []string{"http://www.b\u00fccher.example/"}, map[string]string{
			"http://a.xn--bcher-kva.example/": "domain xn--bcher-kva.example",
		}},
		{"domain that ends in a digit", []string{"http://www.a.xn--fiqs8s/", "http://x.b.test1/"}, map[string]string{
			"http://b.a.xn--fiqs8s/": "domain a.xn--fiqs8s",
			"http://b.test1/":        "domain b.test1",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { verdicts(t, Config{Mode: Domain}, tt.seeds, tt.want) })
	}
}

func TestPrefix(t *testing.T) {
	const no = "!not under a seed's directory"
	for _, tt := range []struct {
		name  string
		seeds []string
		want  map[string]string
	}{
		{"directory", []string{"http://a.test/docs/"}, map[string]string{
			"http://a.test/docs/":             "prefix a.test/docs/",
			"https://www.a.test/docs/x/y?z=/": "prefix a.test/docs/",
			"http://a.test/docs":              no,
			"http://a.test/docs?/":            no,
			"http://a.test/Docs/":             no,
			"http://a.test/docs2/":            no,
			"http://a.test/":                  no,
			"http://a.test/x/docs/":           no,
			"http://a.test/docs/../x":         no,
			"http://a.test/?/docs/":           no,
			"http://b.test/docs/":             no,
			"http://a.test:8080/docs/":        no,
		}},
		{"page", []string{"https://www.a.test/docs/index.html?a=/b/"}, map[string]string{
			"http://a.test/docs/other.html": "prefix www.a.test/docs/",
			"http://a.test/docs/a/":         "prefix www.a.test/docs/",
			"http://a.test/doc":             no,
		}},
		{"root", []string{"http://a.test"}, map[string]string{
			"http://a.test/":      "prefix a.test/",
			"http://a.test/x/y/z": "prefix a.test/",
		}},
		{"the nearest of two", []string{"http://a.test/", "http://a.test/x/y"}, map[string]string{
			"http://a.test/x/z": "prefix a.test/x/",
			"http://a.test/z":   "prefix a.test/",
		}},
		{"empty parts", []string{"http://a.test/x//y"}, map[string]string{
			"http://a.test/x//z": "prefix a.test/x//",
			"http://a.test/x/z":  no,
		}},
		{"one page, two spellings", []string{"http://a.test/%7Eme/"}, map[string]string{
			"http://a.test/~me/x": "prefix a.test/" + tilde(t),
		}},
		{"address", []string{"http://[::1]:8080/x/"}, map[string]string{
			"http://[::1]:8080/x/y": "prefix [::1]:8080/x/",
			"http://[::1]:8080/y":   no,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { verdicts(t, Config{Mode: Prefix}, tt.seeds, tt.want) })
	}
}

// tilde returns the canonical form of a user's directory, which is canon's to choose.
func tilde(t *testing.T) string {
	_, path, _ := strings.Cut(parse(t, "http://a.test/%7Eme/").Key(), "a.test/")
	return path
}

// A path of many slashes takes no longer than the seeds' own.
func TestPrefixOfManySlashes(t *testing.T) {
	s := open(t, Config{Mode: Prefix}, "http://a.test/docs/")
	u := parse(t, "http://a.test/"+strings.Repeat("/", 1<<16))
	if s.Test(u, Place{}).Admitted {
		t.Error("admitted")
	}
	s.AddSeed(u)
	if !s.Test(u, Place{}).Admitted {
		t.Error("a seed is refused")
	}
}

func TestAny(t *testing.T) {
	verdicts(t, Config{Mode: Any}, nil, map[string]string{"http://a.test/": "any URL"})
	verdicts(t, Config{Mode: Any, Include: []string{`/b/`}}, nil, map[string]string{
		"http://a.test/b/": "any URL",
		"http://a.test/":   "!no include matches",
	})
}

// Patterns narrow what the mode admits; an exclude goes over an include; seeds are exempt.
func TestPatterns(t *testing.T) {
	cfg := Config{Include: []string{`^https?://[^/]+/docs/`, `\.html$`}, Exclude: []string{`(?i)\.pdf$`, `/private/`, `\?`}}
	verdicts(t, cfg, []string{"http://a.test/", "http://a.test/docs/seed.pdf"}, map[string]string{
		"http://a.test/docs/x":          "host a.test",
		"http://a.test/x.html":          "host a.test",
		"http://a.test/x":               "!no include matches",
		"http://a.test/docs/x.PDF":      `!exclude (?i)\.pdf$`,
		"http://a.test/docs/private/":   `!exclude /private/`,
		"http://a.test/docs/?x":         `!exclude \?`,
		"http://b.test/docs/":           "!not a seed's host", // an include does not widen
		"http://b.test/docs/x.pdf":      "!not a seed's host",
		"http://a.test/":                "seed",
		"http://a.test/docs/seed.pdf":   "seed",
		"http://a.test/docs/seed.pdf#x": "seed",
		"http://www.a.test/":            "!no include matches",
	})
	verdicts(t, Config{Exclude: []string{`/x`}}, []string{"http://a.test/"}, map[string]string{
		"http://a.test/y": "host a.test",
		"http://a.test/x": "!exclude /x",
	})
	// The URL as it is requested, not its canonical form, is what a pattern sees.
	requested := parse(t, "http://a.test/%7Eme/").String()
	s := open(t, Config{Exclude: []string{"^" + requested + "$"}}, "http://a.test/")
	if got := s.Test(parse(t, "http://a.test/%7Eme/"), Place{}); got.Admitted {
		t.Errorf("got %v, want a refusal", got)
	}
}

// redirect-04: the scope test belongs to every hop, and a landing page outside does not widen the scope.
func TestRedirect04(t *testing.T) {
	s := open(t, Config{}, "http://a.test/")
	for range 2 { // asking changes nothing
		for text, want := range map[string]bool{"http://a.test/out": true, "http://b.test/landing": false, "http://b.test/more": false} {
			if got := s.Test(parse(t, text), Place{}); got.Admitted != want {
				t.Errorf("%s: got %v, want %v", text, got, want)
			}
		}
	}
	if got := s.Joined(); len(got) != 0 {
		t.Errorf("%v joined", got)
	}
}

// What a seed itself redirects to joins, as far as the mode lets a seed reach, and again when the crawl is resumed.
func TestJoin(t *testing.T) {
	for _, tt := range []struct {
		mode   Mode
		target string
		entry  string // "" when the target was in scope all along
		in     []string
		out    []string
	}{
		{Host, "https://www.b.test:8443/x/", "www.b.test:8443", []string{"https://b.test:8443/y"}, []string{"https://b.test/x/", "https://c.b.test:8443/"}},
		{Host, "https://www.a.test/x/", "", []string{"http://a.test/"}, []string{"http://b.test/"}},
		{Domain, "https://www.b.co.uk/x/", "www.b.co.uk", []string{"https://c.b.co.uk/y"}, []string{"https://c.co.uk/"}},
		{Domain, "https://login.a.test/", "", []string{"http://a.test/"}, []string{"http://b.test/"}},
		{Domain, "http://127.0.0.1:81/x", "127.0.0.1:81", []string{"http://127.0.0.1:81/"}, []string{"http://127.0.0.1/"}},
		{Prefix, "https://b.test/en/docs/?x=/y/", "b.test/en/docs/", []string{"http://www.b.test/en/docs/z"}, []string{"http://b.test/en/"}},
		{Prefix, "http://a.test/docs/en/x", "a.test/docs/en/", []string{"http://a.test/docs/"}, []string{"http://a.test/"}},
		{Any, "http://b.test/", "", []string{"http://c.test/"}, nil},
	} {
		t.Run(fmt.Sprint(tt.mode, " ", tt.target), func(t *testing.T) {
			s := open(t, Config{Mode: tt.mode}, "http://a.test/docs/")
			joined := s.Join(s.Entry(parse(t, tt.target)))
			if joined != (tt.entry != "") {
				t.Errorf("joined is %v, entry %q", joined, s.Entry(parse(t, tt.target)))
			}
			if s.Join(s.Entry(parse(t, tt.target))) {
				t.Error("joined twice")
			}
			resumed := open(t, Config{Mode: tt.mode}, "http://a.test/docs/")
			for _, entry := range s.Joined() {
				if entry != tt.entry {
					t.Errorf("entry %q, want %q", entry, tt.entry)
				}
				resumed.Join(entry)
			}
			for _, scope := range []*Scope{s, resumed} {
				for i, text := range slices.Concat(tt.in, tt.out) {
					if got := scope.Test(parse(t, text), Place{}); got.Admitted != (i < len(tt.in)) {
						t.Errorf("%s: got %v", text, got)
					}
				}
			}
		})
	}
}

func TestJoinHost(t *testing.T) {
	s := open(t, Config{Mode: Prefix}, "http://a.test/docs/")
	if !s.Join("b.test") || s.Join("") {
		t.Error("want a host to join, and nothing not to")
	}
	if got, want := s.Test(parse(t, "http://b.test/x"), Place{}), (Verdict{Admitted: true, Rule: "prefix b.test/ (a seed redirects there)"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := s.Joined(); !slices.Equal(got, []string{"b.test"}) {
		t.Errorf("joined %v", got)
	}
}

func TestZeroURL(t *testing.T) {
	for _, mode := range modes {
		s := open(t, Config{Mode: mode, Exclude: []string{"x"}})
		s.AddSeed(canon.URL{})
		if s.Join(s.Entry(canon.URL{})) {
			t.Errorf("%s: the zero URL joined", mode)
		}
		if got := s.Test(canon.URL{}, Place{}); got.Admitted {
			t.Errorf("%s: the zero URL gives %v", mode, got)
		}
	}
}

// All bad values are reported, each with its place.
func TestNewProblems(t *testing.T) {
	_, err := New(Config{Mode: "site", Include: []string{"a", "("}, Exclude: []string{"[", "b", `(?=c)`}})
	const want = `scope: want one of host, domain, prefix, any, got "site"
include[1]: want a regular expression (missing closing ) in it), got "("
exclude[0]: want a regular expression (missing closing ] in it), got "["
exclude[2]: want a regular expression (invalid or unsupported Perl syntax in it), got "(?=c)"`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Key != "scope" || e.Unwrap() == nil {
		t.Errorf("got %v, want an Error for scope first", e)
	}
}

// Test runs beside AddSeed and Join, and sees at once what they add.
func TestConcurrent(t *testing.T) {
	s := open(t, Config{Exclude: []string{`\.pdf$`}}, "http://a.test/")
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 200 {
				u := parse(t, fmt.Sprintf("http://h%d-%d.test/x.pdf", worker, i))
				if got := s.Test(u, Place{}); got.Admitted {
					t.Errorf("%s before: %v", u, got)
				}
				if i%2 == 0 {
					s.AddSeed(u)
				} else if !s.Join(s.Entry(u)) {
					t.Errorf("%s does not join", u)
				}
				if got := s.Test(u, Place{}); got.Admitted != (i%2 == 0) || got.Rule == "not a seed's host" {
					t.Errorf("%s after: %v", u, got)
				}
				s.Joined()
			}
		})
	}
	wg.Wait()
	if got := len(s.Joined()); got != 400 {
		t.Errorf("%d joined, want 400", got)
	}
}

func TestAllocations(t *testing.T) {
	for _, mode := range []Mode{Host, Prefix, Any} {
		s := open(t, Config{Mode: mode}, "http://www.a.test/x/")
		in, out := parse(t, "http://a.test/x/y/z"), parse(t, "http://b.test/x/y/z")
		if n := testing.AllocsPerRun(100, func() { s.Test(in, Place{}); s.Test(out, Place{}) }); n != 0 {
			t.Errorf("%s: %v allocations", mode, n)
		}
	}
}

// FuzzScope: a seed is in scope, in every mode, and what a mode admits a wider one admits.
func FuzzScope(f *testing.F) {
	f.Add("http://www.a.test/x/", "https://a.test/x/y?z")
	f.Add("http://a.co.uk:8080/", "http://b.co.uk/")
	f.Add("http://[::1]:81/x", "http://127.0.0.1/")
	f.Add("http://github.io./", "http://a.github.io/")
	f.Fuzz(func(t *testing.T, seed, link string) {
		from, err := canon.Parse(seed)
		if err != nil {
			t.Skip("no URL")
		}
		to, err := canon.Parse(link)
		if err != nil {
			to = from
		}
		scopes := map[Mode]*Scope{}
		for _, mode := range modes {
			scopes[mode] = open(t, Config{Mode: mode}, from.String())
			if got := scopes[mode].Test(from, Place{}); !got.Admitted {
				t.Errorf("%s: the seed %s gives %v", mode, from, got)
			}
			resumed := open(t, Config{Mode: mode})
			resumed.Join(scopes[mode].Entry(from))
			if a, b := resumed.Test(to, Place{}).Admitted, scopes[mode].Test(to, Place{}).Admitted; a != b {
				t.Errorf("%s: seed %s admits %s: %v, joined: %v", mode, from, to, b, a)
			}
		}
		if scopes[Prefix].Test(to, Place{}).Admitted && !scopes[Host].Test(to, Place{}).Admitted {
			t.Errorf("seed %s: %s is in prefix and not in host", from, to)
		}
	})
}
