package config

import "math"

// limitSettings bound a crawl as a whole, and hosts in it.
var limitSettings = []setting{
	{key: "max_pages", section: limits, live: true,
		usage: "page records to write, over the crawl's life",
		at:    func(s *Settings) slot { return one(&s.MaxPages) },
	},
	{key: "max_bytes", section: limits, live: true,
		usage: "bytes of bodies to receive, over the crawl's life",
		at:    func(s *Settings) slot { return one(&s.MaxBytes) },
	},
	{key: "max_pages_per_host", section: limits, live: true,
		usage: "page records of one host, over the crawl's life; its further URLs stay queued",
		note:  "What a host had before it first had a limit does not count.",
		at:    func(s *Settings) slot { return one(&s.MaxPagesPerHost) },
		check: func(s *Settings) string { return limited(s.MaxPagesPerHost, 1, math.MaxInt64) },
	},
	{key: "max_bytes_per_host", section: limits, live: true,
		usage: "bytes of bodies to receive from one host, over the crawl's life; its further URLs stay queued",
		note:  "What a host sent before it first had a limit does not count.",
		at:    func(s *Settings) slot { return one(&s.MaxBytesPerHost) },
		check: func(s *Settings) string { return limited(s.MaxBytesPerHost, 1, math.MaxInt64) },
	},
	{key: "max_depth", section: limits, live: true,
		usage: "links to follow away from a seed; 0 is the seeds alone",
		at:    func(s *Settings) slot { return one(&s.MaxDepth) },
		check: func(s *Settings) string { return limited(s.MaxDepth, 0, math.MaxInt32) },
	},
	{key: "max_time", section: limits, live: true,
		usage: "time for one run, pauses not counted",
		at:    func(s *Settings) slot { return one(&s.MaxTime) },
	},
}
