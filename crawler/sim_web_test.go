package crawler

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"crawl/canon"
)

// simWeb is a web of which everything is known: what each URL answers, for how long it fails before it does, and what it
// links to. It holds no state: the same seed is the same web, in every process and after every kill.
type simWeb struct {
	seed  uint64
	hosts []simHost
	byKey map[string]*simHost
	share int // so many hosts have one address, which is to be spared as one; 0: each has its own
}

// simHost is one host: of every kind of trouble there are some, and most are small.
type simHost struct {
	name   string
	index  int
	pages  int
	robots simRobots
	crawl  time.Duration // Crawl-delay
	slow   bool
	dead   bool                        // nobody listens
	noName bool                        // and nobody ever knew it
	lame   int                         // so many look-ups fail before one succeeds
	wide   bool                        // more than one request at once is allowed, and its delay is short
	secure bool                        // half of its pages are https, an origin of its own
	down   func(at time.Duration) bool // nil: never
}

// simRobots is what comes of a host's robots.txt.
type simRobots uint8

const (
	robotsMissing simRobots = iota // 404: everything is allowed
	robotsRules
	robotsSick   // 500 twice, then rules
	robotsBroken // 500 for ever: nothing is allowed
	robotsMute   // no answer, ever
	robotsAway   // redirected to another host, which has rules
	robotsAstray // redirected for ever: everything is allowed
	robotsLost   // redirected to a host that is dead
)

const (
	simRulesHost = "rules.sim"
	simLostHost  = "lost.sim"
	simDelay     = time.Second            // host_delay
	simWideDelay = 200 * time.Millisecond // of wide hosts
	simWideSlots = 3                      // their host_concurrency
)

// newSimWeb makes a web: host 0 has large pages, the others share about rest by a power law.
func newSimWeb(seed uint64, hosts, large, rest int) *simWeb {
	w := &simWeb{seed: seed, byKey: make(map[string]*simHost)}
	sum := 0.0
	for i := 1; i < hosts; i++ {
		sum += 1 / float64(i)
	}
	for i := range hosts {
		h := simHost{index: i, name: fmt.Sprintf("h%d.sim", i), pages: large, robots: robotsMissing}
		if i > 0 {
			h.pages = 2 + int(float64(rest)/sum/float64(i))
		}
		w.trouble(&h)
		w.hosts = append(w.hosts, h)
	}
	for i, name := range []string{simRulesHost, simLostHost} {
		w.hosts = append(w.hosts, simHost{index: hosts + i, name: name, pages: 1, dead: name == simLostHost})
	}
	for i := range w.hosts {
		w.byKey[w.hosts[i].name] = &w.hosts[i]
	}
	return w
}

// shareAddresses puts n hosts on each address. There is no host then that may be asked more than once at a time.
func (w *simWeb) shareAddresses(n int) {
	w.share = n
	for i := range w.hosts {
		w.hosts[i].wide = false
	}
}

// address is where a host is found.
func (w *simWeb) address(h *simHost) netip.AddrPort {
	n := h.index / max(w.share, 1)
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}), 80)
}

// trouble gives a host its traits. Host 0 is a good one, and its many pages lead to all others.
func (w *simWeb) trouble(h *simHost) {
	i := h.index
	if i%3 > 0 {
		h.robots = robotsRules
	}
	if i == 0 {
		return
	}
	h.secure = i%5 == 0
	h.slow = i%37 == 3
	h.wide = i%31 == 6
	if h.wide {
		h.name = fmt.Sprintf("h%d.wide.sim", i)
	}
	if h.robots == robotsRules && i%29 == 4 {
		h.crawl = time.Duration(3+i%18) * time.Second
	}
	for robots, at := range map[simRobots]int{
		robotsSick: 10, robotsBroken: 9, robotsMute: 11, robotsAway: 13, robotsAstray: 15, robotsLost: 17,
	} {
		if i%71 == at {
			h.robots, h.crawl = robots, 0
		}
	}
	switch {
	case i%53 == 7:
		h.dead = true
	case i%61 == 5:
		h.noName = true
	case i%61 == 6:
		h.lame = 2
	}
}

// simKind is what a URL does.
type simKind string

const (
	simPage    simKind = "p"
	simGone    simKind = "gone"    // 404
	simFlaky   simKind = "flaky"   // 500 up to three times
	simBroken  simKind = "broken"  // 500 for ever
	simBusy    simKind = "busy"    // 429 with Retry-After, up to two times
	simOver    simKind = "over"    // 503 once
	simMute    simKind = "mute"    // no answer up to two times
	simCut     simKind = "cut"     // cut short once
	simStump   simKind = "stump"   // cut short for ever
	simText    simKind = "text"    // no HTML
	simAway    simKind = "away"    // redirects to another page
	simHop     simKind = "hop"     // redirects from host to host, a few times
	simLoop    simKind = "loop"    // redirects to one that redirects back
	simSpelled simKind = "~"       // redirects to other spellings of itself
	simPrivate simKind = "private" // robots.txt forbids it, where there is one
)

// simKinds says which of a thousand pages are of a kind, the others being plain.
var simKinds = []struct {
	kind simKind
	of   uint64
}{
	{simGone, 30}, {simFlaky, 30}, {simBroken, 10}, {simBusy, 15}, {simOver, 15}, {simMute, 15}, {simCut, 20}, {simStump, 10},
	{simText, 20}, {simAway, 30}, {simHop, 10}, {simLoop, 5}, {simSpelled, 30}, {simPrivate, 30},
}

// dice returns a number that belongs to a page and a purpose.
func (w *simWeb) dice(host, page int, purpose uint64) uint64 {
	return rand.NewPCG(w.seed^purpose<<48, uint64(host)<<32|uint64(page)).Uint64()
}

func (w *simWeb) kind(host, page int) simKind {
	if page == 0 {
		return simPage
	}
	x := w.dice(host, page, 1) % 1000
	for _, k := range simKinds {
		if x < k.of {
			return k.kind
		}
		x -= k.of
	}
	return simPage
}

// link is how other pages link to a page.
func (w *simWeb) link(host, page int) string {
	h := &w.hosts[host]
	path := strconv.Itoa(page)
	switch k := w.kind(host, page); {
	case page == 0:
		path = ""
	case k == simSpelled:
		path = "%7e" + path
	case k == simHop:
		path = fmt.Sprintf("hop%d-%d", 2+w.dice(host, page, 2)%4, page)
	case k == simLoop:
		path = "loop1-" + path
	default:
		path = string(k) + path
	}
	if h.secure && page%2 == 1 {
		return "https://" + h.name + "/" + path
	}
	return "http://" + h.name + "/" + path
}

// simURL is a URL of the web, understood.
type simURL struct {
	host   *simHost
	origin string
	kind   simKind // empty: there is no such page
	page   int
	step   int    // of a chain of redirects
	as     string // of a page with several spellings: this one
}

func (w *simWeb) understand(u canon.URL) simURL {
	s := simURL{host: w.byKey[u.Host()], origin: u.Origin()}
	path := strings.TrimPrefix(u.Path(), "/")
	if path == "" {
		s.kind = simPage
		return s
	}
	for _, spelled := range []string{"~", "%7E", "%7e"} {
		if rest, ok := strings.CutPrefix(path, spelled); ok {
			s.as, path = spelled, "~"+rest
		}
	}
	word := strings.TrimRight(path, "0123456789-")
	numbers := strings.Split(path[len(word):], "-")
	page, err := strconv.Atoi(numbers[len(numbers)-1])
	if err != nil || s.host == nil || page >= s.host.pages {
		return s
	}
	s.kind, s.page = simKind(word), page
	if len(numbers) == 2 {
		s.step, _ = strconv.Atoi(numbers[0])
	}
	return s
}

// links returns what a page links to, in order.
func (w *simWeb) links(s simURL) []string {
	h, n := s.host.index, s.page
	var out []string
	for _, next := range []int{n + 1, 3*n + 1, 3*n + 2, 3*n + 3} {
		if next < s.host.pages {
			out = append(out, w.link(h, next))
		}
	}
	if s.host.pages == 1 {
		return out
	}
	if h == 0 {
		out = append(out, w.link(n%(len(w.hosts)-2), 0))
	}
	for i := range uint64(3) {
		x := w.dice(h, n, 3+i)
		to := int(x % uint64(len(w.hosts)))
		out = append(out, w.link(to, int(x>>32)%w.hosts[to].pages))
	}
	return out
}

// body is the page as HTML, with what a crawler must put up with.
func (w *simWeb) body(s simURL, links []string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><title>%s</title><p>", s.title())
	for _, link := range links {
		fmt.Fprintf(&b, "<a href=%q>to</a>\n", link)
	}
	if s.page%10 == 1 && s.host.pages > 1 {
		fmt.Fprintf(&b, "<a href=%q></a><a href='mailto:x'></a><a href='http://[/'></a><a href='/skip%d'></a>", links[0], s.page)
	}
	return []byte(b.String())
}

func (s simURL) title() string { return fmt.Sprintf("%s %s %d", s.host.name, s.kind, s.page) }

// redirect returns where a URL redirects to; empty: it does not.
func (w *simWeb) redirect(s simURL) string {
	h := s.host.index
	switch s.kind {
	case simAway:
		x := w.dice(h, s.page, 10)
		to := int(x % uint64(len(w.hosts)-2))
		return w.link(to, int(x>>32)%w.hosts[to].pages)
	case simHop:
		if s.step > 0 {
			// A host that has a page of that number has all steps there; another has none, and the chain ends with 404.
			to := (h + s.step) % (len(w.hosts) - 2)
			return fmt.Sprintf("http://%s/hop%d-%d", w.hosts[to].name, s.step-1, s.page)
		}
	case simLoop:
		return fmt.Sprintf("%s/loop%d-%d", s.origin, 3-s.step, s.page)
	case simSpelled:
		switch s.as {
		case "%7e":
			return fmt.Sprintf("%s/%%7E%d", s.origin, s.page)
		case "%7E":
			return fmt.Sprintf("%s/~%d", s.origin, s.page)
		}
	}
	return ""
}

// seeds are where a crawl of the web starts: one of each sort.
func (w *simWeb) seeds() []string {
	urls := []string{w.link(0, 0), w.hosts[25].name, w.link(1, 0), "http://" + simRulesHost + "/"}
	for page := range w.hosts[0].pages { // a seed that redirects
		if w.kind(0, page) == simAway {
			urls = append(urls, w.link(0, page))
			break
		}
	}
	return urls
}
