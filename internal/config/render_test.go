package config

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

var update = flag.Bool("update", false, "write the shipped config.yaml anew")

// The shipped file is what Template gives, and says what holds without it.
func TestShippedFile(t *testing.T) {
	name := filepath.Join("..", "..", "config.yaml")
	if *update {
		if err := os.WriteFile(name, Template(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shipped, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(shipped, Template()) {
		t.Errorf("%s is not what Template gives: go test ./internal/config -run TestShippedFile -update", name)
	}
	s, err := Load(name, nil, nil)
	if err != nil || !reflect.DeepEqual(s, Default()) {
		t.Errorf("%s gives %+v, %v, want the defaults", name, s, err)
	}
	for i := range table {
		if d := &table[i]; !bytes.Contains(shipped, []byte("\n"+d.key+": ")) {
			t.Errorf("%s has no %s", name, d.key)
		}
	}
}

// The example of the shipped file is one that can be copied.
func TestHostsExample(t *testing.T) {
	s, err := Load(write(t, hostsExample), []string{"INTRANET_PASSWORD=x"}, nil)
	if err != nil || len(s.Hosts) != 4 {
		t.Errorf("got %+v, %v, want four entries", s.Hosts, err)
	}
}

// rendered returns what s is as a file, and what that file gives.
func rendered(t *testing.T, s Settings) (string, Settings) {
	t.Helper()
	var b bytes.Buffer
	if err := s.Render(&b); err != nil {
		t.Fatal(err)
	}
	back, err := Load(write(t, b.String()), nil, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return b.String(), back
}

func TestRenderReadsBack(t *testing.T) {
	s := Default()
	s.MaxPages, s.MaxDepth, s.MaxTime = Some[Count](0), Some[Count](3), Some(Duration(90e9))
	s.GiveUpAfter = Optional[Count]{}
	s.Scope, s.Robots = ScopePrefix, RobotsIgnore
	s.Include = []Pattern{`it's`, `^https://[^/]*/a: #b`, ` lead`, `null`, `- x`, `"q"`, `{a}`, `é`, `~`, `\*`, `a\\b`, `%`, "''"}
	s.Exclude = []Pattern{`\.pdf$`}
	s.Requisites, s.Insecure = true, true
	s.DelayFactor, s.FP = 1.5, 0.01
	s.UserAgent, s.Contact = "it's/1 (: #)", "null:@"
	s.AllowPrivate = []Private{AllPrivate, "::1", "10.0.0.0/8", "127.0.0.1:80"}
	s.ConnectTo = []ConnectTo{{"", "", "127.0.0.1", "80"}, {"a", "1", "::1", ""}}
	s.Resolvers, s.DNSMinTTL = []Resolver{Resolver(netip.MustParseAddrPort("192.0.2.53:53")), Resolver(netip.MustParseAddrPort("[::1]:5353"))}, 0
	s.Proxy = Some(Proxy{scheme: "socks5h", host: "::1", port: "9050", user: "it's"})
	s.Expect, s.MaxBody = Some[Count](200e6), 12345
	s.Extract = []Extract{{Field: "price", Selector: "p > a[href='x']", Attr: "content", All: true}, {Field: "true", Selector: "#x"}}
	s.MaxBytes, s.MaxPagesPerHost, s.MaxBytesPerHost, s.MinFree = Some[Size](5), Some[Count](6), Some[Size](1<<20), 0
	s.PerIP, s.MaxHosts, s.MaxTasks = true, 7, 8e6
	s.Hosts = []HostRule{
		{
			Pattern: "*", Delay: new(Duration(0)), Concurrency: new(Count(2)), Robots: new(RobotsObey),
			MaxPages: new(Optional[Count]{}), MaxBytes: new(Some[Size](0)), Auth: new(Optional[Auth]{}), Cookies: new(CookiesOn),
			Headers: []Header{{name: "A", value: "b: 'c'", plain: "b: 'c'"}, {name: "D", value: "- e", plain: "- e"}},
		},
		{Pattern: "*.a.example:8080", MaxPages: new(Some[Count](0))}, {Pattern: "[::1]", Cookies: new(CookiesOff)}, {Pattern: "*", Robots: new(RobotsObey)},
	}
	text, back := rendered(t, s)
	if !reflect.DeepEqual(back, s) {
		t.Errorf("got  %+v\nwant %+v\n%s", back, s, text)
	}
}

// Settings of any valid values read back as they were.
func TestRenderRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	samples := []string{"none", "0", "1", "7", "1s", "90s", "5m", "1e3", "4Ki", "64Mi", "1.5M", "200k", "0.1%", "3%", "0.25", "host", "domain", "any",
		"obey", "ignore", "true", "false", "a.test", "::1", "[::1]:80", "10.0.0.0/8", "a:1:b:2", "::[::1]:", "https://a.example/", "me@a.example",
		"mybot/1.0 (x)", `^a'b"c\d+: #$`, "it''s", "-", "yes", "0x10", "1_000"}
	for range 60 {
		s := Default()
		for i := range table {
			if d := &table[i]; !d.fileOnly {
				scramble(d, &s, samples[random.IntN(len(samples))], samples[random.IntN(len(samples))])
			}
		}
		if text, back := rendered(t, s); !reflect.DeepEqual(back, s) {
			t.Fatalf("got  %+v\nwant %+v\n%s", back, s, text)
		}
	}
}

// scramble gives a setting the texts it accepts, unless they are out of its range.
func scramble(d *setting, s *Settings, texts ...string) {
	before := *s
	for _, text := range texts {
		_ = d.at(s).put(text) // most texts are for settings of another type
	}
	if d.wanted(s) != "" {
		*s = before
	}
}

// FuzzQuote: a text without control characters stays the same through a file.
func FuzzQuote(f *testing.F) {
	for _, text := range []string{"", " ", "'", "null", "~", "a: b", "#", "- x", "é", "\u00a0", "1e3", "0.10", "true", "%", "\\", "|", "a #b", "...", "---"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !printable(text) {
			t.Skip("no setting holds it")
		}
		l := newLoader()
		l.yaml("x", "extract:\n  - field: "+quote(text)+"\n    selector: x\n")
		if len(l.problems) > 0 || l.settings.Extract[0].Field != text {
			t.Errorf("%q is written %s and gives %v, %v", text, quote(text), l.settings.Extract, l.problems)
		}
	})
}
