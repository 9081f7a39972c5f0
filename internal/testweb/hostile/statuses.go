package hostile

import "strings"

// statuses are lines that no answer begins with, and answers that mean something else than they seem to.
func statuses() []Behaviour {
	return []Behaviour{
		status("http09", "sends a page without a head, as HTTP/0.9 did", "<html><title>old</title></html>", notHTTP),
		status("icy", "speaks the dialect of radio streams", "ICY 200 OK\r\nContent-Type: text/html\r\n\r\n<title>radio</title>", okTitled("radio")),
		status("version-9", "claims a version that there is none of", "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", untitled),
		status("version-2", "claims HTTP/2 in the form of HTTP/1", "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", untitled),
		status("version-0", "claims HTTP/0.9 in the form of HTTP/1", "HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n", untitled),
		status("version-long", "claims a version of many digits", "HTTP/1.1111111111111 200 OK\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("version-lower", "writes the protocol's name in lower case", "http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", untitled),
		status("status-0", "has a status of one digit", "HTTP/1.1 0 Nothing\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-000", "has the status 000", "HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-99", "has the status 99", "HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-099", "has the status 099", "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-1000", "has the status 1000", "HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-letters", "has a status in letters", "HTTP/1.1 two OK\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-sign", "has a status with a sign", "HTTP/1.1 +20 OK\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-negative", "has a status below zero", "HTTP/1.1 -20 OK\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-none", "has no status", "HTTP/1.1\r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-blank", "has blanks in place of a status", "HTTP/1.1   \r\nContent-Length: 0\r\n\r\n", notHTTP),
		status("status-no-reason", "leaves the reason and its blank out", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", untitled),
		status("http-1.0", "answers as HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", untitled),
		status("switching", "switches to a protocol that nobody asked for",
			"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", notHTTP),
		status("status-600", "has a status beyond the classes", "HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n", serverError(600)),
		status("status-999", "refuses by a status of its own", "HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n", serverError(999)),
		status("500-for-ever", "fails", "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", serverError(500)),
		status("503-for-ever", "is unavailable", "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", serverError(503)),
		status("429-year", "asks to be left alone for a year", tooMany("31536000"), serverError(429)),
		status("429-negative", "asks to be left alone for less than nothing", tooMany("-5"), serverError(429)),
		status("429-nan", "asks to be left alone for what is no number", tooMany("NaN"), serverError(429)),
		status("429-digits", "asks to be left alone for longer than there is time", tooMany("99999999999999999999999"), serverError(429)),
		status("429-date", "asks to be left alone until the year 9999", tooMany("Fri, 31 Dec 9999 23:59:59 GMT"), serverError(429)),
		status("304-unasked", "has not changed, and was not asked whether it has",
			"HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n", Want{Outcome: "other", Status: 304}),
		status("206-unasked", "sends a part, and was not asked for one",
			"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/1000\r\nContent-Length: 2\r\n\r\nab", Want{Outcome: "ok", Status: 206}),
		{
			Name: "204-with-body", Does: "sends a body where none can be, which looks like the next answer",
			serve: pageAndNext(say("HTTP/1.1 204 No Content\r\n\r\n" + forged)), Seeds: []string{"/", "/next"},
			Want: Want{Outcome: "ok", Status: 204}, Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "204-with-length", Does: "claims a body where none can be",
			serve: pageAndNext(say("HTTP/1.1 204 No Content\r\nContent-Length: 30\r\n\r\n")), Seeds: []string{"/", "/next"},
			Want: Want{Outcome: "ok", Status: 204}, Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "304-with-body", Does: "has not changed, and sends what looks like the next answer",
			serve: pageAndNext(say("HTTP/1.1 304 Not Modified\r\n\r\n" + forged)), Seeds: []string{"/", "/next"},
			Want: Want{Outcome: "other", Status: 304}, Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "404-endless", Does: "has nothing, and says so without end",
			serve: page(again("HTTP/1.1 404 Not Found\r\n\r\n", filler)),
			Want:  Want{Outcome: "client_error", Status: 404, Truncated: "length"},
		},
	}
}

func status(name, does, text string, want Want) Behaviour {
	do := say(text)
	if want.Outcome == "failed" || !strings.Contains(text, "Content-Length") { // no client waits for more
		do = after(text, (*peer).end)
	}
	return Behaviour{Name: name, Does: does, serve: page(do), Want: want}
}

func tooMany(retryAfter string) string {
	return "HTTP/1.1 429 Too Many Requests\r\nRetry-After: " + retryAfter + "\r\nContent-Length: 0\r\n\r\n"
}
