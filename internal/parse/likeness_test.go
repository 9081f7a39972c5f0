package parse

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"
)

func TestLikeness(t *testing.T) {
	for _, tt := range []struct {
		name        string
		url, body   string
		other, says string
		alike       bool
	}{
		{"months of a calendar", "http://a.test/cal?y=2031&m=7", "<p>Events in 7/2031: none <a href=x>6</a> <a href=y>8/2031</a>",
			"http://a.test/cal?y=1999&m=12", "<p>Events in 12/1999: none <a href=z>11</a> <a href=v>13/1999</a>", true},
		{"one with an event", "http://a.test/cal?y=2031&m=7", "<p>none", "http://a.test/cal?y=2031&m=8", "<p>one: a concert", false},
		{"one item under two sessions", "http://a.test/s/0a1b/item?id=3", "<h1>Chair</h1><a href=/s/0a1b/item?id=4>next</a>",
			"http://a.test/s/9f8e/item?id=3", "<h1>Chair</h1>\n <a href=/s/9f8e/item?id=4>next</a>", true},
		{"two items", "http://a.test/item?id=3", "<h1>Chair</h1>", "http://a.test/item?id=4", "<h1>Table</h1>", false},
		{"two pictures", "http://a.test/p/3", "Photo 3 of 90<img src=/3.jpg>", "http://a.test/p/4", "Photo 4 of 90<img src=/4.jpg>", false},
		{"two measurements", "http://a.test/m/3", "Station 3: 17 degrees", "http://a.test/m/4", "Station 4: 21 degrees", false},
		{"scripts and comments", "http://a.test/1", "a<script>var t=1</script><!-- 1 --><style>x{}</style>b", "http://a.test/2", "a<script>var t=2</script> b", true},
		{"nothing", "http://a.test/1", "", "http://a.test/2", "<p></p>", true},
		{"a long number", "http://a.test/12345678901234567890", "12345678901234567890", "http://a.test/2", "2", false},
	} {
		a := Likeness([]byte(tt.body), parseURL(t, tt.url))
		b := Likeness([]byte(tt.says), parseURL(t, tt.other))
		if (a == b) != tt.alike {
			t.Errorf("%s: alike is %v, want %v", tt.name, a == b, tt.alike)
		}
	}
}

// What was asked for does not count in the gist of a page.
func TestGist(t *testing.T) {
	say := func(url, body string) uint64 { return Gist([]byte(body), parseURL(t, url)) }
	missing := say("http://a.test/red/Green/", "<h1>red/green</h1> is not here")
	if got := say("http://a.test/blue/", "<h1>/Blue/</h1> is not here"); got != missing {
		t.Error("two pages of what is not there differ")
	}
	for url, body := range map[string]string{
		"http://a.test/blue/": "/Blue/ is here", "http://a.test/": "red is not here", "http://a.test/red": "reds is not here",
	} {
		if say(url, body) == missing {
			t.Errorf("%s: %s: not told from a page of what is not there", url, body)
		}
	}
}

// Pages that differ in one word of hundreds are near each other, others are not.
func TestSimhash(t *testing.T) {
	say := func(n int, last string) uint64 {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "<p>word%d", i*i)
		}
		return Simhash([]byte(b.String()+" "+last), parseURL(t, "http://a.test/"))
	}
	for _, tt := range []struct {
		name string
		a, b uint64
		near bool
	}{
		{"a time of day", say(1000, "made at 12:03:11"), say(1000, "made at 23:59:07"), true},
		{"an advertisement", say(800, "buy red shoes"), say(800, "learn to dance"), true},
		{"a short page", say(10, "chair"), say(10, "table"), false},
		{"half as long", say(500, ""), say(250, ""), false},
	} {
		if n := bits.OnesCount64(tt.a ^ tt.b); (n <= 3) != tt.near {
			t.Errorf("%s: %d bits differ", tt.name, n)
		}
	}
}

func FuzzLikeness(f *testing.F) {
	f.Add([]byte("<p>a 1<img src=x></p"), "/1?x=2")
	f.Fuzz(func(t *testing.T, body []byte, target string) {
		u := parseURL(t, "http://a.test/")
		if Likeness(body, u) != Likeness(append([]byte("<!-- x -->"), body...), u) {
			t.Error("a comment counts")
		}
	})
}
