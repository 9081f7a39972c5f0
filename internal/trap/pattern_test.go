package trap

import (
	"testing"

	"crawl/canon"
)

func TestPattern(t *testing.T) {
	for in, want := range map[string]string{
		"http://a.test/":                             "a.test/",
		"http://a.test/cal?y=2031&m=7":               "a.test/cal?m&y",
		"http://a.test/cal?m=8&y=1999&y=1":           "a.test/cal?m&y",
		"http://a.test/2024/05/01/a-post.html":       "a.test/#/#/#/a-post.html",
		"http://a.test/item-123.html":                "a.test/item-#.html",
		"http://a.test/s/0a1b2c3d4e5f6071/item?id=3": "a.test/s/*/item?id",
		"http://a.test/s/Xk3dP9fQ2mZ7.html":          "a.test/s/*",
		"http://a.test:81/deadbeefdeadbeef/x":        "a.test:81/deadbeefdeadbeef/x", // a word, for all that one can tell
		"http://a.test/introduction2024and2025":      "a.test/introduction#and#",
		"http://a.test/?p1=a&p2=b":                   "a.test/?p#",
		"http://a.test/a?":                           "a.test/a",
	} {
		u, err := canon.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := Pattern(u); got != want {
			t.Errorf("%s: pattern %s, want %s", in, got, want)
		}
	}
}
