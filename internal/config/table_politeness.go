package config

import "math"

// maxConcurrency is more requests in flight than a machine has ports for.
const maxConcurrency = 65_536

// hostsExample shows hosts.
const hostsExample = `hosts:
  - pattern: '*.example.com'
    delay: 5s
    max_pages: none
  - pattern: test.example.com:8080
    delay: 0
    concurrency: 8
    robots: ignore
  - pattern: ads.example.com
    max_pages: 0            # not asked at all
  - pattern: intranet.example.com:443
    auth: 'crawler:${INTRANET_PASSWORD}'
    headers: ['X-Team: search']
    cookies: on
    proxy: none
`

// politenessSettings say how often hosts are asked, and when not at all.
var politenessSettings = []setting{
	{key: "concurrency", section: politeness, live: true,
		usage: "requests in flight, all hosts together",
		at:    func(s *Settings) slot { return one(&s.Concurrency) },
		check: func(s *Settings) string { return within(s.Concurrency, 1, maxConcurrency) },
	},
	{key: "max_rate", section: politeness, live: true,
		usage: "requests in a time to all hosts together: 50/s, 600/m, 1000/h",
		note: "robots.txt and retries count. A limit of bytes is not meant: for that, see max_body and max_bytes. Requests are " +
			"spread evenly; from 50/s on those of 20 ms may come at once.",
		at: func(s *Settings) slot { return one(&s.MaxRate) },
	},
	{key: "host_delay", section: politeness, live: true, alias: "delay",
		usage: "least time from one request to a host to the next",
		note:  "0 switches delay_factor off as well, but not a Crawl-delay in robots.txt.",
		at:    func(s *Settings) slot { return one(&s.HostDelay) },
	},
	{key: "host_concurrency", section: politeness, live: true,
		usage: "requests in flight to one host",
		at:    func(s *Settings) slot { return one(&s.HostConcurrency) },
		check: func(s *Settings) string { return within(s.HostConcurrency, 1, maxConcurrency) },
	},
	{key: "per_ip", section: politeness, bare: "true",
		usage: "hosts on one address share its delay and its requests in flight",
		note:  "Otherwise each host counts alone, however many of them are on one server. A Crawl-delay binds its own host alone in any case.",
		at:    func(s *Settings) slot { return onOff{v: &s.PerIP} },
	},
	{key: "delay_factor", section: politeness, live: true,
		usage: "wait at least this many times as long as the host takes to answer",
		note:  "Its time is smoothed, so that one answer that hung is no matter. 0: response times do not count.",
		at:    func(s *Settings) slot { return one(&s.DelayFactor) },
		check: func(s *Settings) string { return within(s.DelayFactor, 0, 1000) },
	},
	{key: "crawl_delay_max", section: politeness, live: true,
		usage: "cap for the Crawl-delay of a robots.txt",
		at:    func(s *Settings) slot { return one(&s.CrawlDelayMax) },
	},
	{key: "robots", section: politeness,
		usage: "obey robots.txt (RFC 9309), or ignore it on sites of your own",
		at:    func(s *Settings) slot { return one(&s.Robots) },
	},
	{key: "give_up_after", section: politeness, live: true,
		usage: "failures in a row after which a host is given up; its URLs stay queued",
		at:    func(s *Settings) slot { return one(&s.GiveUpAfter) },
		check: func(s *Settings) string { return limited(s.GiveUpAfter, 1, math.MaxInt32) },
	},
	{key: "hosts", section: politeness, fileOnly: true,
		usage: "what is different for some hosts",
		note: "Each entry has a pattern: a host (a.example), a name and all below it (*.example, which stands in quotes), or " +
			"every host (*); with a port it means that one alone. Then what differs there: delay, concurrency and robots " +
			"as host_delay, host_concurrency and robots above; max_pages and max_bytes as max_pages_per_host and " +
			"max_bytes_per_host, where none lifts the limit and max_pages: 0 drops the host; headers, auth, cookies and " +
			"proxy as header, auth, cookies and proxy below, for that host whether a seed names it or not. Of several entries that match " +
			"a host the last one that has a key decides it, of headers the last one that has the field. Example:",
		example: hostsExample,
		at:      func(s *Settings) slot { return hostRules(&s.Hosts) },
		check:   func(s *Settings) string { return soundRules(s.Hosts) },
	},
}
