package testweb

import (
	"strconv"
	"strings"
)

const (
	robotsPath = "/robots.txt"
	agentsNone = "User-agent: otherbot\nUser-agent: badbot\nDisallow: /\n"
)

// rules forbids the kinds from archive to secret to everybody, and leaves archiveOpen to the longer match.
const rules = `Disallow: /archive/
Allow: /archive/open/
Disallow: /private/
Disallow: /*/print$
Disallow: /*?*session=
Disallow: /%7Ehidden/
`

// robots is how a host writes its robots.txt. All that have one say the same.
type robots uint8

const (
	plainRobots   robots = iota
	windowsRobots        // byte order mark and CRLF
	splitRobots          // two groups for *, which count as one, with another bot's between them
	noRobots             // 404
	robotsCount
)

func robotsOf(host int) robots { return robots(host) % robotsCount }

func hasRobots(host int) bool { return robotsOf(host) != noRobots }

// robotsText returns the robots.txt of a host that has one.
func (s *Site) robotsText(host int) string {
	delay := ""
	if s.cfg.CrawlDelay > 0 {
		delay = "Crawl-delay: " + strconv.FormatFloat(s.cfg.CrawlDelay.Seconds(), 'f', -1, 64) + "\n"
	}
	const all = "User-agent: *\n"
	sitemap := "\nSitemap: " + s.origin(host) + sitemapPath + "\n"
	switch robotsOf(host) {
	case windowsRobots:
		text := agentsNone + "\n" + all + delay + rules + "Disallow: /caf\u00E9/secret/\n" + sitemap
		return "\uFEFF" + strings.ReplaceAll(text, "\n", "\r\n")
	case splitRobots:
		first := "# every bot\n" + all + delay + "disallow: /caf%c3%a9/secret/ # raw or not\n\n"
		return first + agentsNone + "\n" + all + rules + sitemap
	}
	return agentsNone + "\n" + all + delay + rules + "Disallow: /caf%C3%A9/secret/\n" + sitemap
}
