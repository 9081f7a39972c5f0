package crawler

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"crawl/canon"
	"crawl/frontier"
	"crawl/internal/parse"
	"crawl/internal/trap"
)

// trapGrowing names the rule in statistics.
const trapGrowing = "growing"

// growing watches pages that say what the page said that led to them, and lead on as it did, further down each time: a
// server that answers everything with one page whose links are relative. Their URLs are put together from the same words over
// and over, so no pattern holds them.
//
// A page counts where its URL has words that come again, where the link to it led down, and where it says the same and leads
// down as often as the page that has that link. Ordinary sites have such pages under each other only where directories that
// list the same names lie within each other many levels deep. Once a host has shown enough of them, nothing further down is
// fetched from pages that say that; whatever else the host has is. What was shut is part of the crawl's state; how far other
// hosts have come is not.
type growing struct {
	limit int // pages of a host; 0: none are watched

	any atomic.Bool // a host is shut: else there is nothing to ask at a lease

	mu      sync.Mutex // guards all below
	hosts   map[string]*growingHost
	watched int // hosts that came since all was forgotten
}

type growingHost struct {
	said   map[uint64]uint64   // gist of a page, by its number
	order  []uint64            // the numbers in said, the oldest first
	echoes map[uint64]int      // pages that said what the page before had said, by the gist
	shut   map[uint64]struct{} // gists

	suspected bool // a page said what the page before had said: from then on all are looked at
}

const (
	maxGrowingHosts = 1 << 8  // that are watched
	maxGrowingPages = 1 << 11 // of a host that are remembered
	maxGists        = 1 << 6  // of a host that are counted, and that are shut
	againLeast      = 2       // words that come again in the URL of a page that counts
)

func newGrowing(limit *int) *growing {
	g := &growing{hosts: make(map[string]*growingHost)}
	if limit != nil {
		g.limit = *limit
	}
	return g
}

// read takes in a page. leadsOn: what it leads down to is wanted. shuts: the gist of which it was one too many.
func (g *growing) read(l *frontier.Lease, referrer string, body []byte, links []parse.Link) (leadsOn bool, shuts uint64) {
	again := trap.ComesAgain(l.URL.Path(), l.URL.Query())
	if g.limit == 0 || !g.watches(l.URL.Host(), again) {
		return true, 0
	}
	down := leadDown(l.URL.String(), links)
	says := parse.Gist(body, l.URL) + uint64(down)
	led := trap.Grows(referrer, l.URL.String())
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.host(l.URL.Host())
	h.remember(l.Seq, says)
	if _, shut := h.shut[says]; shut {
		return false, 0
	}
	if down == 0 || !led || h.said[l.From] != says {
		return true, 0
	}
	h.suspected = true
	if again < againLeast || h.counts(says) < g.limit {
		return true, 0
	}
	g.close(l.URL.Host(), says)
	return false, says
}

// counts counts a page by its gist, and returns how many there were. What comes once there are too many gists is not counted.
func (h *growingHost) counts(says uint64) int {
	if _, known := h.echoes[says]; !known && len(h.echoes)+len(h.shut) >= maxGists {
		return 0
	}
	h.echoes[says]++
	return h.echoes[says]
}

// watches reports whether a page of a host is to be looked at: its URL has a word that comes again, or the host is under
// suspicion.
func (g *growing) watches(host string, again int) bool {
	if again > 0 {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[host]
	return h != nil && (h.suspected || len(h.shut) > 0)
}

// host returns what is known of a host. Once there are too many, all is forgotten but what is shut.
func (g *growing) host(name string) *growingHost {
	h := g.hosts[name]
	if h != nil {
		return h
	}
	if g.watched++; g.watched > maxGrowingHosts {
		g.forget()
	}
	h = newGrowingHost()
	g.hosts[strings.Clone(name)] = h
	return h
}

func newGrowingHost() *growingHost {
	return &growingHost{said: make(map[uint64]uint64), echoes: make(map[uint64]int), shut: make(map[uint64]struct{})}
}

func (g *growing) forget() {
	for name, h := range g.hosts {
		if len(h.shut) == 0 {
			delete(g.hosts, name)
			continue
		}
		fresh := newGrowingHost()
		fresh.shut = h.shut
		g.hosts[name] = fresh
	}
	g.watched = 0
}

func (h *growingHost) remember(seq, says uint64) {
	if len(h.order) >= maxGrowingPages {
		delete(h.said, h.order[0])
		h.order = h.order[1:]
	}
	if _, known := h.said[seq]; !known {
		h.order = append(h.order, seq)
	}
	h.said[seq] = says
}

// leadDown counts the links that lead further down than the page they are on.
func leadDown(url string, links []parse.Link) (n int) {
	for _, l := range links {
		if l.Kind == parse.Navigation && trap.Grows(url, l.URL.String()) {
			n++
		}
	}
	return n
}

// growingPattern names what is shut: pages of a host that say that.
func growingPattern(host string, says uint64) string { return fmt.Sprintf("%s/** %016x", host, says) }

func readGrowingPattern(pattern string) (host string, says uint64, err error) {
	host, hex, found := strings.Cut(pattern, "/** ")
	if !found || len(hex) != 16 {
		return "", 0, fmt.Errorf("%q names no host and gist", pattern)
	}
	says, err = strconv.ParseUint(hex, 16, 64)
	return host, says, err
}

// shuts has no page of a host that says this lead further down. It is called before the crawl runs.
func (g *growing) shuts(host string, says uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.close(host, says)
}

func (g *growing) close(host string, says uint64) {
	h := g.host(host)
	h.shut[says] = struct{}{}
	delete(h.echoes, says)
	g.any.Store(true)
}

// refuses reports whether a URL that waits is what a page led down to of which no more is wanted.
func (g *growing) refuses(t *frontier.Task, referrer string) bool {
	return g.any.Load() && g.limit > 0 && trap.Grows(referrer, t.URL.String()) && g.saysShut(t.URL, t.From)
}

func (g *growing) saysShut(u canon.URL, from uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[u.Host()]
	if h == nil {
		return false
	}
	says, known := h.said[from]
	if !known {
		return false
	}
	_, shut := h.shut[says]
	return shut
}
