package fetch

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// robotsShapes are files of MaxRobotsBytes, one of each sort that might cost time.
var robotsShapes = []struct {
	name string
	line func(i int) string
}{
	{"rules", func(i int) string { return fmt.Sprintf("Disallow: /folder/%d/\n", i) }},
	{"wildcards", func(i int) string { return fmt.Sprintf("Disallow: /%s%d\n", strings.Repeat("*a", 40), i) }},
	{"short wildcards", func(i int) string { return fmt.Sprintf("Allow:/*%d\n", i) }},
	{"encoded", func(i int) string { return fmt.Sprintf("Disallow: /%%7e%%E6%%97%%A5\u65e5%d\n", i) }},
	{"agents", func(i int) string { return fmt.Sprintf("User-agent: bot%d\nDisallow: /\n", i) }},
	{"sitemaps", func(i int) string { return fmt.Sprintf("Sitemap: https://a.example/%d.xml\n", i) }},
	{"delays", func(i int) string { return fmt.Sprintf("Crawl-delay: %d.5\n", i) }},
	{"comments", func(int) string { return "# nothing\n" }},
	{"empty lines", func(int) string { return "\r" }},
	{"no line end", func(int) string { return "x" }},
	{"rubbish", func(i int) string { return fmt.Sprintf("<p class=x%d>Disallow: /%d</p>\n", i, i) }},
}

// robotsOf returns a file of n bytes made of lines.
func robotsOf(n int, line func(int) string) []byte {
	file := []byte("User-agent: *\n")
	for i := 0; len(file) < n; i++ {
		file = append(file, line(i)...)
	}
	return file[:n]
}

// parsePass and tokenizerPass are what the benchmark and its bar compare.
func parsePass(b testing.TB, file []byte) {
	if _, err := ParseRobots(bytes.NewReader(file), "bot"); err != nil {
		b.Fatal(err)
	}
}

func tokenizerPass(file []byte) {
	z := html.NewTokenizer(bytes.NewReader(file))
	for z.Next() != html.ErrorToken {
	}
}

// BenchmarkParseRobots reports how many passes of an HTML tokenizer over the same bytes parsing takes, interleaved.
func BenchmarkParseRobots(b *testing.B) {
	for _, shape := range robotsShapes {
		b.Run(shape.name, func(b *testing.B) {
			file := robotsOf(MaxRobotsBytes, shape.line)
			var parse, tokenize time.Duration
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				start := time.Now()
				parsePass(b, file)
				middle := time.Now()
				tokenizerPass(file)
				parse, tokenize = parse+middle.Sub(start), tokenize+time.Since(middle)
			}
			b.ReportMetric(float64(parse)/float64(tokenize), "passes")
			b.ReportMetric(float64(parse.Microseconds())/1000/float64(b.N), "ms/parse")
		})
	}
}

// TestParseRobotsBar holds parsing against the bar: no more than twenty passes of an HTML tokenizer, whatever the file. Other
// work on the machine only adds, so one of many rounds within the bar is enough.
func TestParseRobotsBar(t *testing.T) {
	for _, shape := range robotsShapes {
		t.Run(shape.name, func(t *testing.T) {
			file := robotsOf(MaxRobotsBytes, shape.line)
			var parse, tokenize time.Duration
			for range 30 {
				start := time.Now()
				parsePass(t, file)
				middle := time.Now()
				tokenizerPass(file)
				if parse, tokenize = middle.Sub(start), time.Since(middle); parse <= 20*tokenize {
					return
				}
			}
			t.Errorf("parsed in %v, a tokenizer pass takes %v", parse, tokenize)
		})
	}
}

// many returns n lines, each with its number.
func many(n int, line string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, 10_000+i)
	}
	return b.String()
}

// BenchmarkRobotsMatch grows one of the rule, its stars, the path and the number of rules at a time: the time a byte, or a
// rule, stays about the same.
func BenchmarkRobotsMatch(b *testing.B) {
	test := func(b *testing.B, name, file, target string, parts int) {
		b.Run(name, func(b *testing.B) {
			r := parseRobots(b, "User-agent: *\n"+file, "bot")
			u := mustParse(b, "https://a.example"+target)
			for b.Loop() {
				r.Test(u)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(parts), "ns/part")
		})
	}
	for _, n := range []int{1000, 4000, 16_000} {
		path := "/" + strings.Repeat("a", n)
		test(b, fmt.Sprintf("path/%d", n), "Disallow: /*a*b\n", path, n)
		test(b, fmt.Sprintf("rule/%d", n), "Disallow: /"+strings.Repeat("a", n)+"b\n", "/"+strings.Repeat("a", 16_000), n)
		test(b, fmt.Sprintf("stars/%d", n), "Disallow: /"+strings.Repeat("*a", n)+"b\n", "/"+strings.Repeat("a", 16_000), n)
		test(b, fmt.Sprintf("near misses/%d", n), "Disallow: /*"+strings.Repeat("a", 200)+"b*c\n", path, n)
		test(b, fmt.Sprintf("rules/%d", n), many(n, "Disallow: /*x*yz%d\n"), "/"+strings.Repeat("a", 100), n)
		test(b, fmt.Sprintf("plain rules/%d", n), many(n, "Disallow: /folder/x%d\n"), "/folder/y", n)
	}
}

// TestRobotsCostIsBounded has the worst that a site can do to one URL of its own: as many rules as fit, each of which goes
// all along a path as long as a URL may be. It ends by the limit, which no file of a site that means well comes near.
func TestRobotsCostIsBounded(t *testing.T) {
	var digits strings.Builder // each pair of them behind what the rules begin with, so that no rule is passed over unread
	for i := range 100 {
		fmt.Fprintf(&digits, "zz%02d", i)
	}
	u := mustParse(t, "https://a.example/yy"+digits.String()+strings.Repeat("z", 15_000))
	for _, rule := range []string{"Allow: /*z%d\n", "Allow: /*zz%d\n", "Disallow: /*zz%d*yy\n", "Disallow: /*z*z*zz%d\n"} {
		r := parseRobots(t, string(robotsOf(MaxRobotsBytes, func(i int) string { return fmt.Sprintf(rule, 12_000+i) })), "bot")
		best := time.Hour
		for range 3 {
			start := time.Now()
			if d := r.Test(u); d.Allowed || d.Rule != tooMuch {
				t.Fatalf("%q: %+v, want it denied", rule, d)
			}
			best = min(best, time.Since(start))
		}
		if best > time.Second {
			t.Errorf("%q: a test took %v", rule, best)
		}
		t.Logf("%q: %d rules, %v", rule, len(r.rules.all), best)
	}
	// A long path and many plain rules, or a usual path and very many with stars, are judged.
	plain := parseRobots(t, string(robotsOf(MaxRobotsBytes, func(i int) string { return fmt.Sprintf("Disallow: /z%d\n", i) })), "bot")
	stars := parseRobots(t, string(robotsOf(MaxRobotsBytes, func(i int) string { return fmt.Sprintf("Disallow: /*z%d\n", i) })), "bot")
	checkPaths(t, plain, "/"+strings.Repeat("z", 16_000), true)
	checkPaths(t, stars, "/"+strings.Repeat("z", 900), true)
}
