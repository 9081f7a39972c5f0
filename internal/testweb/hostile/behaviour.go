package hostile

import (
	"fmt"
	"slices"
	"time"
)

// Limits are what the wants of the behaviours suppose a crawler to be set to. Pages that hurt are as large as these allow.
type Limits struct {
	Timeout        time.Duration // for a whole request
	ConnectTimeout time.Duration // for a connection, and for its TLS handshake
	HeadBytes      int           // of an answer, interim answers included
	BodyBytes      int64         // as sent and as decoded
	PagesPerHost   uint64
	Retries        int // after the first attempt
	RetryAfter     time.Duration
	CrawlDelay     time.Duration
}

// Short lets a crawl of all behaviours end within seconds.
func Short() Limits {
	return Limits{
		Timeout: slowdown * 3 * time.Second, ConnectTimeout: slowdown * 2 * time.Second, HeadBytes: 64 << 10, BodyBytes: 2 << 20, PagesPerHost: 30,
		Retries: 1, RetryAfter: 200 * time.Millisecond, CrawlDelay: 100 * time.Millisecond,
	}
}

// Usual are the limits that a crawler has by itself, with fewer retries.
func Usual() Limits {
	return Limits{
		Timeout: 30 * time.Second, ConnectTimeout: 10 * time.Second, HeadBytes: 256 << 10, BodyBytes: 64 << 20, PagesPerHost: 1000,
		Retries: 1, RetryAfter: time.Second, CrawlDelay: 100 * time.Millisecond,
	}
}

// Behaviour is one way in which a server misbehaves.
type Behaviour struct {
	Name string // the server's host is Name.test
	Does string // in one line

	HTTPS bool     // the host is asked over TLS
	HTTP2 bool     // and over HTTP/2
	Seeds []string // paths to start from; none: "/"
	Hosts []string // further hosts that lead to this server

	Want Want            // of the first seed's record
	Also map[string]Want // of other records, by path or by whole URL

	// MaxPages is how many records the host may have where it is a trap without end. 0: those that are wanted, and no other.
	MaxPages int
	// MaxRequests is how many requests, and connections, the server may get. 0: as many as every seed and robots.txt take when
	// each attempt goes out once more on a new connection.
	MaxRequests int
	// MaxSent is how many bytes a client may let itself be sent on one connection. 0: a body and a head of the longest.
	MaxSent int64

	serve serve
}

// Want is what a record says. Each text may be several, separated by "|"; an empty one is wanted empty.
type Want struct {
	Outcome   string
	Code      string // of the error
	Phase     string // of the error
	Status    int    // 0: none
	Truncated string
	Title     string // "*" is any
	None      bool   // there is no record at all
}

// serve is what a server does on a connection that it has accepted. The connection is closed when it returns.
type serve func(p *peer)

// untitled is a whole page without a title.
var untitled = Want{Outcome: "ok", Status: 200}

func okTitled(title string) Want { return Want{Outcome: "ok", Status: 200, Title: title} }

// failed is a request without an answer.
func failed(code, phase string) Want { return Want{Outcome: "failed", Code: code, Phase: phase} }

// cut is a page of which a part came.
func cut(why string) Want {
	return Want{Outcome: "truncated", Code: "truncated_" + why, Phase: "body", Status: 200, Truncated: why, Title: "*"}
}

// undecoded is a page whose content coding cannot be taken off.
var undecoded = Want{Outcome: "truncated", Code: "decode", Phase: "decode", Status: 200, Title: "*"}

// serverError is an answer of the server's own fault.
func serverError(status int) Want {
	return Want{Outcome: "server_error", Code: fmt.Sprintf("status_%d", status), Phase: "head", Status: status}
}

func redirect(code string) Want {
	w := Want{Outcome: "redirect", Status: 302, Code: code}
	if code != "" {
		w.Phase = "redirect"
	}
	return w
}

// refusedByRobots is a page of a host whose robots.txt closes it.
var refusedByRobots = Want{Outcome: "robots_denied", Code: "robots_denied", Phase: "robots"}

// Host returns the name of the server's host.
func (b Behaviour) Host() string { return b.Name + ".test" }

// Root returns the URL of the host without its path.
func (b Behaviour) Root() string {
	if b.HTTPS {
		return "https://" + b.Host()
	}
	return "http://" + b.Host()
}

// SeedURLs returns where a crawl of the server starts.
func (b Behaviour) SeedURLs() []string {
	var urls []string
	for _, path := range b.paths() {
		urls = append(urls, b.Root()+path)
	}
	return urls
}

func (b Behaviour) paths() []string {
	if len(b.Seeds) == 0 {
		return []string{"/"}
	}
	return b.Seeds
}

// Wants returns what is wanted, by URL.
func (b Behaviour) Wants() map[string]Want {
	wants := map[string]Want{b.SeedURLs()[0]: b.Want}
	for url, w := range b.Also {
		if url[0] == '/' {
			url = b.Root() + url
		}
		wants[url] = w
	}
	return wants
}

// RequestsMost returns how many requests, and how many connections, the server may get.
func (b Behaviour) RequestsMost(l Limits) int {
	if b.MaxRequests > 0 {
		return b.MaxRequests
	}
	attempts := 2 * (1 + l.Retries) // each may be sent again when a kept connection turns out closed
	return attempts * (1 + max(len(b.Wants()), b.MaxPages))
}

// SentMost returns how many bytes a client may let itself be sent on one connection.
func (b Behaviour) SentMost(l Limits) int64 {
	return max(b.MaxSent, l.BodyBytes+int64(l.HeadBytes))
}

func (b Behaviour) sends(most int64) Behaviour {
	b.MaxSent = most
	return b
}

// All returns the behaviours, layer by layer.
func All(l Limits) []Behaviour {
	return slices.Concat(connections(), slow(), heads(), statuses(), framing(l), redirects(), codings(l), pages(l), robots(l), sitemaps(l), cookieJars(l),
		handshakes(), http2Servers())
}
