package hostile

import (
	"strings"
)

// robots are answers to the first question that a crawler asks.
func robots(l Limits) []Behaviour {
	gzipBomb := bomb(3*l.BodyBytes, gzipper)
	return []Behaviour{
		rules("robots-endless", "sends a robots.txt without end", again("HTTP/1.1 200 OK\r\n\r\n", "User-agent: *\nDisallow: /private\n"+strings.Repeat("# and so on\n", 5000)), okTitled("home")),
		rules("robots-large", "sends a robots.txt as long as any body may be", say(answer("", "User-agent: *\nDisallow: /private\n"+strings.Repeat("# and so on\n", int(l.BodyBytes)/12-100))), okTitled("home")),
		rules("robots-one-line", "sends a robots.txt of one line without an end", again("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("Disallow", 8000)), okTitled("home")),
		rules("robots-silent", "never answers for robots.txt", after("", (*peer).hold), failed("timeout", "head")),
		rules("robots-drip", "sends robots.txt byte by byte, without end", drip("HTTP/1.1 200 OK\r\n\r\n", "User-agent: *\n"), refusedByRobots),
		rules("robots-cut", "breaks off in the middle of robots.txt", after(lengthOf("1000")+"User-agent: *\n", (*peer).end), refusedByRobots),
		rules("robots-reset", "resets in the middle of robots.txt", after(lengthOf("1000")+"User-agent: *\n", (*peer).reset), refusedByRobots),
		rules("robots-rubbish", "answers for robots.txt with rubbish in place of a head", after(noise(4000, 11), (*peer).end), failed("bad_head", "head")),
		rules("robots-self", "redirects robots.txt to itself", say(to(robotsPath)), okTitled("home")),
		rules("robots-elsewhere", "redirects robots.txt to the crawler's own machine", say(to("http://127.0.0.1:6379/robots.txt")), refusedByRobots),
		rules("robots-file", "redirects robots.txt to a file of the crawler's machine", say(to("file:///etc/passwd")), okTitled("home")),
		rules("robots-html", "sends a page for robots.txt", say(whole("<html><title>not found</title><p>User-agent: nobody</html>")), okTitled("home")),
		rules("robots-gzip-bomb", "sends much of nothing for robots.txt", func(p *peer, _ string) bool {
			return p.say(answer("Content-Encoding: gzip\r\n", gzipBomb()))
		}, okTitled("home")),
		rules("robots-gzip-cut", "sends half of a packed robots.txt as if it were all", say(answer("Content-Encoding: gzip\r\n", half(gzipped(filler)))), refusedByRobots),
		rules("robots-500", "fails for robots.txt", say("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), refusedByRobots),
		rules("robots-429", "asks to be left alone for a year when asked for robots.txt", say(tooMany("31536000")), refusedByRobots),
		rules("robots-403", "forbids to read what it forbids", say("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"), okTitled("home")),
		rules("robots-204", "has a robots.txt of nothing, with a body that looks like the next answer", say("HTTP/1.1 204 No Content\r\n\r\n"+forged), okTitled("home")),
		rules("robots-two", "answers twice for robots.txt", say(answer("", "User-agent: *\nDisallow: /private\n")+forged), okTitled("home")),
		rules("robots-delay-year", "asks for a year between two requests", say(answer("", "User-agent: *\nCrawl-delay: 31536000\n")), okTitled("home")),
		rules("robots-delay-odd", "asks for what is no time between two requests", say(answer("", "User-agent: *\nCrawl-delay: NaN\nCrawl-delay: -1\nCrawl-delay: 1e99\n")), okTitled("home")),
		rules("robots-stars", "has rules of nothing but stars", say(answer("", "User-agent: *\n"+strings.Repeat("Disallow: /"+strings.Repeat("a*", 200)+"b\n", 1000))), okTitled("home")),
		rules("robots-rules-many", "has as many rules as fit", say(answer("", "User-agent: *\n"+strings.Repeat("Disallow: /*a*b$\n", int(l.BodyBytes)/17-100))), okTitled("home")),
		rules("robots-agents-many", "speaks to as many crawlers as fit", say(answer("", numbered(30_000, "User-agent: bot%\n")+"Disallow: /\n")), okTitled("home")),
		rules("robots-nul", "has a robots.txt of NULs", say(answer("", strings.Repeat("\x00", 500_000))), okTitled("home")),
		rules("robots-sitemaps", "names sitemaps that nobody may fetch", say(answer("", "Sitemap: http://169.254.169.254/s.xml\nSitemap: file:///etc/passwd\nSitemap: javascript:1\n"+
			numbered(10_000, "Sitemap: http://127.0.0.1/%.xml\n"))), okTitled("home")),
	}
}

// rules serves robots.txt by do, and an honest page.
func rules(name, does string, do step, want Want) Behaviour {
	long := "/" + strings.Repeat("a", 8000) // what stars have most work with
	return Behaviour{
		Name: name, Does: does, serve: steps{robotsPath: do, "*": say(whole("<title>home</title>"))}.serve,
		Seeds: []string{"/", long}, Want: want, Also: map[string]Want{long: want}, MaxRequests: 16,
	}
}
