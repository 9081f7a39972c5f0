package hostile

import (
	"fmt"
	"strings"
)

// foreign is part of the name of each cookie that a client must refuse. A server that is sent one notes it.
const foreign = "foreign"

// injected is the name of a field that a cookie tries to add to a request.
const injected = "X-Injected"

// cookieJars are servers that set cookies which they may not set, or too many.
func cookieJars(l Limits) []Behaviour {
	next := map[string]Want{"/next": okTitled("next")}
	return []Behaviour{
		{
			Name: "cookies-foreign", Does: "sets cookies for hosts that are not its own, and such as need TLS",
			serve: pageAndNext(say(answer("Content-Type: text/html\r\n"+foreignCookies(
				"Domain=.test", "Domain=test", "Domain=www00.test", "Domain=cookies-many.test", "Domain=169.254.169.254", "Domain=com", "Secure",
				"Domain=.", "Domain=cookies-foreign.test.evil.test", "Domain=es-foreign.test",
			)+"Set-Cookie: __Host-"+foreign+"=1; Path=/\r\nSet-Cookie: __Secure-"+foreign+"=1\r\nSet-Cookie: "+foreign+"9=\x01; Path=/\r\n",
				"<title>cookies</title>"))),
			Seeds: []string{"/", "/next"}, Want: okTitled("cookies"), Also: next,
		}, {
			Name: "cookies-split", Does: "sets a cookie that would make two fields of the next request's one",
			serve: pageAndNext(say(answer("Content-Type: text/html\r\nSet-Cookie: a=b\r"+injected+": yes\r\n",
				"<title>cookies</title>"))),
			Seeds: []string{"/", "/next"}, Want: okTitled("cookies"), Also: next,
		}, {
			Name: "cookies-long", Does: "sets a cookie of 32 KiB",
			serve: pageAndNext(say(answer("Content-Type: text/html\r\nSet-Cookie: "+foreign+"="+strings.Repeat("v", 32<<10)+"\r\n",
				"<title>cookies</title>"))),
			Seeds: []string{"/", "/next"}, Want: okTitled("cookies"), Also: next,
		}, {
			Name: "cookies-growing", Does: "sets 50 cookies more with each page",
			serve: page(func(p *peer, target string) bool {
				var b strings.Builder
				b.WriteString("Content-Type: text/html\r\n")
				for i := range 50 {
					fmt.Fprintf(&b, "Set-Cookie: %s-%d=%s; Path=/\r\n", strings.Trim(target, "/"), i, strings.Repeat("v", 500))
				}
				return p.say(answer(b.String(), fmt.Sprintf("<title>grows</title><a href=/%da>next</a>", len(target))))
			}),
			Want: okTitled("grows"), MaxPages: int(l.PagesPerHost),
		}, {
			Name: "cookies-redirect", Does: "redirects to itself with another cookie each time",
			serve: page(func(p *peer, _ string) bool {
				return p.say(fmt.Sprintf("HTTP/1.1 302 Found\r\nSet-Cookie: n=%d; Path=/\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", p.sent.Load()))
			}),
			Want: redirect("redirect_loop"), MaxRequests: 20,
		},
	}
}

func foreignCookies(attributes ...string) string {
	var b strings.Builder
	for i, attribute := range attributes {
		fmt.Fprintf(&b, "Set-Cookie: %s%d=1; Path=/; %s\r\n", foreign, i, attribute)
	}
	return b.String()
}
