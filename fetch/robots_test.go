package fetch

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"crawl/canon"
)

func parseRobots(t testing.TB, text, agent string) *Robots {
	t.Helper()
	r, err := ParseRobots(strings.NewReader(text), agent)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRobotsRFC9309(t *testing.T) {
	var file struct {
		Cases []struct {
			ID, Profile, Note, Robots, Agent, URL string
			Allowed                               bool
		}
	}
	readJSON(t, conformance(t, "robots/rfc9309-cases.json"), &file)
	for _, tt := range file.Cases {
		t.Run(tt.ID, func(t *testing.T) {
			d := parseRobots(t, tt.Robots, tt.Agent).Test(mustParse(t, tt.URL))
			if d.Allowed != tt.Allowed {
				t.Errorf("%s for %s: allowed %v by line %d %q, want %v: %s", tt.URL, tt.Agent, d.Allowed, d.Line, d.Rule,
					tt.Allowed, tt.Note)
			}
		})
	}
}

func TestRobotsExtras(t *testing.T) {
	var file struct {
		Cases []struct {
			ID, Robots, Agent string
			CrawlDelay        *float64 `json:"crawl_delay"`
			Sitemaps          []string
		}
	}
	readJSON(t, conformance(t, "robots/extras-cases.json"), &file)
	base := mustParse(t, "https://site.example/robots.txt")
	for _, tt := range file.Cases {
		t.Run(tt.ID, func(t *testing.T) {
			r := parseRobots(t, tt.Robots, tt.Agent)
			delay, ok := r.CrawlDelay()
			if ok != (tt.CrawlDelay != nil) || ok && delay.Seconds() != *tt.CrawlDelay {
				t.Errorf("crawl delay %v %v, want %v", delay, ok, tt.CrawlDelay)
			}
			got := make([]string, 0)
			for _, ref := range r.Sitemaps() {
				u, err := (*canon.Rules)(nil).Parse(base, ref)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, u.String())
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.Sitemaps) {
				t.Errorf("sitemaps %v, want %v", got, tt.Sitemaps)
			}
		})
	}
}

func TestRobotsHanded(t *testing.T) {
	for _, tt := range handedCases(t, "robots") {
		t.Run(tt.ID, func(t *testing.T) {
			var in struct{ Robots, Agent string }
			var want []struct {
				URL     string
				Allowed bool
			}
			unmarshal(t, tt.Input, &in)
			unmarshal(t, tt.Want, &want)
			r := parseRobots(t, in.Robots, in.Agent)
			for _, w := range want {
				if d := r.Test(mustParse(t, w.URL)); d.Allowed != w.Allowed {
					t.Errorf("%s: allowed %v by line %d %q, want %v", w.URL, d.Allowed, d.Line, d.Rule, w.Allowed)
				}
			}
		})
	}
}

// TestRobotsFiles holds files from real sites against what they say.
func TestRobotsFiles(t *testing.T) {
	for _, tt := range []struct {
		file, agent string
		allowed     string // paths
		denied      string
		delay       time.Duration // -1: none
		sitemaps    int
	}{
		{"cc-astore.amazon.com-robots.txt", "bot", "/", "", 5 * time.Second, 0},
		{"cc-crawl-delay-group-merging.txt", "mybot", "/ /login/", "/private/", 10 * time.Second, 0},
		{"cc-crawl-delay-group-merging.txt", "yourbot", "/", "/private/ /login/", -1, 0},
		{"cc-crawl-delay-group-merging.txt", "bot", "/ /private/", "", 30 * time.Second, 0},
		{"cc-directive-typos-robots.txt", "bot1", "/useragent/", "/desallow/ /dissalow/", -1, 0},
		{"cc-directive-typos-robots.txt", "bot2", "/desallow/", "/useragent/", -1, 0},
		{"cc-directive-typos-robots.txt", "bot3", "/desallow/", "/useg-agent/", -1, 0},
		{"cc-directive-typos-robots.txt", "bot4", "/desallow/", "/useragent-no-colon/", -1, 0},
		{"cc-dos-line-endings.txt", "bot", "/", "", time.Second, 0},
		{"cc-extended-standard-robots.txt", "bot3", "/x", "", -1, 0},
		{"cc-extension-robots.txt", "mybot", "/ /secret/", "/private/", -1, 1},
		{"cc-extension-robots.txt", "otherbot", "/private/", "/admin/", -1, 1},
		{"cc-extensions-group-merging.txt", "mybot", "/", "/private/ /login/", -1, 0},
		{"cc-extensions-group-merging.txt", "yourbot", "/", "/private/ /login/", -1, 0},
		{"cc-extensions-group-merging.txt", "bot", "/llms.txt", "/x", -1, 0},
		{"cc-format-errors-robots.txt", "bot1", "/x", "/whitespace-before-colon/ /no-colon/", -1, 1},
		{"cc-format-errors-robots.txt", "bot2", "/x", "/no-colon-useragent/", -1, 1},
		{"cc-format-errors-robots.txt", "bot3", "/whitespace-before-colon", "/x", -1, 1},
		{"cc-malformed-path.txt", "bot", "/wiki/Wikipedia_talk:Village", "/wiki/Wikipedia_talk:Mediation_Committee/1", -1, 0},
		{"cc-merge-rules.txt", "testy", "", "/ /foo/bar", -1, 0},
		{"cc-merge-rules.txt", "wget", "/foo/bar /ckh/bar", "/tmp/bar", -1, 0},
		{"cc-merge-rules.txt", "bot", "/ckh/bar", "/foo/bar /tmp/bar", -1, 0},
		{"cc-precedence-of-rules.txt", "testy", "/foo/bar /foo/bar/x", "/foo /foo/bat", -1, 0},
		{"cc-precedence-of-rules.txt", "wget", "/foo /index.html", "", -1, 0},
		{"cc-relative-sitemap-robots.txt", "bot", "/", "/files/x", -1, 1},
		{"cc-rfc9309-example-longest-match-robots.txt", "foobot", "/example/page/", "/example/page/disallowed.gif", -1, 0},
		{"cc-rfc9309-example-rule-group-merging.txt", "examplebot", "/", "/foo /bar /baz", -1, 0},
		{"cc-rfc9309-example-rule-group-merging.txt", "bazbot", "/foo", "/baz", -1, 0},
		{"cc-rfc9309-example-simple-robots.txt", "bot", "/publications/ /a.gif?x", "/example/ /a.gif", -1, 0},
		{"cc-rfc9309-example-simple-robots.txt", "foobot", "/example/page.html /example/allowed.gif", "/ /example/", -1, 0},
		{"cc-rfc9309-example-simple-robots.txt", "quxbot", "/ /example/page.html /a.gif", "", -1, 0},
		{"cc-robots-with-utf16be-bom.txt", "bot", "/", "/profile /x/output/print", -1, 1},
		{"cc-robots-with-utf16le-bom.txt", "bot", "/", "/profile /x/output/print", -1, 1},
		{"cc-robots-with-utf8-bom.txt", "bot", "/", "/profile /x/output/print", -1, 1},
		{"cc-sitemap-robots-dedup.txt", "bot", "/", "", -1, 1},
		{"cc-sitemap-robots.txt", "bot", "/", "", -1, 2},
		{"cc-twitter.com-robots.txt", "msnbot", "/x", "/x?y /x/with_friends", 10 * time.Second, 0},
		{"cc-wildcards.txt", "bot", "/wishlist/universal-x /wishlist/get-button", "/wishlist/x /gp/registry/wishlist/a/reserve /x/gcrnsts",
			-1, 8},
		{"cc-www.flot.com-robots.txt", "bot", "/lang/de/", "/bitrix/x /admin/ /img/a.png", -1, 1},
	} {
		t.Run(tt.file+"/"+tt.agent, func(t *testing.T) {
			data, err := os.ReadFile(conformance(t, "robots/"+tt.file))
			if err != nil {
				t.Fatal(err)
			}
			r := parseRobots(t, string(data), tt.agent)
			checkPaths(t, r, tt.allowed, true)
			checkPaths(t, r, tt.denied, false)
			if delay, ok := r.CrawlDelay(); ok != (tt.delay >= 0) || ok && delay != tt.delay {
				t.Errorf("crawl delay %v %v, want %v", delay, ok, tt.delay)
			}
			if got := r.Sitemaps(); len(got) != tt.sitemaps {
				t.Errorf("sitemaps %q, want %d", got, tt.sitemaps)
			}
		})
	}
}

func checkPaths(t *testing.T, r *Robots, paths string, want bool) {
	t.Helper()
	for path := range strings.FieldsSeq(paths) {
		if d := r.Test(mustParse(t, "https://site.example"+path)); d.Allowed != want {
			t.Errorf("%s: allowed %v by line %d %q, want %v", path, d.Allowed, d.Line, d.Rule, want)
		}
	}
}

func TestRobotsManyUserAgents(t *testing.T) {
	data, err := os.ReadFile(conformance(t, "robots/cc-many-user-agents.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// The file shuts out a long list by name and says nothing to others.
	for line := range strings.Lines(string(data)) {
		name, agent, _ := strings.Cut(line, ":")
		agent = strings.TrimSpace(agent)
		if !strings.EqualFold(name, "user-agent") || agent == "" || agent == "*" {
			continue
		}
		if d := parseRobots(t, string(data), agent).Test(mustParse(t, "https://site.example/x")); d.Allowed {
			t.Errorf("%q is allowed", agent)
		}
	}
}

func TestRobotsDecisionNamesTheLine(t *testing.T) {
	r := parseRobots(t, "# who\r\nUser-agent: *\r\nDissalow : /a%7eb # no\rAllow:/a\n", "bot")
	for target, want := range map[string]Decision{
		"/a~b":        {Allowed: false, Line: 3, Rule: "Disallow: /a%7eb"},
		"/ac":         {Allowed: true, Line: 4, Rule: "Allow: /a"},
		"/x":          {Allowed: true},
		"/robots.txt": {Allowed: true},
	} {
		if got := r.Test(mustParse(t, "http://a.example"+target)); got != want {
			t.Errorf("%s: %+v, want %+v", target, got, want)
		}
	}
}

// TestRobotsApostrophe: an apostrophe is one, however the rule or the URL has it.
func TestRobotsApostrophe(t *testing.T) {
	for _, rule := range []string{"/it's?q='a'", "/it%27s?q=%27a%27", "/it's?q=%27a'"} {
		r := parseRobots(t, "User-agent: *\nDisallow: "+rule+"\n", "bot")
		checkPaths(t, r, "/it's?q='a' /it%27s?q=%27a%27&b", false)
		checkPaths(t, r, "/its?q=a /it%2527s?q='a'", true)
	}
}

func TestRobotsAgent(t *testing.T) {
	const file = "User-agent: ExampleBot\nDisallow: /x\n\nUser-agent: mozilla\nDisallow: /\n"
	for _, agent := range []string{
		"examplebot", "ExampleBot/1.0", "ExampleBot/1.0 (+https://a.example/bot)", "ExampleBot (compatible; other)",
		"Mozilla/5.0 (compatible; ExampleBot/1.0; +https://a.example/bot)",
	} {
		r := parseRobots(t, file, agent)
		checkPaths(t, r, "/x", false)
		checkPaths(t, r, "/y", true)
	}
	for _, agent := range []string{"", "*", "(bot)"} {
		checkPaths(t, parseRobots(t, file+"\nUser-agent: *\nDisallow: /z\n", agent), "/z", false)
		checkPaths(t, parseRobots(t, file+"\nUser-agent: *\nDisallow: /z\n", agent), "/x", true)
	}
}

func TestRobotsLimits(t *testing.T) {
	head := "User-agent: *\nDisallow: /early\n"
	pad := strings.Repeat("#"+strings.Repeat(" ", 1022)+"\n", 2*MaxRobotsBytes/1024)
	cut := head + pad[:MaxRobotsBytes-len(head)-len("\nDisallow: /")] + "\nDisallow: /private\n" + pad
	for name, file := range map[string]string{"late rules": head + pad + "Disallow: /\n", "cut line": cut} {
		t.Run(name, func(t *testing.T) {
			r := parseRobots(t, file, "bot")
			checkPaths(t, r, "/early", false)
			checkPaths(t, r, "/x /private", true)
		})
	}
	broken := errors.New("broken")
	if _, err := ParseRobots(iotest.ErrReader(broken), "bot"); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// TestRobotsHostileFile holds a file made to cost time against the bound for a page: well under a second, where trying
// every split of the stars would take ages.
func TestRobotsHostileFile(t *testing.T) {
	rule := "Disallow: /" + strings.Repeat("*a", 40) + "b\n"
	file := "User-agent: *\n" + strings.Repeat(rule, (MaxRobotsBytes-20)/len(rule)) + "Disallow: /" + strings.Repeat("*a", 2000) + "$\n"
	u := mustParse(t, "https://a.example/"+strings.Repeat("a", 2000))
	start := time.Now()
	r := parseRobots(t, file, "bot")
	for range 10 {
		if d := r.Test(u); !d.Allowed {
			t.Fatalf("denied by %+v", d)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("ten tests took %v", took)
	}
}

func TestRobotsCrawlDelay(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"2": 2 * time.Second, "0": 0, "0.25": 250 * time.Millisecond, ".5": 500 * time.Millisecond, "1.": time.Second,
		"99999999999999999999": 1<<63 - 1, "2\nCrawl-delay: 9\nCrawl-delay: 3": 9 * time.Second,
		"": -1, "soon": -1, "-1": -1, "1e3": -1, "0x10": -1, "Inf": -1, "nan": -1, "1s": -1, ".": -1, "1.2.3": -1,
	} {
		delay, ok := parseRobots(t, "User-agent: *\nCrawl-delay: "+value+"\n", "bot").CrawlDelay()
		if ok != (want >= 0) || ok && delay != want {
			t.Errorf("%q: %v %v, want %v", value, delay, ok, want)
		}
	}
}

func TestRobotsFromAnswers(t *testing.T) {
	const closed, open = "User-agent: *\nDisallow: /", "User-agent: *\nAllow: /"
	for _, tt := range []struct {
		name    string
		res     *Result
		err     error
		allowed bool
		rule    string
	}{
		{"200", &Result{Status: 200, Body: []byte(closed)}, nil, false, "Disallow: /"},
		{"204", &Result{Status: 204}, nil, true, ""},
		{"redirect left over", &Result{Status: 302, Body: []byte(closed)}, nil, true, ""},
		{"401", &Result{Status: 401, Body: []byte(closed)}, nil, true, ""},
		{"403", &Result{Status: 403}, nil, true, ""},
		{"429", &Result{Status: 429, Body: []byte(open)}, nil, false, "robots.txt answered 429"},
		{"503", &Result{Status: 503, Body: []byte(open)}, nil, false, "robots.txt answered 503"},
		{"over the cap", &Result{Status: 200, Body: []byte(closed + "\nAllow: /x\n"), Truncated: TruncatedLength}, nil, true, "Allow: /x"},
		{"over the cap, in a line", &Result{Status: 200, Body: []byte(closed + "\nAllow: /x"), Truncated: TruncatedLength}, nil, false, "Disallow: /"},
		{"cut by the peer", &Result{Status: 200, Body: []byte(open), Truncated: TruncatedDisconnect}, nil, false,
			"robots.txt was cut short: disconnect"},
		{"cut by the deadline", &Result{Status: 200, Truncated: TruncatedTime}, nil, false, "robots.txt was cut short: time"},
		{"damaged", &Result{Status: 200, DecodeErr: errNoEnd}, nil, false, "robots.txt cannot be decoded: " + errNoEnd.Error()},
		{"no answer", nil, newError(canon.URL{}, PhaseHead, timeoutError{"no answer", time.Second}), false, "robots.txt: head: timeout"},
		{"another error", nil, errors.New("odd"), false, "robots.txt: odd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := RobotsFrom(tt.res, tt.err, "bot").Test(mustParse(t, "http://a.example/x"))
			if got.Allowed != tt.allowed || got.Rule != tt.rule {
				t.Errorf("%+v, want allowed %v, rule %q", got, tt.allowed, tt.rule)
			}
		})
	}
	if d := DisallowAll("").Test(mustParse(t, "http://a.example/x")); d.Allowed || d.Rule == "" {
		t.Errorf("DisallowAll without a reason: %+v", d)
	}
}

// TestRobotsFetchHanded asks servers for robots.txt as the handed cases describe them.
func TestRobotsFetchHanded(t *testing.T) {
	for _, tt := range handedCases(t, "robots_fetch") {
		var in struct {
			URL, Agent string
			Cases      []struct {
				Status int    `json:"robots_status"`
				Body   string // of robots.txt
			}
		}
		var want []bool
		unmarshal(t, tt.Input, &in)
		unmarshal(t, tt.Want, &want)
		for i, tc := range in.Cases {
			t.Run(fmt.Sprintf("%s/%d", tt.ID, i), func(t *testing.T) {
				p := newPeer(t, once(fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s", tc.Status, len(tc.Body), tc.Body)))
				if tc.Status == 0 {
					p.listener.Close() // refused
				}
				c := newClient(t, Config{ConnectTo: []ConnectTo{connectTo(t, "a.test:80:"+p.listener.Addr().String())}})
				res, err := c.Fetch(t.Context(), Request{URL: mustParse(t, "http://a.test/robots.txt")})
				if got := RobotsFrom(res, err, in.Agent).Test(mustParse(t, in.URL)); got.Allowed != want[i] {
					t.Errorf("%+v, want allowed %v (fetch: %v)", got, want[i], err)
				}
			})
		}
	}
}

// TestRobotsFetchFacts holds the rules on fetching robots.txt that the shared facts list against RobotsFrom.
func TestRobotsFetchFacts(t *testing.T) {
	var file struct {
		Facts []struct{ Result, Meaning string }
	}
	readJSON(t, conformance(t, "robots/fetch-facts.json"), &file)
	statuses := map[string][]int{"2xx": {200, 206}, "4xx (400-499, also 401 and 403)": {400, 401, 403, 404, 410, 499}, "5xx": {500, 503, 599}}
	page := mustParse(t, "http://a.example/x")
	checked := 0
	for _, fact := range file.Facts {
		for _, status := range statuses[fact.Result] {
			checked++
			d := RobotsFrom(&Result{Status: status, Body: []byte("User-agent: *\nDisallow: /x\nAllow: /y")}, nil, "bot").Test(page)
			if want := status >= 400 && status < 500; d.Allowed != want {
				t.Errorf("%d: %+v, want allowed %v: %s", status, d, want, fact.Meaning)
			}
		}
	}
	if checked == 0 {
		t.Error("no fact was checked")
	}
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /*a*b$\nAllow: /%61\n", "bot", "/a/b?c")
	f.Add("\ufeffuser agent bot\rdisalow /x\r\nCrawl-delay: 1.5\nSitemap: /s", "Bot/1.0", "/x%2f")
	f.Add("\xff\xfeU\x00", "*", "/%")
	f.Add("User-agent: *\nDisallow: %%2\xff$$**\x00", "Mozilla/5.0 (compatible; b)", "/\x00")
	f.Add("User-agent: *\nDisallow: /%%%%66666%XX\n", "bot", "%%%%66666%XX")
	f.Fuzz(func(t *testing.T, file, agent, target string) {
		u, err := canon.Parse("http://a.example/" + target)
		if err != nil {
			t.Skip("no URL")
		}
		start := time.Now()
		r := parseRobots(t, file, agent)
		d := r.Test(u)
		if took := time.Since(start); took > 2*time.Second { // on a busy machine; TestRobotsCostIsBounded is closer
			t.Fatalf("one test took %v", took)
		}
		if d.Rule != tooMuch && ((d.Line == 0) != (d.Rule == "") || !d.Allowed && d.Line == 0) {
			t.Fatalf("decision without its line: %+v", d)
		}
		if d != parseRobots(t, file, agent).Test(u) {
			t.Fatal("a second reading decides otherwise")
		}
		// A folded form is what it is compared by: folding it once more may change nothing but the special characters.
		if once := fold(target, inTarget); fold(once, inTarget) != once {
			t.Fatalf("fold(%q) = %q is not stable", target, once)
		}
		if delay, ok := r.CrawlDelay(); ok && delay < 0 {
			t.Fatalf("negative delay %v", delay)
		}
	})
}

// TestRobotsNeighbours are files next to those of the handed cases: a line end, a mark, a blank or a case away.
func TestRobotsNeighbours(t *testing.T) {
	for _, tt := range []struct {
		name, file, agent, allowed, denied string
	}{
		{"robots-01 a mark and nothing else", "\ufeff", "bot", "/p/x", ""},
		{"robots-01 a mark before CR", "\ufeff\rUser-agent: *\rDisallow: /p/", "bot", "/q", "/p/x"},
		{"robots-01 a second mark spoils a line", "\ufeff\ufeffUser-agent: *\nDisallow: /p/\n", "bot", "/p/x", ""},
		{"robots-01 UTF-16 without a mark is no text", "U\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00", "bot", "/p/x", ""},
		{"robots-02 only CR", "User-agent: *\rDisallow: /p/\r", "bot", "/q", "/p/x"},
		{"robots-02 CR CR LF", "User-agent: *\r\r\nDisallow: /p/\r\r\n", "bot", "/q", "/p/x"},
		{"robots-02 LF CR", "User-agent: *\n\rDisallow: /p/\n\r", "bot", "/q", "/p/x"},
		{"robots-02 no end after a head", "User-agent: *\nDisallow: /p/\nUser-agent: other", "bot", "/q", "/p/x"},
		{"robots-02 a vertical tab ends no line", "User-agent: *\vDisallow: /p/", "bot", "/p/x", ""},
		{"robots-03 a blank line ends no head", "User-agent: bot\n\nUser-agent: other\nDisallow: /p/", "bot", "/q", "/p/x"},
		{"robots-03 nor does a comment", "User-agent: bot\n# x\nUser-agent: other\nDisallow: /p/", "bot", "/q", "/p/x"},
		{"robots-03 nor a sitemap", "User-agent: bot\nSitemap: /s\nUser-agent: other\nDisallow: /p/", "bot", "/q", "/p/x"},
		{"robots-03 nor what nobody knows", "User-agent: bot\nNoindex: /s\nUser-agent: other\nDisallow: /p/", "bot", "/q", "/p/x"},
		{"robots-03 an empty rule does", "User-agent: bot\nDisallow:\nUser-agent: other\nDisallow: /p/", "bot", "/p/x", ""},
		{"robots-03 rules before any head are nobody's", "Disallow: /p/\nUser-agent: other\nDisallow: /", "bot", "/p/x", ""},
		{"robots-04 star after the name", "User-agent: bot\nDisallow: /a/\n\nUser-agent: *\nDisallow: /b/\n", "bot", "/b/x", "/a/x"},
		{"robots-04 a name without rules is a group", "User-agent: *\nDisallow: /\n\nUser-agent: bot\n", "bot", "/x", ""},
		{"robots-04 stars are merged", "User-agent: *\nDisallow: /a/\n\nUser-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /b/\n", "bot", "/c", "/a/x /b/x"},
		{"robots-05 a longer name", "User-agent: bots\nDisallow: /\n", "bot", "/x", ""},
		{"robots-05 a name with a version", "User-agent: bot/2.0\nDisallow: /\n", "bot", "", "/x"},
		{"robots-05 a name in other case", "User-agent: BOT\nDisallow: /\n", "Bot/1.0", "", "/x"},
		{"robots-05 a star and more", "User-agent: *bot\nDisallow: /\n", "bot", "/x", ""},
		{"robots-06 a star at the end", "User-agent: *\nDisallow: /p*\n", "bot", "/q", "/p /p/x /pq"},
		{"robots-06 stars in a row", "User-agent: *\nDisallow: /***p***q\n", "bot", "/qp", "/pq /a/p/b/q"},
		{"robots-06 a star before the end", "User-agent: *\nDisallow: /p*$\n", "bot", "/q", "/p /p/x?y"},
		{"robots-06 a dollar within", "User-agent: *\nDisallow: /p$q\n", "bot", "/p /pq", "/p$q"},
		{"robots-06 two dollars", "User-agent: *\nDisallow: /p$$\n", "bot", "/p", "/p$"},
		{"robots-06 a dollar alone", "User-agent: *\nDisallow: $\n", "bot", "/ /x", ""},
		{"robots-06 a star alone", "User-agent: *\nDisallow: *\n", "bot", "", "/ /x"},
		{"robots-06 order does not count", "User-agent: *\nAllow: /p/ok\nDisallow: /p/\n", "bot", "/p/ok /p/okay", "/p/x"},
		{"robots-06 equal lengths by other stars", "User-agent: *\nDisallow: /*x\nAllow: /p*\n", "bot", "/px", "/qx"},
		{"robots-07 an empty query", "User-agent: *\nDisallow: /p?\n", "bot", "/p", "/p? /p?x"},
		{"robots-07 a question mark twice", "User-agent: *\nDisallow: /*?*?\n", "bot", "/p?x", "/p?x?y"},
		{"robots-08 hexadecimal in either case", "User-agent: *\nDisallow: /%c3%a9\nDisallow: /x%2Fy\n", "bot", "/x/y", "/%C3%A9 /\u00e9 /x%2fy"},
		{"robots-08 encoded letters are letters", "User-agent: *\nDisallow: /%61%2D%5f\n", "bot", "/b", "/a-_ /%61-_"},
		{"robots-08 an encoded star is one", "User-agent: *\nDisallow: /p%2A\n", "bot", "/px", "/p* /p%2a"},
		{"robots-08 an encoded dollar is one", "User-agent: *\nDisallow: /p%24\n", "bot", "/p /px", "/p$ /p%24x"},
		{"robots-08 a percent sign by itself", "User-agent: *\nDisallow: /100%\n", "bot", "/100", "/100% /100%25"},
		{"robots-08 a blank", "User-agent: *\nDisallow: /a b\n", "bot", "/a", "/a%20b"},
		{"robots-08 the path's case counts", "User-agent: *\nDisallow: /Private\n", "bot", "/private", "/Private"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := parseRobots(t, tt.file, tt.agent)
			checkPaths(t, r, tt.allowed, true)
			checkPaths(t, r, tt.denied, false)
		})
	}
}
