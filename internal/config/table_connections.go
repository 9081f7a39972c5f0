package config

// connectionSettings say where connections lead, and what they may be.
var connectionSettings = []setting{
	{key: "http2", section: requests, bare: "true",
		usage: "speak HTTP/2 with servers that choose it in the TLS handshake",
		at:    func(s *Settings) slot { return onOff{v: &s.HTTP2} },
	},
	{key: "insecure", section: requests, short: "k", bare: "true",
		usage: "do not check certificates",
		at:    func(s *Settings) slot { return onOff{v: &s.Insecure} },
	},
	{key: "allow_private", section: requests, bare: string(AllPrivate),
		usage: "hosts to ask although their addresses are private, loopback or special",
		note: "A host name, an address, a range such as 10.0.0.0/8, or all; names and addresses may carry a port. A seed that is " +
			"a literal address, or localhost, opens itself.",
		at: func(s *Settings) slot { return many(&s.AllowPrivate) },
	},
	{key: "connect_to", section: requests,
		usage: "connect to another place than the URL says, as curl's option does",
		note: "HOST:PORT:ADDR:PORT. Empty on the left matches any, empty on the right keeps what the URL says. " +
			"Example: ['a.example:443:127.0.0.1:8443'].",
		at: func(s *Settings) slot { return many(&s.ConnectTo) },
	},
	{key: "proxy", section: requests, short: "x",
		usage: "proxy to reach hosts by: http://HOST:PORT, https://, socks5:// or socks5h://",
		note: "For some hosts another, or none: see hosts above. A user stands before the host as USER:${VARIABLE}@ or USER:@FILE@, which " +
			"name the password as in header. socks5 has hosts looked up here, so that private addresses are refused as ever; with " +
			"socks5h, http and https the proxy looks them up, and only what a URL itself says can be checked. The proxy's own address may " +
			"be private. The variables http_proxy and the like are not followed. Example: 'http://crawler:${PROXY_PASSWORD}@proxy.example.com:3128'.",
		at: func(s *Settings) slot { return one(&s.Proxy) },
	},
}
