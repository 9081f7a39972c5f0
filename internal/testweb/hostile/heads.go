package hostile

import (
	"fmt"
	"strings"
)

// tooLong is what a head past the limit ends in.
var tooLong = failed("head_too_long", "head")

// notHTTP is what a head that makes no sense ends in.
var notHTTP = failed("bad_head", "head")

// heads have no end, or fields that no field is like.
func heads() []Behaviour {
	return []Behaviour{
		{
			Name: "endless-status", Does: "sends a status line without end",
			serve: page(again("HTTP/1.1 200 ", filler[:32]+strings.Repeat("o", 4<<10))), Want: tooLong,
		}, {
			Name: "endless-field", Does: "sends one header field without end",
			serve: page(again("HTTP/1.1 200 OK\r\nX-Long: ", strings.Repeat("a", 16<<10))), Want: tooLong,
		}, {
			Name: "endless-fields", Does: "sends header fields without end",
			serve: page(again("HTTP/1.1 200 OK\r\n", strings.Repeat("X-Many: one\r\n", 1000))), Want: tooLong,
		}, {
			Name: "endless-fold", Does: "folds one header field into lines without end",
			serve: page(again("HTTP/1.1 200 OK\r\nX-Fold: a\r\n", strings.Repeat(" folded\r\n", 1000))), Want: tooLong,
		}, {
			Name: "interim-flood", Does: "sends interim answers without end",
			serve: page(again("", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100))), Want: tooLong,
		}, {
			Name: "interim-hints-flood", Does: "sends early hints without end",
			serve: page(again("", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n", 100))), Want: tooLong,
		}, {
			Name: "interim-endless", Does: "sends an interim answer whose head has no end",
			serve: page(again("HTTP/1.1 103 Early Hints\r\n", strings.Repeat("Link: </x>; rel=preload\r\n", 1000))), Want: tooLong,
		}, {
			Name: "interim-few", Does: "sends three interim answers and then the real one",
			serve: page(say(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n", 3) + whole("<title>final</title>"))),
			Want:  okTitled("final"),
		}, {
			Name: "interim-with-length", Does: "sends an interim answer that claims a body",
			serve: pageAndNext(say("HTTP/1.1 103 Early Hints\r\nContent-Length: 300\r\n\r\n" + whole("<title>final</title>"))),
			Seeds: []string{"/", "/next"}, Want: okTitled("final"), Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "fields-hundred-thousand", Does: "sends 100,000 different header fields",
			serve: page(say(answer(distinctFields(100_000), ""))), Want: tooLong,
		}, {
			Name: "fields-thousand", Does: "sends 1,000 different header fields, which fit",
			serve: page(say(answer(distinctFields(1000), ""))), Want: untitled,
		}, {
			Name: "cookies-by-the-megabyte", Does: "sends a megabyte of cookies",
			serve: page(say(answer(strings.Repeat("Set-Cookie: a="+strings.Repeat("b", 1000)+"\r\n", 1024), ""))), Want: tooLong,
		}, {
			Name: "cookies-many", Does: "sends 500 cookies, which fit",
			serve: pageAndNext(say(answer(cookies(500), "<title>cookies</title>"))),
			Seeds: []string{"/", "/next"}, Want: okTitled("cookies"), Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "nul-in-field", Does: "has a NUL in a header field",
			serve: page(after(answer("X-Nul: a\x00b\r\n", ""), (*peer).end)), Want: untitled,
		}, {
			Name: "nul-in-name", Does: "has a NUL in the name of a header field",
			serve: page(after(answer("X\x00Nul: a\r\n", ""), (*peer).end)), Want: untitled,
		}, {
			Name: "bare-cr", Does: "hides a header field behind a bare CR",
			serve: pageAndNext(say("HTTP/1.1 200 OK\r\nX-A: a\rTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n")),
			Seeds: []string{"/", "/next"}, Want: untitled, Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "bare-lf", Does: "ends its lines with LF alone",
			serve: page(say("HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 18\n\n<title>lf</title>\n")), Want: okTitled("lf"),
		}, {
			Name: "fold", Does: "folds a header field as HTTP once allowed",
			serve: page(say(answer("Content-Type: text/html;\r\n charset=utf-8\r\n", "<title>fold</title>"))), Want: okTitled("fold"),
		}, {
			Name: "fold-first", Does: "begins its head with the rest of a field",
			serve: page(after("HTTP/1.1 200 OK\r\n folded: x\r\nContent-Length: 0\r\n\r\n", (*peer).end)), Want: untitled,
		}, {
			Name: "no-colon", Does: "has a header line without a colon",
			serve: page(after(answer("This is no field\r\n", ""), (*peer).end)), Want: untitled,
		}, {
			Name: "no-name", Does: "has a header field without a name",
			serve: page(after(answer(": value\r\n", ""), (*peer).end)), Want: untitled,
		}, {
			Name: "blank-before-colon", Does: "has a blank between a field's name and its colon",
			serve: pageAndNext(say("HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n" + forged)),
			Seeds: []string{"/", "/next"}, Want: untitled, Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "rubbish", Does: "answers with bytes at random",
			serve: page(after(noise(4<<10, 1), (*peer).end)), Want: notHTTP,
		}, {
			Name: "rubbish-endless", Does: "answers with bytes at random, without end and without a line's end",
			serve: page(again("", strings.ReplaceAll(noise(16<<10, 2), "\n", "x"))), Want: notHTTP,
		}, {
			Name: "empty-lines-endless", Does: "answers with empty lines without end",
			serve: page(again("", strings.Repeat("\r\n", 1000))), Want: tooLong,
		},
	}
}

func distinctFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "X-Field-%d: %d\r\n", i, i)
	}
	return b.String()
}

func cookies(n int) string {
	var b strings.Builder
	b.WriteString("Content-Type: text/html\r\n")
	for i := range n {
		fmt.Fprintf(&b, "Set-Cookie: name%d=%s; Domain=.test; Path=/\r\n", i, strings.Repeat("v", 60))
	}
	return b.String()
}
