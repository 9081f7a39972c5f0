package config

import "time"

// scopeExample shows scope.
const scopeExample = `scope:
  - host
  - admit: {domain: example.org}
  - refuse: {prefix: https://example.org/private/}
  - name: no media
    refuse: {content_type: [image/*, video/*]}
  - refuse: {host: forum.example.org, depth: 3..}
  - admit: {class: requisite}       # images and style sheets of any host
`

// samePageExample shows same_page.
const samePageExample = `same_page:
  - drop_parameters: ['utm_*', fbclid, gclid]
  - pattern: '*.shop.example'
    drop_session_ids: true
    sort_parameters: true
    index_files: [index.html, index.php]
`

// rebuildNames is what to do about a setting that says which URLs are one page.
const rebuildNames = "leave it out to go on as before; `crawl resume --rebuild-seen` takes another that names no URL met so far anew"

// scopeSettings say what belongs to a crawl, and what counts as one page.
var scopeSettings = []setting{
	{key: "scope", section: scopes,
		usage: "which URLs belong to the crawl",
		note: "host: the hosts of the seeds, with and without www., http and https. domain: their registrable domains by the " +
			"public suffix list, any host below. prefix: each seed's URL up to the last slash of its path. any: everything. " +
			"A host that a seed itself redirects to counts as a seed's host. " +
			"In a file it may be a list: one of these words first (host, if none does), then rules that admit or refuse, of which the last " +
			"one that a URL meets decides. A rule has conditions, all of which must be met, each by any of its values: seeds (what they " +
			"reach by host, domain or prefix), host (a pattern as in hosts), domain (registrable), prefix (of URLs), regexp (as for include), " +
			"scheme, port, depth (3, 3.., ..3, 1..3), class (navigation, requisite, sitemap) and content_type (of an answer: what is refused " +
			"is dropped after its head); any instead of conditions is every URL. name is what statistics call it. Seeds are exempt. Example:",
		example: scopeExample,
		at:      scopeOf,
		check:   func(s *Settings) string { return soundScope(s.ScopeRules) },
	},
	{key: "include", section: scopes,
		usage: "only URLs in scope that match; one match is enough",
		note: "Regular expressions (RE2) on the whole URL as requested; they match anywhere in it unless anchored. They narrow " +
			"the scope: to reach more hosts, widen scope. Pages that are not included are not fetched, so no link on " +
			"them is found. Seeds are exempt. Example: ['/docs/', '\\.html$'].",
		at: func(s *Settings) slot { return many(&s.Include) },
	},
	{key: "exclude", section: scopes,
		usage: "no URLs that match; goes over include",
		note:  "Regular expressions as for include. Seeds are exempt.",
		at:    func(s *Settings) slot { return many(&s.Exclude) },
	},
	{key: "deny", section: scopes,
		usage: "denylists: what is on one is never asked for, whoever names it; seeds too",
		note: "Each is a text, an entry a line: a.example, that domain with every name below it; =a.example, or a line of a hosts file " +
			"(0.0.0.0 a.example), that name alone; a.example:8080; https://a.example/x, that page alone; 192.0.2.1; 192.0.2.0/24. # and ; begin " +
			"a comment. Or it is a file of crawl filter build --exact, of lines written so, for lists that many crawls share. Addresses are " +
			"refused as what names lead to as well. A file that changes is read again; one that cannot be used leaves the version before in force.",
		at: func(s *Settings) slot { return many(&s.Deny) },
	},
	{key: "admit_after", section: scopes,
		usage: "pages that have to link to a URL before it is fetched: 1, or 2",
		note: "With 2 it waits for a second page. What a page that you named links to is fetched at once, and so are redirects' targets, sitemaps " +
			"and what they list, what pages are made of, and links that are only checked. Two links on one page are one, and so are those of a " +
			"page that is fetched again.",
		at:    func(s *Settings) slot { return one(&s.AdmitAfter) },
		check: func(s *Settings) string { return within(s.AdmitAfter, 1, 2) },
	},
	{key: "admit_window", section: scopes,
		usage: "time for which it is remembered that one page links to a URL; only the crawl's own time counts",
		at:    func(s *Settings) slot { return one(&s.AdmitWindow) },
		check: func(s *Settings) string {
			return within(s.AdmitWindow, Duration(time.Second), Duration(10*365*24*time.Hour))
		},
	},
	{key: "admit_memory", section: scopes,
		usage: "cap for the memory of that, 6 to 12 bytes a URL; beyond it more URLs are fetched at their first sight, and it is said",
		at:    func(s *Settings) slot { return one(&s.AdmitMemory) },
		check: func(s *Settings) string { return within(s.AdmitMemory, 16<<20, 1<<46) },
	},
	{key: "requisites", section: scopes, bare: "true",
		usage: "also fetch what pages are made of: images, style sheets, scripts, icons",
		note: "And what style sheets, style elements and style attributes load: images, fonts, further sheets. The scope binds all of it: " +
			"what other hosts bring to a page is left. A part belongs to its page's depth; what it loads itself may lie up to 16 beyond max_depth.",
		at: func(s *Settings) slot { return onOff{v: &s.Requisites} },
	},
	{key: "nofollow", section: scopes,
		usage: "whose nofollow counts, so that links are left and not checked either",
		note: "pages: that of a page, by a robots meta element or an X-Robots-Tag, for all its links. links: rel=nofollow, for the one link " +
			"that has it wherever its page names the URL. all: both. ignore: neither. crawl stats counts what each costs.",
		at: func(s *Settings) slot { return one(&s.Nofollow) },
	},
	{key: "check_external", section: scopes, bare: "true",
		usage: "ask once for each link out of the scope whether it leads anywhere, and follow none",
		note: "By HEAD, and where that does not end well by GET, of which nothing is read but the head; redirects are followed likewise. The " +
			"answer is a page record with the key check: head or get. robots.txt, delays and limits hold as for pages; max_depth, traps and " +
			"include do not, and what exclude names is not asked for.",
		at: func(s *Settings) slot { return onOff{v: &s.CheckExternal} },
	},
	{key: "sitemaps", section: scopes, bare: "true",
		usage: "also fetch the sitemaps that a robots.txt names, and the pages in scope that they list",
		note: "Sitemaps and feeds that are seeds, or that a link leads to, are read in any case. Of one sitemap 50,000 entries " +
			"count, as its protocol allows.",
		at: func(s *Settings) slot { return onOff{v: &s.Sitemaps} },
	},
	{key: "same_page", section: scopes, fileOnly: true, fixed: rebuildNames,
		usage: "which URLs count as one page, although a server can tell them apart",
		note: "Of such URLs the first that is met is fetched, as it is written. Each entry is for every host, or those of its pattern, as in " +
			"hosts. drop_parameters: parameters that say nothing of the page, by name, or by its start and a star. drop_session_ids: " +
			"PHPSESSID, ;jsessionid= and their like. sort_parameters: their order says nothing. index_files: what a directory stands for. " +
			"slash: with and without one at the end of the path. www: with and without it before the host. schemes: http and https. " +
			"Each may cost pages: what was taken for one page is counted by its rule in crawl stats. Example:",
		example: samePageExample,
		at:      func(s *Settings) slot { return samePages(&s.SamePage) },
		check:   func(s *Settings) string { return soundPages(s.SamePage) },
	},
}
