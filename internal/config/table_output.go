package config

import "time"

// outputSettings are about the state, the disk and the records.
var outputSettings = []setting{
	{key: "checkpoint_interval", section: output,
		usage: "time between checkpoints: what a kill may cost",
		at:    func(s *Settings) slot { return one(&s.CheckpointInterval) },
		check: func(s *Settings) string {
			return within(s.CheckpointInterval, Duration(10*time.Millisecond), Duration(time.Hour))
		},
	},
	{key: "grace", section: output,
		usage: "time for what is in flight when the crawl is stopped",
		at:    func(s *Settings) slot { return one(&s.Grace) },
	},
	{key: "min_free", section: output, live: true,
		usage: "bytes to leave free on the disk; a crawl that comes to that pauses until there is space again",
		note:  "0 leaves nothing free.",
		at:    func(s *Settings) slot { return one(&s.MinFree) },
	},
	{key: "pages_size", section: output,
		usage: "begin a new file of page records at this size",
		at:    func(s *Settings) slot { return one(&s.PagesSize) },
		check: func(s *Settings) string { return within(s.PagesSize, 4<<10, 1<<46) },
	},
	{key: "log_size", section: output,
		usage: "begin a new segment of the logs of URLs at this size",
		at:    func(s *Settings) slot { return one(&s.LogSize) },
		check: func(s *Settings) string { return within(s.LogSize, 4<<10, 1<<46) },
	},
	{key: "keep_refused", section: output,
		usage: "links that rules refused to list, with the rule and a page that has them; 0 lists none",
		note: "Of one rule and host 1,000 are listed at most, and of one rule half of what the others leave. All are counted: crawl stats " +
			"--rules. crawl export urls --refused writes the list.",
		at:    func(s *Settings) slot { return one(&s.KeepRefused) },
		check: func(s *Settings) string { return within(s.KeepRefused, 0, 10_000_000) },
	},
	{key: "extract", section: output, fileOnly: true,
		usage: "fields to add to the page records, each the text or an attribute of the elements a CSS selector matches",
		note: "Each entry has field (its key in the record), selector, and where wanted attr (an attribute instead of the text), " +
			"html: true (the markup inside instead of the text), all: true (every match as a list, not the first alone) and pages (a " +
			"regular expression that the page's URL must match, as for include). Of a page longer than 16Mi nothing is taken. " +
			"Example: [{field: price, selector: .price, pages: /products/}].",
		at:    func(s *Settings) slot { return extractFields(&s.Extract) },
		check: func(s *Settings) string { return sound(s.Extract) },
	},
}
