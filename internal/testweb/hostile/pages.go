package hostile

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
)

// pages are hard to read, or the first of very many.
func pages(l Limits) []Behaviour {
	most := int(l.BodyBytes)
	some := most / 2
	return []Behaviour{
		markup("nested", "nests 100,000 elements", func() string { return "<title>deep</title>" + strings.Repeat("<div>", 100_000) + "<a href=/next>" },
			okTitled("deep"), map[string]Want{"/next": okTitled("next")}),
		markup("nested-tables", "nests 20,000 tables and formatting elements, none of them closed", func() string {
			return "<title>deep</title>" + strings.Repeat("<table><tr><td><b><i><a href=/next>", 20_000)
		}, okTitled("deep"), map[string]Want{"/next": okTitled("next")}),
		markup("links", "has as many links as fit into a page, to other hosts", func() string { return linkFlood("http://x.test/", most) }, okTitled("links"), nil),
		markup("links-own", "has 100,000 links to its own pages", func() string {
			return linkFlood("/", 1_700_000)
		}, okTitled("links"), nil).trap(l.PagesPerHost),
		markup("attribute-long", "has an attribute as long as fits", func() string {
			return "<title>attr</title><a href='/next' title='" + strings.Repeat("a", most-1000) + "'>"
		}, okTitled("attr"), map[string]Want{"/next": okTitled("next")}),
		markup("href-long", "has a link as long as fits", func() string {
			return "<title>href</title><a href=/next></a><a href='/" + strings.Repeat("a", most-1000) + "'>"
		}, okTitled("href"), map[string]Want{"/next": okTitled("next")}),
		markup("attributes-many", "has a tag of as many attributes as fit", func() string {
			return "<title>many</title><a " + numbered(some/8, "a% ") + "href=/next>"
		}, okTitled("many"), map[string]Want{"/next": okTitled("next")}),
		markup("attributes-same", "has a tag that says the same attribute as often as fits", func() string {
			return "<title>same</title><a href=/next " + strings.Repeat("href=/x ", some/8) + ">"
		}, okTitled("same"), map[string]Want{"/next": okTitled("next")}),
		markup("title-long", "has a title as long as fits", func() string { return "<title>" + strings.Repeat("t", most-1000) + "</title><a href=/next>" },
			Want{Outcome: "ok", Status: 200, Title: "*"}, map[string]Want{"/next": okTitled("next")}),
		markup("title-open", "never closes its title", func() string { return "<title>" + strings.Repeat("<a href=/x>t</a>", some/16) },
			Want{Outcome: "ok", Status: 200, Title: "*"}, nil),
		markup("srcset-long", "has a srcset of a megabyte", func() string {
			return "<title>set</title><img srcset='" + numbered(60_000, "/i%.png 1x, ") + "'><a href=/next>"
		}, okTitled("set"), map[string]Want{"/next": okTitled("next")}),
		markup("srcset-commas", "has a srcset of commas and brackets", func() string {
			return "<title>set</title><img srcset='" + strings.Repeat(",", 500_000) + strings.Repeat("(", 500_000) + "'><a href=/next>"
		}, okTitled("set"), map[string]Want{"/next": okTitled("next")}),
		markup("comment-open", "never closes a comment", func() string { return "<title>c</title><a href=/next><!--" + strings.Repeat("-- >", some/4) },
			okTitled("c"), map[string]Want{"/next": okTitled("next")}),
		markup("script-open", "never closes a script", func() string {
			return "<title>s</title><a href=/next><script>" + strings.Repeat("<!--<script>", some/12)
		}, okTitled("s"), map[string]Want{"/next": okTitled("next")}),
		markup("brackets", "is made of opening brackets", func() string {
			return "<title>b</title><a href=/next>" + strings.Repeat("<", some/4) + strings.Repeat("</", some/8) + strings.Repeat("<!", some/8) + strings.Repeat("<a ", some/12)
		}, okTitled("b"), map[string]Want{"/next": okTitled("next")}),
		markup("entities", "is made of character references without an end", func() string {
			return "<title>e</title><a href=/next>" + strings.Repeat("&amp", some/16) + "&" + strings.Repeat("a", some/4) + strings.Repeat("&#", some/8) + "<a href='" + strings.Repeat("&", some/4) + "'>"
		}, Want{Outcome: "ok", Status: 200, Title: "e"}, map[string]Want{"/next": okTitled("next")}),
		markup("entity-bomb", "defines entities by each other, a billion times", func() string {
			return "<!DOCTYPE html [<!ENTITY a '" + strings.Repeat("lol", 10) + "'>" + entityBomb() + "]><title>bomb</title><a href=/next>&z;"
		}, Want{Outcome: "ok", Status: 200, Title: "*"}, map[string]Want{"/next": okTitled("next")}),
		markup("nul", "has a NUL behind each byte of half its text", func() string {
			return "<title>nul</title><a href=/next>" + strings.Repeat("<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00/\x00x\x00>\x00", 50_000)
		}, okTitled("nul"), map[string]Want{"/next": okTitled("next")}),
		markup("utf8-broken", "is no text in any character set", func() string {
			return "<title>utf8</title><a href=/next>" + strings.Repeat("<a href='http://x.test/\xff\xfe\xc0\x80\xed\xa0\x80'>\xf5\xf6", 10_000)
		}, okTitled("utf8"), map[string]Want{"/next": okTitled("next")}),
		markup("base-odd", "moves its links to where nobody can go", func() string {
			return "<title>base</title><base href='javascript:x'><base href='http://x.test/'><a href=/next>"
		}, okTitled("base"), map[string]Want{"/next": okTitled("next")}),
		markup("base-many", "moves its links 50,000 times", func() string {
			return "<title>base</title>" + strings.Repeat("<base href='/deeper/'>", 50_000) + "<a href=../next>"
		}, okTitled("base"), map[string]Want{"/next": okTitled("next")}),
		markup("refresh-self", "reloads itself at once", func() string {
			return "<title>refresh</title><meta http-equiv=refresh content='0'><meta http-equiv=refresh content='0;url=/'>"
		}, okTitled("refresh"), nil),
		markup("metas-many", "declares 50,000 character sets", func() string {
			return "<title>metas</title>" + strings.Repeat("<meta charset=klingon>", 50_000) + "<a href=/next>"
		}, okTitled("metas"), map[string]Want{"/next": okTitled("next")}),
		markup("schemes", "links to what is no page", func() string {
			return "<title>schemes</title><a href='javascript:void(0)'><a href='file:///etc/passwd'><a href='data:text/html,x'><a href='http://'>" +
				"<a href='http://127.0.0.1/'><a href='//'><a href='http:'><a href='mailto:x@x.test'><a href='\x00'><a href=/next>"
		}, okTitled("schemes"), map[string]Want{"/next": okTitled("next"), "/%EF%BF%BD": okTitled("next")}),
		{
			Name: "attribute-endless", Does: "has an attribute without end",
			serve: steps{"/": again(untilClose+"<title>a</title><a href=/next></a><a href='/", strings.Repeat("a", 64<<10)), "/next": say(nextPage)}.serve,
			Want:  cut("length"), Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "tag-endless", Does: "has a tag without end",
			serve: steps{"/": again(untilClose+"<title>a</title><a href=/next></a><a ", strings.Repeat("b ", 32<<10)), "/next": say(nextPage)}.serve,
			Want:  cut("length"), Also: map[string]Want{"/next": okTitled("next")},
		},
		endless("calendar", "has a page for every day there ever will be", l.PagesPerHost, func(target string) string {
			day, _ := strconv.Atoi(strings.TrimPrefix(target, "/day/"))
			return fmt.Sprintf("<title>%d</title><a href=/day/%d>next day</a><a href=/day/%d>next week</a>", day, day+1, day+7)
		}),
		endless("deeper", "has relative links that grow with each page", l.PagesPerHost, func(target string) string {
			return "<title>deep</title><a href=deeper/>deeper</a><a href=again/deeper/>deeper still</a>"
		}),
		endless("sessions", "gives each visit a session of its own", l.PagesPerHost, func(target string) string {
			name := sha256.Sum256([]byte(target))
			return fmt.Sprintf("<title>s</title><a href='/?sid=%x'>one</a><a href='/?sid=%x'>another</a>", name[:8], name[8:16])
		}),
	}
}

// markup is an honest answer with a page that hurts, made when it is asked for.
func markup(name, does string, body func() string, want Want, also map[string]Want) Behaviour {
	first := func(p *peer, _ string) bool { return p.say(whole(body())) }
	return Behaviour{Name: name, Does: does, serve: steps{"/": first, "*": say(nextPage)}.serve, Want: want, Also: also}
}

// endless is a site without end.
func endless(name, does string, most uint64, body func(target string) string) Behaviour {
	return Behaviour{Name: name, Does: does, serve: page(func(p *peer, target string) bool {
		return p.say(whole(body(target)))
	}), Want: Want{Outcome: "ok", Status: 200, Title: "*"}}.trap(most)
}

// trap says that the host has more pages than anybody wants.
func (b Behaviour) trap(most uint64) Behaviour {
	b.MaxPages = int(most)
	return b
}

// linkFlood is a page of as many links as fit into most bytes.
func linkFlood(prefix string, most int) string {
	var b strings.Builder
	b.WriteString("<title>links</title>")
	for n := 0; b.Len() < most-100; n++ {
		b.WriteString("<a href=")
		b.WriteString(prefix)
		b.WriteString(strconv.Itoa(n))
		b.WriteByte('>')
	}
	return b.String()
}

// numbered repeats text with a number from 0 to n in place of its %.
func numbered(n int, text string) string {
	before, after, _ := strings.Cut(text, "%")
	b := make([]byte, 0, n*(len(text)+5))
	for i := range n {
		b = append(strconv.AppendInt(append(b, before...), int64(i), 10), after...)
	}
	return string(b)
}

// entityBomb defines b by ten of a, c by ten of b, and so on to z.
func entityBomb() string {
	var b strings.Builder
	for c := 'b'; c <= 'z'; c++ {
		fmt.Fprintf(&b, "<!ENTITY %c '%s'>", c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	return b.String()
}
