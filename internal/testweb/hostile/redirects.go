package hostile

import (
	"fmt"
	"strconv"
	"strings"
)

const maxRedirects = 10 // of a right crawler, from one page to another

// denied is the record of a URL whose address a link from the web has no business with.
var denied = Want{Outcome: "address_denied", Code: "address_denied", Phase: "resolve"}

// redirects lead nowhere, for ever, or where no crawler may go.
func redirects() []Behaviour {
	return []Behaviour{
		astray("redirect-self", "redirects to itself", "/", redirect("redirect_loop")),
		astray("redirect-self-fragment", "redirects to itself with a fragment", "/#again", redirect("redirect_loop")),
		astray("redirect-no-location", "redirects, and does not say where to", "", redirect("no_location")),
		astray("redirect-file", "redirects to a file of the crawler's machine", "file:///etc/passwd", redirect("bad_location")),
		astray("redirect-javascript", "redirects to a script", "javascript:alert(1)", redirect("bad_location")),
		astray("redirect-data", "redirects to data", "data:text/html,<title>forged</title>", redirect("bad_location")),
		astray("redirect-ftp", "redirects to another protocol", "ftp://ftp.test/", redirect("bad_location")),
		astray("redirect-gopher", "redirects to a protocol that can say anything to any port", "gopher://127.0.0.1:6379/_FLUSHALL", redirect("bad_location")),
		astray("redirect-no-host", "redirects to a URL without a host", "http://", redirect("bad_location")),
		astray("redirect-broken", "redirects to what is no URL", "http://[", redirect("bad_location")),
		astray("redirect-port", "redirects to a port that there is none of", "http://redirect-port.test:99999/", redirect("bad_location")),
		astray("redirect-long", "redirects to a URL of 32 KiB", "/"+strings.Repeat("x", 32<<10), redirect("bad_location")),
		{
			Name: "redirect-megabyte", Does: "redirects to a URL of a megabyte",
			serve: page(say(to("/" + strings.Repeat("x", 1<<20)))), Want: tooLong,
		}, {
			Name: "redirect-control", Does: "redirects to a URL with control bytes",
			serve: page(say("HTTP/1.1 302 Found\r\nLocation: /a\x01\x7fb\r\nContent-Length: 0\r\n\r\n")), Want: Want{Outcome: "redirect|failed", Code: "|bad_head", Phase: "|head", Status: 302},
			MaxPages: 2, // browsers follow it
		}, {
			Name: "redirect-twice", Does: "redirects to two places at once",
			serve: steps{
				"/": say("HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"), "*": say(whole("<title>one</title>")),
			}.serve, Want: redirect(""), Also: map[string]Want{"/a": okTitled("one")},
		}, {
			Name: "redirect-split", Does: "tries to send a request of its own in the target of a redirect",
			serve: steps{
				"/": say(to("/next%0d%0aHost:%20evil.test%0d%0a")), "*": say(whole("<title>harmless</title>")),
			}.serve, Want: redirect(""), Also: map[string]Want{"/next%0d%0aHost:%20evil.test%0d%0a": okTitled("harmless")},
		}, {
			Name: "redirect-name", Does: "redirects with a name and a password for the next host",
			serve: steps{"/": say(to("http://user:secret@redirect-name.test/next")), "/next": say(nextPage)}.serve,
			Want:  redirect(""), Also: map[string]Want{"/next": okTitled("next")},
		}, {
			Name: "redirect-pair", Does: "sends the client to and fro",
			serve: steps{"/": say(to("/b")), "/b": say(to("/"))}.serve,
			Want:  redirect(""), Also: map[string]Want{"/b": redirect("redirect_loop")},
		}, {
			Name: "redirect-ring", Does: "sends the client round in a ring of five",
			serve: steps{"/": say(to("/1")), "/1": say(to("/2")), "/2": say(to("/3")), "/3": say(to("/4")), "/4": say(to("/"))}.serve,
			Want:  redirect(""), Also: map[string]Want{
				"/1": redirect(""), "/2": redirect(""), "/3": redirect(""), "/4": redirect("redirect_loop"),
			},
		}, {
			Name: "redirect-spelling", Does: "redirects from one spelling of its URL to another and back",
			serve: steps{
				"/%61": say(to("/a")), "/a": say(to("/%61")),
			}.serve, Seeds: []string{"/a"}, Want: Want{None: true}, Also: map[string]Want{"/%61": redirect("redirect_loop")}, MaxRequests: 12,
		}, {
			Name: "redirect-endless", Does: "redirects to a fresh URL each time",
			serve: page(func(p *peer, target string) bool {
				n, _ := strconv.Atoi(strings.TrimPrefix(target, "/"))
				return p.say(to(fmt.Sprint("/", n+1)))
			}),
			Want: redirect(""), Also: chain(maxRedirects), MaxRequests: 2 * (2 + maxRedirects),
		}, {
			Name: "redirect-maze", Does: "redirects to a fresh host and a fresh URL each time",
			Hosts: mazeHosts(), serve: page(func(p *peer, target string) bool {
				n, _ := strconv.Atoi(strings.TrimPrefix(target, "/"))
				return p.say(to(fmt.Sprintf("http://maze-%d.test/%d", n+1, n+1)))
			}),
			Want: redirect(""), Also: maze(maxRedirects), MaxRequests: 4 * (1 + maxRedirects),
		}, {
			Name: "redirect-endless-body", Does: "redirects, and sends a body without end with it",
			serve: steps{"/": again("HTTP/1.1 302 Found\r\nLocation: /next\r\n\r\n", filler), "/next": say(nextPage)}.serve,
			Want:  Want{Outcome: "redirect", Status: 302, Truncated: "length"}, Also: map[string]Want{"/next": okTitled("next")},
		},
		elsewhere("redirect-private", "redirects to a private address", "http://10.0.0.1/"),
		elsewhere("redirect-loopback", "redirects to a port of the crawler's own machine", "http://127.0.0.1:6379/"),
		elsewhere("redirect-loopback-6", "redirects to the crawler's own machine over IPv6", "http://[::1]:6379/"),
		elsewhere("redirect-localhost", "redirects to localhost", "http://localhost:8080/"),
		elsewhere("redirect-unspecified", "redirects to the address of any interface", "http://0.0.0.0/"),
		elsewhere("redirect-metadata", "redirects to where clouds keep their machines' secrets", "http://169.254.169.254/latest/meta-data/"),
		spelled("redirect-mapped", "redirects to the same, written as an IPv6 address", "http://[::ffff:169.254.169.254]/latest/",
			"http://[::ffff:a9fe:a9fe]/latest/"),
		spelled("redirect-number", "redirects to an address written as one number", "http://2130706433/", "http://127.0.0.1/"),
		spelled("redirect-octal", "redirects to an address written in octal", "http://0177.0.0.1/x", "http://127.0.0.1/x"),
		spelled("redirect-wide", "redirects to an address in wide digits", "http://１２７.0.0.1/w", "http://127.0.0.1/w"),
	}
}

// to is a redirect.
func to(location string) string {
	if location == "" {
		return "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"
	}
	return "HTTP/1.1 302 Found\r\nLocation: " + location + "\r\nContent-Length: 0\r\n\r\n"
}

func astray(name, does, location string, want Want) Behaviour {
	return Behaviour{Name: name, Does: does, serve: page(say(to(location))), Want: want}
}

// elsewhere redirects to a URL that must not be asked for.
func elsewhere(name, does, url string) Behaviour { return spelled(name, does, url, url) }

func spelled(name, does, location, url string) Behaviour {
	return Behaviour{
		Name: name, Does: does, serve: page(say(to(location))), Want: redirect(""), Also: map[string]Want{url: denied},
	}
}

func chain(most int) map[string]Want {
	wants := map[string]Want{}
	for n := 1; n <= most; n++ {
		wants[fmt.Sprint("/", n)] = redirect("")
	}
	wants[fmt.Sprint("/", most)] = redirect("too_many_redirects")
	return wants
}

func mazeHosts() (hosts []string) {
	for n := range 2 * maxRedirects {
		hosts = append(hosts, fmt.Sprintf("maze-%d.test", n))
	}
	return hosts
}

func maze(most int) map[string]Want {
	wants := map[string]Want{}
	for n := 1; n <= most; n++ {
		wants[fmt.Sprintf("http://maze-%d.test/%d", n, n)] = redirect("")
	}
	wants[fmt.Sprintf("http://maze-%d.test/%d", most, most)] = redirect("too_many_redirects")
	return wants
}
