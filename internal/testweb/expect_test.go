package testweb

import (
	"encoding/xml"
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestCheckFindsWhatIsPlanted(t *testing.T) {
	s := newSite(t, Config{Seed: 21, Hosts: 4, PagesPerHost: 160})
	urls := func(classes ...Class) (list []string) {
		for e := range s.URLs(classes...) {
			list = append(list, e.URL)
		}
		return list
	}
	plain := urls(Plain)
	with := func(more ...string) []string { return append(slices.Clone(plain), more...) }
	tilde := plain[slices.IndexFunc(plain, func(u string) bool { return strings.Contains(u, "/~ann/") })]
	first := func(c Class) string { return urls(c)[0] }
	unexpected := func(url, class string) Report { return Report{Unexpected: []string{url + " (" + class + ")"}} }
	for _, tt := range []struct {
		name    string
		fetched []string
		also    []Class
		want    Report
	}{
		{name: "right", fetched: plain},
		{name: "right, in another order", fetched: slices.Sorted(slices.Values(plain))},
		{name: "services are ignored", fetched: with(urls(Service)...)},
		{name: "one missed", fetched: plain[1:], want: Report{Missed: plain[:1]}},
		{name: "the last missed", fetched: plain[:len(plain)-1], want: Report{Missed: plain[len(plain)-1:]}},
		{name: "one three times", fetched: with(plain[5], plain[5]), want: Report{Twice: plain[5:6]}},
		{
			name:    "one in two spellings",
			fetched: with(strings.Replace(strings.Replace(tilde, "~", "%7e", 1), ".test", ".TEST:80", 1) + "#top"),
			want:    Report{Twice: []string{tilde}},
		},
		{name: "decoy", fetched: with(first(Decoy)), want: unexpected(first(Decoy), "decoy")},
		{
			name: "disallowed, twice", fetched: with(first(Disallowed), first(Disallowed)),
			want: unexpected(first(Disallowed), "disallowed"),
		},
		{name: "out of scope", fetched: with(first(Outside)), want: unexpected(first(Outside), "outside")},
		{name: "nofollow", fetched: with(first(Nofollow)), want: unexpected(first(Nofollow), "nofollow")},
		{name: "another scheme", fetched: with("https://www00.test/"), want: unexpected("https://www00.test/", "unknown")},
		{name: "another port", fetched: with("http://www00.test:81/"), want: unexpected("http://www00.test:81/", "unknown")},
		{name: "no URL", fetched: with("/p/1.html"), want: unexpected("/p/1.html", "unknown")},
		{name: "sitemaps followed", fetched: with(urls(Sitemap)...), also: []Class{Sitemap}},
		{name: "sitemaps not followed", fetched: plain, also: []Class{Sitemap}, want: Report{Missed: urls(Sitemap)}},
		{
			name: "requisites, one twice", fetched: with(append(urls(Requisite), first(Requisite))...), also: []Class{Requisite},
			want: Report{Twice: []string{first(Requisite)}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.Check(slices.Values(tt.fetched), tt.also...)
			tt.want.Fetched = len(tt.fetched)
			if !reflect.DeepEqual(got, tt.want) || got.OK() != tt.want.OK() {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	report := Report{Fetched: 3, Missed: []string{"http://www00.test/a/1"}}
	want := "3 fetched, 1 missed, 0 twice, 0 unexpected\nmissed http://www00.test/a/1"
	if got := report.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A crawl that does more than Expected still knows what to expect.
func TestClassesAreWhatTheySay(t *testing.T) {
	s := newSite(t, Config{Seed: 22, Hosts: 4, PagesPerHost: 160, MedianBytes: 4_000})
	links, nofollow, text := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for e := range s.all() {
		r := s.Get(e.URL)
		for _, prefix := range []string{decoyPrefix, imagePrefix, bigImagePrefix, "http://" + outsideHost} {
			for rest := string(r.Body); ; {
				i := strings.Index(rest, prefix)
				if i < 0 {
					break
				}
				end := strings.IndexAny(rest[i:], "\"' >)")
				target := rest[i : i+end]
				if prefix[0] == '/' {
					target = "http://" + e.Host + target
				}
				text[target] = true
				rest = rest[i+end:]
			}
		}
		if r.Location != "" {
			to, _ := resolve(e.URL, r.Location)
			links[keyOf(s, to)] = true
		}
		if !strings.HasPrefix(r.ContentType, "text/html") {
			continue
		}
		page := parse(t, r)
		base, _ := resolve(e.URL, page.base)
		for _, l := range page.links {
			if to, ok := resolve(base, l.ref); ok && l.nofollow {
				nofollow[keyOf(s, to)] = true
			} else if ok && l.ref != "" && l.ref != "#top" {
				links[keyOf(s, to)] = true
			}
		}
	}
	for e := range s.all() {
		key := keyOf(s, e.URL)
		switch linked := links[key]; e.Class {
		case Plain, Disallowed, Outside:
			if !linked {
				t.Errorf("%s (%v) is linked nowhere", e.URL, e.Class)
			}
		case Nofollow:
			if linked || !nofollow[key] {
				t.Errorf("%s: linked %v, with nofollow %v", e.URL, linked, nofollow[key])
			}
		case Sitemap, Decoy, Requisite:
			if linked || nofollow[key] {
				t.Errorf("%s (%v) is linked", e.URL, e.Class)
			}
		}
		if e.Class == Decoy && !text[e.URL] {
			t.Errorf("%s: decoy that is nowhere", e.URL)
		}
	}
}

func TestRobotsForbidsTheDisallowed(t *testing.T) {
	s := newSite(t, Config{Seed: 23, Hosts: int(robotsCount), PagesPerHost: 320, CrawlDelay: 1500e6})
	forbidden := 0
	for h, host := range s.Hosts() {
		r := s.Get("http://" + host + robotsPath)
		if !hasRobots(h) {
			if r.Status != 404 {
				t.Errorf("%s: robots.txt %d", host, r.Status)
			}
			continue
		}
		if !strings.Contains(string(r.Body), "Crawl-delay: 1.5") {
			t.Errorf("%s: no Crawl-delay", host)
		}
		ours, theirs := robotRules(string(r.Body), "*"), robotRules(string(r.Body), "otherbot")
		for e := range s.all() {
			if e.Host != host || e.Class == Service {
				continue
			}
			_, target := cutURL([]byte(e.URL))
			path := string(appendNormal(nil, target))
			if got, want := ours.allow(path), e.Class != Disallowed; got != want {
				t.Errorf("%s: allowed %v, want %v", e.URL, got, want)
			}
			if theirs.allow(path) {
				t.Errorf("%s: allowed to otherbot", e.URL)
			}
			if e.Class == Disallowed {
				forbidden++
			}
		}
	}
	if forbidden < 30 {
		t.Errorf("only %d URLs are disallowed", forbidden)
	}
}

// ruleSet is robots.txt for one agent, by RFC 9309, section 2.2: rule by pattern length, longest match first.
type ruleSet []struct {
	pattern *regexp.Regexp
	length  int
	allow   bool
}

func robotRules(text, agent string) (rules ruleSet) {
	inGroup, inAgents := false, false
	isEnd := func(r rune) bool { return r == '\r' || r == '\n' }
	for line := range strings.FieldsFuncSeq(strings.TrimPrefix(text, "\uFEFF"), isEnd) {
		line, _, _ = strings.Cut(line, "#")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "user-agent":
			inGroup = inGroup && inAgents || value == agent
			inAgents = true
		case "allow", "disallow":
			inAgents = false
			if inGroup {
				pattern := regexp.QuoteMeta(string(appendNormal(nil, []byte(value))))
				pattern = strings.ReplaceAll(strings.Replace(pattern+"\n", `\$`+"\n", "$", 1), `\*`, ".*")
				rules = append(rules, struct {
					pattern *regexp.Regexp
					length  int
					allow   bool
				}{regexp.MustCompile("^" + strings.TrimSuffix(pattern, "\n")), len(value), strings.EqualFold(name, "allow")})
			}
		}
	}
	return rules
}

func (rules ruleSet) allow(path string) bool {
	longest, allow := -1, true
	for _, r := range rules {
		if r.length > longest && r.pattern.MatchString(path) {
			longest, allow = r.length, r.allow
		}
	}
	return allow
}

func TestSitemapsNameTheUnlinked(t *testing.T) {
	for _, cfg := range []Config{{Seed: 24}, {Seed: 25, Hosts: 1, PagesPerHost: sitemapPart + 500}} {
		s := newSite(t, cfg)
		named, other := map[string]bool{}, 0
		for host := range slices.Values(s.Hosts()) {
			for _, part := range locations(t, s.Get("http://"+host+sitemapPath)) {
				for _, url := range locations(t, s.Get(part)) {
					named[keyOf(s, url)] = true
				}
			}
		}
		for e := range s.all() {
			switch {
			case e.Class == Sitemap && !named[e.URL]:
				t.Errorf("%s is not named", e.URL)
			case e.Class == Plain && named[e.URL] && e.Status == 200:
				other++
			case e.Class != Sitemap && named[e.URL]:
				t.Errorf("%s is named, a %v", e.URL, e.Class)
			}
			delete(named, e.URL)
		}
		if other == 0 || len(named) > 0 {
			t.Errorf("%d pages named besides, unknown: %v", other, slices.Collect(maps.Keys(named)))
		}
	}
}

func locations(t *testing.T, r Response) []string {
	t.Helper()
	var doc struct {
		Index []string `xml:"sitemap>loc"`
		URLs  []string `xml:"url>loc"`
	}
	if err := xml.Unmarshal(r.Body, &doc); err != nil || r.ContentType != xmlType {
		t.Fatalf("%s: %v", r.ContentType, err)
	}
	return append(doc.Index, doc.URLs...)
}

func TestForbidden(t *testing.T) {
	s := newSite(t, Config{})
	count := map[Class]int{}
	for e := range s.Forbidden() {
		count[e.Class]++
	}
	if len(count) != 3 || count[Disallowed] == 0 || count[Decoy] == 0 || count[Outside] == 0 {
		t.Errorf("got %v", count)
	}
	var first iter.Seq[Expect] = s.URLs(Service, Requisite)
	for range first {
		break // a sequence may be left at any point
	}
}
