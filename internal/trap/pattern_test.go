package trap

import (
	"testing"

	"crawl/canon"
)

func TestPattern(t *testing.T) {
	for in, want := range map[string]string{
		"http://a.test/":                                            "a.test/",
		"http://a.test/cal?y=2031&m=7":                              "a.test/cal?m&y",
		"http://a.test/cal?m=8&y=1999&y=1":                          "a.test/cal?m&y",
		"http://a.test/2024/05/01/a-post.html":                      "a.test/#/#/#/a-post.html",
		"http://a.test/item-123.html":                               "a.test/item-#.html",
		"http://a.test/s/0a1b2c3d4e5f6071/item?id=3":                "a.test/s/*/item?id",
		"http://a.test/s/Xk3dP9fQ2mZ7.html":                         "a.test/s/*",
		"http://a.test:81/deadbeefdeadbeef/x":                       "a.test:81/deadbeefdeadbeef/x", // a word, for all that one can tell
		"http://a.test/introduction2024and2025":                     "a.test/introduction#and#",
		"http://a.test/?p1=a&p2=b":                                  "a.test/?p#",
		"http://a.test/item-3-0a1b2c3d4e5f6071.html":                "a.test/item-#-*.html",
		"http://a.test/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9/shop/3": "a.test/*/shop/#",
		"http://a.test/0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9.html":   "a.test/*",
		"http://a.test/0a1b2c3d-4e5f-6071-8293/shop":                "a.test/#a#b#c#d-#e#f-#-#/shop", // too short
		"http://a.test/red/green/red/":                              "a.test/red/green/red/",
		"http://a.test/l?tag=x&tag=y":                               "a.test/l?tag", // a list
		"http://a.test/calendar/2026/november/":                     "a.test/calendar/#/#/",
		"http://a.test/calendar/2026/Nov/05":                        "a.test/calendar/#/#/#",
		"http://a.test/termine/dienstag-5-m%C3%A4rz-2026.html":      "a.test/termine/#-#-#-#.html",
		"http://a.test/calendrier-f%C3%A9vrier-2026":                "a.test/calendrier-#-#",
		"http://a.test/events/2026-W05":                             "a.test/events/#-W#",
		"http://a.test/календарь/ноябрь/":                           "a.test/%D0%BA%D0%B0%D0%BB%D0%B5%D0%BD%D0%B4%D0%B0%D1%80%D1%8C/#/",
		"http://a.test/the-long-march-of-2026":                      "a.test/the-long-march-of-#", // no date
		"http://a.test/a?":                                          "a.test/a",
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
