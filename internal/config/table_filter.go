package config

// rebuild is what to do about a setting that the filter is built on.
const rebuild = "leave it out to go on as before, or have the filter made again with `crawl resume --rebuild-seen`"

// filterSettings size the filter that remembers which URLs were met.
var filterSettings = []setting{
	{key: "seen", section: filter,
		usage: "whose word it is that a URL was met before",
		note: "bloom: the filter's, which takes a new URL for a known one with a chance of fp. exact: each URL that the filter takes " +
			"for known is looked up on disk, so that none is skipped; it costs 8 bytes a URL there at most, and a look-up for most links.",
		at: func(s *Settings) slot { return one(&s.Seen) },
	},
	{key: "fp", section: filter, fixed: rebuild,
		usage: "chance that a new URL is taken for a known one and skipped, never the other way round: 0.1% or 0.001",
		at:    func(s *Settings) slot { return one(&s.FP) },
		check: func(s *Settings) string { return within(s.FP, 1e-6, 0.5) },
	},
	{key: "expect", section: filter, fixed: rebuild,
		usage: "URLs to size the filter for, such as 200M; past it, it grows",
		at:    func(s *Settings) slot { return one(&s.Expect) },
		check: func(s *Settings) string { return limited(s.Expect, 1, 1e12) },
	},
	{key: "seen_memory", section: filter,
		usage: "cap for the filter's memory; a filter that may not grow errs more often, and says so",
		at:    func(s *Settings) slot { return one(&s.SeenMemory) },
		check: func(s *Settings) string { return within(s.SeenMemory, 64<<10, 1<<46) },
	},
}
