package hostile

// connections end at the wrong moment, or never.
func connections() []Behaviour {
	return []Behaviour{
		{
			Name: "silent", Does: "accepts a connection and says nothing",
			serve: (*peer).hold, Want: failed("timeout", "head"),
		}, {
			Name: "close-at-once", Does: "closes the connection as soon as it is there",
			serve: func(*peer) {}, Want: failed("closed|reset", "dial|write|head"),
		}, {
			Name: "reset-at-once", Does: "resets the connection as soon as it is there",
			serve: (*peer).reset, Want: failed("reset", "dial|write|head"),
		}, {
			Name: "close-after-request", Does: "reads the request and closes",
			serve: page(after("", (*peer).end)), Want: failed("closed", "head"),
		}, {
			Name: "reset-after-request", Does: "reads the request and resets",
			serve: page(after("", (*peer).reset)), Want: failed("reset", "head"),
		}, {
			Name: "half-close", Does: "answers nothing, ends its half of the connection and keeps the other",
			serve: steps{robotsPath: after("", (*peer).end)}.serve, Want: failed("closed", "head"),
		}, {
			Name: "half-close-whole", Does: "sends a whole page, ends its half of the connection and keeps the other",
			serve: page(after(untilClose+"<title>half</title>", (*peer).end)), Want: okTitled("half"),
		}, {
			Name: "close-in-status", Does: "closes within the status line",
			serve: page(after("HTTP/1.1 2", (*peer).end)), Want: failed("closed", "head"),
		}, {
			Name: "close-in-head", Does: "closes between two header fields",
			serve: page(after("HTTP/1.1 200 OK\r\nServer: x\r\n", (*peer).end)), Want: failed("closed", "head"),
		}, {
			Name: "reset-in-head", Does: "resets within a header field",
			serve: page(after("HTTP/1.1 200 OK\r\nContent-Le", (*peer).reset)), Want: failed("reset", "head"),
		}, {
			Name: "reset-after-head", Does: "resets once the head is complete",
			serve: page(after(lengthOf("1000"), (*peer).reset)), Want: cut("disconnect"),
		}, {
			Name: "close-in-body", Does: "closes halfway through a body of known length",
			serve: page(after(lengthOf("1000")+filler[:500], (*peer).end)), Want: cut("disconnect"),
		}, {
			Name: "reset-in-body", Does: "resets halfway through a body of known length",
			serve: page(after(lengthOf("1000")+filler[:500], (*peer).reset)), Want: cut("disconnect"),
		}, {
			Name: "reset-in-endless-body", Does: "resets where the connection's end would be the body's",
			serve: page(after(untilClose+filler[:500], (*peer).reset)), Want: cut("disconnect"),
		}, {
			Name: "reset-in-chunk", Does: "resets within a chunk",
			serve: page(after(chunked+"64\r\nhalf of it", (*peer).reset)), Want: cut("disconnect"),
		}, {
			Name: "close-in-chunk", Does: "closes within a chunk",
			serve: page(after(chunked+"64\r\nhalf of it", (*peer).end)), Want: cut("disconnect"),
		}, {
			Name: "reset-before-last-chunk", Does: "resets after all data and before the chunk that says so",
			serve: page(after(chunked+chunk(filler[:500]), (*peer).reset)), Want: cut("disconnect"),
		}, {
			Name: "close-before-last-chunk", Does: "closes after all data and before the chunk that says so",
			serve: page(after(chunked+chunk(filler[:500]), (*peer).end)), Want: cut("disconnect"),
		}, {
			Name: "close-in-trailer", Does: "closes before the empty line behind the last chunk",
			serve: page(after(chunked+chunk(filler[:500])+"0\r\n", (*peer).end)),
			// The last chunk has come, so the body is whole (RFC 9112, section 8); to ask for its end is no fault.
			Want: Want{Outcome: "ok|truncated", Code: "|truncated_disconnect", Phase: "|body", Status: 200, Truncated: "|disconnect", Title: "*"},
		}, {
			Name: "answer-first", Does: "answers before it is asked, and is silent then",
			serve: func(p *peer) {
				if p.say(whole("<title>early</title>")) {
					p.hold()
				}
			}, Want: okTitled("early"),
		}, {
			Name: "banner", Does: "speaks another protocol, and speaks first",
			serve: func(p *peer) {
				if p.say("SSH-2.0-OpenSSH_9.6\r\n") {
					p.hold()
				}
			}, Want: failed("bad_head", "head|write"),
		}, {
			Name: "close-kept", Does: "closes each connection after one answer without a word",
			serve: steps{
				robotsPath: after(notFound, func(p *peer) { p.raw.CloseWrite() }),
				"*":        after(whole("<title>once</title>"), func(p *peer) { p.raw.CloseWrite() }),
			}.serve, Seeds: []string{"/", "/next"}, Want: okTitled("once"), Also: map[string]Want{"/next": okTitled("once")},
		},
	}
}
