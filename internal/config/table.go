package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// setting describes one field of Settings. Files, variables, flags, rendering and documentation all follow the table
// of settings, so that each is listed once.
type setting struct {
	key     string // the word for file, variable and flag
	section string // heading in a rendered file
	usage   string // one line for help and file
	note    string // more for the file
	example string // lines for the file
	short   string // one-letter flag
	alias   string // another name of the flag
	bare    string // what the flag means without a value; empty when it needs one

	fileOnly bool // no variable and no flag has it
	live     bool // a crawl that runs can change it

	// fixed is set for what a crawl's state is built on, and says what to do instead of changing it.
	fixed string

	at    func(*Settings) slot
	check func(*Settings) (want string) // the range as text when the value is outside; nil accepts all
}

// wanted returns what the setting should be when it is not, and "" when it is fine. It takes no value for read: a
// program may have set it.
func (d *setting) wanted(s *Settings) string {
	if !d.fileOnly {
		scratch := d.at(new(Settings))
		for _, text := range d.at(s).texts() {
			if wrong, ok := errors.AsType[*badValue](scratch.put(text)); ok {
				return wrong.want
			}
		}
	}
	if d.check == nil {
		return ""
	}
	return d.check(s)
}

// problem makes the error for a value of s that was set at place.
func (d *setting) problem(place, want string, s *Settings) *Error {
	var got []string
	for _, text := range d.at(s).texts() {
		if !plainText.MatchString(text) {
			text = fmt.Sprintf("%.60q", text)
		}
		got = append(got, text)
	}
	return &Error{Key: d.key, Place: place, Problem: (&badValue{want: want, got: strings.Join(got, ", ")}).Error()}
}

// flag returns the long name of the setting's flag.
func (d *setting) flag() string { return strings.ReplaceAll(d.key, "_", "-") }

// variable returns the name of the setting's environment variable.
func (d *setting) variable() string { return envPrefix + strings.ToUpper(d.key) }

// inEnvironment reports whether a variable can set it.
func (d *setting) inEnvironment() bool { return !d.fileOnly }

// The headings of a rendered file.
const (
	limits     = "Limits: a crawl that reaches one stops, and goes on where it was when the limit is raised"
	scopes     = "Scope: what belongs to the crawl"
	traps      = "Traps: links that have no end. What is beyond a limit is counted by its rule; none lifts it; seeds are exempt"
	politeness = "Politeness"
	requests   = "Requests"
	filter     = "Seen: the filter that remembers which URLs were met"
	memory     = "Memory: what is beyond these waits on disk"
	output     = "State and output"
)

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

// retryExample shows retry.
const retryExample = `retry:
  dns: {retries: 5, delay: 2m}
  status_503: {delay: 5m}
  status_5xx: {retries: 0}
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

// rebuild is what to do about a setting that the filter is built on.
const rebuild = "leave it out to go on as before, or have the filter made again with `crawl resume --rebuild-seen`"

// The table of settings, in the order of a rendered file. Never written to.
var table = []setting{
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
		check: func(s *Settings) string { return within(s.MaxPagesPerHost.Or(1), 1, math.MaxInt64) },
	},
	{key: "max_bytes_per_host", section: limits, live: true,
		usage: "bytes of bodies to receive from one host, over the crawl's life; its further URLs stay queued",
		note:  "What a host sent before it first had a limit does not count.",
		at:    func(s *Settings) slot { return one(&s.MaxBytesPerHost) },
		check: func(s *Settings) string { return within(s.MaxBytesPerHost.Or(1), 1, math.MaxInt64) },
	},
	{key: "max_depth", section: limits, live: true,
		usage: "links to follow away from a seed; 0 is the seeds alone",
		at:    func(s *Settings) slot { return one(&s.MaxDepth) },
		check: func(s *Settings) string { return within(s.MaxDepth.Or(0), 0, math.MaxInt32) },
	},
	{key: "max_time", section: limits, live: true,
		usage: "time for one run, pauses not counted",
		at:    func(s *Settings) slot { return one(&s.MaxTime) },
	},

	{key: "scope", section: scopes,
		usage: "which URLs belong to the crawl",
		note: "host: the hosts of the seeds, with and without www., http and https. domain: their registrable domains by the " +
			"public suffix list, any host below. prefix: each seed's URL up to the last slash of its path. any: everything. " +
			"A host that a seed itself redirects to counts as a seed's host.",
		at: func(s *Settings) slot { return one(&s.Scope) },
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
	{key: "requisites", section: scopes, bare: "true",
		usage: "also fetch what pages are made of: images, style sheets, scripts, icons",
		at:    func(s *Settings) slot { return onOff{v: &s.Requisites} },
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

	{key: "max_url", section: traps,
		usage: "bytes of a URL that a link leads to; a longer one is counted as a trap (url_length)",
		note:  "No URL of more than 16Ki is fetched in any case.",
		at:    func(s *Settings) slot { return one(&s.MaxURL) },
		check: func(s *Settings) string { return within(s.MaxURL.Or(1), 1, math.MaxInt32) },
	},
	{key: "max_path_segments", section: traps,
		usage: "parts of a path between slashes (path_segments)",
		note:  "Links that are relative by mistake make paths longer at each step: /a/b/c/d/e and so on.",
		at:    func(s *Settings) slot { return one(&s.MaxPathSegments) },
		check: func(s *Settings) string { return within(s.MaxPathSegments.Or(1), 1, math.MaxInt32) },
	},
	{key: "max_repeats", section: traps,
		usage: "times that one part comes in a path, and one parameter with its value in a query (repeats)",
		note:  "A path in which two parts or more come three times in a row is a trap too. Examples: /en/en/en/en/, /a/b/a/b/a/b/, ?q=1&q=1&q=1&q=1.",
		at:    func(s *Settings) slot { return one(&s.MaxRepeats) },
		check: func(s *Settings) string { return within(s.MaxRepeats.Or(1), 1, math.MaxInt32) },
	},
	{key: "max_parameters", section: traps,
		usage: "parameters of a query (parameters)",
		at:    func(s *Settings) slot { return one(&s.MaxParameters) },
		check: func(s *Settings) string { return within(s.MaxParameters.Or(1), 0, math.MaxInt32) },
	},
	{key: "max_years_ahead", section: traps,
		usage: "years from now that a date in a URL may lie ahead (calendar)",
		note: "Calendars have no end. A date is what looks like one (2031-07, /2031/07/, 20310731), and a year where the name of its " +
			"parameter says so: ?year=2031.",
		at:    func(s *Settings) slot { return one(&s.MaxYearsAhead) },
		check: func(s *Settings) string { return within(s.MaxYearsAhead.Or(1), 0, 10_000) },
	},
	{key: "max_alike", section: traps,
		usage: "pages under one pattern of URLs that say the same, after which no more of it are fetched (alike)",
		note: "Empty months of a calendar say the same under /cal?m=7&y=1931 and /cal?m=8&y=1931, and so does an item under ever new " +
			"session ids. Numbers of the URL itself do not count, nor do links; what a page says that no other has said takes back eight. " +
			"Of a pattern one page in sixteen is looked at. Such URLs that wait are recorded with the outcome trap; crawl stats names the patterns.",
		at:    func(s *Settings) slot { return one(&s.MaxAlike) },
		check: func(s *Settings) string { return within(s.MaxAlike.Or(1), 1, math.MaxInt32) },
	},

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
		note:  "Otherwise each host counts alone, however many of them are on one server.",
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
		check: func(s *Settings) string { return within(s.GiveUpAfter.Or(1), 1, math.MaxInt32) },
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
	{key: "timeout", section: requests,
		usage: "time for a whole request, from connecting to the last byte",
		at:    func(s *Settings) slot { return one(&s.Timeout) },
		check: func(s *Settings) string { return within(s.Timeout, Duration(time.Millisecond), Duration(24*time.Hour)) },
	},
	{key: "dns_timeout", section: requests,
		usage: "time for one name look-up",
		at:    func(s *Settings) slot { return one(&s.DNSTimeout) },
		check: func(s *Settings) string { return withinTime(s.DNSTimeout) },
	},
	{key: "dns_min_ttl", section: requests,
		usage: "how long what a name server said of a host holds at least",
		note: "Many names are good for seconds only, and would be asked for again before nearly each page. When nobody answers at a " +
			"host's addresses, its name is asked for again as soon as its own time is over. No answer is held for more than a day, but " +
			"where the name servers fail.",
		at:    func(s *Settings) slot { return one(&s.DNSMinTTL) },
		check: func(s *Settings) string { return within(s.DNSMinTTL, 0, Duration(24*time.Hour)) },
	},
	{key: "resolvers", section: requests,
		usage: "name servers to ask in place of the system's, in this order",
		note: "ADDR or ADDR:PORT. They have to look names up to the end, as those of a provider do. The hosts file goes before them. " +
			"Example: [192.0.2.53, '[2001:db8::53]:5353'].",
		at: func(s *Settings) slot { return many(&s.Resolvers) },
	},
	{key: "connect_timeout", section: requests,
		usage: "time for connecting to a host, to whichever of its addresses answers",
		at:    func(s *Settings) slot { return one(&s.ConnectTimeout) },
		check: func(s *Settings) string { return withinTime(s.ConnectTimeout) },
	},
	{key: "tls_timeout", section: requests,
		usage: "time for the TLS handshake",
		at:    func(s *Settings) slot { return one(&s.TLSTimeout) },
		check: func(s *Settings) string { return withinTime(s.TLSTimeout) },
	},
	{key: "first_byte_timeout", section: requests,
		usage: "time for the head of an answer, all of it, from when the request is sent",
		note:  "Each of these four ends no later than timeout does.",
		at:    func(s *Settings) slot { return one(&s.FirstByteTimeout) },
		check: func(s *Settings) string { return withinTime(s.FirstByteTimeout) },
	},
	{key: "min_rate", section: requests,
		usage: "bytes that a body must bring each second; one that comes slower for 15s is cut, and tried again",
		note: "It keeps servers that send a byte now and then from holding requests for the whole of timeout, where that is long. A " +
			"modem is twenty times as fast, and a page may pause for 15s while it is made.",
		at:    func(s *Settings) slot { return one(&s.MinRate) },
		check: func(s *Settings) string { return within(s.MinRate.Or(1), 1, 1<<40) },
	},
	{key: "max_head", section: requests,
		usage: "bytes of an answer's head, which is status line and header; a longer one fails",
		at:    func(s *Settings) slot { return one(&s.MaxHead) },
		check: func(s *Settings) string { return within(s.MaxHead, 1<<10, 1<<30) },
	},
	{key: "max_head_lines", section: requests,
		usage: "fields of an answer's header; one with more fails",
		at:    func(s *Settings) slot { return one(&s.MaxHeadLines) },
		check: func(s *Settings) string { return within(s.MaxHeadLines, 1, 1e6) },
	},
	{key: "max_body", section: requests,
		usage: "bytes to keep of a body, as sent and as decoded; a longer one is cut, and said to be",
		at:    func(s *Settings) slot { return one(&s.MaxBody) },
		check: func(s *Settings) string { return within(s.MaxBody, 1, 1<<40) },
	},
	{key: "max_body_other", section: requests,
		usage: "bytes to keep of a body that can hold no links: images, films, archives, programs",
		note: "Where its head says that it is longer, nothing of it is received, and 0 receives none; the record has the head, and says " +
			"truncated: length. none is as max_body. What links may be in is text of any kind, XML, JSON, gzip, and what has no type.",
		at:    func(s *Settings) slot { return one(&s.MaxBodyOther) },
		check: func(s *Settings) string { return within(s.MaxBodyOther.Or(0), 0, 1<<40) },
	},
	{key: "max_decode_ratio", section: requests,
		usage: "times as long as it was sent that a body may become by decoding, past its first MiB; what is beyond is cut",
		at:    func(s *Settings) slot { return one(&s.MaxDecodeRatio) },
		check: func(s *Settings) string { return within(s.MaxDecodeRatio, 2, 1e6) },
	},
	{key: "retries", section: requests, live: true,
		usage: "further attempts after one that may well succeed later",
		at:    func(s *Settings) slot { return one(&s.Retries) },
		check: func(s *Settings) string { return within(s.Retries, 0, maxRetries) },
	},
	{key: "retry_delay", section: requests, live: true,
		usage: "wait before the first retry, doubled for each further one",
		note: "Other pages of the host go on. A host that does not answer, or answers 429 or 503, is left alone as a whole: for 2s, or " +
			"this time if it is shorter, doubled for each such failure in a row, or for its Retry-After.",
		at:    func(s *Settings) slot { return one(&s.RetryDelay) },
		check: func(s *Settings) string { return within(s.RetryDelay, 0, maxRetryDelay) },
	},
	{key: "retry", section: requests, fileOnly: true,
		usage: "what differs for some kinds of failure",
		note: "A mapping of kinds, each with its own retries and delay: dns (the name servers failed), proxy (the proxy failed), dial (no connection), tls " +
			"(the handshake broke off), timeout, reset (the connection ended too soon), status_429, status_503, and status_5xx for " +
			"every other one. What is not said there follows the two settings above: dns has 2 retries at most and three times the " +
			"delay, since name servers that fail do so for a while; proxy, status_429 and status_503 have three times the delay. No wait " +
			"is longer than a day. Example:",
		example: retryExample,
		at:      func(s *Settings) slot { return retryRules(&s.Retry) },
		check:   func(s *Settings) string { return soundRetries(s.Retry) },
	},
	{key: "retry_after_max", section: requests, live: true,
		usage: "cap for the Retry-After of an answer",
		at:    func(s *Settings) slot { return one(&s.RetryAfterMax) },
	},
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
		check: func(s *Settings) string { return within(s.Expect.Or(1), 1, 1e12) },
	},
	{key: "seen_memory", section: filter,
		usage: "cap for the filter's memory; a filter that may not grow errs more often, and says so",
		at:    func(s *Settings) slot { return one(&s.SeenMemory) },
		check: func(s *Settings) string { return within(s.SeenMemory, 64<<10, 1<<46) },
	},

	{key: "max_hosts", section: memory,
		usage: "hosts with work to hold in memory",
		at:    func(s *Settings) slot { return one(&s.MaxHosts) },
		check: func(s *Settings) string { return within(s.MaxHosts, 1, 1e9) },
	},
	{key: "max_tasks", section: memory,
		usage: "URLs to be fetched to hold in memory",
		at:    func(s *Settings) slot { return one(&s.MaxTasks) },
		check: func(s *Settings) string { return within(s.MaxTasks, 1, 1e9) },
	},
	{key: "body_memory", section: memory,
		usage: "bytes for all bodies in flight together: as sent, as decoded, and to decode them",
		note: "At least twice max_body and 132Mi. Small pages go on beside large ones; when large ones use it up they wait for each " +
			"other, at most for the time of timeout beyond it, and are then cut, and tried again. Beside it each request has 128Ki.",
		at:    func(s *Settings) slot { return one(&s.BodyMemory) },
		check: func(s *Settings) string { return enoughForBody(s.BodyMemory, s.MaxBody) },
	},

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
	{key: "extract", section: output, fileOnly: true,
		usage: "fields to add to the page records, each the text or an attribute of the elements a CSS selector matches",
		note: "Each entry has field (its key in the record), selector, and where wanted attr (an attribute instead of the text) " +
			"and all: true (every match as a list, not the first alone). Example: [{field: price, selector: .price}].",
		at:    func(s *Settings) slot { return extractFields(&s.Extract) },
		check: func(s *Settings) string { return sound(s.Extract) },
	},
}

// withinTime is the range of a time for one part of a request.
func withinTime(d Duration) string {
	return within(d, Duration(time.Millisecond), Duration(24*time.Hour))
}

// withinIf is within for a value that may be left out.
func withinIf[T cmp.Ordered](v *T, low, high T) string {
	if v == nil {
		return ""
	}
	return within(*v, low, high)
}

// enoughForBody: what is less could not hold one body, as sent and as decoded, with the windows of decoders.
func enoughForBody(memory, maxBody Size) string {
	const windows, most = 132 << 20, 1 << 46
	return within(memory, 2*maxBody+windows, most)
}

// within returns the range as text when v is outside it, or is no number.
func within[T cmp.Ordered](v, low, high T) string {
	if v >= low && v <= high {
		return ""
	}
	return fmt.Sprintf("from %v to %v", low, high)
}
