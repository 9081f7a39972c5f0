package hostile

import "time"

// A byte a second would take a test minutes. tick is to Short's Timeout what a second is to a usual timeout.
const tick = 50 * time.Millisecond

func drip(head, text string) step {
	return after(head, func(p *peer) { p.drip(text, tick) })
}

// slow servers always seem to be just about to go on.
func slow() []Behaviour {
	return []Behaviour{
		{
			Name: "stall-before-head", Does: "answers robots.txt and is silent then",
			serve: page(after("", (*peer).hold)), Want: failed("timeout", "head"),
		}, {
			Name: "stall-in-head", Does: "sends half a head",
			serve: page(after("HTTP/1.1 200 OK\r\nServer: x\r\n", (*peer).hold)), Want: failed("timeout", "head"),
		}, {
			Name: "stall-after-head", Does: "sends a head and nothing of its body",
			serve: page(after(lengthOf("1000"), (*peer).hold)), Want: cut("time"),
		}, {
			Name: "stall-in-body", Does: "sends half a body",
			serve: page(after(lengthOf("1000")+filler[:500], (*peer).hold)), Want: cut("time"),
		}, {
			Name: "stall-in-chunk", Does: "sends half a chunk",
			serve: page(after(chunked+"64\r\nhalf of it", (*peer).hold)), Want: cut("time"),
		}, {
			Name: "stall-before-last-chunk", Does: "sends all data and never the chunk that says so",
			serve: page(after(chunked+chunk(filler[:500]), (*peer).hold)), Want: cut("time"),
		}, {
			Name: "stall-before-close", Does: "sends a body that the connection's end would end, and never ends it",
			serve: page(after(untilClose+filler[:500], (*peer).hold)), Want: cut("time"),
		}, {
			Name: "drip-status", Does: "sends a status line byte by byte, without end",
			serve: page(drip("HTTP/1.1 200 ", "all is well and ")), Want: failed("timeout", "head"),
		}, {
			Name: "drip-head", Does: "sends header fields byte by byte, without end",
			serve: page(drip("HTTP/1.1 200 OK\r\n", "X-More: to come\r\n")), Want: failed("timeout", "head"),
		}, {
			Name: "drip-interim", Does: "says every now and then that it has not forgotten the request",
			serve: page(func(p *peer, _ string) bool {
				for p.wait(4*tick) && p.say("HTTP/1.1 102 Processing\r\n\r\n") {
				}
				return false
			}), Want: failed("timeout|head_too_long", "head"),
		}, {
			Name: "drip-body", Does: "sends a body of known length byte by byte",
			serve: page(drip(lengthOf("100000"), filler)), Want: cut("time"),
		}, {
			Name: "drip-endless-body", Does: "sends a body without an end byte by byte",
			serve: page(drip(untilClose, filler)), Want: cut("time"),
		}, {
			Name: "drip-chunks", Does: "sends chunks of a byte each, one at a time",
			serve: page(drip(chunked, "1\r\nx\r\n")), Want: cut("time"),
		}, {
			Name: "slow-but-whole", Does: "takes its time, and comes to an end within the limits",
			serve: page(func(p *peer, _ string) bool {
				text := whole("<title>slow</title>")
				for i := 0; i < len(text); i += 16 {
					if !p.wait(tick/5) || !p.say(text[i:min(i+16, len(text))]) {
						return false
					}
				}
				return true
			}), Want: okTitled("slow"),
		},
	}
}
