package scope

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"crawl/canon"
)

func TestRules(t *testing.T) {
	deep := func(depth int) Place { return Place{Depth: depth} }
	const seed = "https://www.a.test/docs/"
	type step struct {
		url  string
		at   Place
		want string // the rule; a leading ! stands for a refusal
	}
	for _, tt := range []struct {
		name  string
		mode  Mode
		rules []Rule
		steps []step
	}{
		{"the last word wins", Host, []Rule{
			{Hosts: []string{"a.test"}}, {Admit: true, Prefixes: []string{"a.test/x/"}}, {Prefixes: []string{"a.test/x/y/"}},
		}, []step{
			{"http://a.test/", Place{}, "!refuse host a.test"},
			{"http://a.test/x/", Place{}, "admit prefix a.test/x/"},
			{"https://a.test/x/z?q", Place{}, "admit prefix a.test/x/"},
			{"http://a.test/x/y/z", Place{}, "!refuse prefix a.test/x/y/"},
			{"http://www.a.test/x", Place{}, "host www.a.test"},
			{"http://b.test/x/", Place{}, "!not a seed's host"},
		}},
		{"widened", Host, []Rule{{Admit: true, Domains: []string{"b.co.uk"}}, {Name: "cdn", Admit: true, Hosts: []string{"*.cdn.test:8443"}}}, []step{
			{"http://b.co.uk/", Place{}, "admit domain b.co.uk"},
			{"http://x.y.b.co.uk:81/", Place{}, "admit domain b.co.uk"},
			{"http://c.co.uk/", Place{}, "!not a seed's host"},
			{"http://xb.co.uk/", Place{}, "!not a seed's host"},
			{"https://x.cdn.test:8443/", Place{}, "cdn"},
			{"https://cdn.test:8443/", Place{}, "cdn"},
			{"https://x.cdn.test/", Place{}, "!not a seed's host"},
			{"https://xcdn.test:8443/", Place{}, "!not a seed's host"},
		}},
		{"a suffix below a domain", Host, []Rule{{Admit: true, Domains: []string{"amazonaws.com"}}}, []step{
			{"http://docs.amazonaws.com/", Place{}, "admit domain amazonaws.com"},
			{"http://bucket.s3.amazonaws.com/", Place{}, "!not a seed's host"},
		}},
		{"all conditions", Any, []Rule{{Hosts: []string{"a.test", "b.test"}, Regexps: []string{`\.pdf$`, `\.zip$`}, MinDepth: new(2)}}, []step{
			{"http://a.test/x.pdf", deep(2), `!refuse host a.test b.test, regexp \.pdf$ \.zip$, depth 2..`},
			{"http://b.test/x.zip", deep(9), `!refuse host a.test b.test, regexp \.pdf$ \.zip$, depth 2..`},
			{"http://b.test/x.zip", deep(1), "any URL"},
			{"http://b.test/x.zi", deep(2), "any URL"},
			{"http://c.test/x.zip", deep(2), "any URL"},
		}},
		{"one step outside", Any, []Rule{{MinDepth: new(2)}, {Admit: true, Seeds: "host"}}, []step{
			{"http://other.test/", deep(1), "any URL"},
			{"http://other.test/", deep(2), "!refuse depth 2.."},
			{"http://a.test/", deep(7), "admit seeds host"},
		}},
		{"depths", Any, []Rule{{MinDepth: new(2), MaxDepth: new(3)}, {MaxDepth: new(0)}, {MinDepth: new(5), MaxDepth: new(5)}}, []step{
			{"http://b.test/", deep(0), "!refuse depth ..0"},
			{"http://b.test/", deep(1), "any URL"},
			{"http://b.test/", deep(2), "!refuse depth 2..3"},
			{"http://b.test/", deep(3), "!refuse depth 2..3"},
			{"http://b.test/", deep(4), "any URL"},
			{"http://b.test/", deep(5), "!refuse depth 5"},
		}},
		{"scheme and port", Any, []Rule{{Schemes: []string{"http"}}, {Admit: true, Ports: []int{80, 8080}}}, []step{
			{"http://b.test/", Place{}, "admit port 80 8080"},
			{"http://b.test:81/", Place{}, "!refuse scheme http"},
			{"https://b.test/", Place{}, "any URL"},
			{"https://b.test:80/", Place{}, "admit port 80 8080"},
		}},
		{"a port that no URL writes", Any, []Rule{{Hosts: []string{"b.test:443", "[::1]:80"}}}, []step{
			{"https://b.test/", Place{}, "!refuse host b.test:443 [::1]:80"},
			{"https://b.test:443/", Place{}, "!refuse host b.test:443 [::1]:80"},
			{"http://b.test/", Place{}, "any URL"},
			{"http://[::1]/", Place{}, "!refuse host b.test:443 [::1]:80"},
			{"http://[::1]:81/", Place{}, "any URL"},
		}},
		{"a dot at the end, and upper case", Any, []Rule{{Hosts: []string{"B.test.", "*.C.test"}}}, []step{
			{"http://b.test/", Place{}, "!refuse host B.test. *.C.test"},
			{"http://b.test./", Place{}, "!refuse host B.test. *.C.test"},
			{"http://x.c.test.:81/", Place{}, "!refuse host B.test. *.C.test"},
		}},
		{"every host of a port", Any, []Rule{{Hosts: []string{"*:8080", "*:81"}}}, []step{
			{"http://b.test:8080/", Place{}, "!refuse host *:8080 *:81"},
			{"http://c.test:81/", Place{}, "!refuse host *:8080 *:81"},
			{"http://c.test/", Place{}, "any URL"},
		}},
		{"prefix of a scheme", Any, []Rule{{}, {Admit: true, Prefixes: []string{"HTTPS://B.test", "http://b.test:81/x?q="}}}, []step{
			{"https://b.test/", Place{}, "admit prefix HTTPS://B.test http://b.test:81/x?q="},
			{"http://b.test/", Place{}, "!refuse any"},
			{"https://b.test.evil.test/", Place{}, "!refuse any"},
			{"https://b.test:444/", Place{}, "!refuse any"},
			{"http://b.test:81/x?q=1", Place{}, "admit prefix HTTPS://B.test http://b.test:81/x?q="},
		}},
		{"classes", Host, []Rule{{Admit: true, Classes: []string{"requisite"}}, {Classes: []string{"sitemap"}}}, []step{
			{"http://img.test/x.png", Place{Class: "requisite"}, "admit class requisite"},
			{"http://img.test/x.html", Place{Class: "navigation"}, "!not a seed's host"},
			{"http://a.test/x", Place{Class: "sitemap"}, "!refuse class sitemap"},
		}},
		{"content types", Host, []Rule{{Name: "no media", ContentTypes: []string{"image/*", "video/mp4"}}, {Admit: true, ContentTypes: []string{"image/svg+xml"}, Hosts: []string{"a.test"}}}, []step{
			{"http://www.a.test/x", Place{ContentType: "image/png"}, "!no media"},
			{"http://www.a.test/x", Place{ContentType: "video/mp4"}, "!no media"},
			{"http://www.a.test/x", Place{ContentType: "video/webm"}, "host www.a.test"},
			{"http://www.a.test/x", Place{ContentType: "image/svg+xml"}, "!no media"},
			{"http://a.test/x", Place{ContentType: "image/svg+xml"}, "admit host a.test, content_type image/svg+xml"},
			{"http://www.a.test/x", Place{}, "host www.a.test"}, // it may be a page
		}},
		{"seeds are exempt", Host, []Rule{{}}, []step{
			{seed, deep(3), "seed"}, {"https://www.a.test/docs/#top", Place{}, "seed"}, {"https://www.a.test/docs/x", Place{}, "!refuse any"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, Config{Mode: tt.mode, Rules: tt.rules}, seed)
			for _, step := range tt.steps {
				rule, refused := strings.CutPrefix(step.want, "!")
				if got := s.Test(parse(t, step.url), step.at); got.Admitted == refused || got.Rule != rule {
					t.Errorf("%s at %+v: got %+v, want %s", step.url, step.at, got, step.want)
				}
			}
		})
	}
}

// What is not known yet refuses nothing that it could admit, and is named where it may refuse.
func TestUnknown(t *testing.T) {
	unknown := Place{Depth: UnknownDepth}
	for _, tt := range []struct {
		name  string
		rules []Rule
		want  Verdict
	}{
		{"may be refused", []Rule{{ContentTypes: []string{"image/*"}}}, Verdict{true, "any URL", "refuse content_type image/*"}},
		{"two may refuse", []Rule{{MinDepth: new(2)}, {Name: "x", ContentTypes: []string{"image/*"}}}, Verdict{true, "any URL", "x"}},
		{"only that type", []Rule{{}, {Admit: true, ContentTypes: []string{"text/html"}}},
			Verdict{true, "admit content_type text/html", "admit content_type text/html"}},
		{"another condition is not met", []Rule{{Hosts: []string{"b.test"}, ContentTypes: []string{"text/html"}}}, Verdict{true, "any URL", ""}},
		{"refused anyway", []Rule{{}, {ContentTypes: []string{"image/*"}}}, Verdict{false, "refuse any", ""}},
		{"admitted anyway", []Rule{{MinDepth: new(2)}, {Admit: true, Hosts: []string{"a.test"}}}, Verdict{true, "admit host a.test", ""}},
		{"a class", []Rule{{Classes: []string{"sitemap"}}}, Verdict{true, "any URL", "refuse class sitemap"}},
	} {
		s := open(t, Config{Mode: Any, Rules: tt.rules})
		if got := s.Test(parse(t, "http://a.test/"), unknown); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// Include and exclude come after all rules.
func TestRulesAndPatterns(t *testing.T) {
	s := open(t, Config{Rules: []Rule{{Admit: true, Hosts: []string{"b.test"}}}, Include: []string{"/in/"}, Exclude: []string{"x$"}}, "http://a.test/")
	for text, want := range map[string]Verdict{
		"http://b.test/in/":  {true, "admit host b.test", ""},
		"http://b.test/":     {false, "no include matches", ""},
		"http://b.test/in/x": {false, "exclude x$", ""},
		"http://c.test/in/":  {false, "not a seed's host", ""},
	} {
		if got := s.Test(parse(t, text), Place{}); got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func TestBarredByRules(t *testing.T) {
	s := open(t, Config{Rules: []Rule{{Hosts: []string{"*.ads.test"}}, {Admit: true, Hosts: []string{"ok.ads.test"}}}, Include: []string{"/in/"}, Exclude: []string{"x$"}}, "http://a.test/")
	for text, want := range map[string]bool{
		"http://y.ads.test/": true, "http://ok.ads.test/": false, "http://ok.ads.test/x": true, "http://b.test/": false, "http://a.test/": false,
		"http://b.test/x": true,
	} {
		if _, got := s.Barred(parse(t, text)); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestRuleProblems(t *testing.T) {
	for _, tt := range []struct {
		rule Rule
		want string
	}{
		{Rule{Seeds: "planet"}, "seeds: want one of host, domain, prefix, any"},
		{Rule{Hosts: []string{"a b"}}, "host: want a host such as"},
		{Rule{Hosts: []string{"a.*"}}, "host: want a host such as"},
		{Rule{Hosts: []string{""}}, "host: want a host such as"},
		{Rule{Domains: []string{"co.uk"}}, "domain: want a registrable domain"},
		{Rule{Domains: []string{"docs.example.org"}}, "domain: want a registrable domain"},
		{Rule{Domains: []string{"127.0.0.1"}}, "domain: want a registrable domain"},
		{Rule{Prefixes: []string{"ftp://a.test/"}}, "prefix: "},
		{Rule{Prefixes: []string{"/docs/"}}, "prefix: "},
		{Rule{Regexps: []string{"("}}, "regexp: want a regular expression"},
		{Rule{Schemes: []string{"ftp"}}, "scheme: want http or https"},
		{Rule{Ports: []int{0}}, "port: want from 1 to 65535"},
		{Rule{MinDepth: new(-1)}, "depth: want 0 or more"},
		{Rule{MinDepth: new(3), MaxDepth: new(2)}, "depth: want a range that is not empty"},
		{Rule{Classes: []string{"seed"}}, "class: want one of navigation, requisite, sitemap"},
		{Rule{ContentTypes: []string{"html"}}, "content_type: want a media type"},
		{Rule{ContentTypes: []string{"*/*"}}, "content_type: want a media type"},
		{Rule{ContentTypes: []string{"Text/HTML"}}, "content_type: want a media type"},
		{Rule{ContentTypes: []string{"text/html; charset=x"}}, "content_type: want a media type"},
	} {
		_, err := New(Config{Rules: []Rule{{}, tt.rule}})
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Key != "scope" || e.Index != 1 || !strings.HasPrefix(e.Err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %s", tt.rule, err, tt.want)
		}
	}
	if _, err := New(Config{Rules: []Rule{{Name: "x"}, {Name: "y"}, {Name: "x"}}}); !errors.Is(err, errName) {
		t.Errorf("a name twice: got %v", err)
	}
}

// A rule of many hosts takes no longer than one of a few, and no test allocates; what package regexp does is left out.
func TestRuleAllocations(t *testing.T) {
	var hosts []string
	for i := range 10_000 {
		hosts = append(hosts, fmt.Sprintf("h%d.test", i), fmt.Sprintf("*.w%d.test", i))
	}
	s := open(t, Config{Mode: Any, Rules: []Rule{
		{Hosts: hosts}, {Prefixes: []string{"https://a.test/x/"}}, {MinDepth: new(9)}, {Ports: []int{81}},
		{ContentTypes: []string{"image/*"}}, {Domains: []string{"d.test"}},
	}})
	urls := []canon.URL{parse(t, "http://h9999.test/"), parse(t, "http://x.y.w7.test/"), parse(t, "http://c.test/x/y"), parse(t, "http://a.b.test/")}
	if n := testing.AllocsPerRun(100, func() {
		for _, u := range urls {
			s.Test(u, Place{Depth: 3, Class: "navigation", ContentType: "text/html"})
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What joined under one mode counts under another one, as far as that lets a seed reach.
func TestJoinedUnderAnotherMode(t *testing.T) {
	before := open(t, Config{Mode: Prefix}, "http://a.test/docs/")
	before.Join(before.Entry(parse(t, "http://b.test/x/y")))
	after := open(t, Config{Mode: Host}, "http://a.test/docs/")
	for _, entry := range before.Joined() {
		after.Join(entry)
	}
	if got := after.Test(parse(t, "http://b.test/"), Place{}); !got.Admitted {
		t.Errorf("got %+v, want its host to have joined", got)
	}
}
