package config

import "math"

// longestURL is more bytes than any URL that is fetched has.
const longestURL = 16 << 10

// trapSettings bound the URLs that links may lead to.
var trapSettings = []setting{
	{key: "max_url", section: traps,
		usage: "bytes of a URL that a link leads to; a longer one is counted as a trap (url_length)",
		note:  "No URL of more than 16Ki is fetched in any case.",
		at:    func(s *Settings) slot { return one(&s.MaxURL) },
		check: func(s *Settings) string { return limited(s.MaxURL, 1, longestURL) },
	},
	{key: "max_path_segments", section: traps,
		usage: "parts of a path between slashes (path_segments)",
		note:  "Links that are relative by mistake make paths longer at each step: /a/b/c/d/e and so on.",
		at:    func(s *Settings) slot { return one(&s.MaxPathSegments) },
		check: func(s *Settings) string { return limited(s.MaxPathSegments, 1, math.MaxInt32) },
	},
	{key: "max_repeats", section: traps,
		usage: "times that one part comes in a path, and one parameter with its value in a query (repeats)",
		note:  "A path in which two parts or more come three times in a row is a trap too; numbers below 1000 may. Examples: /en/en/en/en/, /a/b/a/b/a/b/, ?q=1&q=1&q=1&q=1.",
		at:    func(s *Settings) slot { return one(&s.MaxRepeats) },
		check: func(s *Settings) string { return limited(s.MaxRepeats, 1, math.MaxInt32) },
	},
	{key: "max_parameters", section: traps,
		usage: "parameters of a query (parameters)",
		at:    func(s *Settings) slot { return one(&s.MaxParameters) },
		check: func(s *Settings) string { return limited(s.MaxParameters, 0, math.MaxInt32) },
	},
	{key: "max_years_ahead", section: traps,
		usage: "years from now that a date in a URL may lie ahead (calendar)",
		note: "Calendars have no end. A date is a day whose parts are kept apart: 2031-07-31, /2031/07/31, 5-november-2031. Where a " +
			"name says so, of a parameter or of the path, also /calendar/2031/november/, /events/2031-W05, ?date=20310731, " +
			"?year=2031&month=7, with names of months in a score of languages. Other numbers are left alone.",
		at:    func(s *Settings) slot { return one(&s.MaxYearsAhead) },
		check: func(s *Settings) string { return limited(s.MaxYearsAhead, 0, 10_000) },
	},
	{key: "max_growing", section: traps,
		usage: "pages of a host, each one below the other, that say what the page said that led to them (growing)",
		note: "A server that answers everything with one page of relative links leads ever further down: /red/blue/, /red/blue/red/. " +
			"Pages count whose path or query has two parts that come again, as far as numbers below 1000 and words of their own URL make " +
			"no difference. From then on no link is followed that leads down from a page that says that; all else of the host is.",
		at:    func(s *Settings) slot { return one(&s.MaxGrowing) },
		check: func(s *Settings) string { return within(s.MaxGrowing.Or(1), 1, math.MaxInt32) },
	},
	{key: "max_alike", section: traps,
		usage: "pages under one pattern of URLs that say the same, after which no more of it are fetched (alike)",
		note: "Empty months of a calendar say the same under /cal?m=7&y=1931 and /cal?m=8&y=1931, and so does an item under ever new " +
			"session ids. Numbers of the URL itself do not count, nor do links; what a page says that no other has said takes back eight. " +
			"A page of a calendar counts four times, one that is empty without its scripts does not. Of a pattern one page in sixteen is looked at. Such URLs that wait are recorded with the outcome trap; crawl stats names the patterns.",
		at:    func(s *Settings) slot { return one(&s.MaxAlike) },
		check: func(s *Settings) string { return limited(s.MaxAlike, 1, math.MaxInt32) },
	},
	{key: "max_near_alike", section: traps,
		usage: "pages under one pattern of URLs that say nearly the same, after which no more of it are fetched (near_alike)",
		note: "Nearly the same is what differs in one word of two hundred or less: the time, an advertisement, a number of visitors. Catalogues of parts " +
			"have such pages as well, so it takes more of them than for max_alike; all else is as it is there. Example: /day/1, /day/2 and so " +
			"on, each with the time at which it was made.",
		at:    func(s *Settings) slot { return one(&s.MaxNearAlike) },
		check: func(s *Settings) string { return within(s.MaxNearAlike.Or(1), 1, math.MaxInt32) },
	},
	{key: "max_alike_hosts", section: traps,
		usage: "hosts of one domain that say the same, after which no other host of it is asked (alike_hosts)",
		note: "A name server can answer for every name: x1.a.example, x2.x1.a.example and so on, with one site behind all. The domain is the " +
			"one that somebody has registered, by the public suffix list; of each host the first page is looked at, without the words of its " +
			"URL, and one that says something new takes back eight. Hosts of seeds, the first 64 and those that said something new are exempt.",
		at:    func(s *Settings) slot { return one(&s.MaxAlikeHosts) },
		check: func(s *Settings) string { return within(s.MaxAlikeHosts.Or(1), 1, math.MaxInt32) },
	},
}
