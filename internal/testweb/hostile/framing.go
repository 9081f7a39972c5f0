package hostile

import "strings"

// framing is wrong: where an answer ends is told wrongly, twice, or not at all.
func framing(l Limits) []Behaviour {
	return []Behaviour{
		framed("length-twice", "tells the length twice", "Content-Length: 18\r\nContent-Length: 18\r\n", "<title>two</title>", okTitled("two")),
		framed("length-differs", "tells two lengths", "Content-Length: 18\r\nContent-Length: 5\r\n", "<title>two</title>", notHTTP),
		framed("length-list", "tells two lengths in one field", "Content-Length: 18, 5\r\n", "<title>two</title>", notHTTP),
		framed("length-negative", "tells a length below zero", "Content-Length: -1\r\n", "x", untitled),
		framed("length-plus", "tells a length with a sign", "Content-Length: +1\r\n", "x", untitled),
		framed("length-hex", "tells a length in hexadecimal", "Content-Length: 0x1\r\n", "x", untitled),
		framed("length-words", "tells a length in words", "Content-Length: one\r\n", "x", untitled),
		framed("length-overflow", "tells a length that no number holds", "Content-Length: 99999999999999999999999\r\n", "x", cut("disconnect")),
		framed("length-most", "tells the greatest length there is, and closes", "Content-Length: 9223372036854775807\r\n", "x", cut("disconnect")),
		framed("length-more", "tells more than it sends, and closes", "Content-Length: 1000\r\n", "x", cut("disconnect")),
		framed("te-unknown", "uses a transfer coding that there is none of", "Transfer-Encoding: rot13\r\n", "x", untitled),
		framed("te-gzip", "uses a transfer coding that was not asked for", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n", untitled),
		framed("te-twice", "says twice that there are chunks", "Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n", untitled),
		framed("te-two-fields", "says in two fields that there are chunks", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n", untitled),
		framed("te-hidden", "hides its transfer coding behind a control character", "Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n", untitled),
		framed("chunk-size-letters", "has a chunk size of letters", "Transfer-Encoding: chunked\r\n", "zz\r\nxx\r\n0\r\n\r\n", cut("disconnect")),
		framed("chunk-size-empty", "has a chunk without a size", "Transfer-Encoding: chunked\r\n", "\r\nxx\r\n0\r\n\r\n", cut("disconnect")),
		framed("chunk-size-negative", "has a chunk size below zero", "Transfer-Encoding: chunked\r\n", "-5\r\nxx\r\n0\r\n\r\n", cut("disconnect")),
		framed("chunk-size-overflow", "has a chunk size that no number holds", "Transfer-Encoding: chunked\r\n",
			"fffffffffffffffff\r\nxx\r\n0\r\n\r\n", cut("disconnect")),
		framed("chunk-size-most", "has the greatest chunk size there is", "Transfer-Encoding: chunked\r\n",
			"ffffffffffffffff\r\nxx\r\n0\r\n\r\n", cut("disconnect")),
		framed("chunk-no-crlf", "has a chunk that is longer than its size", "Transfer-Encoding: chunked\r\n", "1\r\nxxxxxx\r\n0\r\n\r\n", cut("disconnect")),
		framed("chunk-extension", "has chunk extensions, which mean nothing", "Transfer-Encoding: chunked\r\n",
			"12;name=value\r\n<title>ext</title>\r\n0;last\r\n\r\n", okTitled("ext")),
		endlessly("endless-body", "sends a body that the connection's end would end, without end", untilClose, filler, cut("length")),
		endlessly("endless-length", "sends a body of a terabyte", lengthOf("1099511627776"), filler, cut("length")),
		endlessly("endless-chunks", "sends chunks without end", chunked, chunk(filler), cut("length")),
		endlessly("endless-chunk", "sends one chunk of a terabyte", chunked+"10000000000\r\n", filler, cut("length")),
		endlessly("endless-tiny-chunks", "sends chunks of a byte each, without end", chunked, strings.Repeat("1\r\nx\r\n", 1000), cut("length")).sends(20 * l.BodyBytes),
		endlessly("endless-chunk-size", "sends a chunk size without end", chunked, strings.Repeat("0", 16<<10), cut("disconnect")),
		endlessly("endless-extension", "sends one chunk extension without end", chunked+"5;x=", strings.Repeat("a", 16<<10), cut("disconnect")),
		endlessly("extension-flood", "sends 1,000 bytes of extension with each byte of data", chunked,
			"1;x="+strings.Repeat("a", 1000)+"\r\nx\r\n", cut("disconnect")),
		endlessly("endless-trailers", "sends trailers without end", chunked+chunk("<title>t</title>")+"0\r\n",
			strings.Repeat("X-Trailer: one more\r\n", 500), cut("disconnect")),
		{
			Name: "trailers", Does: "sends a trailer that would change the head",
			serve: pageAndNext(say(chunked + chunk("<title>trailed</title>") + "0\r\nContent-Length: 3\r\nLocation: http://x.test/\r\n\r\n")),
			Seeds: []string{"/", "/next"}, Want: okTitled("trailed"), Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "te-and-length", Does: "tells both a length and chunks, so that two readers part ways",
			serve: pageAndNext(say("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" +
				chunk("<title>both</title>") + "0\r\n\r\n" + forged)),
			Seeds: []string{"/", "/next"}, Want: okTitled("both"),
			Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "te-in-1.0", Does: "sends chunks as HTTP/1.0, which has none",
			serve: page(after("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"+
				chunk("<title>ten</title>")+"0\r\n\r\n", (*peer).end)),
			Want: okTitled("ten"),
		}, {
			Name: "length-short", Does: "tells less than it sends, and the rest looks like the next answer",
			serve: pageAndNext(say(answer("Content-Type: text/html\r\n", "<title>short</title>") + forged)),
			Seeds: []string{"/", "/next"}, Want: okTitled("short"), Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "two-answers", Does: "answers each request twice",
			serve: steps{
				robotsPath: say(notFound + notFound), "*": say(whole("<title>first</title>") + forged), "/next": say(nextPage + forged),
			}.serve,
			Seeds: []string{"/", "/next"}, Want: okTitled("first"), Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "answer-behind-chunks", Does: "sends an answer that nobody asked for behind the last chunk",
			serve: pageAndNext(say(chunked + chunk("<title>chunks</title>") + "0\r\n\r\n" + forged)),
			Seeds: []string{"/", "/next"}, Want: okTitled("chunks"), Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "answer-within", Does: "sends a page that holds what looks like the next answer",
			serve: pageAndNext(say(whole("<title>outer</title><pre>\r\n\r\n0\r\n\r\n" + forged + "</pre>"))),
			Seeds: []string{"/", "/next"}, Want: okTitled("outer"), Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "close-said", Does: "says that it closes, and does not",
			serve: steps{
				"/next": say(nextPage),
				"*": after("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", func(p *peer) {
					if _, err := p.in.ReadByte(); err == nil { // a client that did not listen
						p.say(forged)
					}
					p.hold()
				}),
			}.serve,
			Seeds: []string{"/", "/next"}, Want: untitled, Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "answer-late", Does: "sends an answer that nobody asked for while its connection is kept",
			serve: steps{
				robotsPath: say(answer("", "User-agent: *\nCrawl-delay: 60\n")), "/next": say(nextPage),
				"*": func(p *peer, _ string) bool {
					return p.say(whole("<title>first</title>")) && p.wait(tick/2) && p.say(forged)
				},
			}.serve,
			Seeds: []string{"/", "/next"}, Want: okTitled("first"), Also: map[string]Want{"/next": okTitled("next")},
		},
	}
}

func framed(name, does, fields, body string, want Want) Behaviour {
	text := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + fields + "\r\n" + body
	return Behaviour{Name: name, Does: does, serve: page(after(text, (*peer).end)), Want: want}
}

func endlessly(name, does, head, text string, want Want) Behaviour {
	return Behaviour{Name: name, Does: does, serve: page(again(head, text)), Want: want}
}
