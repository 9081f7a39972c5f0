package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestScopeRules(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		ready      Scope
		want       []ScopeRule
	}{
		{"a ready name", "scope: any", ScopeAny, nil},
		{"a list of one", "scope: [prefix]", ScopePrefix, nil},
		{"no ready name", "scope:\n  - refuse: any", ScopeHost, []ScopeRule{{}}},
		{"all conditions", `scope:
  - any
  - name: all of it
    refuse:
      seeds: domain
      host: [a.test, '*.B.test:81']
      domain: example.co.uk
      prefix: https://a.test/x
      regexp: ['\.pdf$', a b]
      scheme: http
      port: [80, 8080]
      depth: 1..3
      class: [navigation, requisite]
      content_type: [Image/*, text/html]
  - admit: {depth: 2..}
`, ScopeAny, []ScopeRule{{
			Name: "all of it", Seeds: new(ScopeDomain), Hosts: []HostPattern{"a.test", "*.b.test:81"}, Domains: []Domain{"example.co.uk"},
			Prefixes: []Prefix{"https://a.test/x"}, Regexps: []Pattern{`\.pdf$`, "a b"}, Schemes: []Scheme{"http"}, Ports: []Count{80, 8080},
			Depth: &Depths{new(1), new(3)}, Classes: []LinkClass{"navigation", "requisite"}, ContentTypes: []MediaRange{"image/*", "text/html"},
		}, {Admit: true, Depth: &Depths{Min: new(2)}}}},
		{"the example", scopeExample, ScopeHost, []ScopeRule{
			{Admit: true, Domains: []Domain{"example.org"}}, {Prefixes: []Prefix{"https://example.org/private/"}},
			{Name: "no media", ContentTypes: []MediaRange{"image/*", "video/*"}},
			{Hosts: []HostPattern{"forum.example.org"}, Depth: &Depths{Min: new(3)}}, {Admit: true, Classes: []LinkClass{"requisite"}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Load(write(t, tt.file), nil, nil)
			if err != nil || s.Scope != tt.ready || !reflect.DeepEqual(s.ScopeRules, tt.want) {
				t.Fatalf("got %v %+v, %v, want %v %+v", s.Scope, s.ScopeRules, err, tt.ready, tt.want)
			}
			if text, back := rendered(t, s); !reflect.DeepEqual(back, s) {
				t.Errorf("got  %+v\nwant %+v\n%s", back.ScopeRules, s.ScopeRules, text)
			}
			if text, back := rendered(t, s); !strings.HasPrefix(text, "#") || back.Validate() != nil {
				t.Errorf("%v\n%s", back.Validate(), text)
			}
		})
	}
}

// A flag replaces the whole list of a file.
func TestScopeOfFlag(t *testing.T) {
	s, err := Load(write(t, scopeExample), []string{"CRAWL_SCOPE=domain"}, nil)
	if err != nil || s.Scope != ScopeDomain || s.ScopeRules != nil {
		t.Errorf("got %v %v, %v", s.Scope, s.ScopeRules, err)
	}
}

func TestScopeProblems(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"no rule", "scope:\n  - host\n  - any", `crawl.yaml:3:5: scope: want a rule such as admit: {domain: example.org}; "any" stands first or not at all`},
		{"no ready name", "scope: [planet]", `crawl.yaml:1:9: scope: want one of host, domain, prefix, any, got "planet"`},
		{"a mapping", "scope: {host: a}", `crawl.yaml:1:8: scope: want a single value, got a mapping`},
		{"no verb", "scope:\n  - {name: x}", `scope: want admit or refuse in a rule, got a mapping without`},
		{"two verbs", "scope:\n  - {admit: any, refuse: any}", `crawl.yaml:2:18: scope: want admit or refuse once in a rule`},
		{"misspelt verb", "scope:\n  - {refus: any}", `crawl.yaml:2:6: scope: no key "refus"; the nearest is refuse`},
		{"misspelt condition", "scope:\n  - refuse: {hosts: a.test}", `crawl.yaml:2:14: scope: no key "hosts"; the nearest is host`},
		{"no condition", "scope:\n  - refuse: {}", `scope: want a condition, or refuse: any`},
		{"a text for conditions", "scope:\n  - refuse: a.test", `crawl.yaml:2:13: scope: want conditions such as refuse: {host: a.example}, or refuse: any, got "a.test"`},
		{"nothing for conditions", "scope:\n  - refuse:", `crawl.yaml:2:5: scope: want conditions such as refuse: {host: a.example}, or refuse: any, got nothing`},
		{"regexp", "scope:\n  - refuse: {regexp: '('}", `crawl.yaml:2:22: scope: regexp: want a regular expression (missing closing ) in it), got "("`},
		{"one of a list", "scope:\n  - refuse:\n      regexp: [a, '(']", `crawl.yaml:3:19: scope: regexp: want a regular expression (missing closing ) in it), got "("`},
		{"domain", "scope:\n  - refuse: {domain: docs.example.org}", `crawl.yaml:2:22: scope: domain: want a registrable domain such as example.org`},
		{"a suffix", "scope:\n  - refuse: {domain: co.uk}", `crawl.yaml:2:22: scope: domain: want a registrable domain such as example.org`},
		{"host", "scope:\n  - refuse: {host: 'a b'}", `crawl.yaml:2:20: scope: host: want a host such as`},
		{"prefix", "scope:\n  - refuse: {prefix: /docs/}", `crawl.yaml:2:22: scope: prefix: want the start of URLs`},
		{"scheme", "scope:\n  - refuse: {scheme: ftp}", `crawl.yaml:2:22: scope: scheme: want one of http, https`},
		{"port", "scope:\n  - refuse: {port: 70000}", `crawl.yaml:2:20: scope: port: want from 1 to 65535, got 70000`},
		{"depth", "scope:\n  - refuse: {depth: 3..1}", `crawl.yaml:2:21: scope: depth: want a range that is not empty, got "3..1"`},
		{"no depth", "scope:\n  - refuse: {depth: ..}", `crawl.yaml:2:21: scope: depth: want a number of links from a seed`},
		{"class", "scope:\n  - refuse: {class: seed}", `crawl.yaml:2:21: scope: class: want one of navigation, requisite, sitemap`},
		{"content type", "scope:\n  - refuse: {content_type: html}", `crawl.yaml:2:28: scope: content_type: want a media type`},
		{"a name twice", "scope:\n  - {name: x, refuse: any}\n  - {name: x, admit: any}", `scope: want each name once (rule 2 repeats "x")`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := write(t, tt.file)
			_, err := Load(name, nil, nil)
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), name, "crawl.yaml"); !strings.Contains(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// What a program sets is judged by the same rules.
func TestScopeOfProgram(t *testing.T) {
	for _, rules := range [][]ScopeRule{
		{{Ports: []Count{0}}}, {{Name: "a\nb"}}, {{Name: "x"}, {Name: "x"}}, {{Domains: []Domain{"co.uk"}}}, {{Seeds: new(Scope(""))}},
	} {
		s := Default()
		s.ScopeRules = rules
		if s.Validate() == nil {
			t.Errorf("%+v passes", rules)
		}
	}
}
