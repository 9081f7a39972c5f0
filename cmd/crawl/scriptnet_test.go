package main

import (
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"crawl/internal/testnet"
)

func proxyCommand(ts *testscript.TestScript, neg bool, args []string) {
	const use = "proxy NAME [-socks] [USER:PASSWORD]"
	checkUse(ts, neg, len(args) > 0, use)
	how := testnet.Proxy{Others: siteOf(ts).server.Listener.Addr().String()}
	for _, arg := range args[1:] {
		user, password, isUser := strings.Cut(arg, ":")
		switch {
		case arg == "-socks":
			how.SOCKS = true
		case isUser:
			how.User, how.Password = user, password
		default:
			checkUse(ts, neg, false, use)
		}
	}
	p, err := testnet.StartProxy(how)
	ts.Check(err)
	storyOf(ts).proxies[args[0]] = p
	ts.Setenv(args[0], p.Addr())
}

func proxiedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || storyOf(ts).proxies[args[0]] == nil {
		ts.Fatalf("usage: proxied NAME TEXT, of a proxy that was started")
	}
	asked := storyOf(ts).proxies[args[0]].Asked()
	if slices.Contains(asked, args[1]) == neg {
		ts.Fatalf("the proxy was asked for %q", asked)
	}
}

func namesCommand(ts *testscript.TestScript, neg bool, args []string) {
	checkUse(ts, neg, len(args) > 0, "names NAME HOST=ADDR...")
	hosts := map[string]testnet.Host{}
	for _, arg := range args[1:] {
		name, addr, ok := strings.Cut(arg, "=")
		checkUse(ts, neg, ok, "names NAME HOST=ADDR...")
		h := hosts[name]
		h.Addrs, h.TTL = append(h.Addrs, addr), 60
		hosts[name] = h
	}
	s, err := testnet.StartDNS(hosts)
	ts.Check(err)
	storyOf(ts).names = append(storyOf(ts).names, s)
	ts.Setenv(args[0], s.Addr().String())
	_, port, _ := strings.Cut(siteOf(ts).server.Listener.Addr().String(), ":")
	ts.Setenv("PORT", port)
}
