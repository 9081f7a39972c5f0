package config

// identitySettings say who asks, and what goes with each request.
var identitySettings = []setting{
	{key: "user_agent", section: requests, short: "A",
		usage: "name to send and to look up in robots.txt; {version} stands for crawl's version",
		note:  "What stands before the first slash or blank is the name that robots.txt rules are looked up for.",
		at:    func(s *Settings) slot { return one(&s.UserAgent) },
	},
	{key: "contact", section: requests,
		usage: "URL or mail address that owners of sites can turn to, sent with each request",
		at:    func(s *Settings) slot { return one(&s.Contact) },
	},
	{key: "header", section: requests, short: "H",
		usage: "further fields to send, each as 'Name: value'",
		note: "In a value ${VARIABLE} stands for a variable of the environment; a value that is @FILE stands for what the file " +
			"holds. Both are looked up at each start, and what they stand for is written nowhere. Credentials (Authorization, " +
			"Cookie, names with token, key, secret and the like) must be named so, and go, like any value with a reference in it, " +
			"to the hosts of the seeds alone, by https where the seed is an https URL; to other hosts by headers in hosts: above. " +
			"Fields that frame the message are refused. In CRAWL_HEADER line ends separate fields. Example: " +
			"['Accept-Language: de', 'X-Api-Key: ${API_KEY}'].",
		at: func(s *Settings) slot { return headerList(&s.Header) },
	},
	{key: "auth", section: requests,
		usage: "user and password for the hosts of the seeds (basic authentication)",
		note: "USER:${VARIABLE} or USER:@FILE, which name the password as in header, or one reference for both. For other hosts " +
			"see hosts: above.",
		at: func(s *Settings) slot { return one(&s.Auth) },
	},
	{key: "cookies", section: requests,
		usage: "keep cookies that hosts set and send them back to them, as long as the process lives",
		note: "At most 50 of a site (example.com with all below it) and 32Ki, and 64Mi of all sites together: then the site that was " +
			"not asked for longest loses its cookies. A crawl that goes on starts without those it was sent.",
		at: func(s *Settings) slot { return one(&s.Cookies) },
	},
	{key: "load_cookies", section: requests,
		usage: "cookies.txt as browsers and curl write it: its cookies are sent to the hosts of the seeds that they are for",
		note: "And to hosts that hosts: above switches cookies on for. The file is read at each start, and not copied. A line that is " +
			"no cookie is named and passed over.",
		at: func(s *Settings) slot { return one(&s.LoadCookies) },
	},
	{key: "conditional", section: requests, bare: "true",
		usage: "ask for a page that is fetched once more only if it has changed",
		note: "By If-None-Match and If-Modified-Since, with what the last whole answer said. What has not changed is recorded as " +
			"not_modified, with the number of the record that has the page.",
		at: func(s *Settings) slot { return onOff{v: &s.Conditional} },
	},
}
