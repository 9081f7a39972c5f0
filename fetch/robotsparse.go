package fetch

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// MaxRobotsBytes is how much of a robots.txt is read: what RFC 9309, section 2.5, asks for at least. A line that the limit
// cuts is not used.
const MaxRobotsBytes = 500 << 10

// directive is what a line says.
type directive int

const (
	unknownLine directive = iota
	userAgentLine
	allowLine
	disallowLine
	crawlDelayLine
	sitemapLine
)

// directives holds the names, in lower case, with the misspellings that Google's and crawler-commons' parsers take.
var directives = map[string]directive{
	"user-agent": userAgentLine, "useragent": userAgentLine, "user agent": userAgentLine, "user-agents": userAgentLine,
	"users-agent": userAgentLine, "user-agnet": userAgentLine, "useg-agent": userAgentLine, "ser-agent": userAgentLine,

	"disallow": disallowLine, "dissallow": disallowLine, "dissalow": disallowLine, "disalow": disallowLine,
	"diasllow": disallowLine, "disallaw": disallowLine, "desallow": disallowLine,

	"allow":       allowLine,
	"crawl-delay": crawlDelayLine, "crawldelay": crawlDelayLine, "crawl delay": crawlDelayLine,
	"sitemap": sitemapLine, "site-map": sitemapLine,
}

// ParseRobots reads a robots.txt for the crawler called agent: its product token, or a User-Agent value that starts with
// it. Any input is a robots.txt: lines that cannot be read are passed over (RFC 9309, section 2.2), and a text in UTF-16
// is taken by its byte order mark. Errors are r's.
func ParseRobots(r io.Reader, agent string) (*Robots, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxRobotsBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxRobotsBytes {
		data = data[:bytes.LastIndexAny(data[:MaxRobotsBytes], "\r\n")+1]
	}
	p := robotsParser{token: Product(agent)}
	number := 0
	for line := range robotsLines(withoutMark(data)) {
		number++
		p.line(number, line)
	}
	return p.robots(), nil
}

// withoutMark takes a byte order mark off, and makes UTF-8 of UTF-16.
func withoutMark(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return string(data[3:])
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return fromUTF16(data[2:], binary.BigEndian)
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return fromUTF16(data[2:], binary.LittleEndian)
	}
	return string(data)
}

func fromUTF16(data []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units))
}

// robotsLines yields the lines of text, which end in LF, CR or CRLF.
func robotsLines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for text != "" {
			end := strings.IndexAny(text, "\r\n")
			if end < 0 {
				yield(text)
				return
			}
			if !yield(text[:end]) {
				return
			}
			if strings.HasPrefix(text[end:], "\r\n") {
				end++
			}
			text = text[end+1:]
		}
	}
}

// robotsParser reads lines and keeps what concerns one crawler.
type robotsParser struct {
	token string // the crawler's product token, lower case; empty matches the "*" groups only

	named, star     robotsGroup // all groups of a kind, merged
	metNamed        bool        // a group names the crawler, which leaves the "*" groups without effect
	inNamed, inStar bool        // what the group at hand is for
	inHead          bool        // no rule has come since the last user-agent line
	sitemaps        []string
	sitemapSeen     map[string]bool
}

// robotsGroup is what the groups for one product token say.
type robotsGroup struct {
	rules    []ruleLine
	delay    time.Duration
	hasDelay bool
	delayAt  int // line of delay
}

// ruleLine is an Allow or Disallow line as it was read.
type ruleLine struct {
	pattern, text string // in the form that fold gives, and as it stands in the file
	allow         bool
	line          int
}

// add adds a rule, but for one that stands twice in a row: the second decides nothing.
func (g *robotsGroup) add(r ruleLine) {
	if n := len(g.rules); n > 0 && g.rules[n-1].allow == r.allow && g.rules[n-1].pattern == r.pattern {
		return
	}
	g.rules = append(g.rules, r)
}

func (p *robotsParser) line(number int, line string) {
	name, value := splitLine(line)
	switch name {
	case userAgentLine:
		p.userAgent(value)
	case allowLine, disallowLine:
		p.inHead = false
		p.rule(number, name == allowLine, value)
	case crawlDelayLine:
		// No standard knows it, so it ends no head (RFC 9309, section 2.2.4). It speaks to the agents named so far.
		if delay, ok := parseDelay(value); ok {
			p.each(func(g *robotsGroup) {
				if !g.hasDelay || delay > g.delay {
					g.delay, g.hasDelay, g.delayAt = delay, true, number
				}
			})
		}
	case sitemapLine:
		if value != "" && !p.sitemapSeen[value] {
			if p.sitemapSeen == nil {
				p.sitemapSeen = make(map[string]bool)
			}
			value = strings.Clone(value)
			p.sitemapSeen[value] = true
			p.sitemaps = append(p.sitemaps, value)
		}
	}
}

// splitLine returns what a line says, and its value without comment and blanks. A colon left out between two words is
// assumed, as Google does.
func splitLine(line string) (directive, string) {
	line, _, _ = strings.Cut(line, "#")
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		words := strings.Fields(line)
		if len(words) != 2 {
			return unknownLine, ""
		}
		name, value = words[0], words[1]
	}
	name = strings.TrimSpace(name)
	if len(name) > len("crawl-delay") { // the longest; spares lowering what is no name
		return unknownLine, ""
	}
	return directives[strings.ToLower(name)], strings.TrimSpace(value)
}

func (p *robotsParser) userAgent(value string) {
	if !p.inHead {
		p.inNamed, p.inStar = false, false
		p.inHead = true
	}
	if rest, ok := strings.CutPrefix(value, "*"); ok {
		p.inStar = p.inStar || productToken(rest) == "" // "*bot" names nobody
		return
	}
	if token := productToken(value); token != "" && token == p.token {
		p.inNamed, p.metNamed = true, true
	}
}

// rule adds a line to the groups at hand. An empty pattern matches nothing.
func (p *robotsParser) rule(number int, allow bool, value string) {
	if value == "" || !p.inNamed && !p.inStar {
		return
	}
	r := ruleLine{pattern: fold(value, inPattern), allow: allow, line: number, text: value}
	p.each(func(g *robotsGroup) { g.add(r) })
	if folder, ok := indexFolder(r.pattern); ok && allow {
		r.pattern = folder + "$"
		p.each(func(g *robotsGroup) { g.add(r) })
	}
}

// indexFolder returns the folder of a pattern that names its index page: to allow the one allows the other, as Google
// does.
func indexFolder(pattern string) (string, bool) {
	for _, page := range []string{"/index.html", "/index.htm"} {
		if folder, ok := strings.CutSuffix(strings.TrimSuffix(pattern, "$"), page); ok {
			return folder + "/", true
		}
	}
	return "", false
}

// each calls f for the groups that the lines at hand belong to.
func (p *robotsParser) each(f func(*robotsGroup)) {
	if p.inNamed {
		f(&p.named)
	}
	if p.inStar {
		f(&p.star)
	}
}

func (p *robotsParser) robots() *Robots {
	group := p.star
	if p.metNamed {
		group = p.named
	}
	return &Robots{
		rules: rulesOf(group.rules), delay: group.delay, hasDelay: group.hasDelay, delayAt: group.delayAt, sitemaps: p.sitemaps,
	}
}

// parseDelay reads seconds, which may have a fraction. More than a Duration holds is the longest one.
func parseDelay(value string) (time.Duration, bool) {
	if strings.Trim(value, "0123456789.") != "" { // nor "1e9", "0x1", "Inf", which ParseFloat takes
		return 0, false
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, false
	}
	if seconds >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// productToken returns the name that s starts with, in lower case. RFC 9309 wants letters, "_" and "-" only; digits and
// dots are in use, and without them bot1 could not be told from bot2.
func productToken(s string) string {
	end := strings.IndexFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.')
	})
	if end < 0 {
		end = len(s)
	}
	return strings.ToLower(s[:end])
}

// Product returns the product token in a User-Agent value, in lower case: the name that robots.txt and pages use for the
// crawler (RFC 9309, section 2.2.1). Where the value poses as a browser first, it stands behind "compatible;".
func Product(userAgent string) string {
	if strings.HasPrefix(userAgent, "Mozilla/") {
		if _, product, ok := strings.Cut(userAgent, "compatible;"); ok {
			userAgent = strings.TrimSpace(product)
		}
	}
	return productToken(userAgent)
}
